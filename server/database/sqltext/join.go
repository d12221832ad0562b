package sqltext

import "github.com/mcp-admin/mcp-admin-operator/server/database"

// numberedJoin is a join and the number of its alias.
type numberedJoin struct {
	join  *database.Join
	alias int
}

// rowsOf writes FROM and WHERE of a source at the present alias: its table or groups, its joins, its policy and a further
// condition, which may be nil. It reports whether there is a WHERE.
//
// The joins have their numbers (number).
func (w *writer) rowsOf(from database.Source, joins []*database.Join, where database.Condition, around precedence) (conditional bool) {
	w.text(" FROM ")
	w.source(from)
	if table := from.Table(); table.Elsewhere && table.Kind == database.View {
		// MariaDB's Spider (10.11) ends the server if a page with an offset is read again from a view alone.
		w.text(" JOIN (SELECT 1) AS alone")
	}
	w.joinAll(joins)
	condition := fenced(from, where)
	if condition == nil {
		return false
	}
	w.text(" WHERE ")
	w.condition(condition, around)
	return true
}

// source writes a source's table, groups, filled groups or windows, with the present alias.
func (w *writer) source(from database.Source) {
	if from.Windows() != nil {
		w.windows(from)
		return
	}
	if from.Ranking() != nil {
		w.ranking(from)
		return
	}
	if from.Filling() != nil {
		w.filled(from)
		return
	}
	if from.Groups() != nil {
		w.groups(from)
		return
	}
	w.aliased(from.Table())
}

// nested writes a source, with joins, within another one: with an alias of its own.
func (w *writer) nested(joins []*database.Join, write func()) {
	alias, base, outer, around := w.alias, w.base, w.outer, w.surroundings
	w.aliases++
	w.alias, w.base, w.surroundings = w.aliases, w.aliases, surroundings{}
	w.outer = append(w.outer, base)
	w.number(joins)
	write()
	w.alias, w.base, w.outer, w.surroundings = alias, base, outer, around
}

// outside writes about the row in which the present source is nested.
func (w *writer) outside(write func()) {
	alias, base, outer := w.alias, w.base, w.outer
	last := len(outer) - 1
	w.alias, w.base, w.outer = outer[last], outer[last], outer[:last:last]
	write()
	w.alias, w.base, w.outer = alias, base, outer
}

// number gives joins their numbers.
func (w *writer) number(joins []*database.Join) {
	for _, join := range joins {
		w.aliases++
		w.joins = append(w.joins, numberedJoin{join, w.aliases})
	}
}

// joinAll writes joins that have their numbers. The policy stands in ON, so that a row that it hides looks like one that
// is missing.
func (w *writer) joinAll(joins []*database.Join) {
	w.hasJoins = w.hasJoins || len(joins) > 0
	for _, join := range joins {
		before := w.enter(join)
		w.text(" LEFT JOIN ")
		w.source(join.From)
		w.text(" ON ")
		if len(join.Theirs) == 0 {
			w.text("TRUE")
		}
		w.equalColumns(join.Theirs, join.Ours, w.aliasOf(join.Through))
		if policy := join.From.Policy(); policy != nil {
			w.text(" AND ")
			w.condition(policy, precedenceAnd)
		}
		w.alias = before
	}
}

// equalColumns writes that the present source's columns equal another's, pair by pair, so that an index of the former finds rows.
func (w *writer) equalColumns(columns, others []*database.Column, other int) {
	for i, column := range columns {
		if i > 0 {
			w.text(" AND ")
		}
		w.equal(column, others[i], other)
	}
}

// differ reports whether values of two columns are compared by what they mean.
func differ(a, b *database.Column) bool {
	return a.Kind != b.Kind || a.Kind == database.Enum && !sameEnum(a, b) || (a.NativeType == "oid") != (b.NativeType == "oid")
}

// equal writes that a column of the present source equals one of another source. Those of a foreign key need nothing else.
func (w *writer) equal(column, of *database.Column, other int) {
	switch {
	case differ(column, of):
		w.dialect.side(w, func() { w.column(column) }, column, of, database.Equal)
		w.text(" = ")
		w.dialect.side(w, func() { w.columnOf(other, of) }, of, column, database.Equal)
	case column.Collation != of.Collation:
		w.column(column)
		w.text(" = ")
		w.dialect.collate(w, func() { w.columnOf(other, of) }, column.Collation)
	default:
		w.column(column)
		w.text(" = ")
		w.columnOf(other, of)
	}
}

// aliasOf is the number of a join; nil is the source that is being written.
func (w *writer) aliasOf(join *database.Join) int {
	if join == nil {
		return w.base
	}
	for i := len(w.joins) - 1; i >= 0; i-- {
		if w.joins[i].join == join {
			return w.joins[i].alias
		}
	}
	panic("sqltext: a plan uses a join that is not among its joins")
}

// enter makes a join's row the present one, and returns the number of the one before.
func (w *writer) enter(join *database.Join) (before int) {
	before = w.alias
	w.alias = w.aliasOf(join)
	return before
}

// ref writes a column of the source or of one of its joins.
func (w *writer) ref(r database.Ref) { w.columnOf(w.aliasOf(r.Join), r.Column) }
