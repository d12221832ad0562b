package tools

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// change is a change of one row, for the audit table and history.
type change struct {
	// row is the row that changed.
	row *row
	// action is create, update, delete, or action:<name>.
	action string
	// message says in words what happened.
	message string
	// before and after are the row as it was and is; nil before a create, after a delete, and where it is not told.
	before, after *row
}

// maxJournalValue is the most bytes of one value in the audit table, maxJournalText the most characters of a label or
// message.
const (
	maxJournalValue = 4 << 10
	maxJournalText  = 200
)

// cutMark stands at the end of a text that was cut. It is ASCII: the database's encoding may have nothing else.
const cutMark = "..."

// fieldChange is the change of one field. A member is absent where there was no row.
type fieldChange struct {
	Before json.RawMessage `json:"before,omitempty"`
	After  json.RawMessage `json:"after,omitempty"`
	// Stored is Before as the database kept it (see database.ParseKept), if it would store something else for Before.
	Stored json.RawMessage `json:"stored,omitempty"`
}

// createdAgain is the message about a row that undo brought back.
const createdAgain = "created again"

// journal writes a change to the audit table, in the transaction of the change itself. Without an audit table it does
// nothing. Hidden, masked and secret-looking fields are left out.
func (req *request) journal(tx database.Tx, ch change) error {
	table := req.catalog.Audit()
	if table == nil {
		return nil
	}
	m := ch.row.model
	told := fieldChanges(m, ch.before, ch.after)
	ch.before.addKept(told)
	changes, err := json.Marshal(told)
	if err != nil {
		return err
	}
	if req.restores && ch.action == "create" {
		ch.message = createdAgain
	}
	entry := database.Insert{Into: req.token.Unscoped(table)}
	for _, cell := range []struct{ name, value string }{
		{"token", req.token.Caller()}, {"action", ch.action}, {"model", m.Name}, {"table_schema", m.Table.Schema}, {"table_name", m.Table.Name},
		{"object_id", plainText(ch.row.id())}, {"object_repr", excerpt(ch.row.label())}, {"message", excerpt(ch.message)}, {"changes", string(changes)}, {"call", req.id},
	} {
		column := table.Column(cell.name)
		if column == nil {
			return failf(CodeInternal, "the audit table has no column %s", cell.name)
		}
		a := database.Assignment{Column: column, Value: cell.value}
		if column.Kind == database.JSON {
			a.Value = []byte(cell.value)
		}
		entry.Set = append(entry.Set, a)
	}
	if at := table.Column("at"); at != nil {
		entry.Set = append(entry.Set, database.Assignment{Column: at, How: database.AssignNow})
	}
	*req.recorded = true
	_, err = tx.Insert(req.ctx, &entry, nil)
	return err
}

// fieldChanges are the fields that differ, by the names of their columns: an exposure's names may be others tomorrow.
func fieldChanges(m *catalog.Model, before, after *row) map[string]fieldChange {
	was, is := before.members(), after.members()
	changes := map[string]fieldChange{}
	for _, f := range m.Fields {
		if f.Masked || f.Secret || bytes.Equal(was[f.Name], is[f.Name]) {
			continue
		}
		changes[f.Column.Name] = fieldChange{Before: shorten(was[f.Name]), After: shorten(is[f.Name])}
	}
	return changes
}

// shorten cuts a value that is too long for the audit table; what is left of it is a text.
func shorten(raw json.RawMessage) json.RawMessage {
	if len(raw) <= maxJournalValue {
		return raw
	}
	text := plainText(raw)
	cut, _ := json.Marshal(strings.ToValidUTF8(text[:min(len(text), maxJournalValue)], "") + cutMark) // a string: it cannot fail
	return cut
}

func excerpt(text string) string {
	if runes := []rune(text); len(runes) > maxJournalText {
		return string(runes[:maxJournalText-len(cutMark)]) + cutMark
	}
	return text
}

// journalRows writes a line about each row that an action was run on; after has, by id, what became of them, and is nil if
// that is not told.
func (e *actionCall) journalRows(w *write, rows []*row, message string, after map[string]*row) error {
	for _, r := range rows {
		ch := change{row: r, action: actionPrefix + e.declared.Name, message: message}
		if after != nil {
			ch.before, ch.after = r, after[string(r.id())]
		}
		if err := e.call.journal(w.tx, ch); err != nil {
			return err
		}
	}
	return nil
}

// journalChanges reads the rows again that an action changed, and writes a line about each.
func (e *actionCall) journalChanges(w *write, rows []*row, keys []askedID, message string) error {
	if e.call.catalog.Audit() == nil {
		return nil
	}
	after, err := e.rowsAfter(w, keys)
	if err != nil {
		return err
	}
	return e.journalRows(w, rows, message, after)
}
