// Package audit writes one JSON line about every call that changed something, or that was refused, and about callers that were not let in
// (docs/design/rights.md, "Audit and history"). It never holds a value: of a row it has only ids and the names of fields.
//
// Packages tools and snapshot import it; package tools writes the audit table in the database.
package audit

import (
	"context"

	"github.com/mcp-admin/mcp-admin-operator/contract/excerpt"
)

// Record is one call.
type Record struct {
	// Token is the token's namespace and name, Tool the tool's whole name, Model its model's.
	Token, Tool, Model string
	// MadeUp is set if Tool and Model are the caller's text, and the token sees no model of that name.
	MadeUp bool
	// Subject is who called, if somebody else issued what they showed; "" if it was the token's own text.
	Subject string
	// Operation is the tool's operation, with an action's name behind a colon: "create", "action:refund".
	Operation string
	// Call is the id of a call that changes something; the audit table has it, too. The calls that were parts of another one
	// have the id of that.
	Call string
	// IDs are the rows that were changed, or that were meant to be, as the API shows ids; at most MaxIDs. Of an export they are the first
	// rows of the file, if the endpoint asks for that.
	IDs []string
	// Fields are the API names of the fields that were given values; of an export those of the file.
	Fields []string
	// Of and Question mean the same as in Read; only exports have them.
	Of, Question string
	// Changed is the number of rows that were changed.
	Changed int
	// Rows is how many rows an export has; nil for any other call.
	Rows *int
	// Approval is the approval that the call waits for, or by which it ran, and AllowedBy are the people who allowed it.
	Approval  string
	AllowedBy []string
	// Undoes is the id of the call that an undo takes back, or the time after which it takes all changes back.
	Undoes string
	// DryRun reports whether all was undone on purpose.
	DryRun bool
	// Outcome is "ok", or the error's code; "intent" before a webhook is called, and when the link of an export is given.
	Outcome string
}

// What bounds one line: its ids (its fields have the same bound), and the bytes of each of its texts, which a caller sent.
const (
	MaxIDs  = 100
	maxText = 200
)

// Write writes a record as one line. An error says that it could not be written to all outputs.
func (l *Log) Write(ctx context.Context, r *Record) error {
	if l == nil {
		return nil
	}
	return l.write(ctx, r)
}

// tell implements entry.
func (r *Record) tell(m *members, from *Caller) {
	m.text("token", r.Token)
	m.given("subject", r.Subject)
	m.text("tool", cut(r.Tool))
	m.text("model", cut(r.Model))
	m.text("operation", cut(r.Operation))
	m.texts("ids", r.IDs)
	m.texts("fields", r.Fields)
	m.number("changed", r.Changed)
	if r.Rows != nil {
		m.number("rows", *r.Rows)
	}
	m.given("rows_of", r.Of)
	if r.Question != "" {
		m.text("asked", r.Question)
	}
	m.flag("dry_run", r.DryRun)
	m.text("outcome", r.Outcome)
	m.given("call", r.Call)
	m.given("undoes", r.Undoes)
	m.given("approval", r.Approval)
	if len(r.AllowedBy) > 0 {
		m.texts("allowed_by", r.AllowedBy)
	}
	from.tell(m)
}

// cutAll returns the first texts, each cut.
func cutAll(texts []string) []string {
	some := make([]string, min(len(texts), MaxIDs))
	for i := range some {
		some[i] = cut(texts[i])
	}
	return some
}

// cut shortens a text for a line: no caller may fill the log with it.
func cut(text string) string { return excerpt.Of(text, maxText) }
