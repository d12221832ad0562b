package postgres_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

// A trigger or rule that replaces an insert is not a failure, and gives no row.
func TestInsertsThatTheDatabaseTakesElsewhere(t *testing.T) {
	t.Parallel()
	c := filled(t, `
CREATE TABLE t (id int PRIMARY KEY, v text); CREATE TABLE elsewhere (id int, v text);
CREATE FUNCTION redirect() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO elsewhere VALUES (NEW.id, NEW.v); RETURN NULL; END $$;
CREATE TRIGGER redirects BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION redirect();
CREATE TABLE ruled (id int PRIMARY KEY); CREATE RULE never AS ON INSERT TO ruled DO INSTEAD NOTHING`)
	db := open(t, settings(c, nil))
	schema := databasetest.Introspect(t, db)
	for _, name := range []string{"public.t", "public.ruled"} {
		table := databasetest.Table(t, schema, name)
		for _, returning := range [][]database.Output{nil, outputs(table.Column("id"))} {
			if name == "public.ruled" && returning != nil {
				continue // the rule would need its own RETURNING
			}
			if e := within(t, db, func(tx database.Tx) error {
				out, err := tx.Insert(t.Context(), &database.Insert{Into: database.NewSource(table, nil), Set: set(table, "id", int64(1)), Returning: returning}, []byte("kept"))
				if string(out) != "kept" {
					t.Errorf("%s: it returns %s", name, out)
				}
				return err
			}); e != nil {
				t.Errorf("%s: %v", name, e)
			}
		}
	}
	// The server reads the new row's key back, for which the rule would need a RETURNING of its own.
	ruled := databasetest.Table(t, schema, "public.ruled")
	e := within(t, db, func(tx database.Tx) error {
		_, err := tx.Insert(t.Context(), &database.Insert{Into: database.NewSource(ruled, nil), Set: set(ruled, "id", int64(1)), Returning: outputs(ruled.Column("id"))}, nil)
		return err
	})
	if e == nil || e.Code != database.Refused || !strings.Contains(e.Message, "must give the rule a RETURNING clause") {
		t.Errorf("a rule without RETURNING: %+v", e)
	}
	if got := scalar(t, c, "SELECT count(*) FROM elsewhere"); got != "2" {
		t.Errorf("elsewhere are %s rows", got)
	}
}

func TestWhatTriggersSay(t *testing.T) {
	t.Parallel()
	db := open(t, settings(filled(t, `
CREATE TABLE t (id int PRIMARY KEY, code text, said text);
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION USING ERRCODE = NEW.code, MESSAGE = NEW.said; END $$;
CREATE TRIGGER refuses BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION refuse()`), nil))
	table := databasetest.Table(t, databasetest.Introspect(t, db), "public.t")
	for _, test := range []struct {
		code string
		kind database.ViolationKind
	}{
		{"P0001", database.OtherViolation}, {"45000", database.OtherViolation}, {"AB123", database.OtherViolation}, {"22023", database.OtherViolation},
		{"38001", database.OtherViolation}, {"XX000", database.OtherViolation}, {"23514", database.CheckViolation}, {"23505", database.UniqueViolation},
	} {
		e := within(t, db, func(tx database.Tx) error {
			return insert(t, tx, table, "id", int64(1), "code", test.code, "said", "the shop is closed")
		})
		if e == nil || e.Code != database.Violated || e.Violation.Kind != test.kind || e.Violation.Message != "the shop is closed" || e.Violation.Table != table {
			t.Errorf("%s: got %+v", test.code, e)
			continue
		}
		if strings.Contains(fmt.Sprintf("%s %+v", e.Error(), e.Cause), "closed") {
			t.Errorf("%s: the log has the trigger's words: %v", test.code, e)
		}
	}
	e := within(t, db, func(tx database.Tx) error {
		return insert(t, tx, table, "id", int64(1), "code", "40001", "said", "again")
	})
	if e == nil || e.Code != database.Locked || !e.Again {
		t.Errorf("a serialization failure that a trigger raised: %+v", e)
	}
}

func TestValuesThatDoNotFit(t *testing.T) {
	t.Parallel()
	db := open(t, settings(filled(t, `
CREATE EXTENSION ltree; CREATE EXTENSION hstore;
CREATE TABLE t (id int PRIMARY KEY, vector tsvector, query tsquery, path ltree, pairs hstore, list int[], bits bit(3), address inet, net cidr, mac macaddr,
  span int4range, spans int4multirange, ratio real, small smallint, place point, doc xml, clock time, stamp timestamp, day date, cash money, text varchar(3), number numeric(3,-2))`), nil))
	table := databasetest.Table(t, databasetest.Introspect(t, db), "public.t")
	for _, test := range []struct{ column, value, says string }{
		{"vector", "'unclosed", `must be a text search vector: 'cat':1 'dog':2, not "'unclosed"`},
		{"query", "a & & b", `must be a text search query: 'cat' & 'dog', not "a & & b"`},
		{"path", "a..b", "must be a path of labels"},
		{"pairs", "a=>", "must be pairs of keys and values"},
		{"list", "nonsense", "must be a value of the type integer[]"},
		{"bits", "10101", "not of its column's type"},
		{"address", "nowhere", `must be an IP address, with or without the length of its network: 192.0.2.1 or 192.0.2.0/24, not "nowhere"`},
		{"net", "10.0.0.1/8", "must be a network without bits of a host"},
		{"mac", "x", "must be a MAC address"},
		{"span", "[5", "must be a range of the type int4range: [1,5)"},
		{"spans", "{", "must be ranges of the type int4multirange"},
		{"ratio", "1e300", `must lie in the range of real, not "1e300"`},
		{"place", "1", "must be a point: (1,2)"},
		{"doc", "<a>", "must be well-formed XML"},
		{"clock", "25:00:00", "must lie in the range of time"},
		{"stamp", "2026-02-30T00:00:00", "must lie in the range of timestamp"},
		{"day", strings.Repeat("ä", 100), `ä…"`},
		{"cash", "much", "must be an amount of money"},
		{"text", "long", "not of its column's type"},
		{"number", "123456", "not of its column's type"},
	} {
		e := within(t, db, func(tx database.Tx) error { return insert(t, tx, table, "id", int64(1), test.column, test.value) })
		if e == nil || e.Code != database.Invalid || !strings.Contains(e.Message, test.says) {
			t.Errorf("%s: got %+v", test.column, e)
			continue
		}
		if named := strings.HasPrefix(e.Message, "must "); named != (e.Column == table.Column(test.column)) {
			t.Errorf("%s: it is about %v", test.column, e.Column)
		}
	}
	plan := all(table)
	plan.Where = database.In{Column: table.Column("query"), Values: []database.Value{"a", "& b"}}
	_, _, err := db.Select(t.Context(), plan, nil)
	if e := databasetest.Failure(t, err); e.Code != database.Invalid || e.Column != table.Column("query") || strings.Contains(e.Message, "&& b") {
		t.Errorf("in a filter: %+v", e)
	}
}

func TestSerializationFailuresAndDeadlocksMayBeTriedAgain(t *testing.T) {
	t.Parallel()
	c := filled(t, accounts)
	databasetest.Execute(t, databasetest.URI(c), "ALTER DATABASE "+c.Database+" SET default_transaction_isolation = 'repeatable read'")
	db := open(t, settings(c, nil))
	table := databasetest.Table(t, databasetest.Introspect(t, db), "public.account")
	change := func(tx database.Tx, id int64) error {
		_, err := tx.Update(t.Context(), &database.Update{In: database.NewSource(table, nil), Set: set(table, "name", "x"), Where: is(table, "id", id)})
		return err
	}
	e := within(t, db, func(tx database.Tx) error {
		if _, _, err := tx.Select(t.Context(), all(table), nil); err != nil {
			return err
		}
		databasetest.Execute(t, databasetest.URI(c), "UPDATE account SET balance = balance + 1")
		return change(tx, 1)
	})
	if e == nil || e.Code != database.Locked || !e.Again {
		t.Errorf("a serialization failure is %+v", e)
	}
	databasetest.Execute(t, databasetest.URI(c), "ALTER DATABASE "+c.Database+" SET default_transaction_isolation = 'read committed'")
	one, two, both := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		both <- open(t, settings(c, nil)).Transact(t.Context(), func(tx database.Tx) error {
			if err := change(tx, 2); err != nil {
				return err
			}
			close(two)
			<-one
			return change(tx, 1)
		})
	}()
	e = within(t, open(t, settings(c, nil)), func(tx database.Tx) error {
		if err := change(tx, 1); err != nil {
			return err
		}
		close(one)
		<-two
		return change(tx, 2)
	})
	if other := <-both; e == nil && other != nil {
		e = database.AsError(other)
	}
	if e == nil || e.Code != database.Locked || !e.Again {
		t.Errorf("a deadlock is %+v", e)
	}
}

func TestMaterializedViewsWithoutData(t *testing.T) {
	t.Parallel()
	db := open(t, settings(filled(t, "CREATE MATERIALIZED VIEW m AS SELECT 1 AS id WITH NO DATA"), nil))
	_, _, err := db.Select(t.Context(), all(databasetest.Table(t, databasetest.Introspect(t, db), "public.m")), nil)
	if e := databasetest.Failure(t, err); e.Code != database.Unready || !strings.Contains(e.Message, "REFRESH MATERIALIZED VIEW") {
		t.Errorf("got %+v", e)
	}
}

// A database that does not know its encoding has rows that are no UTF-8.
func TestDatabasesWithoutAnEncoding(t *testing.T) {
	t.Parallel()
	base := databasetest.PostgreSQL(t)
	c := base
	c.Database += "_ascii"
	databasetest.Execute(t, databasetest.URI(base), "CREATE DATABASE "+c.Database+" ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0")
	t.Cleanup(func() {
		databasetest.Execute(t, databasetest.URI(base), "DROP DATABASE "+c.Database+" WITH (FORCE)")
	})
	databasetest.Execute(t, databasetest.URI(c), `SET client_encoding = 'SQL_ASCII'; CREATE TABLE t (id int PRIMARY KEY, v text, j json, a text[]);
INSERT INTO t VALUES (1, E'caf\xe9', E'{"a":"caf\xe9"}', ARRAY[E'\xe9']), (2, E'caf\xc3\xa9', '{}', '{}')`)
	for name, to := range map[string]contract.Connection{"directly": c, "through a pooler": pooler(t, c)} {
		db := open(t, settings(to, nil))
		table := databasetest.Table(t, databasetest.Introspect(t, db), "public.t")
		const want = "[{\"id\":1,\"v\":\"caf\uFFFD\",\"j\":{\"a\":\"caf\uFFFD\"},\"a\":[\"\uFFFD\"]},{\"id\":2,\"v\":\"café\",\"j\":{},\"a\":[]}]"
		if got := read(t, db, all(table)); got != want {
			t.Errorf("%s it reads %s", name, got)
		}
	}
}

// foreign stands before a server like another engine that speaks its protocol: one text in what it is asked is another.
func foreign(t *testing.T, c contract.Connection, old, now string) contract.Connection {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	target := c.Address()
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", target)
			if err != nil {
				client.Close()
				continue
			}
			go func() {
				_, _ = io.Copy(client, server) // it ends when either side does
				client.Close()
			}()
			go func() {
				defer server.Close()
				buffer := make([]byte, 64<<10)
				for {
					n, err := client.Read(buffer)
					if err != nil {
						return
					}
					if _, err := server.Write(bytes.ReplaceAll(buffer[:n], []byte(old), []byte(now))); err != nil {
						return
					}
				}
			}()
		}
	}()
	c.Host, c.Port = "127.0.0.1", listener.Addr().(*net.TCPAddr).Port
	return c
}

func TestWithoutExplainATotalIsUnknown(t *testing.T) {
	t.Parallel()
	c := filled(t, "CREATE VIEW slow AS SELECT i AS id FROM generate_series(1, 100000) AS i WHERE i <= 3 OR pg_sleep(0.001) IS NOT NULL")
	for _, readOnly := range []bool{false, true} {
		db := open(t, settings(foreign(t, c, "EXPLAIN (FORMAT", "EXPLAIM (FORMAT"), func(s *database.Settings) { s.ReadOnly = readOnly }))
		plan := all(databasetest.Table(t, databasetest.Introspect(t, db), "public.slow"))
		plan.Limit, plan.Total, plan.More = 2, database.TotalAuto, true
		for range 3 {
			out, page, err := db.Select(t.Context(), plan, nil)
			if err != nil || string(out) != `{"id":1},{"id":2}` || page.Total != -1 || page.Precision != database.TotalIsExact || !page.More {
				t.Fatalf("got %s, %+v, %v", out, page, err)
			}
		}
	}
}

func TestWithoutSetConstraintsNothingIsDeferred(t *testing.T) {
	t.Parallel()
	c := filled(t, accounts)
	db := open(t, settings(foreign(t, c, "SET CONSTRAINTS", "SET CONSTRAINTX"), nil))
	table := databasetest.Table(t, databasetest.Introspect(t, db), "public.account")
	for range 2 {
		if e := within(t, db, func(tx database.Tx) error {
			if err := tx.CheckConstraints(t.Context()); err != nil {
				return err
			}
			_, _, err := tx.Select(t.Context(), all(table), nil)
			return err
		}); e != nil {
			t.Error(e)
		}
	}
}

func TestServersThatAreNotWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	c := filled(t, "CREATE TABLE t (id int PRIMARY KEY)")
	c.Options = map[string]string{"target_session_attrs": "standby"}
	e := databasetest.Failure(t, open(t, settings(c, nil)).Ping(t.Context()))
	if e.Code != database.Unreachable || !strings.Contains(e.Message, "is no standby, and target_session_attrs asks for another") {
		t.Errorf("got %v", e)
	}
	c.Options = map[string]string{"target_session_attrs": "read-write"}
	if err := open(t, settings(c, nil)).Ping(t.Context()); err != nil {
		t.Error(err)
	}
}

// An attacker who strips TLS from a connection that only prefers it must not get the password.
func TestPasswordsAreNotSentInClearTextUnlessAllowed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		mode, auth string
		sent       bool
	}{{"", "", false}, {"prefer", "", false}, {"allow", "", false}, {"prefer", "password", true}, {"disable", "", true}} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { listener.Close() })
		var sent atomic.Bool
		go func() {
			for {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				if asksForPassword(conn) {
					sent.Store(true)
				}
				conn.Close()
			}
		}()
		c := contract.Connection{Host: "127.0.0.1", Port: listener.Addr().(*net.TCPAddr).Port, Database: "d", User: "u", Password: "hunter2", SSLMode: test.mode}
		if test.auth != "" {
			c.Options = map[string]string{"require_auth": test.auth}
		}
		e := databasetest.Failure(t, open(t, settings(c, nil)).Ping(t.Context()))
		if got := sent.Load(); got != test.sent {
			t.Errorf("%q, %q: sent is %v", test.mode, test.auth, got)
		}
		if !test.sent && (e.Reason != contract.ReasonAuthenticationFailed || !strings.Contains(e.Message, "require_auth=password")) {
			t.Errorf("%q: got %v", test.mode, e)
		}
	}
}

// asksForPassword refuses TLS, asks for the password in clear text, and reports whether it came.
func asksForPassword(conn net.Conn) bool {
	buffer := make([]byte, 1024)
	n, err := conn.Read(buffer)
	if err == nil && n == 8 { // an SSLRequest
		if _, err = conn.Write([]byte{'N'}); err == nil {
			_, err = conn.Read(buffer)
		}
	}
	if err != nil {
		return false
	}
	if _, err := conn.Write([]byte{'R', 0, 0, 0, 8, 0, 0, 0, 3}); err != nil {
		return false
	}
	n, err = conn.Read(buffer)
	return err == nil && bytes.Contains(buffer[:n], []byte("hunter2"))
}
