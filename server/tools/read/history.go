package read

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

var _ = call.WithArguments("history", call.Operation{
	Description: func(m *catalog.Model) string {
		return fmt.Sprintf("Changes of one %s.", call.NameOf(m))
	},
	OutputSchema: func(m *catalog.Model) call.Schema {
		return call.PayloadSchema[rowHistory]().With("object_id", call.ShownID(m))
	},
	Advice: "who changed a row, when and how",
}, history,
	call.Argument[historyArguments]{Name: call.IDName, Schema: call.IDSchema, Required: call.Always, Into: func(a *historyArguments) any { return &a.id }},
	call.Argument[historyArguments]{Name: "call", Into: func(a *historyArguments) any { return &a.call }, Common: true, Help: "of this call only"},
	call.Argument[historyArguments]{Name: "limit", Into: func(a *historyArguments) any { return &a.limit },
		Schema: call.DefaultLimit(historyLimit)},
	call.Argument[historyArguments]{Name: "offset", Into: func(a *historyArguments) any { return &a.offset }},
)

type historyArguments struct {
	id            json.RawMessage
	call          string
	limit, offset call.Count
}

// historyLimit is how many entries history_ answers where the call does not say.
const historyLimit = 50

// rowHistory is history_'s payload.
type rowHistory struct {
	Model    string          `json:"model"`
	ObjectID json.RawMessage `json:"object_id"`
	Count    int             `json:"count"`
	History  []historyEntry  `json:"history"`
	call.Ending
}

// historyEntry is one change. Changes are by the names that fields have today.
type historyEntry struct {
	Action        string                     `json:"action"`
	ActionTime    string                     `json:"action_time"`
	Token         string                     `json:"token"`
	ChangeMessage string                     `json:"change_message"`
	ObjectRepr    string                     `json:"object_repr"`
	Changes       map[string]json.RawMessage `json:"changes"`
}

// history answers what changed a row, newest first. The row must be there for the token, if a row policy limits what it sees:
// nobody can tell whether it would see a row that is gone.
func history(c *call.Call, a *historyArguments) ([]byte, error) {
	where, err := c.WantedRow(a.id)
	if err != nil {
		return nil, err
	}
	m := c.Scope.Model()
	text, _, err := ReadRow(&c.Request, c.DB, c.Scope, where, false)
	gone := call.IsNotFound(err) && !c.Scope.Limited()
	if err != nil && !gone {
		return nil, err
	}
	is := &call.Row{Model: m, Text: text}
	id, called := a.id, call.PlainText(a.id)
	if !gone {
		// What the row was called then may be a field that is hidden today: it is called what it is called now.
		id, called = is.ID(), is.Label()
	}
	j := journalOf(c, id)
	first, err := j.first(gone)
	if err != nil {
		return nil, err
	}
	if a.call != "" {
		first = database.And{first, j.equals("call", a.call)}
	}
	plan := j.plan(first, min(a.limit.Or(historyLimit), m.Declared.MaxPageSize), a.offset.Or(0))
	entries, page, err := call.ReadAll[journalEntry](c.Ctx, c.DB, plan)
	if err != nil {
		return nil, err
	}
	if gone && len(entries) == 0 {
		return nil, call.RowNotFound(m)
	}
	found := rowHistory{Model: m.Name, ObjectID: id, Count: len(entries), History: make([]historyEntry, len(entries))}
	for i, e := range entries {
		changes := e.visibleChanges(c.Scope)
		found.History[i] = historyEntry{Action: e.Action, ActionTime: j.moment(e.At), Token: e.Token, ObjectRepr: called,
			Changes: changes, ChangeMessage: changeMessage(c.Scope, e.Action, changes)}
	}
	c.Rows, c.Reading.IDs = len(entries), []string{call.PlainText(id)}
	end := call.PageEnd{Things: "entries", Offset: plan.Offset, Count: page.Count, More: page.More, Cut: page.Cut, Bytes: plan.MaxBytes,
		Limit: plan.Limit, UsualLimit: historyLimit, MostLimit: m.Declared.MaxPageSize}
	found.Ending = end.Ending()
	return json.Marshal(found)
}

// rowJournal is the entries about one row in the audit table: by table and key, whatever its model is called.
type rowJournal struct {
	call  *call.Call
	table *database.Table
	where database.And
}

func journalOf(c *call.Call, id json.RawMessage) *rowJournal {
	j := &rowJournal{call: c, table: c.Catalog.Audit()}
	of := c.Scope.Model().Table
	j.where = database.And{j.equals("table_schema", of.Schema), j.equals("table_name", of.Name), j.equals("object_id", call.PlainText(id))}
	return j
}

func (j *rowJournal) equals(column, text string) database.Condition {
	return database.Match{Column: j.table.Column(column), Op: database.TextEquals, Text: text}
}

func (j *rowJournal) begins(column, text string) database.Condition {
	return database.Match{Column: j.table.Column(column), Op: database.TextStartsWith, Text: text}
}

// newest is a read of the entries that meet a condition, newest first.
func (j *rowJournal) newest(where database.Condition, columns ...string) *database.Select {
	plan := &database.Select{From: j.call.Token.Unscoped(j.table), Where: where, Order: []database.Order{{Column: j.table.Column("id"), Descending: true}}}
	for _, name := range columns {
		plan.Output = append(plan.Output, database.Output{Name: name, Columns: []*database.Column{j.table.Column(name)}})
	}
	return plan
}

// first is the condition that an entry is about the row as it is there now, or was when it went: not about one that had the
// same key before the latest creation, or before the latest deletion, where the row was put there again by other means. A
// row that undo brought back is the same row as before.
func (j *rowJournal) first(gone bool) (database.Condition, error) {
	created := database.And{j.equals("action", "create"), database.Not{Condition: j.begins("message", call.CreatedAgain)}}
	newest, err := j.latest(database.Or{j.equals("action", "create"), j.equals("action", "delete")})
	if err != nil || newest == nil {
		return database.And{}, err
	}
	deleted := newest.action == "delete"
	if deleted && !gone {
		return database.Compare{Column: j.table.Column("id"), Op: database.Greater, Value: newest.id}, nil
	}
	if deleted || strings.HasPrefix(newest.message, call.CreatedAgain) {
		if newest, err = j.latest(created); err != nil || newest == nil {
			return database.And{}, err
		}
	}
	return database.Compare{Column: j.table.Column("id"), Op: database.GreaterOrEqual, Value: newest.id}, nil
}

// journalPlace is an entry by its id, with what it is about.
type journalPlace struct {
	id              database.Value
	action, message string
}

// latest is the newest entry about the row that meets a condition; nil if none does.
func (j *rowJournal) latest(which database.Condition) (*journalPlace, error) {
	plan := j.newest(append(slices.Clone(j.where), which), "action", "message")
	plan.Limit, plan.Cursor = 1, database.Refs(j.table.Column("id"))
	out, page, err := j.call.DB.Select(j.call.Ctx, plan, nil)
	if err != nil || page.Count == 0 {
		return nil, err
	}
	entry := call.Members(out)
	return &journalPlace{page.Last[0], call.PlainText(entry.Value("action")), call.PlainText(entry.Value("message"))}, nil
}

// journalEntry is an entry as it was written.
type journalEntry struct {
	At, Token, Action string
	Changes           json.RawMessage
}

// plan reads a page of the entries, from the first one on that is about the row.
func (j *rowJournal) plan(first database.Condition, limit, offset int) *database.Select {
	plan := j.newest(append(slices.Clone(j.where), first), "at", "token", "action", "changes")
	plan.Limit, plan.Offset, plan.More, plan.MaxBytes = limit, offset, true, RowBytes(j.call.Settings.MaxResultBytes)
	return plan
}

// moment is the time of an entry in RFC 3339; where the table's type has no zone, it is kept in UTC.
func (j *rowJournal) moment(at string) string {
	if j.table.Column("at").Kind == database.Timestamp {
		return at + "Z"
	}
	return at
}

// visibleChanges are the written changes, without the fields that are hidden, masked or secret today, by today's names.
func (e *journalEntry) visibleChanges(scope access.Scope) map[string]json.RawMessage {
	written := call.Members(e.Changes)
	if text := []byte(call.PlainText(e.Changes)); written == nil && json.Valid(text) {
		written = call.Members(text) // an engine without a JSON type keeps a text
	}
	visible := map[string]json.RawMessage{}
	for _, f := range scope.Fields() {
		if change, ok := written.Find(f.Column.Name); ok && !f.Masked && !f.Secret {
			visible[f.Name] = withoutStored(change)
		}
	}
	return visible
}

// changeMessage says in words what an entry is about. It is made from what the token may see, as the text that was
// written may name fields and rows that it may not.
func changeMessage(scope access.Scope, action string, changes map[string]json.RawMessage) string {
	var names []string
	for _, f := range scope.Fields() {
		if _, ok := changes[f.Name]; ok {
			names = append(names, f.Name)
		}
	}
	switch name, ran := strings.CutPrefix(action, call.ActionPrefix); {
	case ran && len(names) == 0:
		return "ran " + name
	case ran:
		return "ran " + name + ", which changed " + strings.Join(names, ", ")
	case action == "create":
		return "created"
	case action == "delete":
		return "deleted"
	case len(names) == 0:
		return "changed"
	}
	return "changed " + strings.Join(names, ", ")
}

// withoutStored is a change without what undo alone needs.
func withoutStored(change json.RawMessage) json.RawMessage {
	var told call.FieldChange
	if json.Unmarshal(change, &told) != nil || told.Stored == nil && !told.Aside {
		return change
	}
	told.Stored, told.Aside = nil, false
	text, _ := json.Marshal(told) // it was JSON before
	return text
}
