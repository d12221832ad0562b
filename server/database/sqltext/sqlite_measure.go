package sqltext

import "github.com/mcp-admin/mcp-admin-operator/server/database"

// number passes over what is not a number.
func (d sqlite) number(w *writer, c *database.Column) {
	column := func() { w.column(c) }
	if c.Exact() {
		w.around(SQLiteNumber+"(", column, ") COLLATE "+SQLiteDecimal)
		return
	}
	w.around("CASE WHEN typeof(", column, ") IN ('integer', 'real') THEN ")
	w.around("", column, " END")
}

func (sqlite) deviation(w *writer, m *database.Measure) { w.ofColumn(m, SQLiteDeviation+"(") }

func (d sqlite) percentile(w *writer, m *database.Measure) {
	weight := func() {
		w.around(SQLiteWeight+"('"+m.Fraction+"', ", func() { w.column(m.Among) }, ", ")
		w.around("", func() { w.column(m.Place) }, ")")
	}
	column := func() { w.column(m.Ref.Column) }
	if m.Ref.Column.Kind == database.Float {
		w.aggregate(m, "sum(", func() {
			w.around("", column, " * CAST(")
			w.around("", weight, " AS REAL)")
		})
		return
	}
	w.text(SQLiteRound + "(")
	w.aggregate(m, SQLiteSum+"(", func() {
		w.around(SQLiteCompute+"('*', ", column, ", ")
		w.around("", weight, ", 0), 0")
	})
	w.text(", " + quotientDigits + ") COLLATE " + SQLiteDecimal)
}

func (sqlite) texts(w *writer, m *database.Measure) {
	w.joined(m, "group_concat(", func() { w.around(", ', ' ORDER BY ", func() { w.column(m.Place) }, "") })
}

func (sqlite) averageMoment(w *writer, m *database.Measure) {
	mean := func() {
		w.aggregate(m, SQLiteMean+"(", func() { w.around(comparableTimestamp, func() { w.column(m.Ref.Column) }, ", 'auto')") })
	}
	if m.Ref.Column.Kind == database.Date {
		w.around("date(", mean, ")")
		return
	}
	mean()
}
