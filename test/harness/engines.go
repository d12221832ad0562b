package harness

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/go-sql-driver/mysql" // the plain clients beside the code under test
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

// Engine is a database engine that tests run on.
type Engine struct {
	// Name is one of contract's engines.
	Name string
	// Open makes a database of the test's own, filled by a script, and returns how a server reaches it, and a plain
	// client of it. Without the engine's server for tests the test is skipped.
	Open func(t testing.TB, script string) (Database, *sql.DB)
}

// Engines are all.
var Engines = []Engine{
	{contract.EngineSQLite, openSQLite},
	{contract.EnginePostgreSQL, openPostgreSQL},
	{contract.EngineMySQL, openMariaDB},
}

func openSQLite(t testing.TB, script string) (Database, *sql.DB) {
	t.Helper()
	return OnFile(t, filepath.Join(t.TempDir(), "data.sqlite"), script)
}

func openPostgreSQL(t testing.TB, script string) (Database, *sql.DB) {
	t.Helper()
	return On(t, databasetest.URI(databasetest.PostgreSQL(t)), script)
}

func openMariaDB(t testing.TB, script string) (Database, *sql.DB) {
	t.Helper()
	return On(t, databasetest.URI(databasetest.MariaDB(t)), script)
}

// OnFile fills a SQLite file by a script.
func OnFile(t testing.TB, file, script string) (Database, *sql.DB) {
	t.Helper()
	return Database{SQLiteFile: file}, filled(t, "sqlite", "file:"+file+"?_pragma=busy_timeout(10000)&_pragma=foreign_keys(1)", script)
}

// On fills the database of a URI by a script: PostgreSQL's, or MySQL's and MariaDB's.
func On(t testing.TB, uri, script string) (Database, *sql.DB) {
	t.Helper()
	database := Database{Connection: map[string][]byte{"uri": []byte(uri)}}
	c, err := contract.ResolveConnection(database.Connection, "")
	if err != nil {
		t.Fatal(err)
	}
	if c.Engine != contract.EngineMySQL {
		databasetest.Execute(t, uri, script) // pgx takes scripts only below database/sql
		return database, filled(t, "pgx", uri, "")
	}
	plain := filled(t, "mysql", databasetest.MySQLName(c), "")
	for _, piece := range pieces(script) {
		if _, err := plain.Exec(piece); err != nil {
			t.Fatalf("%.300s: %v", piece, err)
		}
	}
	return database, plain
}

// filled opens a plain client and runs a script.
func filled(t testing.TB, driver, name, script string) *sql.DB {
	t.Helper()
	plain, err := sql.Open(driver, name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = plain.Close() })
	if script != "" {
		if _, err := plain.Exec(script); err != nil {
			t.Fatalf("%.300s: %v", script, err)
		}
	}
	return plain
}

// pieces cuts a script where a line ends a statement, into pieces that are no larger than MySQL takes at once.
func pieces(script string) []string {
	const most = 1 << 20
	var all []string
	var piece strings.Builder
	for line := range strings.Lines(script) {
		piece.WriteString(line)
		if piece.Len() > most && strings.HasSuffix(strings.TrimSpace(line), ";") {
			all = append(all, piece.String())
			piece.Reset()
		}
	}
	if strings.TrimSpace(piece.String()) != "" {
		all = append(all, piece.String())
	}
	return all
}
