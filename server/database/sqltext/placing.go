package sqltext

import (
	"strconv"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// weighted writes a value with its weight in a Percentile, which product writes: 1 at its place, less beside it; NULL a place or more away.
// Places count from the greatest value: in that order every engine has NULLs behind all values. The distance is a decimal, as MySQL's
// places are integers without a sign.
func (w *writer) weighted(m *database.Measure, product func(weight func())) {
	distance := func() {
		w.around("abs((1.0 - "+m.Fraction+") * (", func() { w.column(m.Among) }, " - 1) - ")
		w.around("", func() { w.column(m.Place) }, " + 1)")
	}
	w.around("CASE WHEN ", distance, " < 1 THEN ")
	product(func() { w.around("(1 - ", distance, ")") })
	w.text(" END")
}

// joined writes a function that joins texts: the first of each value, up to the bound, and an ellipsis if there are more. more writes what
// is behind the value.
func (w *writer) joined(m *database.Measure, function string, more func()) {
	first := *m
	first.Where = database.And{m.Where,
		database.Compare{Column: m.Among, Op: database.Equal, Value: int64(1)},
		database.Compare{Column: m.Place, Op: database.LessOrEqual, Value: int64(database.MostTexts + 1)}}
	w.aggregateWith(&first, function, func() {
		w.around("CASE WHEN ", func() { w.column(m.Place) }, " > "+strconv.Itoa(database.MostTexts)+" THEN '…' ELSE ")
		w.around("", func() { w.column(m.Ref.Column) }, " END")
	}, more)
}
