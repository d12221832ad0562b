package harness

import (
	"database/sql"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// DuckDB is the engine that needs C: only tests of the module cmd/duckdb have its driver ("make test-duckdb"). It is only read, so a
// script fills the file before it is served.
var DuckDB = Engine{Name: contract.EngineDuckDB, Title: "DuckDB", Product: "DuckDB", OnlyReads: true, Open: openDuckDB}

// onDelete is what DuckDB's foreign keys cannot do.
var onDelete = regexp.MustCompile(`(?i) on (delete|update) (cascade|set null|set default|restrict|no action)`)

func openDuckDB(t testing.TB, script string) (Database, *sql.DB) {
	t.Helper()
	if !slices.Contains(sql.Drivers(), "duckdb") {
		t.Skip("DuckDB needs C; make test-duckdb has it")
	}
	file := filepath.Join(t.TempDir(), "data.duckdb")
	if err := filled(t, "duckdb", file, onDelete.ReplaceAllString(script, "")).Close(); err != nil {
		t.Fatal(err)
	}
	return Database{DuckDBPath: file}, filled(t, "duckdb", file+"?access_mode=READ_ONLY", "")
}
