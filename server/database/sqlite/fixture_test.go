package sqlite_test

import (
	"database/sql"
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqlite"
)

func settings(path string, change func(*database.Settings)) database.Settings {
	s := database.Settings{
		Database:   contract.Database{MaxConnections: 4, StatementTimeout: contract.Duration(2 * time.Minute)},
		SQLitePath: path,
	}
	if change != nil {
		change(&s)
	}
	return s
}

// filled returns a file that a script has filled.
func filled(t testing.TB, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "some data.sqlite")
	execute(t, path, script)
	return path
}

// execute runs a script by a client of its own.
func execute(t testing.TB, path, script string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(script); err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, s database.Settings) database.DB {
	t.Helper()
	db := sqlite.Open(s)
	t.Cleanup(db.Close)
	return db
}

// all returns a plan that reads every column of a table.
func all(table *database.Table) *database.Select {
	plan := &database.Select{From: database.NewSource(table, nil), Limit: 1000}
	for _, column := range table.Columns {
		plan.Output = append(plan.Output, database.Output{Name: column.Name, Columns: []*database.Column{column}})
	}
	return plan
}

func read(t testing.TB, db database.DB, plan *database.Select) string {
	t.Helper()
	out, _, err := db.Select(t.Context(), plan, []byte("["))
	if err != nil {
		t.Fatal(err)
	}
	out = append(out, ']')
	if !json.Valid(out) {
		t.Fatalf("no JSON: %s", out)
	}
	return string(out)
}

// opened is a database under test with its schema.
type opened struct {
	database.DB
	path   string
	schema *database.Schema
}

func openFilled(t testing.TB, script string, change func(*database.Settings)) opened {
	t.Helper()
	path := filled(t, script)
	db := open(t, settings(path, change))
	return opened{db, path, databasetest.Introspect(t, db)}
}

func (o opened) source(t testing.TB, name string) database.Source {
	return database.NewSource(databasetest.Table(t, o.schema, name), nil)
}

// insert is a plan that gives a table's columns values.
func (o opened) insert(t testing.TB, table string, row map[string]database.Value) *database.Insert {
	plan := &database.Insert{Into: o.source(t, table)}
	plan.Set = assign(t, plan.Into.Table(), row)
	return plan
}

func (o opened) update(t testing.TB, table string, id database.Value, row map[string]database.Value) *database.Update {
	source := o.source(t, table)
	return &database.Update{In: source, Set: assign(t, source.Table(), row), Where: byID(t, source.Table(), id)}
}

func (o opened) remove(t testing.TB, table string, id database.Value) *database.Delete {
	source := o.source(t, table)
	return &database.Delete{From: source, Where: byID(t, source.Table(), id)}
}

func assign(t testing.TB, table *database.Table, row map[string]database.Value) (set []database.Assignment) {
	t.Helper()
	for _, column := range table.Columns {
		if value, ok := row[column.Name]; ok {
			set = append(set, database.Assignment{Column: column, Value: value})
		}
	}
	if len(set) != len(row) {
		t.Fatalf("%s has not all columns of %v", table, row)
	}
	return set
}

func byID(t testing.TB, table *database.Table, id database.Value) database.Condition {
	t.Helper()
	if table.Column("id") == nil {
		t.Fatalf("%s has no column id", table)
	}
	return database.Compare{Column: table.Column("id"), Op: database.Equal, Value: id}
}

func declared(pieces ...any) *database.Declared {
	d := &database.Declared{}
	for _, piece := range pieces {
		if text, ok := piece.(string); ok {
			d.Pieces = append(d.Pieces, database.Piece{SQL: text})
		} else {
			d.Pieces = append(d.Pieces, database.Piece{Bound: true, Kind: database.Integer, Values: piece.([]database.Value)})
		}
	}
	return d
}

// plainly asks a client of its own for one text.
func plainly(t testing.TB, path, query string) string {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var answer sql.NullString
	if err := db.QueryRow(query).Scan(&answer); err != nil {
		t.Fatal(err)
	}
	return answer.String
}

const journal, writeAhead = "PRAGMA journal_mode = DELETE;", "PRAGMA journal_mode = WAL;"

// modes are the scripts that set a file's journal mode.
var modes = map[string]string{"journal": journal, "write-ahead": writeAhead}
