package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// Code says what kind a tool's error is (decisions section 5).
type Code string

// The codes.
const (
	CodePermissionDenied Code = "permission_denied"
	CodeNotFound         Code = "not_found"
	CodeInvalidArgument  Code = "invalid_argument"
	CodeUnavailable      Code = "unavailable"
	CodeTimeout          Code = "timeout"
	CodeInternal         Code = "internal"
)

// toolError is an error that the caller is told. Its message says what to do next.
type toolError struct {
	Message string `json:"error"`
	Code    Code   `json:"code"`
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

func permissionDenied(label string, m *catalog.Model) error {
	return failf(CodePermissionDenied, "Permission denied: cannot %s %s", label, m.Name)
}

func notOffered(operation string, m *catalog.Model) error {
	offered := strings.Join(Tools(m), ", ")
	return failf(CodePermissionDenied, "%s is not offered for %s; its tools are %s", operation, m.Name, offered)
}

// modelWithheld speaks of a model that is registered but cannot be served as things are. Why, the admin is told in the
// exposure's status: it may name what the caller should not see.
func modelWithheld(m *catalog.Model) error {
	if m.Status.Reason == contract.ReasonSchemaUnknown {
		return failf(CodeUnavailable, "%s is unavailable: the database has not answered yet; try again in a few seconds", m.Name)
	}
	return failf(CodeUnavailable, "%s is unavailable: its exposure does not fit the database; the status of MCPModelExposure %s says why", m.Name, m.Exposure)
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
	r.Code, r.Message = told.Code, told.Message
	r.Text, _ = json.Marshal(told) // two strings: it cannot fail
	return r
}

// tell says a failure of the database in the caller's words.
func tell(e *database.Error) *toolError {
	switch e.Code {
	case database.Unreachable:
		return &toolError{"the database cannot be reached; try again in a few seconds", CodeUnavailable}
	case database.Busy:
		return &toolError{"all of the server's database connections are busy; try again, with fewer calls at once", CodeUnavailable}
	case database.Timeout:
		return &toolError{"the database took too long; narrow the filters, or ask for fewer rows", CodeTimeout}
	case database.Cancelled:
		return &toolError{"the call was cancelled", CodeUnavailable}
	case database.Changed:
		return &toolError{"the table has just changed; try again in a few seconds", CodeUnavailable}
	case database.Invalid:
		return &toolError{e.Message, CodeInvalidArgument}
	}
	return &toolError{"the database could not answer", CodeInternal}
}
