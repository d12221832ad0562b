package tools

import (
	"errors"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

func TestFailuresOfTheDatabaseAreToldApart(t *testing.T) {
	for _, c := range []struct {
		code    database.Code
		want    Code
		says    string
		away    bool
		changed bool
	}{
		{database.Unreachable, CodeUnavailable, "cannot be reached", true, false},
		{database.Busy, CodeUnavailable, "connections are busy", false, false},
		{database.Timeout, CodeTimeout, "too long", false, false},
		{database.Cancelled, CodeUnavailable, "cancelled", false, false},
		{database.Changed, CodeUnavailable, "just changed", false, true},
		{database.Invalid, CodeInvalidArgument, "a message for the caller", false, false},
		{database.Violated, CodeValidation, "a rule of the database", false, false},
		{database.Locked, CodeUnavailable, "another transaction holds what this call needs", false, false},
		{database.Refused, CodePermissionDenied, "the database user of this endpoint may not", false, false},
		{database.Full, CodeUnavailable, "no room left", false, false},
		{database.Uncertain, CodeUnavailable, "not known whether it took hold", false, false},
		{database.Failed, CodeInternal, "could not do this", false, false},
	} {
		t.Run(string(c.code), func(t *testing.T) {
			cause := errors.New("the driver's own words")
			r := result(nil, &database.Error{Code: c.code, Message: "a message for the caller", Cause: cause})
			if !r.IsError || r.Code != c.want || !strings.Contains(r.Message, c.says) || r.DatabaseAway != c.away || r.SchemaChanged != c.changed {
				t.Errorf("got %+v: %s", r, r.Text)
			}
			if strings.Contains(string(r.Text), cause.Error()) || !errors.Is(r.Cause, cause) {
				t.Errorf("the cause is for the log only: %s", r.Text)
			}
		})
	}
	r := result(nil, &database.Error{Code: database.Violated, Violation: &database.Violation{Kind: database.ReferencedViolation, Constraint: "loan_book_fk"}})
	if r.Code != CodeProtected || strings.Contains(string(r.Text), "loan") {
		t.Errorf("a row that others point at: %s", r.Text)
	}
}
