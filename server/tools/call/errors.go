package call

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

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

// ToolError is an error for the caller. Its message says what to do next.
type ToolError struct {
	Message string `json:"error"`
	Code    Code   `json:"code"`
	// Step is the step of transact that failed, the first being 0; nil if it was none.
	Step *int `json:"step,omitempty"`
	// Validation says which fields are at fault; it is there for CodeValidation only.
	Validation *Violations `json:"validation_errors,omitempty"`
	// Current is the row as get_ shows it, for a CodeConflict about one.
	Current json.RawMessage `json:"current,omitempty"`
	// Left is what a change that is not undone left of the row.
	Left json.RawMessage `json:"left,omitempty"`
	// RetryAfter is after how many milliseconds a CodeRateLimited call would go through.
	RetryAfter int64 `json:"retry_after_ms,omitempty"`
	// Payload is the whole answer where it holds more than an error has; nil: the members above.
	Payload []byte `json:"-"`
}

func (e *ToolError) Error() string { return e.Message }

// Failf returns an error with a code for the caller.
func Failf(code Code, format string, args ...any) error {
	return &ToolError{Message: fmt.Sprintf(format, args...), Code: code}
}

// Invalid returns an error about an argument.
func Invalid(format string, args ...any) error { return Failf(CodeInvalidArgument, format, args...) }

// UnknownTool returns the error about a name that no tool has.
func UnknownTool(tool string) error {
	return Failf(CodeNotFound, "Tool '%s' not found; tools/list and %s tell which there are", tool, FindModels)
}

// ModelNotFound returns the error about a name that no model has.
func ModelNotFound(name string) error {
	return Failf(CodeNotFound, "Model '%s' not found; %s tells which there are", name, FindModels)
}

// amender is an error that wraps another, and adds to what the caller is told of that one.
type amender interface {
	error
	Amend(told *ToolError) *ToolError
}

// IsNotFound reports whether an error says that a row is not there.
func IsNotFound(err error) bool {
	var told *ToolError
	return errors.As(err, &told) && told.Code == CodeNotFound
}

// RowNotFound returns the error about a row that is not there, or that the token may not see.
func RowNotFound(m *catalog.Model) error { return Failf(CodeNotFound, "%s not found", m.Name) }

// IsOneRow returns an error unless a page has the one row that an id names, of a model whose key the database does not keep unique. Its
// plan asked for More.
func IsOneRow(m *catalog.Model, page database.Page) error {
	switch {
	case page.Count == 0:
		return RowNotFound(m)
	case page.More && !m.UniqueKey:
		return Failf(CodeUnavailable, "several rows of %s have this id: the key that its exposure declares does not identify a row, and trying again will not help; read the rows by filters, and tell whoever administers the endpoint", m.Name)
	}
	return nil
}

// PermissionDenied returns the error about a right that the token lacks.
func (req *Request) PermissionDenied(label string, m *catalog.Model) error {
	return Failf(CodePermissionDenied, "Permission denied: cannot %s %s%s", label, m.Name, req.whyNoWrites(m))
}

func (req *Request) notOffered(m *catalog.Model) error {
	return Failf(CodePermissionDenied, "%s is not offered for %s%s; its tools are %s", req.Op.Name, m.Name, req.whyNoWrites(m), req.offeredNames(m))
}

// whyNoWrites says that nobody may write, and what changes that; "" if neither the endpoint nor the table is only read.
func (req *Request) whyNoWrites(m *catalog.Model) string {
	switch {
	case !m.Served() || !req.Op.Writes() || req.Op.OfferedFor(req.Catalog, m):
		return ""
	case !req.Catalog.ReadOnly():
		return whyOnlyRead(m)
	case req.Catalog.NeverWrites():
		return ": nothing in the endpoint's database can be written"
	}
	return ": the endpoint only reads its database; who runs it can let it write (spec.database.access: ReadWrite, or mcp-admin dev --write)"
}

// whyOnlyRead says that a table's storage engine does not let a change be undone; "" if it does. It names no table.
func whyOnlyRead(m *catalog.Model) string {
	if m.Table.Writable || m.Table.Kind != database.BaseTable {
		return ""
	}
	return ": its table is only read here, as the database could not undo a change of it"
}

// ModelWithheld is the error for a registered model that cannot be served at present. It gives no reason, which may name what
// the caller must not see: the exposure's status has it for the admin.
func ModelWithheld(m *catalog.Model) error {
	if m.Status.Reason == contract.ReasonSchemaUnknown {
		return Failf(CodeUnavailable, "%s is unavailable: the database has not answered yet; try again in a few seconds", m.Name)
	}
	return Failf(CodeUnavailable, "%s is unavailable: its exposure does not fit the database; the status of MCPModelExposure %s says why", m.Name, m.Declared.Exposure)
}

// ItemError returns an item's form of an error; nil if the error is the whole call's.
func ItemError(err error) *ToolError {
	var told *ToolError
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
