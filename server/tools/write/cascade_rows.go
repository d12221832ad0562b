package write

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/read"
)

// affected are the rows of a table that are concerned.
type affected struct {
	table *database.Table
	// model is nil where the table is not registered; scope then means nothing.
	model *catalog.Model
	scope access.Scope
	// gone are all rows that go, by identity; along only the ones that go with others.
	gone  map[string]bool
	along []foundRow
	// unseen is set if some of the rows that are concerned are out of the token's sight: no row is named then.
	unseen bool
	// changed are rows whose foreign keys get other values, each once; places says where in it they are, by identity.
	// restricting are the rows that forbid a row to go, hiding the ones that do so by a hidden key.
	changed             []foundRow
	places              map[string]int
	restricting, hiding []foundRow
}

// foundRow is a row with what is needed to follow it; of a table that is not registered it has no fields.
type foundRow struct {
	*call.Row
	// values are the values of the key's columns and of the columns that foreign keys name.
	values map[*database.Column]database.Value
	// nexts are the values that some columns are to get.
	nexts map[*database.Column]database.Value
	// identity tells the row from others of its table.
	identity string
}

// will is the value that a column is to have.
func (r foundRow) will(c *database.Column) database.Value {
	if next, changes := r.nexts[c]; changes {
		return next
	}
	return r.values[c]
}

// changes reports whether any of the columns is to get another value.
func (r foundRow) changes(columns []*database.Column) bool {
	return slices.ContainsFunc(columns, func(c *database.Column) bool { return differs(c, r.values[c], r.will(c)) })
}

// differs reports whether two values of a column, either of which may be null, are not known to be one.
func differs(c *database.Column, a, b database.Value) bool {
	_, unknown := b.(unknownValue)
	if unknown || a == nil || b == nil {
		return unknown || a != nil || b != nil
	}
	return !sameValue(c, a, b)
}

// take notes the rows that go with others, and returns the ones that were not noted before.
func (a *affected) take(rows []foundRow) []foundRow {
	var fresh []foundRow
	for _, row := range rows {
		if !a.gone[row.identity] {
			a.gone[row.identity] = true
			fresh = append(fresh, row)
		}
	}
	a.along = append(a.along, fresh...)
	return fresh
}

// change notes the next values of rows, and returns the rows with something new.
func (a *affected) change(rows []foundRow, next func(foundRow) map[*database.Column]database.Value) []foundRow {
	var fresh []foundRow
	for _, row := range rows {
		place, met := a.places[row.identity]
		if !met {
			place = len(a.changed)
			row.nexts = map[*database.Column]database.Value{}
			a.places[row.identity], a.changed = place, append(a.changed, row)
		}
		nexts := a.changed[place].nexts
		before := len(nexts)
		for column, value := range next(row) {
			if _, there := nexts[column]; !there {
				nexts[column] = value
			}
		}
		if len(nexts) > before {
			fresh = append(fresh, a.changed[place])
		}
	}
	return fresh
}

func (f *cascade) affected(t *database.Table, m *catalog.Model) *affected {
	a := f.tables[t]
	if a == nil {
		a = &affected{table: t, model: m, gone: map[string]bool{}, places: map[string]int{}}
		if m != nil {
			a.scope = f.req.Token.Reach(m)
		}
		f.tables[t] = a
		f.order = append(f.order, a)
	}
	return a
}

// staying are those of the table's rows that do not go.
func (a *affected) staying(rows []foundRow) []foundRow {
	return slices.DeleteFunc(slices.Clone(rows), func(row foundRow) bool { return a.gone[row.identity] })
}

// changedOnly are the rows that change and stay.
func (a *affected) changedOnly() []foundRow { return a.staying(a.changed) }

// find reads and locks the rows of a source that meet a condition; m is the model of its table, or nil.
func (f *cascade) find(from database.Source, m *catalog.Model, where database.Condition) ([]foundRow, error) {
	t := from.Table()
	identity := identityColumns(t, m)
	columns := slices.Clone(identity)
	var output []database.Output
	if m != nil {
		columns = append(columns, call.KeyColumns(m)...)
		scope := f.req.Token.Reach(m)
		output = append(read.PlanOutput(scope), planKept(f.req, scope)...)
	}
	for _, dependent := range f.req.Catalog.Dependents(t) {
		if readable(dependent.Key.ReferencedColumns) {
			columns = append(columns, dependent.Key.ReferencedColumns...)
		}
	}
	for _, fk := range t.ForeignKeys {
		if readable(fk.Columns) {
			columns = append(columns, fk.Columns...)
		}
	}
	if len(identity) == 0 && len(f.req.Catalog.Dependents(t)) > 0 {
		identity = columns
	}
	// The columns stand beside the fields under names that no field has.
	for _, column := range columns {
		output = append(output, database.Output{Name: columnMember(column), Columns: []*database.Column{column}})
		if column.Loose {
			output = append(output, database.Output{Name: keptColumnMember(column), Columns: []*database.Column{column}, Kept: true})
		}
	}
	plan := &database.Select{From: from, Output: output, Where: where, Limit: maxDeletion + 1, MaxValue: MaxJournalValue, MaxBytes: max(maxDeletionBytes-f.bytes, 1), Lock: call.Lockable(t)}
	decoded, page, err := call.ReadAll[map[string]json.RawMessage](f.req.Ctx, f.tx, plan)
	if err != nil {
		return nil, err
	}
	if page.Cut {
		return nil, f.tooManyBytes()
	}
	for _, all := range decoded {
		for _, value := range all {
			f.bytes += len(value)
		}
	}
	rows := make([]foundRow, len(decoded))
	for i, all := range decoded {
		if rows[i], err = takeRow(m, all, columns, identity); err != nil {
			return nil, err
		}
		if len(identity) == 0 {
			rows[i].identity = fmt.Sprint(f.total, i) // nothing tells the rows apart
		}
	}
	return rows, nil
}

// identityColumns are the columns that identify rows of a table, if the database's user may read them: the primary key, or
// the model's, if that is unique. nil: there are none.
func identityColumns(t *database.Table, m *catalog.Model) []*database.Column {
	switch {
	case len(t.PrimaryKey) > 0 && readable(t.PrimaryKey):
		return t.PrimaryKey
	case m != nil && m.UniqueKey:
		return call.KeyColumns(m)
	}
	return nil
}

func readable(columns []*database.Column) bool {
	return !slices.ContainsFunc(columns, func(c *database.Column) bool { return !c.Privileges.Has(database.MaySelect) })
}

func columnMember(c *database.Column) string { return "=" + c.Name }

func keptColumnMember(c *database.Column) string { return "^" + c.Name }

// takeRow takes the columns out of a row's members; what is left are its fields.
func takeRow(m *catalog.Model, all map[string]json.RawMessage, columns, identity []*database.Column) (foundRow, error) {
	row := foundRow{Row: &call.Row{Model: m}, values: map[*database.Column]database.Value{}}
	var text strings.Builder
	for _, column := range columns {
		raw, kept := all[columnMember(column)], all[keptColumnMember(column)]
		if raw == nil {
			continue // it was among the columns twice
		}
		delete(all, columnMember(column))
		delete(all, keptColumnMember(column))
		if slices.Contains(identity, column) {
			text.Write(raw)
			text.WriteByte(',')
		}
		if call.IsNull(raw) {
			row.values[column] = nil
			continue
		}
		value, err := readValue(column, raw, kept)
		if err != nil {
			return row, err
		}
		row.values[column] = value
	}
	row.identity = text.String()
	takeKept(row.Row, all)
	row.Fields = jsontext.MembersIn(all)
	return row, nil
}

// readValue reads a value of a column that a row shows as raw and that the database keeps so. Moments are compared by what they
// mean, so the form in which one is kept does not count.
func readValue(c *database.Column, raw, kept json.RawMessage) (database.Value, error) {
	if len(kept) == 0 || call.IsNull(kept) || c.Kind.IsMoment() && kept[0] == '"' {
		return lookup.ParseShown(c, raw)
	}
	return database.ParseKept(kept)
}

// pointing is the condition that a foreign key names one of the rows; nil where it can name none.
func pointing(fk *database.ForeignKey, rows []foundRow) database.Condition {
	whole := slices.DeleteFunc(slices.Clone(rows), func(row foundRow) bool {
		return slices.ContainsFunc(fk.ReferencedColumns, func(c *database.Column) bool { return row.values[c] == nil })
	})
	if len(whole) == 0 {
		return nil
	}
	return match(fk.Columns, fk.ReferencedColumns, whole)
}

// among is the condition that the columns have the values that they have in one of the rows.
func among(columns []*database.Column, rows []foundRow) database.Condition {
	return match(columns, columns, rows)
}

// match is the condition that the columns have the values that their columns have in one of the rows.
func match(columns, theirs []*database.Column, rows []foundRow) database.Condition {
	switch len(columns) {
	case 0:
		return database.Never // nothing tells which rows are meant
	case 1:
		in := database.In{Column: columns[0]}
		for _, row := range rows {
			in.Values = append(in.Values, row.values[theirs[0]])
		}
		return in
	}
	var any database.Or
	for _, row := range rows {
		var all database.And
		for i, column := range columns {
			all = append(all, database.Compare{Column: column, Op: database.Equal, Value: row.values[theirs[i]]})
		}
		any = append(any, all)
	}
	return any
}

// chunks cuts rows into pieces that one condition can name.
func chunks(rows []foundRow) iter.Seq[[]foundRow] { return slices.Chunk(rows, deletionChunk) }
