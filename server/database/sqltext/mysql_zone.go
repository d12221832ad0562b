package sqltext

import (
	"strconv"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/zoneinfo"
)

// clock writes what the clocks of a zone show at the moment of a column; nil is UTC. The tables of zones of a server are mostly
// empty, so that the statement itself has the changes of the clocks.
func (mysql) clock(w *writer, c *database.Column, zone *time.Location) {
	if zone == nil {
		w.column(c)
		return
	}
	w.text("(")
	w.column(c)
	w.text(" + INTERVAL ")
	w.offset(c, zoneinfo.Changes(zone))
	w.text(" SECOND)")
}

// offset writes how many seconds clocks are ahead of UTC at the moment of a column: half of the changes are left with each
// question.
func (w *writer) offset(c *database.Column, changes []zoneinfo.Change) {
	if len(changes) == 1 {
		w.buf = strconv.AppendInt(w.buf, int64(changes[0].Offset), 10)
		return
	}
	half := len(changes) / 2
	w.text("CASE WHEN ")
	w.column(c)
	w.text(" < TIMESTAMP'")
	w.buf = changes[half].At.AppendFormat(w.buf, time.DateTime)
	w.text("' THEN ")
	w.offset(c, changes[:half])
	w.text(" ELSE ")
	w.offset(c, changes[half:])
	w.text(" END")
}
