package sqlite_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

func TestValues(t *testing.T) {
	for _, test := range []struct {
		name, declared, sql string
		kind                database.Kind
		want                string
	}{
		{"null", "TEXT", "NULL", database.Text, "null"},
		{"integer", "INTEGER", "-7", database.Integer, "-7"},
		{"integer beyond exactness", "BIGINT", "9007199254740993", database.Integer, `"9007199254740993"`},
		{"a text in an integer column", "INTEGER", "'abc'", database.Integer, `"abc"`},
		{"a fraction in an integer column", "INT", "1.5", database.Integer, "1.5"},
		{"text", "NVARCHAR(160)", `'a "b" é'`, database.Text, `"a \"b\" é"`},
		{"text that is no UTF-8", "TEXT", "CAST(x'61ff62' AS TEXT)", database.Text, "\"a\uFFFDb\""},
		{"bytes in a text column", "TEXT", "x'00ff'", database.Text, `"AP8="`},
		{"decimal", "NUMERIC(10,2)", "0.99", database.Decimal, `"0.99"`},
		{"decimal without a fraction", "NUMERIC(10,2)", "5", database.Decimal, `"5.00"`},
		{"decimal of no scale", "DECIMAL", "1.25", database.Decimal, `"1.25"`},
		{"whole decimal of no scale", "DECIMAL(5)", "3", database.Decimal, `"3"`},
		{"decimal of scale 0", "DECIMAL(5,0)", "3", database.Decimal, `"3"`},
		{"a text in a decimal column", "NUMERIC(10,2)", "'n/a'", database.Decimal, `"n/a"`},
		{"infinite decimal", "NUMERIC(10,2)", "9e999", database.Decimal, `"Infinity"`},
		{"float", "REAL", "0.1", database.Float, "0.1"},
		{"whole float", "DOUBLE PRECISION", "2", database.Float, "2"},
		{"infinity", "FLOAT", "-9e999", database.Float, `"-Infinity"`},
		{"true", "BOOLEAN", "TRUE", database.Boolean, "true"},
		{"false", "BOOL", "0", database.Boolean, "false"},
		{"neither", "BOOLEAN", "2", database.Boolean, "2"},
		{"a text in a boolean column", "BOOLEAN", "'yes'", database.Boolean, `"yes"`},
		{"date", "DATE", "'2026-02-28'", database.Date, `"2026-02-28"`},
		{"time", "TIME", "'12:34:56'", database.Time, `"12:34:56"`},
		{"timestamp", "DATETIME", "'2009-01-01 00:00:00'", database.Timestamp, `"2009-01-01T00:00:00"`},
		{"timestamp with a fraction", "TIMESTAMP", "'2009-01-01 00:00:00.250'", database.Timestamp, `"2009-01-01T00:00:00.250"`},
		{"timestamp without seconds", "DATETIME", "'2009-01-01 00:00'", database.Timestamp, `"2009-01-01T00:00:00"`},
		{"instant", "TIMESTAMP WITH TIME ZONE", "'2009-01-01 00:00:00+00:00'", database.TimestampTZ, `"2009-01-01T00:00:00Z"`},
		{"instant without a zone", "TIMESTAMPTZ", "'2009-01-01 00:00:00.5'", database.TimestampTZ, `"2009-01-01T00:00:00.5Z"`},
		{"instant elsewhere", "TIMESTAMPTZ", "'2009-01-01 00:00:00-05:30'", database.TimestampTZ, `"2009-01-01T00:00:00-05:30"`},
		{"another text in an instant's column", "TIMESTAMPTZ", "'a \"b\"'", database.TimestampTZ, `"a \"b\""`},
		{"a number in a timestamp column", "DATETIME", "1230768000", database.Timestamp, "1230768000"},
		{"another text in a timestamp column", "DATETIME", "'01.01.2009'", database.Timestamp, `"01.01.2009"`},
		{"uuid", "UUID", "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'", database.UUID, `"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"`},
		{"json", "JSON", `'{"a": 1.10}'`, database.JSON, `{"a": 1.10}`},
		{"a text in a json column", "JSON", `'{"a":'`, database.JSON, `"{\"a\":"`},
		{"json that is no UTF-8", "JSON", `CAST(x'2261ff22' AS TEXT)`, database.JSON, "\"\\\"a\uFFFD\\\"\""},
		{"json written as a number", "JSON", "'5'", database.JSON, "5"},
		{"no bytes", "BLOB", "x''", database.Bytes, `""`},
		{"bytes", "BLOB", "x'00ff10'", database.Bytes, `"AP8Q"`},
		{"a text in a bytes column", "BLOB", "'abc'", database.Bytes, `"abc"`},
		{"a number of no type", "", "5", database.Other, "5"},
		{"a text of no type", "", "'5'", database.Other, `"5"`},
		{"an unknown type", "GEOMETRY", "1.5", database.Other, "1.5"},
		{"money", "MONEY", "1.5", database.Decimal, `"1.5"`},
		{"a decimal of more digits than are declared", "NUMERIC(10,2)", "1.005", database.Decimal, `"1.005"`},
		{"a day that no calendar has", "DATETIME", "'0000-00-00 00:00:00'", database.Timestamp, `"0000-00-00 00:00:00"`},
		{"bytes by another name", "bytea", "x'00ff10'", database.Bytes, `"AP8Q"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			db := open(t, settings(filled(t, "CREATE TABLE v (v "+test.declared+"); INSERT INTO v VALUES ("+test.sql+")"), nil))
			table := databasetest.Table(t, databasetest.Introspect(t, db), "v")
			if kind := table.Columns[0].Kind; kind != test.kind {
				t.Errorf("kind is %v, want %v", kind, test.kind)
			}
			if got, want := read(t, db, all(table)), `[{"v":`+test.want+`}]`; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			key := all(table)
			key.Output = []database.Output{{Name: "k", Columns: table.Columns, Composite: true}}
			if got := read(t, db, key); strings.HasPrefix(got, `[{"k":null`) != (test.want == "null") {
				t.Errorf("as a part of a key it is %s", got)
			}
		})
	}
}

func TestTimestampsAreComparedByWhatTheyMean(t *testing.T) {
	db := open(t, settings(filled(t, `CREATE TABLE t (id INTEGER PRIMARY KEY, at DATETIME); INSERT INTO t VALUES
(1, '2009-01-01 00:00:00'), (2, '2009-01-01T00:00:00'), (3, '2009-01-01 00:00:00.000'), (4, '2009-01-01T02:00:00+02:00'), (5, 1230768000), (6, 'soon'), (7, NULL), (8, '2009-01-02')`), nil))
	table := databasetest.Table(t, databasetest.Introspect(t, db), "t")
	for op, want := range map[database.CompareOp]string{
		database.Equal: "1 2 3 4 5", database.Greater: "8", database.Less: "",
	} {
		plan := all(table)
		plan.Output = plan.Output[:1]
		plan.Order = []database.Order{{Column: table.Column("id")}}
		plan.Where = database.Compare{Column: table.Column("at"), Op: op, Value: "2009-01-01T00:00:00"}
		got := strings.NewReplacer(`{"id":`, "", "}", "", "[", "", "]", "", ",", " ").Replace(read(t, db, plan))
		if got != want {
			t.Errorf("%s finds %s, want %s", op, got, want)
		}
	}
}

func TestIntrospect(t *testing.T) {
	path := filled(t, `
CREATE TABLE customer (id INTEGER PRIMARY KEY, email NVARCHAR(60) NOT NULL UNIQUE, a INT, b INT DEFAULT (1 + 1), twice INT GENERATED ALWAYS AS (a * 2), UNIQUE (b, A));
CREATE UNIQUE INDEX customer_partial ON customer (a) WHERE b > 0;
CREATE UNIQUE INDEX customer_expression ON customer (lower(email));
CREATE TABLE orders (number TEXT PRIMARY KEY, customer_id INT REFERENCES Customer, other INT REFERENCES missing (id), total DECIMAL(8, 3)) WITHOUT ROWID;
CREATE TABLE line (order_number TEXT REFERENCES ORDERS (NUMBER), no INT, PRIMARY KEY (no, order_number));
CREATE TABLE note (line_no INT, order_number TEXT, FOREIGN KEY (line_no, order_number) REFERENCES line);
CREATE TABLE descending (id INTEGER PRIMARY KEY DESC);
CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT);
CREATE VIEW totals AS SELECT customer_id, sum(total) AS total FROM orders GROUP BY 1;
CREATE VIEW broken AS SELECT * FROM gone;
CREATE VIRTUAL TABLE words USING fts5(word);`)
	db := open(t, settings(path, nil))
	schema := databasetest.Introspect(t, db)
	if schema.Engine != "SQLite" || !strings.HasPrefix(schema.Version, "3.") || schema.Database != "some data.sqlite" || schema.HasSchemas {
		t.Errorf("%+v", schema)
	}
	var tables []string
	for _, table := range schema.Tables {
		tables = append(tables, table.String()+" "+string(table.Kind))
	}
	want := []string{"counted table", "customer table", "descending table", "line table", "note table", "orders table", "totals view", "words table"}
	if !slices.Equal(tables, want) {
		t.Errorf("found %v\nwant %v", tables, want)
	}
	for name, want := range map[string]string{
		"customer":   "key id; unique b,a; unique email",
		"orders":     "key number; customer_id>customer.id",
		"line":       "key no,order_number; order_number>orders.number",
		"note":       "line_no,order_number>line.no,order_number",
		"totals":     "",
		"descending": "key id",
	} {
		got, want := strings.Split(databasetest.Keys(databasetest.Table(t, schema, name)), "; "), strings.Split(want, "; ")
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s has %v, want %v", name, got, want)
		}
	}
	customer := databasetest.Table(t, schema, "customer")
	for _, test := range []struct {
		table, column string
		want          database.Column
	}{
		{"customer", "id", database.Column{Kind: database.Integer, NativeType: "INTEGER", HasDefault: true, Scale: -1}},
		{"customer", "email", database.Column{Kind: database.Text, NativeType: "NVARCHAR(60)", MaxLength: 60, Scale: -1}},
		{"customer", "b", database.Column{Kind: database.Integer, NativeType: "INT", Nullable: true, HasDefault: true, Scale: -1}},
		{"customer", "twice", database.Column{Kind: database.Integer, NativeType: "INT", Nullable: true, Generated: true, Scale: -1}},
		{"orders", "number", database.Column{Kind: database.Text, NativeType: "TEXT", Scale: -1}},
		{"orders", "total", database.Column{Kind: database.Decimal, NativeType: "DECIMAL(8, 3)", Nullable: true, Scale: 3}},
		{"descending", "id", database.Column{Kind: database.Integer, NativeType: "INTEGER", Scale: -1}},
		{"counted", "id", database.Column{Kind: database.Integer, NativeType: "INTEGER", HasDefault: true, Scale: -1}},
		{"totals", "customer_id", database.Column{Kind: database.Integer, NativeType: "INT", Nullable: true, Scale: -1}},
		{"totals", "total", database.Column{Kind: database.Other, Nullable: true, Scale: -1}},
	} {
		test.want.Name = test.column
		if got := databasetest.Table(t, schema, test.table).Column(test.column); got == nil || got.Kind != test.want.Kind || got.NativeType != test.want.NativeType ||
			got.Nullable != test.want.Nullable || got.HasDefault != test.want.HasDefault ||
			got.Generated != test.want.Generated || got.MaxLength != test.want.MaxLength || got.Scale != test.want.Scale {
			t.Errorf("%s is\n%+v, want\n%+v", test.column, got, test.want)
		}
	}
	if got := databasetest.Names(customer.Columns); got != "id,email,a,b,twice" {
		t.Errorf("the columns are %s", got)
	}
	for _, table := range schema.Tables {
		read(t, db, all(table))
	}
}

const slowView = `CREATE VIEW slow AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000000) SELECT i AS id FROM n WHERE i = 1 OR i = 1000000000`

func TestStatementFailures(t *testing.T) {
	path := filled(t, "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT); CREATE TABLE gone (id INT);"+slowView)
	schema := databasetest.Introspect(t, open(t, settings(path, nil)))
	execute(t, path, "DROP TABLE gone; ALTER TABLE t RENAME COLUMN v TO w")
	many := all(databasetest.Table(t, schema, "t"))
	many.Output = many.Output[:1]
	many.Where = database.In{Column: databasetest.Table(t, schema, "t").Column("id"), Values: make([]database.Value, 40_000)}
	for _, test := range []struct {
		name    string
		plan    *database.Select
		timeout time.Duration
		code    database.Code
	}{
		{"table dropped", all(databasetest.Table(t, schema, "gone")), time.Minute, database.Changed},
		{"column renamed", all(databasetest.Table(t, schema, "t")), time.Minute, database.Changed},
		{"too many values", many, time.Minute, database.Invalid},
		{"too slow, though a row is found at once", all(databasetest.Table(t, schema, "slow")), 100 * time.Millisecond, database.Timeout},
	} {
		t.Run(test.name, func(t *testing.T) {
			db := open(t, settings(path, func(s *database.Settings) { s.StatementTimeout = contract.Duration(test.timeout) }))
			start := time.Now()
			out, page, err := db.Select(t.Context(), test.plan, []byte("kept"))
			if e := databasetest.Failure(t, err); e.Code != test.code {
				t.Errorf("got %s: %v", e.Code, e)
			}
			if string(out) != "kept" || page.Count != 0 || time.Since(start) > time.Minute {
				t.Errorf("%s came with the error, after %v", out, time.Since(start))
			}
			if err := db.Ping(t.Context()); err != nil {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

func TestCancelledBusyAndClosed(t *testing.T) {
	db := open(t, settings(filled(t, slowView), func(s *database.Settings) {
		s.MaxConnections, s.StatementTimeout = 1, contract.Duration(10*time.Minute)
	}))
	slow := all(databasetest.Table(t, databasetest.Introspect(t, db), "slow"))
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, _, err := db.Select(ctx, slow, nil); databasetest.Failure(t, err).Code != database.Cancelled {
		t.Errorf("got %v", err)
	}
	var group sync.WaitGroup
	group.Go(func() {
		_, _, err := db.Select(context.Background(), slow, nil)
		var e *database.Error
		if !errors.As(err, &e) || e.Code != database.Cancelled {
			t.Errorf("the call under way ended with %v", err)
		}
	})
	err := db.Ping(t.Context())
	for deadline := time.Now().Add(10 * time.Minute); err == nil && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		err = db.Ping(t.Context()) // until the call has the connection
	}
	if e := databasetest.Failure(t, err); e.Code != database.Busy {
		t.Errorf("got %v", e)
	}
	start := time.Now()
	db.Close()
	group.Wait()
	if took := time.Since(start); took > time.Minute {
		t.Errorf("Close took %v", took)
	}
	if e := databasetest.Failure(t, db.Ping(t.Context())); e.Code != database.Cancelled {
		t.Errorf("after Close: %v", e)
	}
}

func TestConnectionsOnlyRead(t *testing.T) {
	path := filled(t, "CREATE TABLE t (id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1); PRAGMA journal_mode = WAL")
	for _, readOnly := range []bool{false, true} {
		db := open(t, settings(path, func(s *database.Settings) { s.ReadOnly = readOnly }))
		table := databasetest.Table(t, databasetest.Introspect(t, db), "t")
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				for range 20 {
					if _, page, err := db.Select(context.Background(), all(table), nil); err != nil || page.Count == 0 {
						t.Errorf("%d rows, %v", page.Count, err)
					}
				}
			})
		}
		// Another process writes meanwhile; readers see it.
		execute(t, path, "INSERT INTO t (id) VALUES ((SELECT max(id) + 1 FROM t))")
		group.Wait()
		if got := read(t, db, all(table)); !strings.HasPrefix(got, `[{"id":1},{"id":2}`) {
			t.Errorf("got %s", got)
		}
	}
}

func TestFilesThatAreNone(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte(strings.Repeat("This is no database. ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{"a text": text, "a folder": t.TempDir(), "a folder that is missing": filepath.Join(t.TempDir(), "missing", "data.sqlite")} {
		db := open(t, settings(path, nil))
		if e := databasetest.Failure(t, db.Ping(t.Context())); e.Code != database.Unreachable || !strings.Contains(e.Message, path) {
			t.Errorf("%s: got %s: %v", name, e.Code, e)
		}
	}
}
