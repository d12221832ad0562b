package sqltext

import (
	"strconv"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

func (postgresql) number(w *writer, c *database.Column) {
	w.column(c)
	if c.NativeType == "oid" {
		w.text("::bigint")
	}
}

// deviation of exact numbers is computed in doubles only at the end, from exact sums, as on every engine.
func (d postgresql) deviation(w *writer, m *database.Measure) {
	if m.Ref.Column.Kind == database.Float {
		w.aggregate(m, "stddev_samp(", func() { w.around("", func() { w.column(m.Ref.Column) }, "::float8") })
		return
	}
	value := func() { w.around("", func() { d.number(w, m.Ref.Column) }, "::numeric") }
	sum := func() { w.aggregate(m, "sum(", value) }
	squares := func() {
		w.aggregate(m, "sum(", func() {
			w.around("", value, " * ")
			value()
		})
	}
	count := func() { w.ofColumn(m, "count(") }
	w.around("sqrt((", count, " * ")
	w.around("", squares, " - ")
	w.around("", sum, " * ")
	w.around("", sum, ")::float8 / nullif(")
	w.around("", count, "::float8 * (")
	w.around("", count, " - 1), 0))")
}

func (d postgresql) percentile(w *writer, m *database.Measure) {
	value := func() { w.column(m.Ref.Column) }
	if m.Ref.Column.Kind == database.Float {
		w.aggregate(m, "sum(", func() {
			w.weighted(m, func(weight func()) {
				w.around("", value, "::float8 * ")
				w.around("", weight, "::float8")
			})
		})
		return
	}
	w.text("round(")
	w.aggregate(m, "sum(", func() {
		w.weighted(m, func(weight func()) {
			w.around("", value, "::numeric * ")
			weight()
		})
	})
	w.text(", " + quotientDigits + ")")
}

func (postgresql) texts(w *writer, m *database.Measure) {
	w.joined(m, "string_agg(", func() { w.around(", ', ' ORDER BY ", func() { w.column(m.Place) }, "") })
}

// averageMoment passes over infinite moments.
func (d postgresql) averageMoment(w *writer, m *database.Measure) {
	c := m.Ref.Column
	moment := func() { d.clock(w, c, nil) }
	mean := func(unit int) {
		w.text("floor(")
		w.aggregate(m, "avg(", func() {
			w.around("CASE WHEN isfinite(", moment, ") THEN extract(epoch FROM ")
			w.around("", moment, ")::numeric END")
		})
		w.text(" / " + strconv.Itoa(unit) + ")")
	}
	if c.Kind == database.Date {
		w.around("(date '1970-01-01' + ", func() { mean(86400) }, "::integer)")
		return
	}
	w.around("(timestamp '1970-01-01' + ", func() { mean(1) }, "::float8 * interval '1 second')")
	if c.Kind == database.TimestampTZ {
		w.text(" AT TIME ZONE 'UTC'")
	}
}
