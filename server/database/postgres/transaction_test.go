package postgres_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

// within runs do in a transaction and returns the *database.Error that it ended with, nil if it was committed.
func within(t testing.TB, db database.DB, do func(database.Tx) error) *database.Error {
	t.Helper()
	err := db.Transact(t.Context(), do)
	if err == nil {
		return nil
	}
	return databasetest.Failure(t, err)
}

func set(table *database.Table, values ...any) []database.Assignment {
	var all []database.Assignment
	for i := 0; i < len(values); i += 2 {
		all = append(all, database.Assignment{Column: table.Column(values[i].(string)), Value: values[i+1]})
	}
	return all
}

func is(table *database.Table, column string, value database.Value) database.Condition {
	return database.Compare{Column: table.Column(column), Op: database.Equal, Value: value}
}

func insert(t testing.TB, tx database.Tx, table *database.Table, values ...any) error {
	t.Helper()
	_, err := tx.Insert(t.Context(), &database.Insert{Into: database.NewSource(table, nil), Set: set(table, values...)}, nil)
	return err
}

// scalar asks a plain client for one value, as a text.
func scalar(t testing.TB, c contract.Connection, sql string) string {
	t.Helper()
	var text string
	if err := databasetest.Connect(t, databasetest.URI(c)).QueryRow(t.Context(), "SELECT ("+sql+")::text").Scan(&text); err != nil {
		t.Fatal(err)
	}
	return text
}

const accounts = `
CREATE TABLE account (id int PRIMARY KEY, name text, balance int NOT NULL DEFAULT 7, parent int REFERENCES account DEFERRABLE INITIALLY DEFERRED);
INSERT INTO account (id, name) VALUES (1, 'a'), (2, 'b')`

func TestTransactions(t *testing.T) {
	t.Parallel()
	base := filled(t, accounts)
	for _, mode := range []struct {
		name string
		to   contract.Connection
	}{{"directly", base}, {"through a pooler", pooler(t, base)}} {
		t.Run(mode.name, func(t *testing.T) {
			databasetest.Execute(t, databasetest.URI(base), "DROP TABLE account;"+accounts)
			db := open(t, settings(mode.to, func(s *database.Settings) { s.MaxConnections = 1 }))
			table := databasetest.Table(t, databasetest.Introspect(t, db), "public.account")
			source := database.NewSource(table, nil)
			names := func() string { return scalar(t, base, "SELECT string_agg(id || name, ' ' ORDER BY id) FROM account") }

			e := within(t, db, func(tx database.Tx) error {
				out, err := tx.Insert(t.Context(), &database.Insert{Into: source, Set: set(table, "id", int64(3), "name", "c"),
					Returning: outputs(table.Column("id"), table.Column("balance"))}, []byte("kept"))
				if err != nil || string(out) != `kept{"id":3,"balance":7}` {
					t.Errorf("the new row is %s, %v", out, err)
				}
				n, err := tx.Update(t.Context(), &database.Update{In: source, Set: set(table, "name", "B"), Where: is(table, "id", int64(2))})
				if err != nil || n != 1 {
					t.Errorf("%d rows changed, %v", n, err)
				}
				n, err = tx.Delete(t.Context(), &database.Delete{From: source, Where: is(table, "id", int64(1))})
				if err != nil || n != 1 {
					t.Errorf("%d rows gone, %v", n, err)
				}
				out, page, err := tx.Select(t.Context(), &database.Select{From: source, Output: outputs(table.Column("id")), Limit: 1, More: true,
					Order: []database.Order{{Column: table.Column("id")}}, Lock: true}, nil)
				if err != nil || string(out) != `{"id":2}` || !page.More {
					t.Errorf("it reads %s, %+v, %v", out, page, err)
				}
				_, page, err = tx.Select(t.Context(), &database.Select{From: source, Output: outputs(table.Column("id")), Limit: 1, Total: database.TotalAuto}, nil)
				if err != nil || page.Total != 2 {
					t.Errorf("it counts %+v, %v", page, err)
				}
				if got := scalar(t, base, "SELECT count(*) FROM account WHERE id = 3"); got != "0" {
					t.Error("others see what is not committed")
				}
				return nil
			})
			if got := names(); e != nil || got != "2B 3c" {
				t.Errorf("committed is %s, %v", got, e)
			}

			given := errors.New("given up")
			err := db.Transact(t.Context(), func(tx database.Tx) error {
				if err := insert(t, tx, table, "id", int64(4)); err != nil {
					t.Error(err)
				}
				return given
			})
			if got := names(); !errors.Is(err, given) || got != "2B 3c" {
				t.Errorf("after a rollback there is %s, %v", got, err)
			}

			func() {
				defer func() { _ = recover() }()
				_ = db.Transact(t.Context(), func(tx database.Tx) error {
					if err := insert(t, tx, table, "id", int64(4)); err != nil {
						t.Error(err)
					}
					panic("a bug")
				})
			}()
			if got := names(); got != "2B 3c" {
				t.Errorf("after a panic there is %s", got)
			}

			e = within(t, db, func(tx database.Tx) error {
				for id := int64(2); id < 6; id++ { // 2 and 3 already exist
					err := tx.Savepoint(t.Context(), func() error {
						if err := insert(t, tx, table, "id", id, "name", "s"); err != nil {
							return err
						}
						return tx.Savepoint(t.Context(), func() error {
							if id == 5 {
								if err := insert(t, tx, table, "id", int64(99), "name", "x"); err != nil {
									t.Error(err)
								}
								return given
							}
							return nil
						})
					})
					if refused := err != nil; refused != (id != 4) {
						t.Errorf("%d: %v", id, err)
					}
				}
				return nil
			})
			if got := names(); e != nil || got != "2B 3c 4s" {
				t.Errorf("with savepoints there is %s, %v", got, e)
			}

			e = within(t, db, func(tx database.Tx) error {
				if err := insert(t, tx, table, "id", int64(2)); err == nil {
					t.Error("one id stands twice")
				}
				return nil // as if do had not seen the error
			})
			if e == nil || e.Code != database.Failed {
				t.Errorf("a failed transaction is committed: %v", e)
			}

			e = within(t, db, func(tx database.Tx) error {
				if err := insert(t, tx, table, "id", int64(8), "parent", int64(1234)); err != nil {
					t.Error(err)
				}
				return tx.CheckConstraints(t.Context())
			})
			if e == nil || e.Code != database.Violated || e.Violation.Kind != database.ForeignKeyViolation {
				t.Errorf("a deferred constraint is not checked: %v", e)
			}
			e = within(t, db, func(tx database.Tx) error { return insert(t, tx, table, "id", int64(8), "parent", int64(1234)) })
			if e == nil || e.Code != database.Violated {
				t.Errorf("a deferred constraint is not checked at the end: %v", e)
			}
			e = within(t, db, func(tx database.Tx) error {
				n, err := tx.Execute(t.Context(), &database.Declared{Pieces: []database.Piece{
					{SQL: "UPDATE account SET balance = balance + "}, {Bound: true, Kind: database.Integer, Values: []database.Value{int64(5)}},
					{SQL: " WHERE id IN ("}, {Bound: true, Kind: database.Integer, Values: []database.Value{int64(2), int64(3)}}, {SQL: ") RETURNING id"}}})
				if n != 2 {
					t.Errorf("declared SQL is about %d rows", n)
				}
				return err
			})
			if got := scalar(t, base, "SELECT sum(balance) FROM account WHERE id IN (2, 3)"); e != nil || got != "24" {
				t.Errorf("declared SQL made it %s, %v", got, e)
			}
		})
	}
}

func TestStatementsOfTransactionsEndInTime(t *testing.T) {
	t.Parallel()
	c := filled(t, accounts)
	for name, to := range map[string]contract.Connection{"directly": c, "through a pooler": pooler(t, c)} {
		db := open(t, settings(to, func(s *database.Settings) { s.StatementTimeout = contract.Duration(2 * time.Second) }))
		e := within(t, db, func(tx database.Tx) error {
			_, err := tx.Execute(t.Context(), &database.Declared{Pieces: []database.Piece{{SQL: "SELECT pg_sleep(600)"}}})
			return err
		})
		if e == nil || e.Code != database.Timeout || !strings.Contains(e.Message, "longer than 2s") {
			t.Errorf("%s: %v", name, e)
		}
	}
}

func TestTransactionsOfAReadOnlyDatabase(t *testing.T) {
	t.Parallel()
	c := filled(t, accounts)
	never := func(database.Tx) error {
		t.Error("it is run")
		return nil
	}
	if e := within(t, open(t, settings(c, func(s *database.Settings) { s.ReadOnly = true })), never); e == nil || e.Code != database.Refused {
		t.Errorf("got %v", e)
	}
	db := open(t, settings(c, nil))
	table := databasetest.Table(t, databasetest.Introspect(t, db), "public.account")
	databasetest.Execute(t, databasetest.URI(c), "ALTER DATABASE "+c.Database+" SET default_transaction_read_only = on")
	other := open(t, settings(c, nil))
	add := func(tx database.Tx) error { return insert(t, tx, table, "id", int64(9)) }
	if e := within(t, other, add); e == nil || e.Code != database.Unreachable || e.Reason != contract.ReasonUnreachable || !strings.Contains(e.Message, "standby") {
		t.Errorf("on a server that allows no changes: %v", e)
	}
	databasetest.Execute(t, databasetest.URI(c), "BEGIN READ WRITE; ALTER DATABASE "+c.Database+" SET default_transaction_read_only = off; COMMIT")
	if e := within(t, other, add); e != nil {
		t.Errorf("the old connections are still in use: %v", e)
	}
}

func TestConnectionsLostInTransactions(t *testing.T) {
	t.Parallel()
	c := filled(t, accounts+`;
CREATE FUNCTION leave() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN IF NEW.name = ''last'' THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF; RETURN NULL; END';
CREATE CONSTRAINT TRIGGER leaves AFTER INSERT ON account DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION leave()`)
	terminate := func() {
		databasetest.Execute(t, databasetest.URI(c), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
	}
	db := open(t, settings(c, nil))
	table := databasetest.Table(t, databasetest.Introspect(t, db), "public.account")
	t.Run("before", func(t *testing.T) {
		for id := int64(10); id < 13; id++ {
			// The pool holds several connections, and all of them are dead.
			_ = db.Transact(t.Context(), func(database.Tx) error {
				return db.Transact(t.Context(), func(database.Tx) error { return db.Ping(t.Context()) })
			})
			terminate()
			runs := 0
			e := within(t, db, func(tx database.Tx) error {
				runs++
				return insert(t, tx, table, "id", id)
			})
			if e != nil || runs != 1 {
				t.Errorf("run %d times, %v", runs, e)
			}
		}
	})
	t.Run("meanwhile", func(t *testing.T) {
		runs := 0
		e := within(t, db, func(tx database.Tx) error {
			runs++
			if err := insert(t, tx, table, "id", int64(20)); err != nil {
				t.Error(err)
			}
			terminate()
			err := tx.Savepoint(t.Context(), func() error { return insert(t, tx, table, "id", int64(21)) })
			if err == nil {
				t.Error("a dead connection takes a row")
			}
			return nil // as if do had not seen the error
		})
		if e == nil || e.Code != database.Unreachable || runs != 1 {
			t.Errorf("run %d times, %v", runs, e)
		}
	})
	t.Run("while a row waits for the commit", func(t *testing.T) {
		e := within(t, db, func(tx database.Tx) error {
			if err := insert(t, tx, table, "id", int64(22)); err != nil {
				t.Error(err)
			}
			terminate()
			return tx.InsertLater(t.Context(), &database.Insert{Into: database.NewSource(table, nil), Set: set(table, "id", int64(23))})
		})
		if e == nil || e.Code != database.Unreachable {
			t.Errorf("the server ended before the commit, and says so: %v", e)
		}
	})
	t.Run("at the end", func(t *testing.T) {
		e := within(t, db, func(tx database.Tx) error { return insert(t, tx, table, "id", int64(30), "name", "last") })
		if e == nil || e.Code != database.Uncertain || !strings.Contains(e.Message, "may or may not") {
			t.Errorf("got %v", e)
		}
	})
	if got := scalar(t, c, "SELECT string_agg(id::text, ' ' ORDER BY id) FROM account"); got != "1 2 10 11 12" {
		t.Errorf("there is %s", got)
	}
}

func TestVersionsGrow(t *testing.T) {
	t.Parallel()
	c := filled(t, `
CREATE TABLE v (id int PRIMARY KEY, n int, big bigint, at timestamp(3), instant timestamptz, ahead timestamptz, day date, clock time);
INSERT INTO v VALUES (1, 1, 9007199254740993, NULL, now(), '2126-01-01 00:00Z')`)
	db := open(t, settings(c, nil))
	table := databasetest.Table(t, databasetest.Introspect(t, db), "public.v")
	var update database.Update
	update.In, update.Where = database.NewSource(table, nil), is(table, "id", int64(1))
	for _, name := range []string{"n", "big", "at", "instant", "ahead"} {
		update.Set = append(update.Set, database.Assignment{Column: table.Column(name), How: database.AssignNext})
	}
	for _, name := range []string{"day", "clock"} {
		update.Set = append(update.Set, database.Assignment{Column: table.Column(name), How: database.AssignNow})
	}
	last := ""
	for i := range 20 {
		if e := within(t, db, func(tx database.Tx) error { _, err := tx.Update(t.Context(), &update); return err }); e != nil {
			t.Fatal(e)
		}
		got := scalar(t, c, "SELECT concat_ws(' ', to_char(at, 'YYYY-MM-DD HH24:MI:SS.MS'), to_char(instant, 'YYYY-MM-DD HH24:MI:SS.US')) FROM v")
		if fields, before := strings.Fields(got), strings.Fields(last); last != "" && (fields[0]+fields[1] <= before[0]+before[1] || fields[2]+fields[3] <= before[2]+before[3]) {
			t.Errorf("after %s comes %s", last, got)
		}
		last = got
		want := fmt.Sprintf("%d %d 2126-01-01 00:00:00.%06d", i+2, 9007199254740993+i+1, i+1)
		if got := scalar(t, c, "SELECT concat_ws(' ', n, big, to_char(ahead AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')) FROM v"); got != want {
			t.Errorf("versions are %s, want %s", got, want)
		}
	}
	if got := scalar(t, c, "SELECT day = (now() AT TIME ZONE 'UTC')::date AND clock IS NOT NULL FROM v"); got != "true" {
		t.Error("now is another day")
	}
}
