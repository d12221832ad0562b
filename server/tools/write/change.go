package write

import (
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// PlanChange finds out which rows the database changes along with those of the scope that meet a condition, if these get
// the values of set (docs/design/writes-and-deletes.md, "Changes of referenced values"). What the token may not change makes
// it a protected error. It returns nil if no foreign key leads to what is set.
func (w *Writer) PlanChange(scope access.Scope, where database.Condition, set []database.Assignment) (*Followers, error) {
	m := scope.Model()
	if !isReferenced(w.Req.Catalog, m, set) {
		return nil, nil
	}
	nexts := map[*database.Column]database.Value{}
	for _, a := range set {
		if nexts[a.Column] = a.Value; a.How != database.AssignValue {
			nexts[a.Column] = unknownValue{}
		}
	}
	f := newCascade(w.Req, w.Tx, m, changingRows)
	rows, err := f.find(scope.Source(), m, where)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		rows[i].nexts = nexts
	}
	return &Followers{f}, f.follow(rows, false)
}

// isReferenced reports whether the database passes a change of what is set on to other rows.
func isReferenced(c *catalog.Catalog, m *catalog.Model, set []database.Assignment) bool {
	return slices.ContainsFunc(c.Dependents(m.Table), func(dependent catalog.Dependent) bool {
		return dependent.Key.OnUpdate != database.Restrict && slices.ContainsFunc(set, func(a database.Assignment) bool {
			return slices.Contains(dependent.Key.ReferencedColumns, a.Column)
		})
	})
}

// Followers are rows that the database changes along with others; nil is none.
type Followers struct{ cascade *cascade }

// Consequences are what changes along.
func (f *Followers) Consequences() []Consequence {
	if f == nil {
		return nil
	}
	return f.cascade.consequences()
}

// notice says what changes along; "" if nothing does.
func (f *Followers) notice() string {
	var what []string
	for _, c := range f.Consequences() {
		what = append(what, c.String())
	}
	if len(what) == 0 {
		return ""
	}
	return "the database changed " + strings.Join(what, ", ") + " along with it"
}

// Journal records the rows that changed along.
func (f *Followers) Journal(message string) error {
	if f == nil {
		return nil
	}
	return f.cascade.journal(message, message)
}
