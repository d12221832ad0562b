package sqltext

import (
	"strconv"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// wideNumber writes a column's exact number in the widest decimal type: a product of narrower ones may have no room.
func (d duckdb) wideNumber(w *writer, c *database.Column) {
	w.around("", func() { d.number(w, c) }, "::"+duckdbExact(mostDuckDBDigits, max(c.Scale, 0)))
}

// The bounds of an exact deviation: of a value without its point, and of the number of values.
const (
	exactDeviationValue = "9223372036854775808::HUGEINT"
	exactDeviationCount = "1000000000"
)

// limb is what the two parts of a value are cut at, so that the squares of both have room.
const limb = "4294967296::HUGEINT"

// deviation of exact numbers is computed in doubles only at the end, from exact sums, as on every engine: if these have room.
func (d duckdb) deviation(w *writer, m *database.Measure) {
	c := m.Ref.Column
	doubles := func() {
		w.aggregate(m, "stddev_samp(", func() { w.around("", func() { d.number(w, c) }, "::DOUBLE") })
	}
	scale := max(c.Scale, 0)
	if c.Kind == database.Float || 2*scale > mostDuckDBDigits {
		doubles()
		return
	}
	whole := func() { wholeDecimal(w, exactTerm{func() { w.column(c) }, scale}, 0) }
	small := func(value func()) func() {
		return func() {
			w.around("CASE WHEN abs(", whole, ") <= "+exactDeviationValue+" THEN ")
			w.around("", value, " END")
		}
	}
	high := func() { w.around("(", whole, " // "+limb+")") }
	low := func() { w.around("(", whole, " % "+limb+")") }
	product := func(a, b func()) func() {
		return func() {
			w.around("", a, " * ")
			b()
		}
	}
	count := func() { w.ofColumn(m, "count(") }
	w.text("CASE WHEN ")
	w.aggregate(m, "count(", small(whole))
	w.around(" = ", count, " AND ")
	w.around("", count, " < "+exactDeviationCount+" THEN sqrt("+duckDBDeviations+"("+strconv.Itoa(2*scale)+", ")
	w.around("", count, "::HUGEINT")
	for _, value := range []func(){high, low, product(high, high), product(high, low), product(low, low)} {
		w.text(", ")
		w.aggregate(m, "sum(", small(value))
	}
	w.text(") / nullif(")
	w.around("", count, "::DOUBLE * (")
	w.around("", count, " - 1), 0)) ELSE ")
	w.around("", doubles, " END")
}

func (d duckdb) percentile(w *writer, m *database.Measure) {
	if m.Ref.Column.Kind == database.Float {
		w.aggregate(m, "sum(", func() {
			w.weighted(m, func(weight func()) {
				w.around("", func() { d.number(w, m.Ref.Column) }, " * ")
				w.around("", weight, "::DOUBLE")
			})
		})
		return
	}
	w.text("round(")
	w.aggregate(m, "sum(", func() {
		w.weighted(m, func(weight func()) {
			w.around("", func() { d.wideNumber(w, m.Ref.Column) }, " * ")
			weight()
		})
	})
	w.text(", " + quotientDigits + ")::" + duckdbExact(mostDuckDBDigits, database.QuotientDigits))
}

func (duckdb) texts(w *writer, m *database.Measure) {
	w.joined(m, "string_agg(", func() { w.around(", ', ' ORDER BY ", func() { w.column(m.Place) }, "") })
}

// averageMoment passes over infinite moments. DuckDB's // rounds towards zero.
func (d duckdb) averageMoment(w *writer, m *database.Measure) {
	c := m.Ref.Column
	finite := func(value func()) {
		w.around("CASE WHEN isfinite(", func() { w.column(c) }, ") THEN ")
		w.around("", value, " END")
	}
	sum := func() {
		w.aggregate(m, "sum(", func() {
			finite(func() { w.around("epoch_us(", func() { d.clock(w, c, nil) }, ")::HUGEINT") })
		})
	}
	mean := func(unit int) {
		size := func() {
			w.aggregate(m, "nullif(count(", func() { finite(func() { w.text("1") }) })
			w.text(", 0) * " + strconv.Itoa(unit) + "::HUGEINT")
		}
		rest := func() {
			w.around("(((", sum, ") % (")
			w.around("", size, ") + (")
			w.around("", size, ")) % (")
			w.around("", size, "))")
		}
		w.around("((", sum, " - ")
		w.around("", rest, ") // (")
		w.around("", size, "))")
	}
	switch c.Kind {
	case database.Date:
		w.around("(DATE '1970-01-01' + (", func() { mean(86400e6) }, ")::INTEGER)")
	case database.TimestampTZ:
		w.around("(make_timestamp((", func() { mean(1e6) }, " * 1000000)::BIGINT) AT TIME ZONE 'UTC')")
	default:
		w.around("make_timestamp((", func() { mean(1e6) }, " * 1000000)::BIGINT)")
	}
}
