package mysql_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
	"github.com/mcp-admin/mcp-admin-operator/server/database/mysql"
)

// fixture is a database under test, and a plain client of the same.
type fixture struct {
	database.DB
	plain      *sql.DB
	connection contract.Connection
}

// open opens a new database that a script has filled; change may alter the settings.
func open(t testing.TB, script string, change func(*database.Settings)) fixture {
	t.Helper()
	connection := databasetest.MariaDB(t)
	if script != "" {
		databasetest.ExecuteMySQL(t, connection, script)
	}
	f := fixture{openAt(t, connection, change), nil, connection}
	plain, err := sql.Open("mysql", databasetest.MySQLName(connection))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { plain.Close() })
	f.plain = plain
	return f
}

// openAt opens a database that is there.
func openAt(t testing.TB, connection contract.Connection, change func(*database.Settings)) database.DB {
	settings := database.Settings{
		Database:   contract.Database{MaxConnections: 4, StatementTimeout: contract.Duration(2 * time.Minute)},
		Connection: func() (contract.Connection, error) { return connection, nil },
	}
	if change != nil {
		change(&settings)
	}
	db := mysql.Open(settings)
	t.Cleanup(db.Close)
	return db
}

func (f fixture) table(t testing.TB, name string) *database.Table {
	t.Helper()
	return tableOf(t, databasetest.Introspect(t, f), name)
}

func tableOf(t testing.TB, schema *database.Schema, name string) *database.Table {
	t.Helper()
	for _, table := range schema.Tables {
		if table.Name == name {
			return table
		}
	}
	t.Fatalf("there is no table %s", name)
	return nil
}

func outputs(columns ...*database.Column) []database.Output {
	all := make([]database.Output, len(columns))
	for i, column := range columns {
		all[i] = database.Output{Name: column.Name, Columns: []*database.Column{column}}
	}
	return all
}

func equal(c *database.Column, value database.Value) database.Condition {
	return database.Compare{Column: c, Op: database.Equal, Value: value}
}

// all is a plan of all rows and columns, ordered by the key.
func all(table *database.Table) *database.Select {
	plan := &database.Select{From: database.NewSource(table, nil), Output: outputs(table.Columns...), Limit: 1000}
	for _, c := range table.PrimaryKey {
		plan.Order = append(plan.Order, database.Order{Column: c})
	}
	return plan
}

// rows returns what a plan reads, as JSON.
func (f fixture) rows(t testing.TB, plan *database.Select) string {
	t.Helper()
	out, _, err := f.Select(t.Context(), plan, []byte("["))
	if err != nil {
		t.Fatal(err)
	}
	out = append(out, ']')
	if !json.Valid(out) {
		t.Fatalf("no JSON: %s", out)
	}
	return string(out)
}

// wantError checks an error's code, and that the error contains none of the secrets.
func wantError(t testing.TB, err error, code database.Code, secrets ...string) database.Error {
	t.Helper()
	var e *database.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Fatalf("got %v, want an error of the code %s", err, code)
	}
	for _, secret := range secrets {
		if strings.Contains(e.Error(), secret) {
			t.Errorf("%q repeats %q", e, secret)
		}
	}
	return *e
}

// numbers is a query of that many numbers, at most 100,000.
func numbers(output string, count int) string {
	const digit = "(SELECT 0 AS d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9)"
	return fmt.Sprintf("SELECT %s FROM (SELECT 1 + a.d + 10*b.d + 100*c.d + 1000*d.d + 10000*e.d AS n FROM %s a, %s b, %s c, %s d, %s e) AS all_numbers WHERE n <= %d",
		output, digit, digit, digit, digit, digit, count)
}

func TestTimeoutAndCancellation(t *testing.T) {
	// A view that never ends: a thousand million rows, and none of them matches.
	endless := `CREATE TABLE n (n integer PRIMARY KEY); INSERT INTO n ` + numbers("n", 1000) + `;
CREATE VIEW endless AS SELECT sqrt(a.n * b.n * c.n) AS x FROM n a, n b, n c`
	t.Run("a statement that takes too long", func(t *testing.T) {
		f := open(t, endless, func(s *database.Settings) { s.StatementTimeout = contract.Duration(2 * time.Second) })
		view := f.table(t, "endless")
		plan := &database.Select{From: database.NewSource(view, nil), Limit: 1, Output: outputs(view.Columns...), Where: equal(view.Column("x"), -1.0)}
		for range 2 { // the connection can be used again
			_, _, err := f.Select(t.Context(), plan, nil)
			wantError(t, err, database.Timeout)
		}
	})
	t.Run("a caller who goes away", func(t *testing.T) {
		f := open(t, endless, nil)
		view := f.table(t, "endless")
		plan := &database.Select{From: database.NewSource(view, nil), Limit: 1, Output: outputs(view.Columns...), Where: equal(view.Column("x"), -1.0)}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			_, _, err := f.Select(ctx, plan, nil)
			done <- err
		}()
		f.waitRunning(t, "endless", 1)
		cancel()
		wantError(t, <-done, database.Cancelled)
		f.waitRunning(t, "endless", 0) // it was killed on the server as well
		if err := f.Ping(t.Context()); err != nil {
			t.Error(err)
		}
	})
	t.Run("the database is closed", func(t *testing.T) {
		f := open(t, endless, nil)
		view := f.table(t, "endless")
		plan := &database.Select{From: database.NewSource(view, nil), Limit: 1, Output: outputs(view.Columns...), Where: equal(view.Column("x"), -1.0)}
		done := make(chan error)
		go func() {
			_, _, err := f.Select(t.Context(), plan, nil)
			done <- err
		}()
		f.waitRunning(t, "endless", 1)
		f.Close()
		wantError(t, <-done, database.Cancelled)
		wantError(t, f.Ping(t.Context()), database.Cancelled)
	})
	t.Run("a count that takes too long", func(t *testing.T) {
		f := open(t, endless, nil)
		view := f.table(t, "endless")
		plan := &database.Select{From: database.NewSource(view, nil), Limit: 1, Output: outputs(view.Columns...), Total: database.TotalAuto}
		_, page, err := f.Select(t.Context(), plan, nil)
		if err != nil || page.Count != 1 {
			t.Fatalf("got %+v, %v; want one row", page, err)
		}
		plan.Total = database.TotalCapped
		if _, page, err = f.Select(t.Context(), plan, nil); err != nil || page.Total != database.TotalCap || page.Precision != database.TotalIsAtLeast {
			t.Errorf("got %+v, %v; want at least %d", page, err, database.TotalCap)
		}
	})
}

// waitRunning waits until that many statements about a table are running.
func (f fixture) waitRunning(t testing.TB, table string, want int) {
	t.Helper()
	const query = `SELECT count(*) FROM information_schema.PROCESSLIST WHERE DB = ? AND COMMAND <> 'Sleep' AND ID <> CONNECTION_ID() AND INFO LIKE concat('%', ?, '%')`
	for deadline := time.Now().Add(10 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		var n int
		if err := f.plain.QueryRow(query, f.connection.Database, table).Scan(&n); err != nil {
			t.Fatal(err)
		}
		if n == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d statements are running, want %d", n, want)
		}
	}
}

func TestEstimate(t *testing.T) {
	f := open(t, `CREATE TABLE big (id integer PRIMARY KEY, x integer NOT NULL); INSERT INTO big `+numbers("n, n % 10", 20000)+`; ANALYZE TABLE big;
CREATE FUNCTION dawdle(x integer) RETURNS integer NO SQL RETURN x + sleep(0.001);
CREATE VIEW slow AS SELECT id, dawdle(x) AS x FROM big`, nil)
	view := f.table(t, "slow")
	plan := &database.Select{
		From: database.NewSource(view, nil), Output: outputs(view.Column("id")), Limit: 1, Total: database.TotalAuto,
		Where: database.Compare{Column: view.Column("x"), Op: database.GreaterOrEqual, Value: int64(0)},
	}
	_, page, err := f.Select(t.Context(), plan, nil)
	if err != nil || page.Precision != database.TotalIsEstimated || page.Total < 1000 {
		t.Errorf("total %d, precision %d, %v", page.Total, page.Precision, err)
	}
}

func TestTheServerIsGone(t *testing.T) {
	f := open(t, `CREATE TABLE item (id integer PRIMARY KEY); INSERT INTO item VALUES (1)`, nil)
	item := f.table(t, "item")
	f.killAll(t)
	if got := f.rows(t, all(item)); got != `[{"id":1}]` {
		t.Errorf("with a new connection: %s", got)
	}
}

// killAll ends all connections of the code under test.
func (f fixture) killAll(t testing.TB) {
	t.Helper()
	var ids sql.NullString
	const query = `SELECT group_concat(ID) FROM information_schema.PROCESSLIST WHERE DB = ? AND ID <> CONNECTION_ID()`
	if err := f.plain.QueryRow(query, f.connection.Database).Scan(&ids); err != nil || !ids.Valid {
		t.Fatal("no connection was found", err)
	}
	for id := range strings.SplitSeq(ids.String, ",") {
		if _, err := f.plain.Exec("KILL CONNECTION " + id); err != nil {
			t.Fatal(err)
		}
	}
}

func encrypted(c contract.Connection) contract.Connection {
	c.SSLMode = "require"
	return c
}

func TestUnreachable(t *testing.T) {
	good := databasetest.MariaDB(t)
	hasTLS := openAt(t, encrypted(good), nil).Ping(t.Context()) == nil
	for _, test := range []struct {
		name, reason string
		change       func(c *contract.Connection)
	}{
		{"wrong password", contract.ReasonAuthenticationFailed, func(c *contract.Connection) { c.Password = "hunter2" }},
		{"no such database", contract.ReasonDatabaseNotFound, func(c *contract.Connection) { c.Database = "no_such_database" }},
		{"nobody there", contract.ReasonUnreachable, func(c *contract.Connection) { c.Port = 1 }},
		{"no such host", contract.ReasonUnreachable, func(c *contract.Connection) { c.Host = "nowhere.invalid" }},
		{"no TLS", contract.ReasonTLSFailed, func(c *contract.Connection) { c.SSLMode = "require" }},
		{"an unknown sslmode", contract.ReasonSecretIncomplete, func(c *contract.Connection) { c.SSLMode = "sometimes" }},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := good
			test.change(&c)
			if hasTLS && test.reason == contract.ReasonTLSFailed {
				t.Skip("the server offers TLS")
			}
			db := openAt(t, c, nil)
			for range 2 { // the second error comes from the gate
				if e := wantError(t, db.Ping(t.Context()), database.Unreachable, "hunter2", c.User+"'"); e.Reason != test.reason {
					t.Errorf("the reason is %s (%s), want %s", e.Reason, e.Message, test.reason)
				}
			}
		})
	}
}

func TestReadOnly(t *testing.T) {
	f := open(t, `CREATE TABLE item (id integer PRIMARY KEY)`, func(s *database.Settings) { s.ReadOnly = true })
	err := f.Transact(t.Context(), func(database.Tx) error {
		t.Error("a transaction was begun")
		return nil
	})
	wantError(t, err, database.Refused)
	if got := f.rows(t, all(f.table(t, "item"))); got != "[]" {
		t.Errorf("got %q, want %q", got, "[]")
	}
}

func TestBusy(t *testing.T) {
	f := open(t, `CREATE TABLE item (id integer PRIMARY KEY)`, func(s *database.Settings) { s.MaxConnections = 1 })
	err := f.Transact(t.Context(), func(database.Tx) error {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		wantError(t, f.Ping(ctx), database.Cancelled) // it waited until its caller gave up
		wantError(t, f.Ping(t.Context()), database.Busy)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if err := f.Ping(t.Context()); err != nil {
		t.Error(err)
	}
}
