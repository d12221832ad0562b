package sqltext

import (
	"slices"
	"strconv"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// windows writes the rows of a source with their windows as a table, and gives it the present alias. Everything is written in the
// order in which its values are bound.
func (w *writer) windows(from database.Source) {
	v, columns := from.Windows(), from.Table().Columns
	w.nested(v.Joins, func() {
		w.text("(SELECT ")
		for i, of := range v.Columns {
			w.separate(i)
			w.ref(of)
			w.named(columns[i])
		}
		for i := range v.Windows {
			c := columns[len(v.Columns)+i]
			w.separate(len(v.Columns) + i)
			w.window(c, v, &v.Windows[i])
			w.named(c)
		}
		w.rowsOf(v.From, v.Joins, v.Where, precedenceTop)
		w.text(") AS ")
	})
	w.aliasName(w.alias)
}

// window writes a value that depends on the rows before.
func (w *writer) window(c *database.Column, v *database.Windowing, win *database.Window) {
	of := func() { w.ref(win.Of) }
	var sorted func()
	frame := ""
	switch win.Func {
	case database.RowNumber:
		w.text("row_number()")
	case database.Rank:
		w.text("rank()")
	case database.DenseRank: // NULLs are behind all values
		w.text("dense_rank()")
		sorted = func() {
			w.around(" ORDER BY ", of, " IS NULL, ")
			of()
		}
	case database.WindowSum:
		w.dialect.windowSum(w, c, of)
		frame = frameOf(win.Last)
	case database.WindowCount:
		w.around("count(", of, ")")
		frame = frameOf(win.Last)
	case database.WholeSum:
		w.dialect.windowSum(w, c, of)
	case database.WholeCount:
		w.around("count(", of, ")")
	case database.Previous:
		w.around("lag(", of, ", "+strconv.Itoa(win.Last)+")")
	case database.Next:
		w.around("lead(", of, ")")
	}
	w.text(" OVER (")
	for i, key := range win.Per {
		if i == 0 {
			w.text("PARTITION BY ")
		} else {
			w.text(", ")
		}
		before := w.enter(key.Join)
		w.dialect.groupKey(w, key)
		w.alias = before
	}
	switch {
	case sorted != nil:
		sorted()
	case isWhole(win) && (len(win.Per) == 0 || differInPer(v.Windows)):
		w.dialect.wholeWindow(w, len(win.Per) > 0, of)
	}
	w.order(win.Order, v.From.Groups() != nil)
	w.text(frame + ")")
	w.dialect.related(w, c)
}

// isWhole reports whether a window is of a value of all its rows, in no order.
func isWhole(win *database.Window) bool { return len(win.Order) == 0 && win.Of.Column != nil }

// differInPer reports whether the rows of some windows have more in common than those of others.
func differInPer(windows []database.Window) bool {
	return slices.ContainsFunc(windows, func(win database.Window) bool { return len(win.Per) != len(windows[0].Per) })
}

// frameOf are the rows of a window: the row and those before it, so many in all, or all of them.
func frameOf(rows int) string {
	if rows == 0 {
		return " ROWS UNBOUNDED PRECEDING"
	}
	return " ROWS " + strconv.Itoa(rows-1) + " PRECEDING"
}
