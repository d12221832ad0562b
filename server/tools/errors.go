package tools

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// Code says what kind a tool's error is (docs/design/tools.md, "Error codes").
type Code string

// The codes.
const (
	CodePermissionDenied Code = "permission_denied"
	CodeNotFound         Code = "not_found"
	CodeValidation       Code = "validation_error"
	CodeInvalidArgument  Code = "invalid_argument"
	CodeProtected        Code = "protected"
	CodeConflict         Code = "conflict"
	CodeUnavailable      Code = "unavailable"
	CodeTimeout          Code = "timeout"
	CodeTooLarge         Code = "too_large"
	CodeRateLimited      Code = "rate_limited"
	CodeInternal         Code = "internal"
)

// toolError is an error for the caller. Its message says what to do next.
type toolError struct {
	Message string `json:"error"`
	Code    Code   `json:"code"`
	// Step is the step of transact that failed, the first being 0; nil if it was none.
	Step *int `json:"step,omitempty"`
	// Validation says which fields are at fault; it is there for CodeValidation only.
	Validation *violations `json:"validation_errors,omitempty"`
	// Current is the row as get_ shows it, for a CodeConflict about one.
	Current json.RawMessage `json:"current,omitempty"`
	// Left is what a change that is not undone left of the row.
	Left json.RawMessage `json:"left,omitempty"`
	// RetryAfter is after how many milliseconds a CodeRateLimited call would go through.
	RetryAfter int64 `json:"retry_after_ms,omitempty"`
	// payload is the whole answer where it holds more than an error has; nil: the members above.
	payload []byte
}

func (e *toolError) Error() string { return e.Message }

func failf(code Code, format string, args ...any) error {
	return &toolError{Message: fmt.Sprintf(format, args...), Code: code}
}

func invalid(format string, args ...any) error { return failf(CodeInvalidArgument, format, args...) }

func unknownTool(tool string) error {
	return failf(CodeNotFound, "Tool '%s' not found; tools/list and %s tell which there are", tool, findModels)
}

func modelNotFound(name string) error {
	return failf(CodeNotFound, "Model '%s' not found; %s tells which there are", name, findModels)
}

// amender is an error that wraps another, and adds to what the caller is told of that one.
type amender interface {
	error
	amend(told *toolError) *toolError
}

// isNotFound reports whether an error says that a row is not there.
func isNotFound(err error) bool {
	var told *toolError
	return errors.As(err, &told) && told.Code == CodeNotFound
}

func rowNotFound(m *catalog.Model) error { return failf(CodeNotFound, "%s not found", m.Name) }

func (req *request) permissionDenied(label string, m *catalog.Model) error {
	return failf(CodePermissionDenied, "Permission denied: cannot %s %s%s", label, m.Name, req.whyNoWrites(m))
}

func (req *request) notOffered(m *catalog.Model) error {
	return failf(CodePermissionDenied, "%s is not offered for %s%s; its tools are %s", req.op.Name, m.Name, req.whyNoWrites(m), req.offeredNames(m))
}

// whyNoWrites says that nobody may write, and what changes that; "" if the endpoint does not only read.
func (req *request) whyNoWrites(m *catalog.Model) string {
	if !req.catalog.ReadOnly() || !m.Served() || !req.op.Writes() || req.op.offeredFor(req.catalog, m) {
		return ""
	}
	return ": the endpoint only reads its database; who runs it can let it write (spec.database.access: ReadWrite, or mcp-admin dev --write)"
}

// modelWithheld speaks of a model that is registered but cannot be served as things are. Why, the admin is told in the
// exposure's status: it may name what the caller should not see.
func modelWithheld(m *catalog.Model) error {
	if m.Status.Reason == contract.ReasonSchemaUnknown {
		return failf(CodeUnavailable, "%s is unavailable: the database has not answered yet; try again in a few seconds", m.Name)
	}
	return failf(CodeUnavailable, "%s is unavailable: its exposure does not fit the database; the status of MCPModelExposure %s says why", m.Name, m.Declared.Exposure)
}

// result turns what an operation returned into its answer.
func result(text []byte, err error) Result {
	if err == nil {
		return Result{Text: text}
	}
	r := Result{IsError: true}
	var told *toolError
	if !errors.As(err, &told) {
		failure := database.AsError(err)
		told = tell(failure)
		r.Cause = err
		r.DatabaseAway, r.SchemaChanged = failure.Code == database.Unreachable, failure.Code == database.Changed
	}
	var at amender
	if errors.As(err, &at) {
		told = at.amend(told)
	}
	r.Code, r.Message, r.Text = told.Code, told.Message, told.payload
	if r.Text == nil {
		r.Text, _ = json.Marshal(told) // strings and JSON that is valid already: it cannot fail
	}
	return r
}

// tell says a failure of the database in the caller's words.
func tell(e *database.Error) *toolError {
	switch e.Code {
	case database.Unreachable:
		return &toolError{Code: CodeUnavailable, Message: "the database cannot be reached, and nothing was changed; try again in a few seconds"}
	case database.Busy:
		return &toolError{Code: CodeUnavailable, Message: "all of the server's database connections are busy, and nothing was changed; try again in a few seconds, with fewer calls at once"}
	case database.Timeout:
		return &toolError{Code: CodeTimeout, Message: "the database took too long, and nothing was changed; ask for less at once (narrower filters, a smaller limit, fewer items, total: none), or try again later"}
	case database.Cancelled:
		return &toolError{Code: CodeUnavailable, Message: "the call was cancelled, and nothing was changed; call again if it is still wanted"}
	case database.Changed:
		return &toolError{Code: CodeUnavailable, Message: "the table has just changed; try again in a few seconds"}
	case database.Invalid:
		return &toolError{Code: CodeInvalidArgument, Message: e.Message}
	case database.Violated:
		return ruleNotMet(e.Violation)
	case database.Locked:
		return &toolError{Code: CodeUnavailable, Message: "another transaction holds what this call needs, and nothing was changed; try again in a few seconds"}
	case database.Contended:
		return &toolError{Code: CodeConflict, Message: "other changes to the same rows got in the way each time, and nothing was changed; try again"}
	case database.Refused:
		return &toolError{Code: CodePermissionDenied, Message: "the database user of this endpoint may not do that, and trying again will not help; whoever administers the database can grant it"}
	case database.Unready:
		return &toolError{Code: CodeUnavailable, Message: e.Message}
	case database.Full:
		return &toolError{Code: CodeUnavailable, Message: "the database has no room left, and nothing was changed; whoever administers it must make room before you try again"}
	case database.Uncertain:
		return &toolError{Code: CodeUnavailable, Message: "the connection to the database broke while the change was being committed: it is not known whether it took hold; read the rows before you try again"}
	}
	return &toolError{Code: CodeInternal, Message: "the database could not do this, and nothing was changed; whoever administers the endpoint finds the cause in its log"}
}

// itemError returns an item's form of an error; nil if the error is the whole call's.
func itemError(err error) *toolError {
	var told *toolError
	if errors.As(err, &told) {
		return told
	}
	failure := database.AsError(err)
	switch failure.Code {
	case database.Invalid, database.Violated, database.Refused, database.Unready:
		if !failure.Again {
			return tell(failure)
		}
	}
	return nil
}
