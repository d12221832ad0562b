package engines

import (
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// DuckDB is only read. A case that writes through a tool is skipped as soon as the server says that nothing can be written; here are those
// that write in other ways, or that are about what is said of writing.

const (
	// neverWritten is what the server says.
	neverWritten = "nothing in the endpoint's database can be written"
	noWrites     = "nothing in the database can be written"
)

// onlyRead are those cases and groups, by their names.
var onlyRead = map[string]string{
	"round trips": noWrites,
	"the tools that are listed are those that can be used":      noWrites,
	"the list has what the token may use on one model at least": noWrites,
	"kept for a while":                              noWrites,
	"none of many, and none that are long":          noWrites,
	"none of too few rows":                          noWrites,
	"what cannot be read is said, and tried again":  noWrites,
	"the exposure says why":                         noWrites,
	"describe, schema and tool agree":               noWrites,
	"descriptions say it":                           noWrites,
	"a slow query ends in time, and stops no other": noWrites,
	"b has choices":                                 noChecks, "c has choices": noChecks, "d has choices": noChecks, "f has choices": noChecks, "a has choices": noChecks, "others have none": noChecks,
	"root sample": lessRoom, "clerk sample": lessRoom, "viewer sample": lessRoom, "a great integer is rounded to itself": lessRoom, "an error tells nothing of hidden rows": lessRoom,
}

// noChecks: what a CHECK allows is of use to who writes.
const noChecks = "checks are not read, as nothing can be written"

// lessRoom: DuckDB computes with 38 digits.
const lessRoom = "a product of the example has more digits than DuckDB computes with"

// onSQLite is SQLite, which is the first engine, for a test about that; there is only DuckDB where that is tried.
func onSQLite(t *testing.T) harness.Engine {
	t.Helper()
	skipOnlyRead(t, harness.Engines[0])
	return harness.Engines[0]
}

// skipOnlyRead ends a test that writes, on an engine that is only read.
func skipOnlyRead(t *testing.T, engine harness.Engine) {
	t.Helper()
	if engine.OnlyReads {
		t.Skip(noWrites)
	}
}

// writes ends a case that writes beside the server, on an engine that is only read.
func (s *suite) writes(t *testing.T) {
	t.Helper()
	skipOnlyRead(t, s.Engine)
}
