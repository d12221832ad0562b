package tools

import (
	"errors"
	"fmt"
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
)

// noSuchRow is said of a foreign key that leads nowhere, where the model it leads to must not be named.
const noSuchRow = "names a row that does not exist"

// reference is a foreign key to a registered table; a call sets at least one of its columns.
type reference struct {
	key *database.ForeignKey
	// target is the model that it leads to; withheld reports that there is one which is not served: nobody sees its rows.
	target   access.Scope
	withheld bool
	// values are the values of the key's columns. nil: one of them is null, so that the key names no row; or they lead to
	// the very row that is written; or one of them is unknown before the write, which open says.
	values []database.Value
	open   bool
}

// referencesOf returns the foreign keys with a column that the caller sets.
func (req *request) referencesOf(d *rowData, creates bool) []reference {
	var all []reference
	for _, fk := range d.scope.Model().Table.ForeignKeys {
		given := slices.ContainsFunc(d.fields, func(f *catalog.Field) bool { return slices.Contains(fk.Columns, f.Column) })
		target, withheld := req.catalog.ModelOf(fk.References), req.catalog.Withholds(fk.References)
		if target == nil && !withheld || !given {
			continue
		}
		r := reference{key: fk, withheld: withheld}
		if target != nil {
			r.target = req.token.Reach(target)
		}
		d.name(&r, func(c *database.Column) (database.Value, bool) {
			if !creates {
				return nil, false // the row itself has it
			}
			return defaultValue(d.scope.Model().Table, c)
		})
		all = append(all, r)
	}
	return all
}

// name finds the values of a reference: from d, or else from other, if that knows the column.
func (d *rowData) name(r *reference, other func(*database.Column) (value database.Value, known bool)) {
	r.values, r.open = nil, false
	values := make([]database.Value, len(r.key.Columns))
	for i, column := range r.key.Columns {
		var known bool
		if n := slices.IndexFunc(d.set, func(a database.Assignment) bool { return a.Column == column }); n >= 0 {
			values[i], known = d.set[n].Value, d.set[n].How == database.AssignValue
		} else {
			values[i], known = other(column)
		}
		if known && values[i] == nil {
			r.open = false
			return // a key that is null in part names nothing
		}
		r.open = r.open || !known
	}
	if !r.open && !d.isNamedBy(r.key, values) {
		r.values = values
	}
}

// defaultValue returns the value that the database gives a column in a new row; false if it is not known.
func defaultValue(t *database.Table, c *database.Column) (database.Value, bool) {
	switch {
	case t.InsertTrigger, c.Generated, c.HasDefault && c.Default == nil:
		return nil, false
	case c.Default == nil:
		return nil, true
	}
	value, err := lookup.ParseStoredText(c, *c.Default)
	return value, err == nil
}

// completeReferences takes what the caller leaves out of a foreign key from the row that it updates.
func (w *write) completeReferences(d *rowData, where database.Condition) error {
	var columns []*database.Column
	for _, r := range d.references {
		if r.open {
			columns = append(columns, r.key.Columns...)
		}
	}
	if len(columns) == 0 {
		return nil
	}
	m := d.scope.Model()
	if !readable(columns) {
		return nil // the row is looked at after the write
	}
	plan := &database.Select{From: d.scope.Source(), Output: []database.Output{keyOutput(m, idName)}, Where: where, Limit: 1, Cursor: database.Refs(columns...)}
	_, page, err := w.tx.Select(w.req.ctx, plan, nil)
	if err != nil || page.Count == 0 {
		return err
	}
	for i := range d.references {
		if d.references[i].open {
			d.name(&d.references[i], func(c *database.Column) (database.Value, bool) {
				return page.Last[slices.Index(columns, c)], true
			})
		}
	}
	return nil
}

// limited reports whether there are rows that the key may not name although they are there.
func (r reference) limited() bool { return r.withheld || r.target.Limited() }

// visible is the condition that the key names a row that the token may see, or none.
func (r reference) visible() database.Condition {
	var any database.Or
	if !r.withheld {
		any = append(any, database.Exists{From: r.target.Source(), Ours: r.key.Columns, Theirs: r.key.ReferencedColumns})
	}
	for _, column := range r.key.Columns {
		any = append(any, database.IsNull{Column: column})
	}
	return any
}

// missing is the error about a key that names no row that the token may see.
func (r reference) missing(scope access.Scope) error {
	problems := &violations{}
	problems.addMissing(scope, r.key.Columns)
	return problems.err()
}

// refused explains what the database refused of a write that set some references. Not every engine tells which foreign key
// was broken: it is said as of a row that is hidden, which is found out after the write.
func refused(scope access.Scope, references []reference, err error) error {
	var e *database.Error
	if errors.As(err, &e) && e.Code == database.Violated && e.Violation != nil && e.Violation.Kind == database.ForeignKeyViolation && len(e.Violation.Columns) == 0 {
		if i := slices.IndexFunc(references, func(r reference) bool { return r.open }); i >= 0 {
			return references[i].missing(scope)
		}
	}
	return explain(scope, err)
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

// checkReferences sees to it that each foreign key names a row that the token may see. A row that is not there and a row
// that the policy hides look the same, whatever the engine says about a violation (docs/design/writes-and-deletes.md,
// "References").
func (w *write) checkReferences(scope access.Scope, references []reference) error {
	problems := &violations{}
	for _, r := range references {
		if r.values == nil {
			continue
		}
		there, err := w.names(r)
		if err != nil {
			return err
		}
		if !there {
			problems.addMissing(scope, r.key.Columns)
		}
	}
	return problems.err()
}

// names reports whether a reference names a row that the token may see.
func (w *write) names(r reference) (bool, error) {
	if r.withheld {
		return false, nil
	}
	var where database.And
	for i, column := range r.key.ReferencedColumns {
		where = append(where, database.Compare{Column: column, Op: database.Equal, Value: r.values[i]})
	}
	output := []database.Output{{Name: idName, Columns: r.key.ReferencedColumns[:1]}}
	_, page, err := w.tx.Select(w.req.ctx, &database.Select{From: r.target.Source(), Output: output, Where: where, Limit: 1}, nil)
	return page.Count > 0, err
}

// stillVisible is the condition that the foreign keys that were set name rows that the token may see. It stands in the
// statement that reads the row back: what was checked before the write may have changed since.
func stillVisible(references []reference) database.And {
	var all database.And
	for _, r := range references {
		if r.limited() {
			all = append(all, r.visible())
		}
	}
	return all
}

// noSuch says that a foreign key of these columns names no row, by the name of the model that it leads to where the token
// may view that.
func noSuch(scope access.Scope, columns []*database.Column) string {
	if target := relatedBy(scope, columns); target != nil {
		return "no such " + target.Declared.VerboseName + whereIDsAre(scope, columns)
	}
	return noSuchRow
}

// relatedBy is the model to which a foreign key of these columns leads; nil if the token does not see that it does.
func relatedBy(scope access.Scope, columns []*database.Column) *catalog.Model {
	for _, r := range scope.Keys() {
		if slices.Equal(r.Ours, columns) {
			return r.Target
		}
	}
	return nil
}

// whereIDsAre says, at the end of a message, how to find what a foreign key of these columns can name; "" if nothing finds it.
func whereIDsAre(scope access.Scope, columns []*database.Column) string {
	target := relatedBy(scope, columns)
	if target == nil || len(columns) != 1 || !findOperation("autocomplete").offeredFor(target.Catalog(), target) {
		return ""
	}
	return fmt.Sprintf(`; autocomplete {"model":%q,"term":"…"} finds ids`, target.Name)
}
