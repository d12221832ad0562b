package sqltext

import "github.com/mcp-admin/mcp-admin-operator/server/database"

// after writes the condition that a row comes after the one with the values in the order's columns. If all columns have
// the same direction and no NULL comes after a value, an engine that searches an index for it gets one comparison of
// rows. If not, the columns are compared one by one, and an index can begin at the first comparison.
func (w *writer) after(order []database.Order, values []database.Value) {
	if len(order) > 1 && w.dialect.rowComparison() && w.comparableAsRow(order, values) {
		w.text("(")
		for i, step := range order {
			if i > 0 {
				w.text(", ")
			}
			w.orderColumn(step)
		}
		w.text(") " + string(beyond(order[0])) + " (")
		for i, step := range order {
			if i > 0 {
				w.text(", ")
			}
			w.dialect.value(w, step.Column, values[i])
		}
		w.text(")")
		return
	}
	w.behind(order, values, precedenceAnd)
}

func (w *writer) comparableAsRow(order []database.Order, values []database.Value) bool {
	for i, step := range order {
		if step.Descending != order[0].Descending || values[i] == nil || w.nullsBehind(step) {
			return false
		}
	}
	return true
}

// nullsBehind reports whether a step may have NULLs that come after its values.
func (w *writer) nullsBehind(step database.Order) bool {
	nullable := step.Column.Nullable || step.Column.HoldsNull || step.Join != nil
	return nullable && w.dialect.nullsFirst() == step.Descending
}

// behind writes the condition column by column. A row is behind if its first column is behind, or if it equals the
// value and the other columns are behind. The engine and the direction decide whether NULL comes before values.
func (w *writer) behind(order []database.Order, values []database.Value, around precedence) {
	step, value, last := order[0], values[0], len(order) == 1
	nullsFirst := w.dialect.nullsFirst() != step.Descending
	switch {
	case value == nil && nullsFirst:
		// Every value is behind NULL.
		if last {
			w.orderColumn(step)
			w.text(" IS NOT NULL")
			return
		}
		w.either(around != precedenceTop, func() {
			w.orderColumn(step)
			w.text(" IS NOT NULL OR ")
			w.behind(order[1:], values[1:], precedenceOperand)
		})
	case value == nil && last:
		w.text("FALSE")
	case value == nil:
		w.surrounded(around == precedenceOperand, func() {
			w.orderColumn(step)
			w.text(" IS NULL AND ")
			w.behind(order[1:], values[1:], precedenceAnd)
		})
	case w.nullsBehind(step):
		w.either(around != precedenceTop, func() {
			w.compareStep(step, beyond(step), value)
			w.text(" OR ")
			w.orderColumn(step)
			w.text(" IS NULL")
			if !last {
				w.text(" OR (")
				w.compareStep(step, database.Equal, value)
				w.text(" AND ")
				w.behind(order[1:], values[1:], precedenceAnd)
				w.text(")")
			}
		})
	case last:
		w.compareStep(step, beyond(step), value)
	default:
		// The first comparison follows from the others; an index can begin with it.
		w.surrounded(around == precedenceOperand, func() {
			w.compareStep(step, beyond(step)+"=", value)
			w.text(" AND ")
			w.either(true, func() {
				w.compareStep(step, beyond(step), value)
				w.text(" OR ")
				w.behind(order[1:], values[1:], precedenceOperand)
			})
		})
	}
}

// surrounded writes a condition, in parentheses if it needs them.
func (w *writer) surrounded(parentheses bool, write func()) {
	if parentheses {
		w.text("(")
	}
	write()
	if parentheses {
		w.text(")")
	}
}

func (w *writer) orderColumn(step database.Order) {
	w.ref(database.Ref{Join: step.Join, Column: step.Column})
}

// compareStep compares what a step orders by with a value.
func (w *writer) compareStep(step database.Order, op database.CompareOp, value database.Value) {
	before := w.enter(step.Join)
	w.compareWith(step.Column, op, value)
	w.alias = before
}

// compareWith compares a column's sorting form with a value.
func (w *writer) compareWith(c *database.Column, op database.CompareOp, value database.Value) {
	w.dialect.sortKey(w, c, func() { w.column(c) })
	w.text(" " + string(op) + " ")
	w.dialect.sortKey(w, c, func() { w.dialect.value(w, c, value) })
}

func beyond(step database.Order) database.CompareOp {
	if step.Descending {
		return database.Less
	}
	return database.Greater
}
