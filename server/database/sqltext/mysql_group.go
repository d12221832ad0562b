package sqltext

import "github.com/mcp-admin/mcp-admin-operator/server/database"

func (mysql) groupKey(w *writer, key database.GroupKey) { w.column(key.Column) }

func (mysql) sum(w *writer, _ *database.Column, argument func()) {
	w.text("sum(")
	argument()
	w.text(")")
}

func (mysql) quotient(w *writer, dividend, divisor func()) {
	dividend()
	w.text(" / nullif(")
	divisor()
	w.text(", 0)")
}
