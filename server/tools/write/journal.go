package write

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// MaxJournalValue is the most bytes of one value in the audit table, maxJournalText the most characters of a label or
// message.
const (
	MaxJournalValue = 4 << 10
	maxJournalText  = 200
)

// cutMark stands at the end of a text that was cut. It is ASCII: the database's encoding may have nothing else.
const cutMark = "..."

// Journal tells of a change: the audit table, in the transaction of the change itself, and whoever may have to allow the call. Then
// the audit table gets it once the call is allowed (Record).
func Journal(req *call.Request, tx database.Tx, ch call.Change) error {
	if req.Restores {
		ch.Message = restored(req, &ch)
	}
	if !req.Changes.Gathers() {
		return Record(req, tx, ch)
	}
	if ch.Operation = req.Op.Name; req.Record.Operation != "" {
		ch.Operation = req.Record.Operation
	}
	req.Changes.Add(ch)
	*req.Recorded = req.Catalog.Audit() != nil
	return nil
}

// restored is the message about a row that undo changed.
func restored(req *call.Request, ch *call.Change) string {
	from := ""
	if req.TakesBack != nil {
		from = req.TakesBack(ch.Row.Model.Table, call.PlainText(ch.Row.ID()))
	}
	switch {
	case from == "" && ch.Action == "create":
		return call.CreatedAgain
	case from == "":
		return ch.Message
	case ch.Action == "create":
		return call.CreatedAgain + "; " + call.TookBack + from
	}
	return call.TookBack + from
}

// Journals reports whether changes are to be told in full.
func Journals(req *call.Request) bool { return req.Catalog.Audit() != nil || req.Changes.Gathers() }

// Record writes a change to the audit table, in the transaction of the change itself, at the latest with its commit. Without an
// audit table it does nothing. Values of hidden, masked and secret-looking fields are left out.
func Record(req *call.Request, tx database.Tx, ch call.Change) error {
	table := req.Catalog.Audit()
	if table == nil {
		return nil
	}
	m := ch.Row.Model
	changes := changesOf(&ch)
	cells := [...]struct{ name, value string }{
		{"token", req.Token.Caller()}, {"action", ch.Action}, {"model", m.Name}, {"table_schema", m.Table.Schema}, {"table_name", m.Table.Name},
		{"object_id", call.PlainText(ch.Row.ID())}, {"object_repr", excerpt(ch.Row.Label())}, {"message", excerpt(ch.Message)}, {"changes", ""}, {"call", req.ID},
	}
	entry := database.Insert{Into: req.Token.Unscoped(table), Set: make([]database.Assignment, 0, len(cells)+1)}
	for _, cell := range cells {
		column := table.Column(cell.name)
		if column == nil {
			return call.Failf(call.CodeInternal, "the audit table has no column %s", cell.name)
		}
		a := database.Assignment{Column: column, Value: cell.value}
		switch {
		case column.Kind == database.JSON:
			a.Value = changes
		case cell.name == "changes":
			a.Value = string(changes)
		}
		entry.Set = append(entry.Set, a)
	}
	if at := table.Column("at"); at != nil {
		entry.Set = append(entry.Set, database.Assignment{Column: at, How: database.AssignNow})
	}
	*req.Recorded = true
	return tx.InsertLater(req.Ctx, &entry)
}

// differ reports whether two states of a row differ in what the journal tells of.
func differ(m *catalog.Model, before, after *call.Row) bool {
	return slices.ContainsFunc(m.Fields, func(f *catalog.Field) bool {
		return !f.Masked && !f.Secret && !bytes.Equal(before.Value(f.Name), after.Value(f.Name))
	})
}

// changesOf are the changes of a row as JSON: a call.FieldChange for each field that differs, in the order of the columns'
// names. An exposure's names may be others tomorrow.
func changesOf(ch *call.Change) []byte {
	out := append(make([]byte, 0, 512), '{')
	for _, f := range ch.Row.Model.ByColumn {
		change, told := changeOf(ch, f)
		if !told {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = change.AppendTo(append(call.AppendJSON(out, f.Column.Name), ':'))
	}
	return append(out, '}')
}

// changeOf is the change of a field; false if the journal does not tell of it. Of a value that nobody may see it tells that it was
// set.
func changeOf(ch *call.Change, f *catalog.Field) (change call.FieldChange, told bool) {
	if f.Masked || f.Secret {
		return call.FieldChange{Aside: setAside(ch, f)}, ch.Kind() == "update" && slices.Contains(ch.Sets, f)
	}
	before, after := ch.Before.Value(f.Name), ch.After.Value(f.Name)
	if bytes.Equal(before, after) {
		return change, false
	}
	change = call.FieldChange{Before: shorten(before), After: shorten(after), Aside: setAside(ch, f)}
	if !IsShortened(change.Before) {
		change.Stored = ch.Before.KeptAs(f.Column)
	}
	return change, true
}

// setAside reports whether it was not the change itself that set a field.
func setAside(ch *call.Change, f *catalog.Field) bool {
	return f.Column.Generated || f == ch.Row.Model.Version || ch.Sets != nil && !slices.Contains(ch.Sets, f)
}

// shorten cuts a value that is too long for the audit table; what is left of it is a text.
func shorten(raw json.RawMessage) json.RawMessage {
	if len(raw) <= MaxJournalValue {
		return raw
	}
	text := call.PlainText(raw)
	cut, _ := json.Marshal(strings.ToValidUTF8(text[:min(len(text), MaxJournalValue)], "") + cutMark) // a string: it cannot fail
	return cut
}

func excerpt(text string) string {
	if len(text) <= maxJournalText {
		return text
	}
	if runes := []rune(text); len(runes) > maxJournalText {
		return string(runes[:maxJournalText-len(cutMark)]) + cutMark
	}
	return text
}

// IsShortened reports whether the journal has the beginning of a value only: no whole value that it keeps is as long.
func IsShortened(value json.RawMessage) bool {
	return len(value) > 0 && value[0] == '"' && len(call.PlainText(value)) >= MaxJournalValue-len("xxx")
}
