package sqltext

import (
	"strconv"
	"strings"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

func (d duckdb) groupKey(w *writer, key database.GroupKey) {
	c := key.Column
	switch key.Part {
	case database.WholeValue:
		w.column(c)
		if c.ByText || c.Kind == database.Other {
			w.text("::VARCHAR")
		}
	case database.PrefixPart:
		w.around("left(", func() { w.column(c) }, "::VARCHAR, "+strconv.Itoa(key.Length)+")")
	default:
		d.groupPart(w, key)
	}
}

// duckdbPatterns are the forms of the parts that are texts, but for quarters.
var duckdbPatterns = map[database.GroupPart]string{
	database.MonthPart: "%Y-%m", database.WeekPart: "%G-W%V", database.DayPart: "%Y-%m-%d", database.HourPart: "%Y-%m-%dT%H",
}

// groupPart makes an infinite moment NULL: it has no parts.
func (d duckdb) groupPart(w *writer, key database.GroupKey) {
	c := key.Column
	clock := func() { d.clock(w, c, key.Zone) }
	w.around("CASE WHEN isfinite(", func() { w.column(c) }, ") THEN ")
	switch field, isNumber := numberParts[key.Part]; {
	case isNumber:
		w.around("extract("+field+" FROM ", clock, ")::BIGINT")
	case key.Part == database.QuarterPart:
		w.around("strftime(", clock, ", '%Y-Q') || ")
		w.around("extract(quarter FROM ", clock, ")::VARCHAR")
	default:
		w.around("strftime(", clock, ", '"+duckdbPatterns[key.Part]+"')")
	}
	w.text(" END")
}

// clock writes what the clocks of a zone show at the moment of a column; nil is UTC. A column without a zone is in UTC.
func (duckdb) clock(w *writer, c *database.Column, zone *time.Location) {
	w.text("(")
	w.column(c)
	switch {
	case c.Kind == database.TimestampTZ && zone == nil:
		w.text(" AT TIME ZONE 'UTC'")
	case zone == nil:
		w.text("::TIMESTAMP")
	default:
		if c.Kind != database.TimestampTZ {
			w.text("::TIMESTAMP AT TIME ZONE 'UTC'")
		}
		w.text(" AT TIME ZONE CAST(")
		w.bindText(zone.String())
		w.text(" AS VARCHAR)")
	}
	w.text(")")
}

func (d duckdb) sum(w *writer, m *database.Measure) {
	w.aggregate(m, "sum(", func() { d.number(w, m.Ref.Column) })
}

// number writes integers in the type in which their sum is exact, and floats of either size as doubles.
func (duckdb) number(w *writer, c *database.Column) {
	w.column(c)
	switch c.Kind {
	case database.Integer:
		w.text("::HUGEINT")
	case database.Float:
		w.text("::DOUBLE")
	}
}

func (d duckdb) average(w *writer, m *database.Measure) {
	c := m.Ref.Column
	count := func() { w.ofColumn(m, "count(") }
	switch {
	case !c.Summable():
		d.averageMoment(w, m)
	case c.Kind == database.Float:
		w.around("", func() { d.sum(w, m) }, " / nullif(")
		w.around("", count, ", 0)")
	default:
		d.quotient(w, exactTerm{func() { d.sum(w, m) }, max(c.Scale, 0)}, exactTerm{count, 0})
	}
}

func (d duckdb) ratio(w *writer, dividend, divisor term) {
	operand := func(t term) exactTerm {
		switch {
		case t.average != nil:
			return exactTerm{func() { d.sum(w, t.average) }, max(t.average.Ref.Column.Scale, 0)}
		case t.float:
			return exactTerm{func() { w.around("(", t.write, ")::VARCHAR::"+duckdbExact(mostDuckDBDigits, floatDigits)) }, floatDigits}
		}
		return exactTerm{t.write, t.scale}
	}
	a, b := operand(dividend), operand(divisor)
	d.quotient(w, exactTerm{w.times(a.write, divisor), a.scale}, exactTerm{w.times(b.write, dividend), b.scale})
}

// floatDigits are the digits behind the point that a float has where it is computed with exactly.
const floatDigits = 15

// exactTerm writes an exact number that has so many digits behind the point.
type exactTerm struct {
	write func()
	scale int
}

// quotient divides whole numbers: both are multiplied by the same power of 10.
func (duckdb) quotient(w *writer, dividend, divisor exactTerm) {
	shift := database.QuotientDigits + divisor.scale - dividend.scale
	w.text(duckDBQuotient + "(")
	wholeDecimal(w, dividend, shift)
	w.text(", ")
	wholeDecimal(w, divisor, -shift)
	w.text(")")
}

// wholeDecimal writes a number without its point, and with some zeros more, as a HUGEINT.
func wholeDecimal(w *writer, t exactTerm, zeros int) {
	power := func(n int) string { return "1" + strings.Repeat("0", n) + "::HUGEINT" }
	if t.scale > 0 {
		w.around("(((", t.write, ") * "+power(t.scale)+"::DECIMAL(38,0))::HUGEINT")
	} else {
		w.around("((", t.write, ")::HUGEINT")
	}
	if zeros > 0 {
		w.text(" * " + power(zeros))
	}
	w.text(")")
}

func (duckdb) extreme(w *writer, m *database.Measure, function string) { w.ofColumn(m, function) }

func (duckdb) side(w *writer, column func(), c, other *database.Column, _ database.CompareOp) {
	column()
	switch {
	case c.Kind == database.TimestampTZ && other.Kind != database.TimestampTZ:
		w.text(" AT TIME ZONE 'UTC'")
	case (c.Kind.Textual() || other.Kind.Textual()) && !sameEnum(c, other):
		w.text("::VARCHAR")
	}
}

func (duckdb) collate(_ *writer, write func(), _ string) { write() }

func (duckdb) list(w *writer, c *database.Column, values string) {
	w.text("(SELECT unnest(from_json(CAST(")
	w.bindText(values)
	w.text(` AS VARCHAR), '["VARCHAR"]'))::` + map[bool]string{true: "BIGINT", false: "VARCHAR"}[c.Kind == database.Integer] + " AS ")
	w.identifier(c.Name)
	w.text(")")
}
