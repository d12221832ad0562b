package action

import (
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/write"
)

// journalChanges reads the rows again that an action changed, and writes a line about each.
func (e *actionCall) journalChanges(w *write.Writer, rows []*call.Row, keys []askedID, message string) error {
	if !write.Journals(&e.call.Request) {
		return nil
	}
	after, err := e.rowsAfter(w, keys)
	if err != nil {
		return err
	}
	for _, r := range rows {
		ch := e.changeOf(r, message)
		ch.Given, ch.Sets, ch.Before, ch.After = e.given, e.sets, r, after[string(r.ID())]
		if err := write.Journal(&e.call.Request, w.Tx, ch); err != nil {
			return err
		}
	}
	return nil
}

// changeOf is the change of a row by the action, without what the row was and is.
func (e *actionCall) changeOf(r *call.Row, message string) call.Change {
	return call.Change{Row: r, Action: call.ActionPrefix + e.declared.Name, Message: message}
}
