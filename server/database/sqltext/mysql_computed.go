package sqltext

import (
	"strconv"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

func (mysql) related(*writer, *database.Column) {}

func (d mysql) arithmetic(w *writer, c *database.Column, a database.Arithmetic) {
	left, right := func() { d.operand(w, c, a.Left) }, func() { d.operand(w, c, a.Right) }
	switch {
	case a.Operator == database.Round:
		// MySQL rounds to no more digits than there are, and makes a number that does not fit the greatest that does.
		w.around("round(CAST(", left, " AS DECIMAL(65,"+strconv.Itoa(max(fractionOf(a.Left), a.Digits))+")), "+strconv.Itoa(a.Digits)+")")
	case a.Operator == database.Bucket:
		w.bucket(left, right, max(c.Scale, 0))
	case a.Operator == database.Elapsed:
		d.elapsed(w, c, a)
	case a.Operator == database.Divide && c.Kind != database.Float:
		d.quotient(w, wideNumber(0), left, right)
	default:
		w.around("(", left, operators[a.Operator])
		w.around("", right, ")")
	}
}

// fractionOf is how many digits behind the point a number has at most.
func fractionOf(o database.Operand) int {
	switch {
	case o.Column == nil:
		_, fraction, _ := strings.Cut(o.Number, ".")
		return len(fraction)
	case o.Column.Kind == database.Integer:
		return 0
	case o.Column.Kind == database.Decimal && o.Column.Scale >= 0:
		return o.Column.Scale
	}
	return 30
}

// operand writes a number so that it is computed with in decimal digits, if the result is not a float. A float that a decimal
// cannot be would become the greatest decimal.
func (mysql) operand(w *writer, result *database.Column, o database.Operand) {
	column := func() { w.ref(o.Ref) }
	switch {
	case o.Column == nil:
		w.cast(Arg{Kind: database.Decimal, Value: o.Number}, "DECIMAL(65,"+strconv.Itoa(fractionOf(o))+")")
	case result.Kind != database.Float && isFloat(o):
		w.around("CASE WHEN abs(", column, ") < 1e35 THEN ")
		w.around("CAST(", column, " AS DECIMAL(65,30)) END")
	case o.Column.Kind == database.Integer:
		w.around("CAST(", column, " AS DECIMAL(65,0))")
	default:
		column()
	}
}

func (mysql) elapsed(w *writer, c *database.Column, a database.Arithmetic) {
	moment := func(o database.Operand) func() {
		if o.Column == nil {
			return func() { w.cast(Arg{Kind: database.Timestamp, Value: o.Moment}, "DATETIME(6)") }
		}
		return func() { w.ref(o.Ref) }
	}
	from, to := moment(a.Left), moment(a.Right)
	if c.Kind == database.Integer {
		w.around("DATEDIFF(", to, ", ")
		w.around("", from, ")")
		return
	}
	w.around("round(CAST(TIMESTAMPDIFF(MICROSECOND, ", from, ", ")
	w.around("", to, ") AS "+wideNumber(0)+") / "+strconv.FormatInt(a.Unit.Microseconds(), 10)+", "+strconv.Itoa(c.Scale)+")")
}

// wholeWindow gives the window a value that all rows have. MariaDB (10.11) sorts rows once for two neighbouring windows if one order begins
// with the other. If a window without an order stands between two windows of different orders, MariaDB computes one of these wrongly. The
// value must not be a constant: MariaDB passes over constants.
func (d mysql) wholeWindow(w *writer, parted bool, value func()) {
	if !d.mariaDB {
		return
	}
	clause := "PARTITION BY "
	if parted {
		clause = " ORDER BY "
	}
	w.around(clause+"coalesce(char_length(", value, "), 0) < 0")
}

func (mysql) windowSum(w *writer, _ *database.Column, value func()) { w.around("sum(", value, ")") }
