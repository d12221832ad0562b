package tools

import (
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// noSuchRow is said of a foreign key that leads nowhere, where the model it leads to must not be named.
const noSuchRow = "names a row that does not exist"

// reference is a foreign key to a registered model of which a call sets at least one column.
type reference struct {
	key    *database.ForeignKey
	target access.Scope
	// values are those of the key's columns; nil where the call does not set all of them, or sets one to null, and where
	// they lead to the very row that is written.
	values []database.Value
}

// referencesOf are the foreign keys of which the caller sets a column.
func (req *request) referencesOf(d *rowData) []reference {
	var all []reference
	for _, fk := range d.scope.Model().Table.ForeignKeys {
		target := req.catalog.ModelOf(fk.References)
		given := slices.ContainsFunc(d.fields, func(f *catalog.Field) bool { return slices.Contains(fk.Columns, f.Column) })
		if target == nil || !given {
			continue
		}
		r := reference{key: fk, target: req.token.Reach(target)}
		for _, column := range fk.Columns {
			if i := slices.IndexFunc(d.set, func(a database.Assignment) bool { return a.Column == column }); i >= 0 && d.set[i].Value != nil {
				r.values = append(r.values, d.set[i].Value)
			}
		}
		if len(r.values) != len(fk.Columns) || d.isNamedBy(fk, r.values) {
			r.values = nil
		}
		all = append(all, r)
	}
	return all
}

// isNamedBy reports whether a foreign key with these values leads to the row itself: it is there once it is written.
func (d *rowData) isNamedBy(fk *database.ForeignKey, values []database.Value) bool {
	if fk.References != d.scope.Model().Table {
		return false
	}
	for i, column := range fk.ReferencedColumns {
		own := slices.IndexFunc(d.set, func(a database.Assignment) bool { return a.Column == column && a.How == database.AssignValue })
		if own < 0 || !sameValue(column, d.set[own].Value, values[i]) {
			return false
		}
	}
	return true
}

// checkReferences sees to it that each foreign key names a row that the token may see. One that is not there and one
// that the row policy hides look the same, whatever the engine tells of a violation (docs/design/writes-and-deletes.md,
// "References").
func (w *write) checkReferences(scope access.Scope, references []reference) error {
	problems := &violations{}
	for _, r := range references {
		if r.values == nil {
			continue
		}
		var where database.And
		for i, column := range r.key.ReferencedColumns {
			where = append(where, database.Compare{Column: column, Op: database.Equal, Value: r.values[i]})
		}
		output := []database.Output{{Name: idName, Columns: r.key.ReferencedColumns[:1]}}
		_, page, err := w.tx.Select(w.req.ctx, &database.Select{From: r.target.Source(), Output: output, Where: where, Limit: 1}, nil)
		if err != nil {
			return err
		}
		if page.Count > 0 {
			continue
		}
		told := problems.ErrorCount
		for _, column := range r.key.Columns {
			if f := fieldOf(scope, column); f != nil {
				problems.add(f.Name, "%s", noSuch(scope, r.key.Columns))
			}
		}
		if problems.ErrorCount == told { // an action sets a key that is hidden
			problems.add(allFields, "%s", noSuchRow)
		}
	}
	return problems.err()
}

// stillVisible is the condition that the foreign keys that were set name rows that the token may see. It stands in the
// statement that reads the row back: what was checked before the write may have changed since.
func stillVisible(references []reference) database.And {
	var all database.And
	for _, r := range references {
		if !r.target.Limited() {
			continue
		}
		any := database.Or{database.Exists{From: r.target.Source(), Ours: r.key.Columns, Theirs: r.key.ReferencedColumns}}
		for _, column := range r.key.Columns {
			any = append(any, database.IsNull{Column: column})
		}
		all = append(all, any)
	}
	return all
}

// noSuch says that a foreign key of these columns names no row, by the name of the model that it leads to where the token
// may view that.
func noSuch(scope access.Scope, columns []*database.Column) string {
	for _, r := range scope.Relations() {
		if !r.Many && slices.Equal(r.Ours, columns) {
			return "no such " + r.Target.Declared.VerboseName
		}
	}
	return noSuchRow
}
