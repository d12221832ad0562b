package action

import (
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/write"
)

// journalRows writes a line about each row that an action was run on; after has, by id, what became of them, and is nil if
// that is not told.
func (e *actionCall) journalRows(w *write.Writer, rows []*call.Row, message string, after map[string]*call.Row) error {
	for _, r := range rows {
		ch := call.Change{Row: r, Action: call.ActionPrefix + e.declared.Name, Message: message, Given: e.given}
		if after != nil {
			ch.Before, ch.After = r, after[string(r.ID())]
		}
		if err := write.Journal(&e.call.Request, w.Tx, ch); err != nil {
			return err
		}
	}
	return nil
}

// journalChanges reads the rows again that an action changed, and writes a line about each.
func (e *actionCall) journalChanges(w *write.Writer, rows []*call.Row, keys []askedID, message string) error {
	if !write.Journals(&e.call.Request) {
		return nil
	}
	after, err := e.rowsAfter(w, keys)
	if err != nil {
		return err
	}
	return e.journalRows(w, rows, message, after)
}
