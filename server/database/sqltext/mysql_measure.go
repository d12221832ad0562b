package sqltext

import "github.com/mcp-admin/mcp-admin-operator/server/database"

func (mysql) number(w *writer, c *database.Column) { w.column(c) }

// deviation of exact numbers is computed in doubles only at the end, from exact sums, as on every engine.
func (mysql) deviation(w *writer, m *database.Measure) {
	column := func() { w.column(m.Ref.Column) }
	if m.Ref.Column.Kind == database.Float {
		w.aggregate(m, "STDDEV_SAMP(", column)
		return
	}
	value := column
	if m.Ref.Column.Kind == database.Integer {
		value = func() { w.around("CAST(", column, " AS DECIMAL(65,0))") }
	}
	sum := func() { w.aggregate(m, "sum(", value) }
	squares := func() {
		w.aggregate(m, "sum(", func() {
			w.around("", value, " * ")
			value()
		})
	}
	count := func() { w.ofColumn(m, "count(") }
	w.around("SQRT((", count, " * ")
	w.around("", squares, " - ")
	w.around("", sum, " * ")
	w.around("", sum, " + 0e0) / NULLIF((")
	w.around("", count, " + 0e0) * (")
	w.around("", count, " - 1), 0))")
}

func (mysql) percentile(w *writer, m *database.Measure) {
	sum := func() {
		w.aggregate(m, "sum(", func() {
			w.weighted(m, func(weight func()) {
				w.around("", func() { w.column(m.Ref.Column) }, " * ")
				weight()
			})
		})
	}
	if m.Ref.Column.Kind == database.Float {
		sum()
		return
	}
	w.around("round(CAST(", sum, " AS DECIMAL(65,30)), "+quotientDigits+")") // MySQL rounds to no more digits than there are
}

func (mysql) texts(w *writer, m *database.Measure) {
	w.joined(m, "GROUP_CONCAT(", func() { w.around(" ORDER BY ", func() { w.column(m.Place) }, " SEPARATOR ', '") })
}

// averageMoment counts from the year 1: DIV rounds towards zero. A gateway cannot add more than 292 years in seconds, and says nothing
// of it: there days are added first.
func (d mysql) averageMoment(w *writer, m *database.Measure) {
	column := func() { w.column(m.Ref.Column) }
	count := func() { w.ofColumn(m, "count(") }
	if m.Ref.Column.Kind == database.Date {
		w.around("FROM_DAYS(", func() { w.aggregate(m, "sum(", func() { w.around("TO_DAYS(", column, ")") }) }, " DIV ")
		w.around("", count, ")")
		return
	}
	const first = "TIMESTAMP'0001-01-01 00:00:00'"
	seconds := func() {
		w.aggregate(m, "sum(", func() { w.around("TIMESTAMPDIFF(MICROSECOND, "+first+", ", column, ")") })
		w.around(" DIV (", count, " * 1000000)")
	}
	if !d.shards {
		w.around("TIMESTAMPADD(SECOND, ", seconds, ", "+first+")")
		return
	}
	w.around("TIMESTAMPADD(SECOND, (", seconds, ") % 86400, ")
	w.around("TIMESTAMPADD(DAY, (", seconds, ") DIV 86400, "+first+"))")
}
