package call

import (
	"encoding/json"
	"errors"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
)

// Code says what kind a tool's error is (docs/design/tools.md, "Error codes").
type Code string

// ResultOf turns what the call's operation returned into its answer, which has the memory that the call asked for.
func (c *Call) ResultOf(text []byte, err error) Result {
	r := ResultOf(text, err)
	r.Model, r.Elicitation, r.Waits = c.Model, c.Elicitation, c.Waits
	if err == nil {
		r.room, r.kept, r.Link, r.Rows = c.room, c.kept, c.link, c.AnsweredRows()
	}
	return r
}

// AnsweredRows is how many rows the answer shows, or tells to have changed.
func (c *Call) AnsweredRows() int {
	switch {
	case c.Op.OneRow:
		return 1
	case c.Op.Writes():
		return c.Rows + c.Record.Changed
	}
	return c.Rows
}

// ResultOf turns what an operation returned into its answer.
func ResultOf(text []byte, err error) Result {
	if err == nil {
		return Result{Text: text}
	}
	r := Result{IsError: true}
	var told *ToolError
	if !errors.As(err, &told) {
		failure := database.AsError(err)
		told = tell(failure)
		r.Cause = err
		r.DatabaseAway = failure.Code == database.Unreachable
		r.SchemaChanged = failure.Code == database.Changed || failure.Code == database.Unfit
	}
	var at amender
	if errors.As(err, &at) {
		told = at.Amend(told)
	}
	r.Code, r.Message, r.Text = told.Code, told.Message, told.Payload
	if r.Text == nil {
		r.Text, _ = json.Marshal(told) // strings and JSON that is valid already: it cannot fail
	}
	return r
}

// withItsKey begins the advice to repeat a call that may have taken hold.
const withItsKey = "if this call has an " + KeyName + ", send it again as it is, and "

// NotDone turns the error of what is written down before something that cannot be undone. If no standby has confirmed it, a failover may
// lose it, so that nothing else was done.
func NotDone(err error) error {
	if err == nil || !database.Committed(err) {
		return err
	}
	return Failf(CodeUnavailable, "no standby of the database confirmed that this call was to be made, so it was not made, and nothing was changed; try again in a few seconds")
}

// tell says a failure of the database in the caller's words.
func tell(e *database.Error) *ToolError {
	switch e.Code {
	case database.Unreachable:
		return &ToolError{Code: CodeUnavailable, Message: "the database cannot be reached, and nothing was changed; try again in a few seconds"}
	case database.Busy:
		return &ToolError{Code: CodeUnavailable, Message: "all of the server's database connections are busy, and nothing was changed; try again in a few seconds, with fewer calls at once"}
	case database.Timeout:
		return &ToolError{Code: CodeTimeout, Message: "the database took too long, and nothing was changed; ask for less at once (narrower filters, a smaller limit, fewer items, total: none), or try again later"}
	case database.Cancelled:
		return &ToolError{Code: CodeUnavailable, Message: "the call was cancelled, and nothing was changed; call again if it is still wanted"}
	case database.Changed:
		return &ToolError{Code: CodeUnavailable, Message: "the table has just changed; try again in a few seconds"}
	case database.Unfit:
		return &ToolError{Code: CodeInternal, Message: "the report does not fit the database, and trying again will not help; whoever administers the endpoint must mend it, and finds the cause in the exposure's status"}
	case database.Invalid, database.Undivided:
		return &ToolError{Code: CodeInvalidArgument, Message: e.Message}
	case database.Violated:
		return RuleNotMet(e.Violation)
	case database.Locked:
		return &ToolError{Code: CodeUnavailable, Message: "another transaction holds what this call needs, and nothing was changed; try again in a few seconds"}
	case database.Contended:
		return &ToolError{Code: CodeConflict, Message: "other changes to the same rows got in the way each time, and nothing was changed; try again"}
	case database.Refused:
		return &ToolError{Code: CodePermissionDenied, Message: "the database user of this endpoint may not do that, and trying again will not help; whoever administers the database can grant it"}
	case database.Unready:
		return &ToolError{Code: CodeUnavailable, Message: e.Message}
	case database.Full:
		return &ToolError{Code: CodeUnavailable, Message: "the database has no room left, and nothing was changed; whoever administers it must make room before you try again"}
	case database.Uncertain:
		message := "the connection to the database broke while the change was being committed: it is not known whether it took hold; "
		if e.Whole {
			message += withItsKey + "it happens once; without a key, "
		}
		return &ToolError{Code: CodeUnavailable, Message: message + "read the rows before you try again"}
	case database.Unconfirmed:
		return &ToolError{Code: CodeUnavailable, Message: "the change was made, but the standby that should have it, too, did not confirm it in time, and if the database fails over now, it may be lost; " + withItsKey + "it succeeds once a standby has the change; without a key, read the rows before you try again"}
	case database.Partly:
		return &ToolError{Code: CodeUnavailable, Message: "the database keeps these rows on several servers, and not all of them committed the change: a part of it stays, the rest may follow, and the journal may tell of other changes than those; read the rows before you do anything else"}
	}
	return &ToolError{Code: CodeInternal, Message: "the database could not do this, and nothing was changed; whoever administers the endpoint finds the cause in its log"}
}

// Result is a tool's answer.
type Result struct {
	// Text is compact JSON, the payload of content[0].text.
	Text []byte
	// Structured is set if the answer also has Text as structuredContent. An error has none: it has no outputSchema.
	Structured bool
	// IsError is set if Text is an error: {"error": message, "code": code, …}.
	IsError bool
	// Code is the error's; "" without one.
	Code Code
	// Message is the error's; "" without one.
	Message string
	// UnknownTool is set if no tool has the name, which JSON-RPC tells apart.
	UnknownTool bool
	// DatabaseAway is set if the database could not be reached, SchemaChanged if it no longer has what the catalog was
	// built from. A busy database sets neither.
	DatabaseAway, SchemaChanged bool
	// Elicitation is the question that the answer asks, or the error is about; nil if a form cannot ask it, or there is none.
	Elicitation *Elicitation
	// Waits is the approval of other people that the call waits for; "" if it does not wait.
	Waits string
	// Link is the link that the answer has; nil if there is none.
	Link *ResourceLink
	// Model is the name of the model that the call was for, which may be one that does not exist; "" if it was for none.
	Model string
	// Rows is how many rows the answer shows, or tells to have changed; 0 if it is an error, or not about rows.
	Rows int
	// Cause is the underlying error, for the log; never for the caller.
	Cause error
	// room is the memory of Text; nil if nobody else can use it.
	room *Room
	// kept is Text, if it was kept; else nil.
	kept *KeptAnswer
}

// AppendQuoted appends Text as a JSON string.
func (r *Result) AppendQuoted(dst []byte) []byte {
	if r.kept != nil {
		return append(dst, r.kept.quoted...)
	}
	return jsontext.AppendDocument(dst, r.Text)
}
