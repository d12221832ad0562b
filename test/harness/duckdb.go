package harness

import (
	"database/sql"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// DuckDB is the engine that needs C: only tests of the module cmd/duckdb have its driver ("make test-duckdb"). It is only read, so a
// script fills the file before it is served.
var DuckDB = Engine{Name: contract.EngineDuckDB, Title: "DuckDB", Product: "DuckDB", OnlyReads: true, Open: openDuckDB}

// onDelete is what DuckDB's foreign keys cannot do.
var onDelete = regexp.MustCompile(`(?i) on (delete|update) (cascade|set null|set default|restrict|no action)`)

// forDuckDB is a script without what DuckDB lacks. A row that names another one of its table must be added after it, by a statement of its
// own.
func forDuckDB(script string) string {
	script = strings.ReplaceAll(onDelete.ReplaceAllString(script, ""), ", at ", `, "at" `) // a reserved word
	statements := strings.Split(script, ";\n")
	for i, statement := range statements {
		into := insertInto.FindStringSubmatch(statement)
		if into == nil || !regexp.MustCompile(`(?is)create table `+into[1]+` \([^;]* references `+into[1]+` `).MatchString(script) {
			continue
		}
		statements[i] = strings.ReplaceAll(statement, "), (", ");\n"+into[0]+"(")
	}
	return strings.Join(statements, ";\n")
}

// insertInto is the beginning of an INSERT, up to its rows.
var insertInto = regexp.MustCompile(`(?is)insert into (\w+)[^;]*? values\s*`)

func openDuckDB(t testing.TB, script string) (Database, *sql.DB) {
	t.Helper()
	if !slices.Contains(sql.Drivers(), "duckdb") {
		t.Skip("DuckDB needs C; make test-duckdb has it")
	}
	file := filepath.Join(t.TempDir(), "data.duckdb")
	if err := filled(t, "duckdb", file, forDuckDB(script)).Close(); err != nil {
		t.Fatal(err)
	}
	return Database{DuckDBPath: file}, filled(t, "duckdb", file+"?access_mode=READ_ONLY", "")
}
