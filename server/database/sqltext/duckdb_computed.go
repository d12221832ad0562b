package sqltext

import (
	"strconv"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

func (d duckdb) arithmetic(w *writer, c *database.Column, a database.Arithmetic) {
	left, right := func() { d.operand(w, c, a, a.Left) }, func() { d.operand(w, c, a, a.Right) }
	switch {
	case a.Operator == database.Round:
		w.around("round(", left, ", "+strconv.Itoa(a.Digits)+")")
	case a.Operator == database.Bucket:
		d.multiple(w, c, a)
	case a.Operator == database.Elapsed:
		d.elapsed(w, c, a)
	case a.Operator == database.Divide && c.Kind != database.Float:
		d.quotient(w, exactTerm{left, operandScale(a.Left)}, exactTerm{right, operandScale(a.Right)})
	case a.Operator == database.Divide:
		w.around("(", left, " / ")
		w.around("nullif(", right, ", 0))")
	default:
		w.around("(", left, operators[a.Operator])
		w.around("", right, ")")
	}
}

// operand writes a number in the type in which the result is computed.
func (duckdb) operand(w *writer, result *database.Column, a database.Arithmetic, o database.Operand) {
	if o.Column == nil {
		w.text("CAST(")
		w.bindText(o.Number)
		w.text(" AS VARCHAR)")
	} else {
		w.ref(o.Ref)
	}
	switch {
	case result.Kind == database.Float:
		w.text("::DOUBLE")
	case isFloat(o):
		w.text("::VARCHAR::" + duckdbExact(mostDuckDBDigits, operandScale(o)))
	case result.Kind == database.Integer && a.Operator != database.Bucket:
		w.text("::HUGEINT")
	default:
		w.text("::" + duckdbExact(mostDuckDBDigits, operandScale(o)))
	}
}

// multiple computes a Bucket in whole numbers: the remainder of two decimals is a double.
func (d duckdb) multiple(w *writer, c *database.Column, a database.Arithmetic) {
	scale := max(operandScale(a.Left), operandScale(a.Right))
	whole := func(o database.Operand) func() {
		return func() {
			wholeDecimal(w, exactTerm{func() { d.operand(w, c, a, o) }, operandScale(o)}, scale-operandScale(o))
		}
	}
	left, right := whole(a.Left), whole(a.Right)
	w.around("((", left, " - ((")
	w.around("", left, " % ")
	w.around("", right, ") + ")
	w.around("", right, ") % ")
	w.around("", right, ") // 1"+strings.Repeat("0", scale-max(c.Scale, 0))+"::HUGEINT)")
	if c.Scale > 0 {
		w.text("::DECIMAL(38,0) * 1e-" + strconv.Itoa(c.Scale) + "::" + duckdbExact(mostDuckDBDigits, c.Scale))
	}
}

// operandScale is the number of digits behind an operand's point.
func operandScale(o database.Operand) int {
	switch {
	case isFloat(o):
		return floatDigits
	case o.Column != nil && o.Column.Kind == database.Integer:
		return 0
	case o.Column != nil:
		return max(o.Column.Scale, 0)
	}
	_, fraction, _ := strings.Cut(o.Number, ".")
	return len(fraction)
}

// elapsed makes the time from or to an infinite moment NULL.
func (d duckdb) elapsed(w *writer, c *database.Column, a database.Arithmetic) {
	from, to := func() { d.moment(w, a.Left) }, func() { d.moment(w, a.Right) }
	w.around("CASE WHEN isfinite(", from, ") AND ")
	w.around("isfinite(", to, ") THEN ")
	microseconds := func() {
		w.around("(epoch_us(", to, ")::HUGEINT - ")
		w.around("epoch_us(", from, "))")
	}
	switch {
	case c.Kind == database.Integer:
		w.around("date_diff('day', ", from, ", ")
		w.around("", to, ")")
	case a.Unit == database.Seconds:
		w.around("(", microseconds, "::DECIMAL(38,0) * 0.000001::DECIMAL(38,6))")
	default:
		unit := func() { w.text(strconv.FormatInt(a.Unit.Microseconds(), 10)) }
		d.quotient(w, exactTerm{microseconds, 0}, exactTerm{unit, 0})
	}
	w.text(" END")
}

// moment writes a date or timestamp as a timestamp in UTC.
func (d duckdb) moment(w *writer, o database.Operand) {
	if o.Column == nil {
		w.text("CAST(")
		w.bindText(o.Moment)
		w.text(" AS TIMESTAMP)")
		return
	}
	before := w.enter(o.Join)
	d.clock(w, o.Column, nil)
	w.alias = before
}

func (d duckdb) windowSum(w *writer, c *database.Column, value func()) {
	w.around("sum((", value, ")")
	if c.Kind == database.Float {
		w.text("::DOUBLE")
	}
	w.text(")")
}
