package postgres_test

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

// silent returns the address of a server that accepts connections and never answers.
func silent(t *testing.T) *net.TCPAddr {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return listener.Addr().(*net.TCPAddr)
}

func TestNoConnection(t *testing.T) {
	t.Parallel()
	free := silent(t)
	for _, test := range []struct {
		name   string
		settle func(t *testing.T) database.Settings
		reason string
		says   string
	}{
		{"nobody listens", func(*testing.T) database.Settings {
			return settings(contract.Connection{Host: "127.0.0.1", Port: 1, Database: "d", User: "u", Password: "hunter2"}, nil)
		}, contract.ReasonUnreachable, "127.0.0.1:1 cannot be reached: connection refused"},
		{"the name is not known", func(*testing.T) database.Settings {
			return settings(contract.Connection{Host: "db.invalid", Port: 5432, Database: "d", User: "u", Password: "hunter2"}, nil)
		}, contract.ReasonUnreachable, "db.invalid:5432 cannot be reached: the host's name is not known"},
		{"no answer", func(*testing.T) database.Settings {
			return settings(contract.Connection{
				Host: "127.0.0.1", Port: free.Port, Database: "d", User: "u", Password: "hunter2", Options: map[string]string{"connect_timeout": "1"},
			}, nil)
		}, contract.ReasonUnreachable, "cannot be reached: no answer within"},
		{"the Secret is incomplete", func(*testing.T) database.Settings {
			s := settings(contract.Connection{}, nil)
			s.Connection = func() (contract.Connection, error) { return contract.ResolveConnection(nil, "") }
			return s
		}, contract.ReasonSecretIncomplete, `it lacks "host"`},
		{"an option that is not understood", func(*testing.T) database.Settings {
			return settings(contract.Connection{Host: "h", Port: 1, Database: "d", User: "u", Password: "hunter2", Options: map[string]string{"connect_timeout": "hunter2"}}, nil)
		}, contract.ReasonSecretIncomplete, "connect_timeout"},
		{"a wrong password", func(t *testing.T) database.Settings {
			c := databasetest.PostgreSQL(t)
			if c.Password == "" {
				t.Skip("the server asks for no password")
			}
			c.Password = "hunter2"
			return settings(c, nil)
		}, contract.ReasonAuthenticationFailed, "refused the user or the password"},
		{"no such database", func(t *testing.T) database.Settings {
			c := databasetest.PostgreSQL(t)
			c.Database = "nowhere"
			return settings(c, nil)
		}, contract.ReasonDatabaseNotFound, "is not there"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			db := open(t, test.settle(t))
			for range 2 { // the gate holds the second back, with the same words
				e := databasetest.Failure(t, db.Ping(t.Context()))
				if e.Code != database.Unreachable || e.Reason != test.reason || !strings.Contains(e.Message, test.says) {
					t.Errorf("got %s, %s: %s", e.Code, e.Reason, e.Message)
				}
				if strings.Contains(e.Error(), "hunter2") {
					t.Errorf("%q holds the password", e.Error())
				}
			}
		})
	}
}

func TestStatementFailures(t *testing.T) {
	t.Parallel()
	c := filled(t, `
CREATE TYPE mood AS ENUM ('sad');
CREATE TABLE t (id int PRIMARY KEY, mood mood, address inet, at point, stamp timestamp); INSERT INTO t VALUES (1);
CREATE TABLE gone (id int PRIMARY KEY, v text); INSERT INTO gone VALUES (1, 'x');
CREATE TABLE log (id serial PRIMARY KEY);
CREATE FUNCTION writes() RETURNS int LANGUAGE sql VOLATILE AS 'INSERT INTO log DEFAULT VALUES RETURNING id';
CREATE VIEW writing AS SELECT writes() AS id;
CREATE VIEW slow AS SELECT 1 AS id, pg_sleep(600)::text AS v`)
	schema := databasetest.Introspect(t, open(t, settings(c, nil)))
	table := databasetest.Table(t, schema, "public.t")
	where := func(name string, value database.Value) *database.Select {
		plan := all(table)
		plan.Where = database.Compare{Column: table.Column(name), Op: database.Equal, Value: value}
		return plan
	}
	quick := func(s *database.Settings) { s.StatementTimeout = contract.Duration(2 * time.Second) }
	readOnly := func(s *database.Settings) { s.ReadOnly = true }
	for _, test := range []struct {
		name   string
		plan   *database.Select
		change func(*database.Settings)
		code   database.Code
		says   string
	}{
		{"a value outside an enum", where("mood", "merry"), nil, database.Invalid, "merry"},
		{"no address", where("address", "nowhere"), nil, database.Invalid, "nowhere"},
		{"no day", where("stamp", "2026-02-30T00:00:00"), nil, database.Invalid, "2026-02-30"},
		{"U+0000", where("address", "a\x00b"), nil, database.Invalid, "U+0000"},
		{"a type without equality", where("at", "(1,2)"), nil, database.Invalid, "cannot be compared"},
		{"read only, a value outside an enum", where("mood", "merry"), readOnly, database.Invalid, "merry"},
		{"too slow", all(databasetest.Table(t, schema, "public.slow")), quick, database.Timeout, "longer than 2s"},
		{"a view that writes, read only", all(databasetest.Table(t, schema, "public.writing")), readOnly, database.Refused, "allows no changes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			db := open(t, settings(c, test.change))
			for range 3 {
				out, page, err := db.Select(t.Context(), test.plan, []byte("kept"))
				if e := databasetest.Failure(t, err); e.Code != test.code || !strings.Contains(e.Message, test.says) {
					t.Errorf("got %s: %s", e.Code, e.Error())
				}
				if string(out) != "kept" || page.Count != 0 {
					t.Errorf("%s came with the error", out)
				}
			}
			if got := read(t, db, where("id", int64(1))); !strings.Contains(got, `"id":1`) {
				t.Errorf("afterwards it reads %s", got)
			}
		})
	}
	t.Run("nothing was written", func(t *testing.T) {
		var count int
		if err := databasetest.Connect(t, databasetest.URI(c)).QueryRow(t.Context(), "SELECT count(*) FROM log").Scan(&count); err != nil || count != 0 {
			t.Errorf("%d rows, %v", count, err)
		}
	})
}

func TestChangedTables(t *testing.T) {
	t.Parallel()
	const base = `DROP TABLE IF EXISTS t; CREATE TABLE t (id int PRIMARY KEY, v json); INSERT INTO t VALUES (1, '{}')`
	c := filled(t, base)
	for _, test := range []struct{ name, change, later string }{
		{"table dropped", "DROP TABLE t", ""},
		{"column dropped", "ALTER TABLE t DROP COLUMN v", `[{"id":1}]`},
		{"column renamed", "ALTER TABLE t RENAME COLUMN v TO w", `[{"id":1,"w":{}}]`},
		{"type changed", "ALTER TABLE t ALTER COLUMN v TYPE text USING '\"'", `[{"id":1,"v":"\""}]`},
	} {
		for _, prepared := range []bool{false, true} {
			t.Run(test.name, func(t *testing.T) {
				databasetest.Execute(t, databasetest.URI(c), base)
				db := open(t, settings(c, nil))
				plan := all(databasetest.Table(t, databasetest.Introspect(t, db), "public.t"))
				for range map[bool]int{false: 0, true: 3}[prepared] {
					read(t, db, plan)
				}
				databasetest.Execute(t, databasetest.URI(c), test.change)
				_, _, err := db.Select(t.Context(), plan, nil)
				if e := databasetest.Failure(t, err); e.Code != database.Changed {
					t.Fatalf("got %s: %v", e.Code, e)
				}
				if test.later == "" {
					return
				}
				if got := read(t, db, all(databasetest.Table(t, databasetest.Introspect(t, db), "public.t"))); got != test.later {
					t.Errorf("with the new schema it reads %s, want %s", got, test.later)
				}
			})
		}
	}
}

// A view's computation may fail on a row that the caller must not see, and the server then quotes that row's value.
func TestMessagesQuoteNoRow(t *testing.T) {
	t.Parallel()
	db := open(t, settings(filled(t, `
CREATE TABLE raw (id int PRIMARY KEY, hidden text); INSERT INTO raw VALUES (1, '7'), (2, 'what nobody may see');
CREATE VIEW v AS SELECT id, hidden::int AS number FROM raw`), nil))
	table := databasetest.Table(t, databasetest.Introspect(t, db), "public.v")
	plan := all(table)
	plan.Output = plan.Output[:1]
	plan.Where = database.Compare{Column: table.Column("number"), Op: database.Equal, Value: int64(7)}
	_, _, err := db.Select(t.Context(), plan, nil)
	if e := databasetest.Failure(t, err); e.Code != database.Invalid || strings.Contains(e.Message+err.Error(), "nobody") {
		t.Errorf("got %s: %s: %v", e.Code, e.Message, err)
	}
}

func TestLostConnectionsComeBack(t *testing.T) {
	t.Parallel()
	c := filled(t, "CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t VALUES (7)")
	db := open(t, settings(c, nil))
	plan := all(databasetest.Table(t, databasetest.Introspect(t, db), "public.t"))
	for range 3 {
		read(t, db, plan)
		databasetest.Execute(t, databasetest.URI(c), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
		if got := read(t, db, plan); got != `[{"id":7}]` {
			t.Errorf("got %s", got)
		}
	}
}

func TestCredentialsAreTakenAfresh(t *testing.T) {
	t.Parallel()
	good := filled(t, "CREATE TABLE t (id int PRIMARY KEY)")
	var current atomic.Pointer[contract.Connection]
	bad := good
	bad.Database = "nowhere"
	current.Store(&bad)
	db := open(t, settings(good, func(s *database.Settings) {
		s.Connection = func() (contract.Connection, error) { return *current.Load(), nil }
	}))
	if e := databasetest.Failure(t, db.Ping(t.Context())); e.Reason != contract.ReasonDatabaseNotFound {
		t.Fatalf("got %v", e)
	}
	current.Store(&good)
	deadline := time.Now().Add(10 * time.Minute)
	for db.Ping(t.Context()) != nil {
		if time.Now().After(deadline) {
			t.Fatal("the new credentials are not in force")
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func TestBusyAndClosed(t *testing.T) {
	t.Parallel()
	c := filled(t, "CREATE TABLE t (id int PRIMARY KEY); CREATE VIEW slow AS SELECT 1 AS id, pg_sleep(600)::text AS v")
	db := open(t, settings(c, func(s *database.Settings) {
		s.MaxConnections, s.StatementTimeout = 1, contract.Duration(10*time.Minute)
	}))
	slow := all(databasetest.Table(t, databasetest.Introspect(t, db), "public.slow"))
	var group sync.WaitGroup
	group.Go(func() {
		_, _, err := db.Select(context.Background(), slow, nil)
		var e *database.Error
		if !errors.As(err, &e) || e.Code != database.Cancelled {
			t.Errorf("the call under way ended with %v", err)
		}
	})
	plain := databasetest.Connect(t, databasetest.URI(c))
	for sleeping := 0; sleeping == 0; time.Sleep(20 * time.Millisecond) {
		if err := plain.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'").Scan(&sleeping); err != nil {
			t.Fatal(err)
		}
	}
	if e := databasetest.Failure(t, db.Ping(t.Context())); e.Code != database.Busy || !strings.Contains(e.Message, "all 1 database connections") {
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

func TestMain(m *testing.M) {
	// A password file of the machine's user must not decide the outcome of these tests.
	if err := os.Setenv("PGPASSFILE", os.DevNull); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
