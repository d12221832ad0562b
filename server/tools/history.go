package tools

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

var _ = withArguments("history", operation{
	description: func(m *catalog.Model) string {
		return fmt.Sprintf("Changes of one %s.", one(m))
	},
	outputSchema: func(m *catalog.Model) schema { return payloadSchema[rowHistory]().with("object_id", shownID(m)) },
	advice:       "who changed a row, when and how",
}, (*call).history,
	argument[historyArguments]{name: idName, schema: idSchema, required: always, into: func(a *historyArguments) any { return &a.id }},
	argument[historyArguments]{name: "limit", into: func(a *historyArguments) any { return &a.limit },
		schema: defaultLimit(historyLimit)},
	argument[historyArguments]{name: "offset", into: func(a *historyArguments) any { return &a.offset }},
)

type historyArguments struct {
	id            json.RawMessage
	limit, offset count
}

// historyLimit is how many entries history_ answers where the call does not say.
const historyLimit = 50

// actionPrefix begins the action of an entry that a declared action made.
const actionPrefix = "action:"

// rowHistory is history_'s payload.
type rowHistory struct {
	Model    string          `json:"model"`
	ObjectID json.RawMessage `json:"object_id"`
	Count    int             `json:"count"`
	History  []historyEntry  `json:"history"`
	ending
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
func (c *call) history(a *historyArguments) ([]byte, error) {
	where, err := c.wantedRow(a.id)
	if err != nil {
		return nil, err
	}
	m := c.scope.Model()
	text, _, err := c.readRow(c.db, c.scope, where, false)
	gone := isNotFound(err) && !c.scope.Limited()
	if err != nil && !gone {
		return nil, err
	}
	is := &row{model: m, text: text}
	id, called := a.id, plainText(a.id)
	if !gone {
		// What the row was called then may be a field that is hidden today: it is called what it is called now.
		id, called = is.id(), is.label()
	}
	j := journalOf(c, id)
	first, err := j.first(gone)
	if err != nil {
		return nil, err
	}
	plan := j.plan(first, min(a.limit.or(historyLimit), m.Declared.MaxPageSize), a.offset.or(0))
	entries, page, err := readAll[journalEntry](c.ctx, c.db, plan)
	if err != nil {
		return nil, err
	}
	if gone && len(entries) == 0 {
		return nil, rowNotFound(m)
	}
	found := rowHistory{Model: m.Name, ObjectID: id, Count: len(entries), History: make([]historyEntry, len(entries))}
	for i, e := range entries {
		changes := e.visibleChanges(c.scope)
		found.History[i] = historyEntry{Action: e.Action, ActionTime: j.moment(e.At), Token: e.Token, ObjectRepr: called,
			Changes: changes, ChangeMessage: changeMessage(c.scope, e.Action, changes)}
	}
	end := pageEnd{things: "entries", offset: plan.Offset, count: page.Count, more: page.More, cut: page.Cut, bytes: plan.MaxBytes,
		limit: plan.Limit, usualLimit: historyLimit, mostLimit: m.Declared.MaxPageSize}
	found.ending = end.ending()
	return json.Marshal(found)
}

// rowJournal is the entries about one row in the audit table: by table and key, whatever its model is called.
type rowJournal struct {
	call  *call
	table *database.Table
	where database.And
}

func journalOf(c *call, id json.RawMessage) *rowJournal {
	j := &rowJournal{call: c, table: c.catalog.Audit()}
	of := c.scope.Model().Table
	j.where = database.And{j.equals("table_schema", of.Schema), j.equals("table_name", of.Name), j.equals("object_id", plainText(id))}
	return j
}

func (j *rowJournal) equals(column, text string) database.Condition {
	return database.Match{Column: j.table.Column(column), Op: database.TextEquals, Text: text}
}

// newest is a read of the entries that meet a condition, newest first.
func (j *rowJournal) newest(where database.Condition, columns ...string) *database.Select {
	plan := &database.Select{From: j.call.token.Unscoped(j.table), Where: where, Order: []database.Order{{Column: j.table.Column("id"), Descending: true}}}
	for _, name := range columns {
		plan.Output = append(plan.Output, database.Output{Name: name, Columns: []*database.Column{j.table.Column(name)}})
	}
	return plan
}

// first is the condition that an entry is about the row as it is there now, or was when it went: not about one that had the
// same key before the latest creation, or before the latest deletion, where the row was put there again by other means. A
// row that undo brought back is the same row as before.
func (j *rowJournal) first(gone bool) (database.Condition, error) {
	created := database.And{j.equals("action", "create"), database.Not{Condition: j.equals("message", createdAgain)}}
	newest, err := j.latest(database.Or{j.equals("action", "create"), j.equals("action", "delete")})
	if err != nil || newest == nil {
		return database.And{}, err
	}
	deleted := newest.action == "delete"
	if deleted && !gone {
		return database.Compare{Column: j.table.Column("id"), Op: database.Greater, Value: newest.id}, nil
	}
	if deleted || newest.message == createdAgain {
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
	out, page, err := j.call.db.Select(j.call.ctx, plan, nil)
	if err != nil || page.Count == 0 {
		return nil, err
	}
	entry := members(out)
	return &journalPlace{page.Last[0], plainText(entry["action"]), plainText(entry["message"])}, nil
}

// journalEntry is an entry as it was written.
type journalEntry struct {
	At, Token, Action string
	Changes           json.RawMessage
}

// plan reads a page of the entries, from the first one on that is about the row.
func (j *rowJournal) plan(first database.Condition, limit, offset int) *database.Select {
	plan := j.newest(append(slices.Clone(j.where), first), "at", "token", "action", "changes")
	plan.Limit, plan.Offset, plan.More, plan.MaxBytes = limit, offset, true, rowBytes(j.call.settings.MaxResultBytes)
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
	written := members(e.Changes)
	if written == nil {
		written = members(json.RawMessage(plainText(e.Changes))) // an engine without a JSON type keeps a text
	}
	visible := map[string]json.RawMessage{}
	for _, f := range scope.Fields() {
		if change, ok := written[f.Column.Name]; ok && !f.Masked && !f.Secret {
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
	switch name, ran := strings.CutPrefix(action, actionPrefix); {
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
