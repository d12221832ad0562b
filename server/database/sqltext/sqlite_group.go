package sqltext

import "github.com/mcp-admin/mcp-admin-operator/server/database"

func (sqlite) groupKey(w *writer, key database.GroupKey) { w.column(key.Column) }

func (sqlite) sum(w *writer, _ *database.Column, argument func()) {
	w.text("sum(")
	argument()
	w.text(")")
}

func (sqlite) quotient(w *writer, dividend, divisor func()) {
	w.text("1.0 * ")
	dividend()
	w.text(" / ")
	divisor()
}
