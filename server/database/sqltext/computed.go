package sqltext

import (
	"strconv"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// expression writes a computed column. alias names the table of the row; only a Reading needs it.
func (w *writer) expression(alias int, c *database.Column) {
	w.planned(func() { w.value(alias, c) })
}

func (w *writer) value(alias int, c *database.Column) {
	switch e := c.Expression.(type) {
	case database.Reading:
		w.dialect.reading(w, c, func() { w.columnOf(alias, e.Of) })
	case database.Distance:
		w.dialect.distance(w, alias, e)
	case database.TextRank:
		w.dialect.textRank(w, alias, e)
	case database.Chosen:
		w.chosen(e)
	case database.RelatedValue:
		before := w.enter(e.Of)
		w.relatedValue(c, e)
		w.alias = before
	case database.Arithmetic:
		w.dialect.arithmetic(w, c, e)
	case database.Random:
		w.text(w.dialect.random())
	case database.Outer:
		w.outside(func() { w.ref(e.Of) })
	}
}

func (w *writer) chosen(e database.Chosen) {
	if e.Where != nil {
		w.text("CASE WHEN ")
		w.chooses(e.Where)
		w.text(" THEN ")
	}
	before := w.enter(e.Of.Join)
	switch {
	case e.Of.Column == nil:
		w.text("1")
	case e.As == database.Text:
		w.dialect.groupKey(w, database.GroupKey{Ref: e.Of, Part: database.PrefixPart, Length: database.TextLength})
	default:
		w.dialect.number(w, e.Of.Column)
	}
	w.alias = before
	if e.Where != nil {
		w.text(" END")
	}
}

func (w *writer) relatedValue(c *database.Column, v database.RelatedValue) {
	w.text("(")
	w.related(v.Rows, func() {
		if v.MinRows > 1 {
			w.text("CASE WHEN count(*) >= ")
			w.buf = strconv.AppendInt(w.buf, int64(v.MinRows), 10)
			w.text(" THEN ")
		}
		w.measure(nil, &v.Measure)
		if v.MinRows > 1 {
			w.text(" END")
		}
	})
	w.text(")")
	w.dialect.related(w, c)
}

// bucket writes the greatest multiple of a number that is not above another one: of exact numbers, that one less what a division leaves.
func (w *writer) bucket(left, right func(), digits int) {
	w.around("round(", left, " - mod(mod(")
	w.around("", left, ", ")
	w.around("", right, ") + ")
	w.around("", right, ", ")
	w.around("", right, "), "+strconv.Itoa(digits)+")")
}

// isFloat reports whether an operand is a float.
func isFloat(o database.Operand) bool { return o.Column != nil && o.Column.Kind == database.Float }

// operators are what Arithmetic writes between its operands.
var operators = map[database.Operator]string{
	database.Add: " + ", database.Subtract: " - ", database.Multiply: " * ", database.Divide: " / ",
}
