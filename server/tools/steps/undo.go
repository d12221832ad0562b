package steps

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/action"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/write"
)

// UndoOperation takes back what the token's own calls changed (docs/design/writes-and-deletes.md, "Undo").
var UndoOperation = call.WithArguments("undo", call.Operation{
	OfferedTo: mayUndo,
	Description: func(*catalog.Model) string {
		return "Undo a call of yours, or all your changes since a time: all or nothing. A row changed since is a conflict."
	},
	OutputSchema: func(*catalog.Model) call.Schema { return call.PayloadSchema[undone]() },
}, undo,
	call.Argument[undoArguments]{Name: "call", Into: func(a *undoArguments) any { return &a.call }, Help: "of the change's answer"},
	call.Argument[undoArguments]{Name: "since", Into: func(a *undoArguments) any { return &a.since }, Help: "instead of call: a time, as 2026-01-31T12:00:00Z"},
	call.Argument[undoArguments]{Name: call.ModelParameter, Into: func(a *undoArguments) any { return &a.model }, Help: "with since: only this model"},
	call.Argument[undoArguments]{Name: "dry_run", Into: func(a *undoArguments) any { return &a.dryRun }, Help: write.DryRunHelp},
)

type undoArguments struct {
	call, since, model string
	dryRun             bool
}

// undone is undo's payload.
type undone struct {
	Success bool `json:"success"`
	// Changes are the changes that took the others back, in order.
	Changes []undoneChange `json:"changes"`
	DryRun  bool           `json:"dry_run,omitempty"`
	// Notice says that values were left out, or that there was nothing to do.
	Notice string `json:"notice,omitempty"`
	// Call is this call's id: by it, what it did can be taken back. It is absent if it did nothing.
	Call string `json:"call,omitempty"`
}

// undoneChange is the change of one row: update, create or delete.
type undoneChange struct {
	Model  string          `json:"model"`
	ID     json.RawMessage `json:"id"`
	Change string          `json:"change"`
	// From and To are the fields as they are and as they would be, in a dry run.
	From map[string]json.RawMessage `json:"from,omitempty"`
	To   map[string]json.RawMessage `json:"to,omitempty"`
}

// The bounds of one call: how many changes it takes back, and how many bytes the journal has of them.
const (
	maxUndone      = 1000
	maxUndoneBytes = 8 << 20
)

// mayUndo reports whether the token may change rows of the model, and the journal tells which call changed what.
func mayUndo(c *catalog.Catalog, scope access.Scope) bool {
	return scope.Has(access.View) && mayTransact(c, scope) && write.WhyNoUndo(c) == ""
}

// undo takes changes back, the newest first, each by a call of the opposite tool in the one transaction.
func undo(c *call.Call, a *undoArguments) ([]byte, error) {
	c.DryRun = a.dryRun
	which, err := undoCondition(c, a)
	if err != nil {
		return nil, err
	}
	c.Record.Undoes = cmp.Or(a.call, a.since)
	var u *undoing
	err = write.InTransaction(c, func(tx database.Tx) error {
		u = &undoing{call: c, tx: tx, rows: map[rowName]*undoneRow{}, changes: []undoneChange{}}
		entries, err := u.read(which)
		if err != nil {
			return err
		}
		if len(entries) == 0 {
			return call.Failf(call.CodeNotFound, "the journal has no such changes of yours; call is in the answer of the call that made them")
		}
		if err := u.run(entries); err != nil {
			return err
		}
		return u.markKeys(entries)
	})
	if err != nil {
		return nil, err
	}
	if len(u.changes) == 0 {
		u.notice = "nothing is left of these changes: they took each other back"
	}
	c.TellParts = u.tellParts
	return action.EncodePlainly(undone{Success: true, Changes: u.changes, DryRun: c.DryRun, Notice: u.notice, Call: c.RecordedAs()})
}

// undoCondition is the condition of the journal's entries that are meant: those of this caller only.
func undoCondition(c *call.Call, a *undoArguments) (database.Condition, error) {
	if why := write.WhyNoUndo(c.Catalog); why != "" {
		return nil, call.Failf(call.CodePermissionDenied, "nothing can be undone: %s", why)
	}
	table := c.Catalog.Audit()
	mine := database.And{textEquals(table, "token", c.Token.Caller())}
	switch {
	case (a.call == "") == (a.since == ""):
		return nil, call.Invalid("give either call, as the answer of a change tells it, or since")
	case a.call != "" && a.model != "":
		return nil, call.Invalid("model goes with since; a call is taken back as a whole")
	case a.call != "":
		return append(mine, textEquals(table, "call", a.call)), nil
	}
	moment, err := time.Parse(time.RFC3339, a.since)
	if err != nil {
		return nil, call.Invalid("since must be a time such as 2026-01-31T12:00:00Z, not %s", lookup.Excerpt(call.AppendJSON(nil, a.since)))
	}
	at := table.Column("at")
	text := moment.UTC().Format("2006-01-02T15:04:05.999999")
	if at.Kind == database.TimestampTZ {
		text += "Z"
	}
	value, err := lookup.ParseText(at, text)
	if err != nil {
		return nil, call.Invalid("since: %s", err)
	}
	mine = append(mine, database.Compare{Column: at, Op: database.GreaterOrEqual, Value: value})
	if a.model == "" {
		return mine, nil
	}
	m := c.Catalog.Model(a.model)
	if m == nil || m.Table == nil {
		return nil, c.ModelNotFound(a.model)
	}
	return append(mine, textEquals(table, "table_schema", m.Table.Schema), textEquals(table, "table_name", m.Table.Name)), nil
}

// textEquals is the condition that a column of the audit table is a text.
func textEquals(table *database.Table, column, text string) database.Condition {
	return database.Match{Column: table.Column(column), Op: database.TextEquals, Text: text}
}

// undoEntry is an entry of the journal.
type undoEntry struct {
	ID      json.RawMessage `json:"id"`
	Action  string          `json:"action"`
	Model   string          `json:"model"`
	Schema  string          `json:"table_schema"`
	Table   string          `json:"table_name"`
	Row     string          `json:"object_id"`
	Call    string          `json:"call"`
	Token   string          `json:"token"`
	Message string          `json:"message"`
	Changes json.RawMessage `json:"changes"`
	// changes are the joined changes of several entries; nil if Changes has them.
	changes map[string]call.FieldChange
	// from is the id of the oldest of the joined entries; nil if there is only this one.
	from json.RawMessage
}

// oldest is the id of the oldest entry that the entry stands for.
func (e *undoEntry) oldest() json.RawMessage {
	if e.from != nil {
		return e.from
	}
	return e.ID
}

// read reads the entries that meet a condition, newest first.
func (u *undoing) read(which database.Condition) ([]*undoEntry, error) {
	entries, page, err := u.journal(which, maxUndone, "id", "action", "model", "table_schema", "table_name", "object_id", "changes", "call")
	if err == nil && page.More {
		err = call.Failf(call.CodeTooLarge, "these are more than %d changes, or too large ones; take fewer back at once, with call or a later since", maxUndone)
	}
	return entries, err
}

// journal reads columns of entries of the audit table, newest first.
func (u *undoing) journal(which database.Condition, limit int, columns ...string) ([]*undoEntry, database.Page, error) {
	table := u.call.Catalog.Audit()
	plan := &database.Select{
		From: u.call.Token.Unscoped(table), Where: which, Limit: limit, MaxBytes: maxUndoneBytes, More: true,
		Order: []database.Order{{Column: table.Column("id"), Descending: true}},
	}
	for _, name := range columns {
		plan.Output = append(plan.Output, database.Output{Name: name, Columns: []*database.Column{table.Column(name)}})
	}
	return call.ReadAll[*undoEntry](u.call.Ctx, u.tx, plan)
}

// fieldsChanged are the fields of an entry by the names of their columns.
func (e *undoEntry) fieldsChanged() map[string]call.FieldChange {
	if e.changes != nil {
		return e.changes
	}
	written := e.Changes
	if len(written) > 0 && written[0] == '"' {
		written = json.RawMessage(call.PlainText(written)) // an engine without a JSON type keeps a text
	}
	changes := map[string]call.FieldChange{}
	_ = json.Unmarshal(written, &changes) // what is no object tells of no field
	return changes
}

// cannot is the error about an entry that cannot be taken back, whatever the row is by now.
func (e *undoEntry) cannot(format string, args ...any) error {
	return call.Failf(call.CodeProtected, "%s of %s %s cannot be undone: %s; nothing was undone", e.what(), e.Model, e.Row, fmt.Sprintf(format, args...))
}

// what names the change.
func (e *undoEntry) what() string {
	switch e.Action {
	case "create":
		return "the creation"
	case "delete":
		return "the deletion"
	case "update":
		return "the change"
	}
	return e.Action
}
