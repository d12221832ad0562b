package sqltext

import (
	"strconv"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// related gives exact numbers their order again: a value that was read from other rows has none.
func (sqlite) related(w *writer, c *database.Column) {
	if c.Exact() {
		w.text(" COLLATE " + SQLiteDecimal)
	}
}

func (d sqlite) arithmetic(w *writer, c *database.Column, a database.Arithmetic) {
	left, right := func() { d.operand(w, c, a.Left) }, func() { d.operand(w, c, a.Right) }
	switch {
	case a.Operator == database.Elapsed:
		d.elapsed(w, c, a)
	case a.Operator == database.Divide && c.Kind == database.Float:
		w.around(SQLiteFinite+"(", left, " / ")
		w.around("nullif(", right, ", 0.0))")
	case c.Kind == database.Float:
		w.around(SQLiteFinite+"(", left, operators[a.Operator])
		w.around("", right, ")")
	case a.Operator == database.Round:
		w.around(SQLiteRound+"(", left, ", "+strconv.Itoa(a.Digits)+")")
	case a.Operator == database.Bucket:
		w.around(SQLiteCompute+"('bucket', ", left, ", ")
		w.around("", right, ", "+strconv.Itoa(max(c.Scale, 0))+")")
	case a.Operator == database.Divide:
		w.around(SQLiteRatio+"("+SQLiteNumber+"(", left, "), ")
		w.around(SQLiteNumber+"(", right, "))")
	default:
		w.around(SQLiteCompute+"('"+strings.TrimSpace(operators[a.Operator])+"', ", left, ", ")
		w.around("", right, ", "+strconv.Itoa(max(c.Scale, 0))+")")
	}
	d.related(w, c)
}

// operand writes a number. A value that is no number becomes NULL; SQLite itself would read it as 0.
func (d sqlite) operand(w *writer, result *database.Column, o database.Operand) {
	if o.Column == nil {
		w.bind(Arg{Kind: database.Text, Value: o.Number})
	} else if result.Kind != database.Float {
		w.ref(o.Ref)
		return
	} else {
		w.around(SQLiteNumber+"(", func() { w.ref(o.Ref) }, ")")
	}
	if result.Kind == database.Float {
		w.text(" * 1.0")
	}
}

func (d sqlite) elapsed(w *writer, c *database.Column, a database.Arithmetic) {
	if c.Kind == database.Integer {
		day := func(r database.Ref) { w.around("julianday(date(", func() { w.ref(r) }, ", 'auto'))") }
		w.around("CAST(", func() { day(a.Right.Ref) }, " - ")
		w.around("", func() { day(a.Left.Ref) }, " AS INTEGER)")
		return
	}
	moment := func(o database.Operand) func() {
		value := func() { w.ref(o.Ref) }
		if o.Column == nil {
			value = func() { w.bind(Arg{Kind: database.Timestamp, Value: o.Moment}) }
		}
		return func() { w.around(comparableTimestamp, value, ", 'auto')") }
	}
	w.around(SQLiteElapsed+"(", moment(a.Left), ", ")
	w.around("", moment(a.Right), ", "+strconv.FormatInt(a.Unit.Microseconds(), 10)+", "+strconv.Itoa(c.Scale)+")")
}

func (sqlite) wholeWindow(*writer, bool, func()) {}

func (sqlite) windowSum(w *writer, c *database.Column, value func()) {
	if c.Kind == database.Float {
		w.around("sum(", value, ")")
		return
	}
	w.around(SQLiteSum+"(", value, ", "+strconv.Itoa(max(c.Scale, 0))+")")
}
