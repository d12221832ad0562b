package write

import (
	"errors"
	"fmt"
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/read"
)

// Reference is a foreign key to a registered table; a call sets at least one of its columns.
type Reference struct {
	key *database.ForeignKey
	// target is the model that it leads to; withheld reports that there is one which is not served: nobody sees its rows.
	target   access.Scope
	withheld bool
	// values are the values of the key's columns. nil: one of them is null, so that the key names no row; or they lead to
	// the very row that is written; or one of them is unknown before the write, which open says.
	values []database.Value
	open   bool
}

// ReferencesOf returns the foreign keys with a column that the caller sets.
func ReferencesOf(req *call.Request, d *RowData, creates bool) []Reference {
	var all []Reference
	for _, fk := range d.Scope.Model().Table.ForeignKeys {
		given := slices.ContainsFunc(d.Fields, func(f *catalog.Field) bool { return slices.Contains(fk.Columns, f.Column) })
		target, withheld := req.Catalog.ModelOf(fk.References), req.Catalog.Withholds(fk.References)
		if target == nil && !withheld || !given {
			continue
		}
		r := Reference{key: fk, withheld: withheld}
		if target != nil {
			r.target = req.Token.Reach(target)
		}
		d.name(&r, func(c *database.Column) (database.Value, bool) {
			if !creates {
				return nil, false // the row itself has it
			}
			return defaultValue(d.Scope.Model().Table, c)
		})
		all = append(all, r)
	}
	return all
}

// name finds the values of a reference: from d, or else from other, if that knows the column.
func (d *RowData) name(r *Reference, other func(*database.Column) (value database.Value, known bool)) {
	r.values, r.open = nil, false
	values := make([]database.Value, len(r.key.Columns))
	for i, column := range r.key.Columns {
		var known bool
		if n := slices.IndexFunc(d.Set, func(a database.Assignment) bool { return a.Column == column }); n >= 0 {
			values[i], known = d.Set[n].Value, d.Set[n].How == database.AssignValue
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
func (w *Writer) completeReferences(d *RowData, where database.Condition) error {
	var columns []*database.Column
	for _, r := range d.references {
		if r.open {
			columns = append(columns, r.key.Columns...)
		}
	}
	if len(columns) == 0 {
		return nil
	}
	m := d.Scope.Model()
	if !readable(columns) {
		return nil // the row is looked at after the write
	}
	plan := &database.Select{From: d.Scope.Source(), Output: []database.Output{read.KeyOutput(m, call.IDName)}, Where: where, Limit: 1, Cursor: database.Refs(columns...)}
	_, page, err := w.Tx.Select(w.Req.Ctx, plan, nil)
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

// Limited reports whether there are rows that the key may not name although they are there.
func (r Reference) Limited() bool { return r.withheld || r.target.Limited() }

// Visible is the condition that the key names a row that the token may see, or none.
func (r Reference) Visible() database.Condition {
	var any database.Or
	if !r.withheld {
		any = append(any, database.Exists{From: r.target.Source(), Ours: r.key.Columns, Theirs: r.key.ReferencedColumns})
	}
	for _, column := range r.key.Columns {
		any = append(any, database.IsNull{Column: column})
	}
	return any
}

// Missing is the error about a key that names no row that the token may see.
func (r Reference) Missing(scope access.Scope) error {
	problems := &call.Violations{}
	addMissing(problems, scope, r.key.Columns)
	return problems.Err()
}

// Refused explains what the database refused of a write that set some references. Not every engine tells which foreign key
// was broken: it is said as of a row that is hidden, which is found out after the write.
func Refused(scope access.Scope, references []Reference, err error) error {
	var e *database.Error
	if errors.As(err, &e) && e.Code == database.Violated && e.Violation != nil && e.Violation.Kind == database.ForeignKeyViolation && len(e.Violation.Columns) == 0 {
		if i := slices.IndexFunc(references, func(r Reference) bool { return r.open }); i >= 0 {
			return references[i].Missing(scope)
		}
	}
	return Explain(scope, err)
}

// isNamedBy reports whether a foreign key with these values leads to the row itself: it is there once it is written.
func (d *RowData) isNamedBy(fk *database.ForeignKey, values []database.Value) bool {
	if fk.References != d.Scope.Model().Table {
		return false
	}
	for i, column := range fk.ReferencedColumns {
		own := slices.IndexFunc(d.Set, func(a database.Assignment) bool { return a.Column == column && a.How == database.AssignValue })
		if own < 0 || !sameValue(column, d.Set[own].Value, values[i]) {
			return false
		}
	}
	return true
}

// CheckReferences sees to it that each foreign key names a row that the token may see. A row that is not there and a row
// that the policy hides look the same, whatever the engine says about a violation (docs/design/writes-and-deletes.md,
// "References").
func (w *Writer) CheckReferences(scope access.Scope, references []Reference) error {
	var batch database.Batch
	if err := addChecks(&batch, scope, references); err != nil {
		return err
	}
	return w.Tx.Run(w.Req.Ctx, &batch)
}

// addChecks adds to a batch what CheckReferences reads. If that is nothing, it returns the error at once.
func addChecks(batch *database.Batch, scope access.Scope, references []Reference) error {
	missing := make([]bool, len(references))
	judge := func() error {
		problems := &call.Violations{}
		for i, r := range references {
			if missing[i] {
				addMissing(problems, scope, r.key.Columns)
			}
		}
		return problems.Err()
	}
	last := -1
	for i, r := range references {
		if missing[i] = r.values != nil && r.withheld; r.values != nil && !r.withheld {
			last = i
		}
	}
	if last < 0 {
		return judge()
	}
	for i, r := range references[:last+1] {
		if r.values == nil || r.withheld {
			continue
		}
		batch.Select(r.named(), func(found database.Answer) error {
			if missing[i] = found.Page.Count == 0; i < last {
				return nil
			}
			return judge()
		})
	}
	return nil
}

// named is the plan of the row that a reference names.
func (r Reference) named() *database.Select {
	var where database.And
	for i, column := range r.key.ReferencedColumns {
		where = append(where, database.Compare{Column: column, Op: database.Equal, Value: r.values[i]})
	}
	output := []database.Output{{Name: call.IDName, Columns: r.key.ReferencedColumns[:1]}}
	return &database.Select{From: r.target.Source(), Output: output, Where: where, Limit: 1}
}

// stillVisible is the condition that the foreign keys that were set name rows that the token may see. It stands in the
// statement that reads the row back: what was checked before the write may have changed since.
func stillVisible(references []Reference) database.And {
	var all database.And
	for _, r := range references {
		if r.Limited() {
			all = append(all, r.Visible())
		}
	}
	return all
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
	if target == nil || len(columns) != 1 || !call.FindOperation("autocomplete").OfferedFor(target.Catalog(), target) {
		return ""
	}
	return fmt.Sprintf(`; autocomplete {"model":%q,"term":"…"} finds ids`, target.Name)
}
