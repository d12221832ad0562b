package selftest

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

type stated struct{ words string }

func (s stated) Error() string    { return s.words }
func (s stated) SQLState() string { return "42883" }

// A report can be shared: what an engine says of the connection is left out, and only whole words are.
func TestWhatAnEngineSaysNamesNothingOfTheConnection(t *testing.T) {
	r := &run{
		Options: Options{Hide: []string{"ann", "db.example.com", "shop", ""}, Schema: "scratch", SQL: SQL{Names: []string{"mcp_admin_selftest_item"}}},
		schema:  &database.Schema{Database: "shop", Tables: []*database.Table{{Schema: "public", Name: "patients"}, {Schema: "scratch", Name: "mcp_admin_selftest_item"}}},
	}
	failed := func(words string) error {
		return &database.Error{Code: database.Failed, Message: "the database could not answer", Cause: stated{words}}
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{failed(`ERROR: function f(oid) of "shop" does not exist for ann at db.example.com (SQLSTATE 42883)`), `failed: ERROR: function f(oid) of "…" does not exist for … at … (SQLSTATE 42883)`},
		{failed(`annual shops of scratch.mcp_admin_selftest_item, patients`), `failed: annual shops of ….mcp_admin_selftest_item, …`},
		{&database.Error{Code: database.Unreachable, Reason: "Unreachable", Message: "the database at db.example.com cannot be reached", Cause: errors.New("dial db.example.com")}, "unreachable (Unreachable)"},
		{fmt.Errorf("it: %w", unexpected{"7 of 20 were lost"}), "7 of 20 were lost"},
	} {
		if got := r.say(c.err); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// What is left out has names in the status of an endpoint, and a number here.
func TestNotesNameNothingOfTheDatabase(t *testing.T) {
	schema := &database.Schema{Notes: []string{"it has no JSON_TABLE"}, Unserved: []database.Unserved{
		{Note: "the column shop.patients.illness is left out, as it is odd", Why: "a column is left out, as it is odd"},
		{Note: "3 files from illness.csv on are not served", Why: "a file is not served", Count: 3},
		{Note: "the column shop.patients.cure is left out, as it is odd", Why: "a column is left out, as it is odd"},
		{Note: "the view cured is not served", Why: "a view is not served"},
	}}
	want := []string{"it has no JSON_TABLE", "a column is left out, as it is odd (2 in all)", "a file is not served (3 in all)", "a view is not served (1 in all)"}
	if got := notesOf(schema); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
