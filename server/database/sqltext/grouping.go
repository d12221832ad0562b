package sqltext

import (
	"strconv"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// groups writes a grouping as a table, and gives it the present alias. Its columns have the names of its source's table.
// Everything is written in the order in which its values are bound.
func (w *writer) groups(from database.Source) {
	g, columns := from.Groups(), from.Table().Columns
	w.nested(g.Joins, func() {
		w.text("(SELECT ")
		for i := range g.Keys {
			w.separate(i)
			before := w.enter(g.Keys[i].Join)
			w.dialect.groupKey(w, g.Keys[i])
			w.alias = before
			w.named(columns[i])
		}
		for i := range g.Measures {
			w.separate(len(g.Keys) + i)
			w.sufficient(g, &g.Measures[i], func() { w.measure(g, &g.Measures[i]) })
			w.named(columns[len(g.Keys)+i])
		}
		w.rowsOf(g.From, g.Joins, g.Where, precedenceTop)
		for i := range g.Keys {
			if i == 0 {
				w.text(" GROUP BY ")
			} else {
				w.text(", ")
			}
			w.buf = strconv.AppendInt(w.buf, int64(i+1), 10) // the place in what is selected
			if key := g.Keys[i]; key.Part == database.WholeValue && w.dialect.groupsBeginnings(key.Column) {
				w.text(", SHA2(")
				before := w.enter(key.Join)
				w.dialect.groupKey(w, key)
				w.alias = before
				w.text(", 256)")
			}
		}
		if least := w.leastRows(g); least > 0 {
			w.text(" HAVING count(*) >= ")
			w.buf = strconv.AppendInt(w.buf, int64(least), 10)
		}
		w.text(w.dialect.groupsEnd() + ") AS ")
	})
	w.aliasName(w.alias)
}

// leastRows is how many rows a group must be asked to have; 0 if it need not be asked.
func (w *writer) leastRows(g *database.Grouping) int {
	switch {
	case g.MinRows > 1:
		return g.MinRows
	case len(g.Keys) > 0 && w.dialect.countsGroups():
		return 1
	}
	return 0
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
		w.aggregate(&database.Measure{Where: part.Where}, "count(", nil)
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

// named gives what was written before the name of a column.
func (w *writer) named(c *database.Column) {
	w.text(" AS ")
	w.identifier(c.Name)
}

// measure writes what is computed for each group.
func (w *writer) measure(g *database.Grouping, m *database.Measure) {
	switch m.Func {
	case database.CountRows:
		w.aggregate(m, "count(", nil)
	case database.Count:
		w.ofColumn(m, "count(")
	case database.CountDistinct:
		w.aggregate(m, "count(DISTINCT ", func() { w.dialect.groupKey(w, database.GroupKey{Ref: m.Ref, Part: m.Part, Zone: m.Zone}) })
	case database.Min:
		w.dialect.extreme(w, m, "min(")
	case database.Max:
		w.dialect.extreme(w, m, "max(")
	case database.Sum:
		w.dialect.sum(w, m)
	case database.Avg:
		w.dialect.average(w, m)
	case database.Deviation:
		w.dialect.deviation(w, m)
	case database.Percentile:
		w.dialect.percentile(w, m)
	case database.Texts:
		w.dialect.texts(w, m)
	case database.Ratio:
		w.dialect.ratio(w, w.term(g, m.Dividend), w.term(g, m.Divisor))
	}
}

// term is one of the two measures of a ratio.
type term struct {
	write func()
	// float reports whether it is a float.
	float bool
	// average is set if it is an average that write rounds: a ratio is rounded once.
	average *database.Measure
	// scale is the number of digits behind its point.
	scale int
}

func (w *writer) term(g *database.Grouping, i int) term {
	m := &g.Measures[i]
	var average *database.Measure
	if m.Func == database.Avg && m.Ref.Column.Kind != database.Float {
		average = m
	}
	return term{
		average: average,
		scale:   scaleOf(m),
		write:   func() { w.measure(g, m) },
		float:   m.Ref.Column != nil && m.Ref.Column.Kind == database.Float && m.Func != database.Count && m.Func != database.CountDistinct,
	}
}

// scaleOf is the number of digits behind the point of what a measure comes to.
func scaleOf(m *database.Measure) int {
	switch m.Func {
	case database.Sum, database.Min, database.Max:
		return max(m.Ref.Column.Scale, 0)
	case database.Avg, database.Percentile:
		return database.QuotientDigits
	}
	return 0
}

// times returns what writes one side of a ratio, multiplied by the number of values in the average of the other side: the sum of
// an average stands in its place.
func (w *writer) times(write func(), other term) func() {
	if other.average == nil {
		return write
	}
	return func() {
		w.around("(", write, " * ")
		w.ofColumn(other.average, "count(")
		w.text(")")
	}
}

// ofColumn writes a function of a measure's column.
func (w *writer) ofColumn(m *database.Measure, function string) {
	w.aggregate(m, function, func() { w.column(m.Ref.Column) })
}

// aggregate writes an aggregate function, which comes with its opening parenthesis, of the rows that a measure is about:
// of what value writes at the row that has the measure's column; of the rows themselves if value is nil.
func (w *writer) aggregate(m *database.Measure, function string, value func()) {
	w.aggregateWith(m, function, value, func() {})
}

// aggregateWith is aggregate with more behind the value.
func (w *writer) aggregateWith(m *database.Measure, function string, value, more func()) {
	w.planned(func() { w.filtered(m, function, value, more) })
}

// filtered is an aggregate of the rows that its measure takes.
func (w *writer) filtered(m *database.Measure, function string, value, more func()) {
	filter := m.Where != nil && w.dialect.filters()
	w.text(function)
	if m.Where != nil && !filter {
		w.text("CASE WHEN ")
		w.chooses(m.Where)
		w.text(" THEN ")
	}
	switch {
	case value != nil:
		before := w.enter(m.Ref.Join)
		value()
		w.alias = before
	case m.Where != nil && !filter:
		w.text("1")
	default:
		w.text("*")
	}
	if m.Where != nil && !filter {
		w.text(" END")
	}
	more()
	w.text(")")
	if filter {
		w.text(" FILTER (WHERE ")
		w.chooses(m.Where)
		w.text(")")
	}
}
