package harness

import (
	"database/sql"
	"net/url"
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
	// Title tells engines of the same name apart. Product is the product whose behaviour it has: SQLite, PostgreSQL,
	// MariaDB or MySQL.
	Title, Product string
	// Shards reports whether the rows of its tables lie on two shards: with foreign keys within a shard alone.
	Shards bool
	// Gateway reports whether vtgate stands before the database, which does not take all of its SQL.
	Gateway bool
	// Behind are the URIs of the servers that have the rows, if the database is only the front of others.
	Behind []string
	// Remote reports whether the rows of a script's tables lie on other servers. Such tables have no foreign keys, and no endpoint
	// changes them, as their transactions have no savepoints; the plain client does.
	Remote bool
	// OnlyReads reports whether nothing in the database can be written through an endpoint, or by the plain client.
	OnlyReads bool
	// Open makes a database for the test, filled by a script. It returns how a server reaches the database, and a plain
	// client of it. It skips the test if there is no server of this engine for tests.
	Open func(t testing.TB, script string) (Database, *sql.DB)
}

// The products.
const (
	SQLite     = "SQLite"
	PostgreSQL = "PostgreSQL"
	MariaDB    = "MariaDB"
	MySQL      = "MySQL"
)

// Engines are the engines that every suite runs on.
var Engines = []Engine{
	{Name: contract.EngineSQLite, Title: SQLite, Product: SQLite, Open: openSQLite},
	{Name: contract.EnginePostgreSQL, Title: PostgreSQL, Product: PostgreSQL, Open: openPostgreSQL},
	{Name: contract.EngineMySQL, Title: MariaDB, Product: MariaDB, Open: openMariaDB},
}

// FurtherEngines are the other releases, products, settings and poolers that the behavioural suite runs on; none unless tests
// are whole, and none beside DuckDB.
func FurtherEngines() []Engine {
	if !Whole() || Engines[0].OnlyReads {
		return nil
	}
	all := []Engine{
		{Name: contract.EnginePostgreSQL, Title: "PostgreSQL with other defaults", Product: PostgreSQL, Open: openWithOtherDefaults},
		{Name: contract.EnginePostgreSQL, Title: "PostgreSQL with partitioned tables", Product: PostgreSQL, Open: openPartitioned},
	}
	for _, s := range databasetest.Further() {
		all = append(all, further(s))
	}
	return all
}

func further(s databasetest.Server) Engine {
	name := contract.EngineMySQL
	if s.Product == PostgreSQL {
		name = contract.EnginePostgreSQL
	}
	e := Engine{Name: name, Title: s.Title, Product: s.Product, Shards: s.Shards, Behind: s.Behind, Gateway: strings.HasPrefix(s.Title, "Vitess")}
	e.Remote = len(s.Behind) > 0 && !e.Gateway
	e.Open = func(t testing.TB, script string) (Database, *sql.DB) { return e.open(t, s, script) }
	return e
}

func (e Engine) open(t testing.TB, s databasetest.Server, script string) (Database, *sql.DB) {
	t.Helper()
	switch {
	case s.Missing != "":
		t.Skip(s.Missing)
	case e.Shards:
		return onShards(t, s, script)
	case e.Remote:
		return onRemote(t, s, script)
	case s.Product != PostgreSQL:
		return On(t, databasetest.URI(databasetest.MySQLOn(t, s.URI)), script)
	case s.Direct == "":
		return On(t, databasetest.URI(databasetest.PostgreSQLOn(t, s.URI, "", "")), script)
	}
	// Only the endpoint goes through the pooler: the script and the plain client know the server behind it.
	pooled := databasetest.PostgreSQLOn(t, s.Direct, s.URI, "")
	behind, err := url.Parse(s.Direct)
	if err != nil {
		t.Fatal(err)
	}
	behind.Path = "/" + pooled.Database
	_, plain := On(t, behind.String(), script)
	return Database{Connection: map[string][]byte{"uri": []byte(databasetest.URI(pooled))}}, plain
}

// otherDefaults are settings of a database that change how its sessions write values and read input.
const otherDefaults = `
alter database DATABASE set default_transaction_isolation = 'serializable';
alter database DATABASE set default_transaction_deferrable = on;
alter database DATABASE set DateStyle = 'SQL, DMY';
alter database DATABASE set IntervalStyle = 'sql_standard';
alter database DATABASE set TimeZone = 'Asia/Kathmandu';
alter database DATABASE set bytea_output = 'escape';
alter database DATABASE set extra_float_digits = -3;
alter database DATABASE set standard_conforming_strings = off;
alter database DATABASE set backslash_quote = on;
alter database DATABASE set transform_null_equals = on;
alter database DATABASE set xmlbinary = 'hex';
alter database DATABASE set quote_all_identifiers = on;
alter database DATABASE set plan_cache_mode = 'force_generic_plan';
alter database DATABASE set lock_timeout = '90s';
alter database DATABASE set idle_in_transaction_session_timeout = '90s';
`

// openWithOtherDefaults is PostgreSQL in a database with other settings than a new database has. The plain client and
// the script use the usual settings.
func openWithOtherDefaults(t testing.TB, script string) (Database, *sql.DB) {
	t.Helper()
	c := databasetest.PostgreSQL(t)
	database, plain := On(t, databasetest.URI(c), script)
	if err := plain.Ping(); err != nil {
		t.Fatal(err)
	}
	plain.SetMaxIdleConns(1)
	plain.SetMaxOpenConns(1) // the session that began before
	databasetest.Execute(t, databasetest.URI(c), strings.ReplaceAll(otherDefaults, "DATABASE", c.Database))
	return database, plain
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

// pieces cuts a script at ends of lines that end a statement. No piece is larger than MySQL takes at once.
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
