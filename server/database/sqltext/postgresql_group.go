package sqltext

import (
	"strconv"
	"strings"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

func (postgresql) filters() bool                          { return true }
func (postgresql) groupsBeginnings(*database.Column) bool { return false }
func (postgresql) countsGroups() bool                     { return false }
func (postgresql) groupsEnd() string                      { return "" }

func (d postgresql) groupKey(w *writer, key database.GroupKey) {
	c := key.Column
	switch key.Part {
	case database.WholeValue:
	case database.PrefixPart:
		w.around("left(", func() { w.column(c) }, "::text, "+strconv.Itoa(key.Length)+`) COLLATE "C"`)
		return
	default:
		d.groupPart(w, key)
		return
	}
	if c.Kind == database.Other {
		// Some types cannot be sorted or grouped, and equality of some is loose. The text is a row's.
		w.around("CASE WHEN ", func() { w.column(c) }, " IS NOT NULL THEN ")
		w.around("format('%s', ", func() { w.column(c) }, `) COLLATE "C" END`)
		return
	}
	w.column(c)
	switch {
	case c.LooseCollation:
		w.text(`::text COLLATE "C"`)
	case c.Padded:
		w.text("::text")
	}
}

// partPatterns are the forms of the parts that are texts.
var partPatterns = map[database.GroupPart]string{
	database.QuarterPart: `YYYY-"Q"Q`,
	database.MonthPart:   "YYYY-MM",
	database.WeekPart:    `IYYY-"W"IW`,
	database.DayPart:     "YYYY-MM-DD",
	database.HourPart:    `YYYY-MM-DD"T"HH24`,
}

// numberParts are the names for extract of the parts that are numbers.
var numberParts = map[database.GroupPart]string{
	database.YearPart: "year", database.QuarterOfYearPart: "quarter", database.MonthOfYearPart: "month", database.WeekdayPart: "isodow",
	database.HourOfDayPart: "hour",
}

// groupPart makes an infinite moment NULL: it has no parts.
func (d postgresql) groupPart(w *writer, key database.GroupKey) {
	c := key.Column
	field, isNumber := numberParts[key.Part]
	if !isNumber {
		w.text("to_char(")
		d.clock(w, c, key.Zone)
		w.text(", '" + partPatterns[key.Part] + "')")
		return
	}
	w.text("CASE WHEN isfinite(")
	w.column(c)
	w.text(") THEN extract(" + field + " FROM ")
	d.clock(w, c, key.Zone)
	w.text(")::bigint END")
}

// clock writes what the clocks of a zone show at the moment of a column; nil is UTC. A column without a zone is in UTC.
func (postgresql) clock(w *writer, c *database.Column, zone *time.Location) {
	w.column(c)
	switch {
	case c.Kind == database.TimestampTZ && zone == nil:
		w.text(" AT TIME ZONE 'UTC'")
	case zone == nil:
		w.text("::timestamp")
	default:
		if c.Kind != database.TimestampTZ {
			w.text(" AT TIME ZONE 'UTC'")
		}
		w.text(" AT TIME ZONE ")
		w.bind(Arg{Kind: database.Text, Value: zone.String()})
		w.text("::text")
	}
}

// sum is of the type numeric, unless it is one of floats: a sum of integers is not bounded by a type then.
func (d postgresql) sum(w *writer, m *database.Measure) {
	d.total(w, m)
	if m.Ref.Column.Kind == database.Integer {
		w.text("::numeric")
	}
}

// total adds floats of either size up as doubles.
func (postgresql) total(w *writer, m *database.Measure) {
	w.aggregate(m, "sum(", func() {
		w.column(m.Ref.Column)
		switch {
		case m.Ref.Column.Kind == database.Float:
			w.text("::float8")
		case m.Ref.Column.NativeType == "oid":
			w.text("::bigint")
		}
	})
}

// average of floats is not the server's own, which fails if the square of one is too large.
func (d postgresql) average(w *writer, m *database.Measure) {
	if !m.Ref.Column.Summable() {
		d.averageMoment(w, m)
		return
	}
	if m.Ref.Column.Kind == database.Float {
		d.total(w, m)
		w.around(" / nullif(", func() { w.ofColumn(m, "count(") }, ", 0)")
		return
	}
	d.quotient(w, func() { d.total(w, m) }, func() { w.ofColumn(m, "count(") })
}

func (d postgresql) ratio(w *writer, dividend, divisor term) {
	operand := func(t term) func() {
		return func() {
			switch {
			case t.average != nil:
				d.total(w, t.average)
			case t.float:
				w.around("(", t.write, ")::text::numeric") // the cast of a float itself keeps 15 digits only
			default:
				t.write()
			}
		}
	}
	d.quotient(w, w.times(operand(dividend), divisor), w.times(operand(divisor), dividend))
}

// quotientRoom is a zero with more digits than a quotient needs so that the server's own rounding of it, at as many
// digits, does not change the rounding to QuotientDigits.
var quotientRoom = "0." + strings.Repeat("0", 60)

func (postgresql) quotient(w *writer, dividend, divisor func()) {
	w.text("round((")
	dividend()
	w.text(" + " + quotientRoom + ") / nullif(")
	divisor()
	w.text(", 0), " + quotientDigits + ")")
}

// extreme compares uuids as texts, in which they have the same order: releases before 18 have no min of uuids.
func (postgresql) extreme(w *writer, m *database.Measure, function string) {
	if m.Ref.Column.Kind != database.UUID {
		w.ofColumn(m, function)
		return
	}
	w.aggregate(m, function, func() {
		w.column(m.Ref.Column)
		w.text(`::text COLLATE "C"`)
	})
	w.text("::uuid")
}

func (postgresql) side(w *writer, column func(), c, other *database.Column, op database.CompareOp) {
	column()
	switch {
	case c.Kind == database.Float && other.Kind != database.Float:
		w.text("::text::numeric")
	case c.NativeType == "oid" && other.NativeType != "oid":
		w.text("::bigint")
	case c.Kind == database.TimestampTZ && other.Kind != database.TimestampTZ:
		w.text(" AT TIME ZONE 'UTC'")
	case !c.Kind.Textual() || sameEnum(c, other):
	case op == database.Equal:
		w.text(`::text COLLATE "C"`)
	default:
		w.text(`::text COLLATE "default"`)
	}
}

func (postgresql) collate(w *writer, write func(), collation string) {
	write()
	if collation != "" {
		w.text(" COLLATE " + collation)
	}
}
