package database_test

import (
	"database/sql"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the plain client beside the code under test

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
	"github.com/mcp-admin/mcp-admin-operator/server/database/mysql"
	"github.com/mcp-admin/mcp-admin-operator/server/database/postgres"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqlite"
)

// fixture is a database under test, and a plain client of the same database.
type fixture struct {
	engine string
	database.DB
	plain *sql.DB
}

// onAllEngines runs a test on each engine, on a database that a script has filled.
func onAllEngines(t *testing.T, script map[string]string, test func(t *testing.T, f fixture)) {
	t.Helper()
	for name, make := range engines {
		t.Run(name, func(t *testing.T) { test(t, make(t, script[name])) })
	}
}

// same is a script that all engines understand.
func same(script string) map[string]string {
	return map[string]string{contract.EnginePostgreSQL: script, contract.EngineMySQL: script, contract.EngineSQLite: script}
}

var limits = contract.Database{MaxConnections: 4, StatementTimeout: contract.Duration(2 * time.Minute)}

var engines = map[string]func(t testing.TB, script string) fixture{
	contract.EnginePostgreSQL: func(t testing.TB, script string) fixture {
		connection := databasetest.PostgreSQL(t)
		uri := databasetest.URI(connection)
		databasetest.Execute(t, uri, script)
		return started(t, fixture{contract.EnginePostgreSQL, postgres.Open(database.Settings{
			Database: limits, Connection: func() (contract.Connection, error) { return connection, nil },
		}), opened(t, "pgx", uri)})
	},
	contract.EngineMySQL: func(t testing.TB, script string) fixture {
		connection := databasetest.MariaDB(t)
		databasetest.ExecuteMySQL(t, connection, script)
		return started(t, fixture{contract.EngineMySQL, mysql.Open(database.Settings{
			Database: limits, Connection: func() (contract.Connection, error) { return connection, nil },
		}), opened(t, "mysql", databasetest.MySQLName(connection))})
	},
	contract.EngineSQLite: func(t testing.TB, script string) fixture {
		file := filepath.Join(t.TempDir(), "data.sqlite")
		plain := opened(t, "sqlite", file)
		if _, err := plain.Exec(script); err != nil {
			t.Fatal(err)
		}
		return started(t, fixture{contract.EngineSQLite, sqlite.Open(database.Settings{Database: limits, SQLitePath: file}), plain})
	},
}

func opened(t testing.TB, driver, name string) *sql.DB {
	t.Helper()
	plain, err := sql.Open(driver, name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { plain.Close() })
	return plain
}

func started(t testing.TB, f fixture) fixture {
	t.Cleanup(f.Close)
	return f
}

// schema reads the present schema.
func (f fixture) schema(t testing.TB) *database.Schema {
	t.Helper()
	schema, err := f.Introspect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func (f fixture) table(t testing.TB, name string) *database.Table {
	t.Helper()
	return find(t, f.schema(t), name)
}

func find(t testing.TB, schema *database.Schema, name string) *database.Table {
	t.Helper()
	for _, table := range schema.Tables {
		if table.Name == name {
			return table
		}
	}
	t.Fatalf("there is no table %s", name)
	return nil
}

// read answers a plan and returns its rows.
func (f fixture) read(t testing.TB, plan *database.Select) ([]string, database.Page) {
	t.Helper()
	out, page, err := f.Select(t.Context(), plan, []byte("["))
	if err != nil {
		t.Fatal(err)
	}
	var rows []json.RawMessage
	if err := json.Unmarshal(append(out, ']'), &rows); err != nil {
		t.Fatalf("no JSON: %s", out)
	}
	if len(rows) != page.Count {
		t.Errorf("%d rows were written, but counted as %d", len(rows), page.Count)
	}
	texts := make([]string, len(rows))
	for i, row := range rows {
		texts[i] = string(row)
	}
	return texts, page
}

// ids returns the ids of the rows that meet a condition, in the rows' order.
func (f fixture) ids(t testing.TB, table *database.Table, where database.Condition) string {
	t.Helper()
	id := table.Column("id")
	rows, page := f.read(t, &database.Select{
		From: database.NewSource(table, nil), Output: outputs(id), Where: where, Order: ascending(id), Limit: 1000, Total: database.TotalExact,
	})
	if page.Total != int64(len(rows)) {
		t.Errorf("%d rows were found, but %d counted", len(rows), page.Total)
	}
	for i, row := range rows {
		rows[i] = strings.TrimSuffix(strings.TrimPrefix(row, `{"id":`), "}")
	}
	return strings.Join(rows, " ")
}

func outputs(columns ...*database.Column) []database.Output {
	all := make([]database.Output, len(columns))
	for i, column := range columns {
		all[i] = database.Output{Name: column.Name, Columns: []*database.Column{column}}
	}
	return all
}

func ascending(columns ...*database.Column) []database.Order {
	all := make([]database.Order, len(columns))
	for i, column := range columns {
		all[i] = database.Order{Column: column}
	}
	return all
}

func columnNames(columns []*database.Column) string {
	all := make([]string, len(columns))
	for i, column := range columns {
		all[i] = column.Name
	}
	return strings.Join(all, ",")
}
