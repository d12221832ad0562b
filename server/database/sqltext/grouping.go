package sqltext

import (
	"strconv"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// groups writes a grouping as a table, and gives it the present alias. Its columns have the names of its source's table.
// Everything is written in the order in which its values are bound.
func (w *writer) groups(g *database.Grouping) {
	alias, base := w.alias, w.base
	w.aliases++
	w.alias, w.base = w.aliases, w.aliases
	w.number(g.Joins)
	w.text("(SELECT ")
	for i := range g.Keys {
		w.separate(i)
		before := w.enter(g.Keys[i].Join)
		w.dialect.groupKey(w, g.Keys[i])
		w.alias = before
		w.text(" AS k")
		w.buf = strconv.AppendInt(w.buf, int64(i), 10)
	}
	for i := range g.Measures {
		w.separate(len(g.Keys) + i)
		w.sufficient(g, &g.Measures[i], func() { w.measure(g, &g.Measures[i]) })
		w.text(" AS m")
		w.buf = strconv.AppendInt(w.buf, int64(i), 10)
	}
	w.rowsOf(g.From, g.Joins, g.Where, precedenceTop)
	for i := range g.Keys {
		if i == 0 {
			w.text(" GROUP BY ")
		} else {
			w.text(", ")
		}
		w.buf = strconv.AppendInt(w.buf, int64(i+1), 10) // the place in what is selected
	}
	if g.MinRows > 1 {
		w.text(" HAVING count(*) >= ")
		w.buf = strconv.AppendInt(w.buf, int64(g.MinRows), 10)
	}
	w.text(") AS ")
	w.alias, w.base = alias, base
	w.aliasName(w.alias)
}

// separate writes the comma before the i-th of several things.
func (w *writer) separate(i int) {
	if i > 0 {
		w.text(", ")
	}
}

// sufficient writes what value does, or NULL if fewer rows than the grouping's MinRows meet the condition of the measure.
func (w *writer) sufficient(g *database.Grouping, m *database.Measure, value func()) {
	if g.MinRows <= 1 {
		value()
		return
	}
	parts := []*database.Measure{m}
	if m.Func == database.Ratio {
		parts = []*database.Measure{&g.Measures[m.Dividend], &g.Measures[m.Divisor]}
	}
	conditions := 0
	for _, part := range parts {
		if part.Where == nil {
			continue
		}
		if conditions++; conditions == 1 {
			w.text("CASE WHEN ")
		} else {
			w.text(" AND ")
		}
		w.call("count(", &database.Measure{Where: part.Where})
		w.text(" >= ")
		w.buf = strconv.AppendInt(w.buf, int64(g.MinRows), 10)
	}
	if conditions > 0 {
		w.text(" THEN ")
	}
	value()
	if conditions > 0 {
		w.text(" END")
	}
}

// measure writes what is computed for each group.
func (w *writer) measure(g *database.Grouping, m *database.Measure) {
	switch m.Func {
	case database.CountRows, database.Count:
		w.call("count(", m)
	case database.CountDistinct:
		w.text("count(DISTINCT ")
		w.argument(m, func() { w.dialect.groupKey(w, database.GroupKey{Ref: m.Ref}) })
		w.text(")")
	case database.Min:
		w.call("min(", m)
	case database.Max:
		w.call("max(", m)
	case database.Sum:
		w.sum(m)
	case database.Avg:
		w.dialect.quotient(w, func() { w.sum(m) }, func() { w.call("count(", m) })
	case database.Ratio:
		w.dialect.quotient(w,
			func() { w.measure(g, &g.Measures[m.Dividend]) },
			func() { w.measure(g, &g.Measures[m.Divisor]) })
	}
}

// call writes a function of a measure's column.
func (w *writer) call(function string, m *database.Measure) {
	w.text(function)
	w.argument(m, func() { w.column(m.Ref.Column) })
	w.text(")")
}

func (w *writer) sum(m *database.Measure) {
	w.dialect.sum(w, m.Ref.Column, func() { w.argument(m, func() { w.column(m.Ref.Column) }) })
}

// argument writes what a measure's function is of: what value writes at the measure's row, or a * for rows; NULL for rows
// that the measure's condition leaves out.
func (w *writer) argument(m *database.Measure, value func()) {
	if m.Where != nil {
		w.text("CASE WHEN ")
		w.condition(m.Where, precedenceTop)
		w.text(" THEN ")
	}
	switch {
	case m.Ref.Column != nil:
		before := w.enter(m.Ref.Join)
		value()
		w.alias = before
	case m.Where != nil:
		w.text("1")
	default:
		w.text("*")
	}
	if m.Where != nil {
		w.text(" END")
	}
}
