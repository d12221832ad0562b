package tools

import (
	"errors"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

func TestFailuresOfTheDatabaseAreToldApart(t *testing.T) {
	for _, c := range []struct {
		code    database.Code
		want    call.Code
		says    string
		away    bool
		changed bool
	}{
		{database.Unreachable, call.CodeUnavailable, "cannot be reached", true, false},
		{database.Busy, call.CodeUnavailable, "connections are busy", false, false},
		{database.Timeout, call.CodeTimeout, "too long", false, false},
		{database.Cancelled, call.CodeUnavailable, "cancelled", false, false},
		{database.Changed, call.CodeUnavailable, "just changed", false, true},
		{database.Unfit, call.CodeInternal, "the report does not fit the database, and trying again will not help", false, true},
		{database.Invalid, call.CodeInvalidArgument, "a message for the caller", false, false},
		{database.Violated, call.CodeValidation, "a rule of the database", false, false},
		{database.Locked, call.CodeUnavailable, "another transaction holds what this call needs", false, false},
		{database.Refused, call.CodePermissionDenied, "the database user of this endpoint may not", false, false},
		{database.Full, call.CodeUnavailable, "no room left", false, false},
		{database.Uncertain, call.CodeUnavailable, "not known whether it took hold", false, false},
		{database.Failed, call.CodeInternal, "could not do this", false, false},
	} {
		t.Run(string(c.code), func(t *testing.T) {
			cause := errors.New("the driver's own words")
			r := call.ResultOf(nil, &database.Error{Code: c.code, Message: "a message for the caller", Cause: cause})
			if !r.IsError || r.Code != c.want || !strings.Contains(r.Message, c.says) || r.DatabaseAway != c.away || r.SchemaChanged != c.changed {
				t.Errorf("got %+v: %s", r, r.Text)
			}
			if strings.Contains(string(r.Text), cause.Error()) || !errors.Is(r.Cause, cause) {
				t.Errorf("the cause is for the log only: %s", r.Text)
			}
		})
	}
	r := call.ResultOf(nil, &database.Error{Code: database.Violated, Violation: &database.Violation{Kind: database.ReferencedViolation, Constraint: "loan_book_fk"}})
	if r.Code != call.CodeProtected || strings.Contains(string(r.Text), "loan") {
		t.Errorf("a row that others point at: %s", r.Text)
	}
}
