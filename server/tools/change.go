package tools

import (
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// planChange finds out which rows the database changes along with those of the scope that meet a condition, if these get
// the values of set (docs/design/writes-and-deletes.md, "Changes of referenced values"). What the token may not change makes
// it a protected error. It returns nil if no foreign key leads to what is set.
func (w *write) planChange(scope access.Scope, where database.Condition, set []database.Assignment) (*followers, error) {
	m := scope.Model()
	nexts := map[*database.Column]database.Value{}
	for _, a := range set {
		if nexts[a.Column] = a.Value; a.How != database.AssignValue {
			nexts[a.Column] = unknownValue{}
		}
	}
	referenced := false
	for _, dependent := range w.req.catalog.Dependents(m.Table) {
		referenced = referenced || dependent.Key.OnUpdate != database.Restrict && slices.ContainsFunc(dependent.Key.ReferencedColumns, func(c *database.Column) bool {
			_, isSet := nexts[c]
			return isSet
		})
	}
	if !referenced {
		return nil, nil
	}
	f := w.req.newCascade(w.tx, m, changingRows)
	rows, err := f.find(scope.Source(), m, where)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		rows[i].nexts = nexts
	}
	return &followers{f}, f.follow(rows, false)
}

// followers are rows that the database changes along with others; nil is none.
type followers struct{ cascade *cascade }

// consequences are what changes along.
func (f *followers) consequences() []consequence {
	if f == nil {
		return nil
	}
	return f.cascade.consequences()
}

// notice says what changes along; "" if nothing does.
func (f *followers) notice() string {
	var what []string
	for _, c := range f.consequences() {
		what = append(what, c.String())
	}
	if len(what) == 0 {
		return ""
	}
	return "the database changed " + strings.Join(what, ", ") + " along with it"
}

// journal records the rows that changed along.
func (f *followers) journal(message string) error {
	if f == nil {
		return nil
	}
	return f.cascade.journal(message, message)
}
