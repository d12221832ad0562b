package sqltext

import "github.com/mcp-admin/mcp-admin-operator/server/database"

func (postgresql) groupKey(w *writer, key database.GroupKey) { w.column(key.Column) }

func (postgresql) sum(w *writer, _ *database.Column, argument func()) {
	w.text("sum(")
	argument()
	w.text(")")
}

func (postgresql) quotient(w *writer, dividend, divisor func()) {
	w.text("round(")
	dividend()
	w.text("::numeric / nullif(")
	divisor()
	w.text(", 0), 12)")
}
