package sqltext

import (
	"strconv"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

func (postgresql) related(*writer, *database.Column) {}

func (d postgresql) arithmetic(w *writer, c *database.Column, a database.Arithmetic) {
	left, right := func() { d.operand(w, c, a.Left) }, func() { d.operand(w, c, a.Right) }
	switch {
	case a.Operator == database.Round:
		w.around("round(", left, ", "+strconv.Itoa(a.Digits)+")")
	case a.Operator == database.Bucket:
		w.bucket(left, right, max(c.Scale, 0))
	case a.Operator == database.Elapsed:
		d.elapsed(w, c, a)
	case a.Operator == database.Divide && c.Kind != database.Float:
		d.quotient(w, left, right)
	case a.Operator == database.Divide:
		w.around("(", left, " / ")
		w.around("nullif(", right, ", 0))")
	default:
		w.around("(", left, operators[a.Operator])
		w.around("", right, ")")
	}
}

// operand writes a number in the type in which the result is computed.
func (postgresql) operand(w *writer, result *database.Column, o database.Operand) {
	if o.Column == nil {
		w.bind(Arg{Kind: database.Decimal, Value: o.Number})
	} else {
		w.ref(o.Ref)
	}
	switch {
	case result.Kind == database.Float:
		w.text("::float8")
	case isFloat(o):
		w.text("::text::numeric")
	case o.Column != nil && o.Column.NativeType == "oid":
		w.text("::bigint::numeric")
	default:
		w.text("::numeric")
	}
}

// elapsed makes the time from or to an infinite moment NULL.
func (d postgresql) elapsed(w *writer, c *database.Column, a database.Arithmetic) {
	from, to := a.Left, a.Right
	w.around("CASE WHEN isfinite(", func() { d.moment(w, from) }, ") AND ")
	w.around("isfinite(", func() { d.moment(w, to) }, ") THEN ")
	seconds := func() {
		w.around("extract(epoch FROM ", func() { d.moment(w, to) }, " - ")
		w.around("", func() { d.moment(w, from) }, ")::numeric")
	}
	switch {
	case c.Kind == database.Integer:
		w.around("", func() { w.ref(to.Ref) }, " - ")
		w.ref(from.Ref)
	case a.Unit == database.Seconds:
		w.around("round(", seconds, ", "+strconv.Itoa(c.Scale)+")")
	default:
		d.quotient(w, seconds, func() { w.text(strconv.FormatInt(a.Unit.Microseconds()/1e6, 10)) })
	}
	w.text(" END")
}

// moment writes a date or timestamp as a timestamp in UTC.
func (postgresql) moment(w *writer, o database.Operand) {
	if o.Column == nil {
		w.bind(Arg{Kind: database.Timestamp, Value: o.Moment})
		w.text("::timestamp")
		return
	}
	w.ref(o.Ref)
	if o.Column.Kind == database.TimestampTZ {
		w.text(" AT TIME ZONE 'UTC'")
	} else {
		w.text("::timestamp")
	}
}

func (postgresql) wholeWindow(*writer, bool, func()) {}

// windowSum is of the type numeric, or of floats.
func (postgresql) windowSum(w *writer, c *database.Column, value func()) {
	if c.Kind == database.Float {
		w.around("sum((", value, ")::float8)")
		return
	}
	w.around("sum((", value, ")::numeric)")
}
