package tools

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
)

// The bounds of a deletion: the rows that may go or change in all, the bytes of them that are read (each costs several
// while it is worked with), and the rows that one condition names.
const (
	maxDeletion      = 10_000
	maxDeletionBytes = 8 << 20
	deletionChunk    = 500
)

// cascade follows the foreign keys that lead to rows which are to go, at every depth, as the database will when they go
// (docs/design/writes-and-deletes.md, "Deletes").
type cascade struct {
	req  *request
	tx   database.Tx
	root *catalog.Model
	// tables are those that are concerned, order the same in the order in which they were met.
	tables map[*database.Table]*affected
	order  []*affected
	// total is the number of rows that go or change, bytes the size of those that were read.
	total, bytes int
	// obstacles say why the rows cannot go.
	obstacles []string
}

// affected are the rows of a table that are concerned.
type affected struct {
	table *database.Table
	// model is nil where the table is not registered; scope then means nothing.
	model *catalog.Model
	scope access.Scope
	// gone are all rows that go, by identity; along those of them that go with others.
	gone  map[string]bool
	along []foundRow
	// unseen is set if some of the rows that are concerned are out of the token's sight: nothing is told of any then.
	unseen bool
	// changed are rows that lose what pointed at a row that goes, restricting those that forbid it to go.
	changed, restricting []foundRow
}

// foundRow is a row with what is needed to follow it; of a table that is not registered it has no fields.
type foundRow struct {
	*row
	// values are those of the columns of the key and of those that foreign keys name.
	values map[*database.Column]database.Value
	// identity tells the row from others of its table.
	identity string
}

// follow finds out what goes along with rows of the root. Parents are met, and locked, before their children.
func (f *cascade) follow(rows []foundRow) error {
	own := f.affected(f.root.Table, f.root)
	for _, row := range rows {
		own.gone[row.identity] = true
	}
	if err := f.count(len(rows)); err != nil {
		return err
	}
	type wave struct {
		table *database.Table
		rows  []foundRow
	}
	for queue := []wave{{f.root.Table, rows}}; len(queue) > 0; queue = queue[1:] {
		for _, dependent := range f.req.catalog.Dependents(queue[0].table) {
			for parents := range chunks(queue[0].rows) {
				fresh, err := f.meet(dependent, parents)
				if err != nil {
					return err
				}
				if len(fresh) > 0 {
					queue = append(queue, wave{dependent.Table, fresh})
				}
			}
		}
	}
	for _, a := range f.order {
		f.judge(a)
	}
	if len(f.obstacles) > 0 {
		return f.obstructed()
	}
	return nil
}

func (f *cascade) obstructed() error {
	return failf(CodeProtected, "%s cannot be deleted: %s", f.root.Name, strings.Join(f.obstacles, "; "))
}

// meet finds the rows that a foreign key leads from to rows that go, and returns those of them that go along and were not
// met before.
func (f *cascade) meet(dependent catalog.Dependent, parents []foundRow) ([]foundRow, error) {
	where := pointing(dependent.Key, parents)
	if where == nil {
		return nil, nil
	}
	rows, err := f.find(f.req.token.Unscoped(dependent.Table), dependent.Model, where)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	a := f.affected(dependent.Table, dependent.Model)
	if err := f.seeAll(a, where, len(rows)); err != nil {
		return nil, err
	}
	var fresh []foundRow
	switch dependent.Key.OnDelete {
	case database.Restrict:
		a.restricting = append(a.restricting, rows...)
		return nil, nil
	case database.SetNull, database.SetDefault:
		a.changed = append(a.changed, rows...)
		return nil, f.count(len(rows))
	}
	for _, row := range rows {
		if !a.gone[row.identity] {
			a.gone[row.identity] = true
			fresh = append(fresh, row)
		}
	}
	a.along = append(a.along, fresh...)
	return fresh, f.count(len(fresh))
}

// seeAll sees to it that the token's row policy hides none of the rows of a registered model that are concerned.
func (f *cascade) seeAll(a *affected, where database.Condition, all int) error {
	if a.model == nil || !a.scope.Limited() {
		return nil
	}
	visible, err := f.find(a.scope.Source(), a.model, where)
	if err == nil && len(visible) < all {
		a.unseen = true
		f.obstruct(otherRecords + " depend on it")
	}
	return err
}

// judge finds what the token may not do to the rows of a table, and what keeps the rows from going.
func (f *cascade) judge(a *affected) {
	restricting := slices.DeleteFunc(slices.Clone(a.restricting), func(row foundRow) bool { return a.gone[row.identity] })
	if len(restricting) > 0 {
		f.object(a, "it is referred to by %s; delete or change that first", len(restricting))
	}
	if a.model == nil {
		return
	}
	if len(a.along) > 0 && !a.scope.Has(access.Delete) {
		f.object(a, "deleting it would delete %s, which you may not", len(a.along))
	}
	if n := len(a.changedOnly()); n > 0 && !a.scope.Has(access.Change) {
		f.object(a, "deleting it would change %s, which you may not", n)
	}
}

// object adds an obstacle about rows of a table, which is named only where the token may view its model.
func (f *cascade) object(a *affected, format string, n int) {
	if f.nameable(a) {
		f.obstruct(fmt.Sprintf(format, consequence{what: verboseName(a.model, n), count: n}))
	} else {
		f.obstruct(otherRecords + " depend on it")
	}
}

func (f *cascade) obstruct(obstacle string) {
	if !slices.Contains(f.obstacles, obstacle) {
		f.obstacles = append(f.obstacles, obstacle)
	}
}

func (f *cascade) nameable(a *affected) bool {
	return a.model != nil && a.scope.Has(access.View) && !a.unseen
}

// consequences are what goes along, model by model; what the token may not view is added up.
func (f *cascade) consequences() []consequence {
	var named []consequence
	others := [2]consequence{{what: otherRecords}, {what: otherRecords, changed: true}}
	for _, a := range f.order {
		for i, n := range []int{len(a.along), len(a.changedOnly())} {
			switch {
			case n == 0:
			case f.nameable(a):
				named = append(named, consequence{verboseName(a.model, n), n, i == 1})
			default:
				others[i].count += n
			}
		}
	}
	for _, c := range others {
		if c.count > 0 {
			named = append(named, c)
		}
	}
	return named
}

func verboseName(m *catalog.Model, n int) string {
	if n == 1 {
		return m.Declared.VerboseName
	}
	return m.Declared.VerboseNamePlural
}

// count bounds what one deletion does.
func (f *cascade) count(rows int) error {
	f.total += rows
	switch {
	case f.total <= maxDeletion:
		return nil
	case len(f.obstacles) > 0: // how many there are is not the token's to know
		return f.obstructed()
	}
	return failf(CodeProtected, "%s cannot be deleted: more than %d rows would go or change; delete what depends on it in smaller steps first", f.root.Name, maxDeletion)
}

// tooManyBytes is the error about rows that are larger than maxDeletionBytes.
func (f *cascade) tooManyBytes() error {
	if len(f.obstacles) > 0 { // how large they are is not the token's to know
		return f.obstructed()
	}
	return failf(CodeProtected, "%s cannot be deleted: the rows that would go or change are too large for one call; delete what depends on it in smaller steps first", f.root.Name)
}

func (f *cascade) affected(t *database.Table, m *catalog.Model) *affected {
	a := f.tables[t]
	if a == nil {
		a = &affected{table: t, model: m, gone: map[string]bool{}}
		if m != nil {
			a.scope = f.req.token.Reach(m)
		}
		f.tables[t] = a
		f.order = append(f.order, a)
	}
	return a
}

// changedOnly are the rows that change and stay, each once.
func (a *affected) changedOnly() []foundRow {
	var some []foundRow
	seen := map[string]bool{}
	for _, row := range a.changed {
		if !a.gone[row.identity] && !seen[row.identity] {
			seen[row.identity] = true
			some = append(some, row)
		}
	}
	return some
}

// find reads and locks the rows of a source that meet a condition; m is the model of its table, or nil.
func (f *cascade) find(from database.Source, m *catalog.Model, where database.Condition) ([]foundRow, error) {
	t := from.Table()
	columns := slices.Clone(t.PrimaryKey)
	var output []database.Output
	if m != nil {
		columns = append(columns, keyColumns(m)...)
		var err error
		if output, err = planOutput(f.req.token.Reach(m), nil); err != nil {
			return nil, err
		}
	}
	for _, dependent := range f.req.catalog.Dependents(t) {
		columns = append(columns, dependent.Key.ReferencedColumns...)
	}
	if len(columns) == 0 {
		columns = t.Columns[:1] // a row needs some member
	}
	// The columns stand beside the fields under names that no field has.
	for _, column := range columns {
		output = append(output, database.Output{Name: columnMember(column), Columns: []*database.Column{column}})
	}
	plan := &database.Select{From: from, Output: output, Where: where, Limit: maxDeletion + 1, MaxValue: maxJournalValue, MaxBytes: max(maxDeletionBytes-f.bytes, 1), Lock: lockable(t)}
	decoded, page, err := readAll[map[string]json.RawMessage](f.req.ctx, f.tx, plan)
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
		if rows[i], err = takeRow(m, all, columns); err != nil {
			return nil, err
		}
		if len(t.PrimaryKey) == 0 && len(f.req.catalog.Dependents(t)) == 0 {
			rows[i].identity = fmt.Sprint(f.total, i) // nothing tells the rows apart, and nothing needs to
		}
	}
	return rows, nil
}

func columnMember(c *database.Column) string { return "=" + c.Name }

// takeRow takes the columns out of a row's members; what is left are its fields.
func takeRow(m *catalog.Model, all map[string]json.RawMessage, columns []*database.Column) (foundRow, error) {
	row := foundRow{row: &row{model: m, fields: all}, values: map[*database.Column]database.Value{}}
	var identity strings.Builder
	for _, column := range columns {
		raw := all[columnMember(column)]
		if raw == nil {
			continue // it was among the columns twice
		}
		delete(all, columnMember(column))
		identity.Write(raw)
		identity.WriteByte(',')
		if isNull(raw) {
			row.values[column] = nil
			continue
		}
		value, err := lookup.ParseShown(column, raw)
		if err != nil {
			return row, err
		}
		row.values[column] = value
	}
	row.identity = identity.String()
	return row, nil
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
