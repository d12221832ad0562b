package mysql_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

const items = `CREATE TABLE item (id integer AUTO_INCREMENT PRIMARY KEY, name varchar(40), version integer NOT NULL DEFAULT 1, changed datetime(3), boss integer,
  FOREIGN KEY (boss) REFERENCES item (id) ON DELETE CASCADE);
INSERT INTO item (id, name, boss) VALUES (1, 'one', NULL), (2, 'two', 1), (3, 'three', NULL)`

func insert(item *database.Table, name string) *database.Insert {
	return &database.Insert{Into: database.NewSource(item, nil), Set: []database.Assignment{{Column: item.Column("name"), Value: name}},
		Returning: outputs(item.Column("id"), item.Column("version"))}
}

func TestTransaction(t *testing.T) {
	f := open(t, items, nil)
	item := f.table(t, "item")
	source := database.NewSource(item, nil)
	id, name, version, changed := item.Column("id"), item.Column("name"), item.Column("version"), item.Column("changed")
	named := all(item)
	named.Output = outputs(name)
	broken := errors.New("changed my mind")
	for _, test := range []struct {
		name string
		do   func(t *testing.T, tx database.Tx) error
		want error
		rows string
	}{
		{"nothing", func(*testing.T, database.Tx) error { return nil }, nil, "one two three"},
		{"an insert", func(t *testing.T, tx database.Tx) error {
			out, err := tx.Insert(t.Context(), insert(item, "four"), []byte("x"))
			if string(out) != `x{"id":4,"version":1}` {
				t.Errorf("returned %s", out)
			}
			return err
		}, nil, "one two three four"},
		{"all defaults", func(t *testing.T, tx database.Tx) error {
			_, err := tx.Insert(t.Context(), &database.Insert{Into: source}, nil)
			return err
		}, nil, "one two three "},
		{"an update tells what matched", func(t *testing.T, tx database.Tx) error {
			n, err := tx.Update(t.Context(), &database.Update{In: source, Where: equal(id, int64(1)), Set: []database.Assignment{{Column: name, Value: "one"}}})
			if n != 1 {
				t.Errorf("%d rows matched", n)
			}
			return err
		}, nil, "one two three"},
		{"a version moves", func(t *testing.T, tx database.Tx) error {
			where := database.And{equal(id, int64(1)), equal(version, int64(1))}
			plan := &database.Update{In: source, Where: where, Set: []database.Assignment{{Column: version, How: database.AssignNext}, {Column: changed, How: database.AssignNext}}}
			for _, want := range []int64{1, 0} {
				if n, err := tx.Update(t.Context(), plan); n != want {
					t.Errorf("%d rows matched, want %d, %v", n, want, err)
				}
			}
			return nil
		}, nil, "one two three"},
		{"a delete, and what goes with it", func(t *testing.T, tx database.Tx) error {
			n, err := tx.Delete(t.Context(), &database.Delete{From: source, Where: equal(id, int64(1))})
			if n != 1 {
				t.Errorf("%d rows were deleted", n)
			}
			return err
		}, nil, "three"},
		{"a policy about the same table", func(t *testing.T, tx database.Tx) error {
			hasBoss := database.Exists{From: source, Ours: []*database.Column{item.Column("boss")}, Theirs: []*database.Column{id}}
			where := equal(name, "two")
			if n, err := tx.Update(t.Context(), &database.Update{In: database.NewSource(item, hasBoss), Where: where, Set: []database.Assignment{{Column: version, Value: int64(7)}}}); n != 1 {
				t.Errorf("%d rows were updated, %v", n, err)
			}
			n, err := tx.Delete(t.Context(), &database.Delete{From: database.NewSource(item, hasBoss), Where: database.And{}})
			if n != 1 {
				t.Errorf("%d rows were deleted", n)
			}
			return err
		}, nil, "one three"},
		{"undone", func(t *testing.T, tx database.Tx) error {
			if _, err := tx.Insert(t.Context(), insert(item, "five"), nil); err != nil {
				return err
			}
			out, _, err := tx.Select(t.Context(), named, nil)
			if !strings.Contains(string(out), "five") {
				t.Errorf("the transaction does not see its own row, %v", err)
			}
			return broken
		}, broken, "one two three"},
		{"savepoints", func(t *testing.T, tx database.Tx) error {
			return tx.Savepoint(t.Context(), func() error {
				for _, one := range []struct {
					name string
					want error
				}{{"a", nil}, {"b", broken}, {"c", nil}} {
					err := tx.Savepoint(t.Context(), func() error {
						if _, err := tx.Insert(t.Context(), insert(item, one.name), nil); err != nil {
							return err
						}
						return one.want
					})
					if !errors.Is(err, one.want) {
						t.Error(err)
					}
				}
				return nil
			})
		}, nil, "one two three a c"},
		{"a declared statement", func(t *testing.T, tx database.Tx) error {
			n, err := tx.Execute(t.Context(), &database.Declared{Pieces: []database.Piece{
				{SQL: "UPDATE item SET name = concat(name, "}, {Bound: true, Kind: database.Text, Values: []database.Value{"'!"}},
				{SQL: ") WHERE id IN ("}, {Bound: true, Kind: database.Integer, Values: []database.Value{int64(1), int64(3)}}, {SQL: ")"},
			}})
			if n != 2 {
				t.Errorf("it was about %d rows", n)
			}
			return err
		}, nil, "one'! two three'!"},
	} {
		t.Run(test.name, func(t *testing.T) {
			databasetest.ExecuteMySQL(t, f.connection, "SET foreign_key_checks = 0; TRUNCATE TABLE item")
			databasetest.ExecuteMySQL(t, f.connection, items[strings.Index(items, "INSERT"):])
			err := f.Transact(t.Context(), func(tx database.Tx) error { return test.do(t, tx) })
			if !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
			got := strings.NewReplacer(`{"name":`, "", "}", "", `"`, "", "[", "", "]", "", ",", " ", "null", "").Replace(f.rows(t, named))
			if got != test.rows {
				t.Errorf("the rows are %q, want %q", got, test.rows)
			}
		})
	}
	t.Run("a panic", func(t *testing.T) {
		func() {
			defer func() { _ = recover() }()
			_ = f.Transact(t.Context(), func(tx database.Tx) error {
				_, _ = tx.Insert(t.Context(), insert(item, "six"), nil)
				panic("oh")
			})
		}()
		if got := f.rows(t, named); strings.Contains(got, "six") {
			t.Error("what a panicking transaction wrote is there")
		}
	})
	t.Run("a caller who went away", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		err := f.Transact(ctx, func(tx database.Tx) error {
			_, err := tx.Insert(ctx, insert(item, "seven"), nil)
			cancel()
			return err
		})
		wantError(t, err, database.Cancelled)
		if got := f.rows(t, named); strings.Contains(got, "seven") {
			t.Error("what it wrote is there")
		}
	})
}

// TestClockVersion moves a version more often than the clock steps, also while the clock stands still.
func TestClockVersion(t *testing.T) {
	f := open(t, items, nil)
	item := f.table(t, "item")
	changed := item.Column("changed")
	plan := all(item)
	plan.Limit, plan.Output = 1, outputs(changed)
	last := f.rows(t, plan)
	for range 20 {
		err := f.Transact(t.Context(), func(tx database.Tx) error {
			_, err := tx.Update(t.Context(), &database.Update{
				In: database.NewSource(item, nil), Where: equal(item.Column("id"), int64(1)), Set: []database.Assignment{{Column: changed, How: database.AssignNext}},
			})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		next := f.rows(t, plan)
		if last != `[{"changed":null}]` && next <= last {
			t.Fatalf("%s follows %s", next, last)
		}
		last = next
	}
}

func TestLocks(t *testing.T) {
	f := open(t, items, func(s *database.Settings) { s.StatementTimeout = contract.Duration(3 * time.Second) })
	item := f.table(t, "item")
	rename := func(tx database.Tx, id int64) error {
		_, err := tx.Update(t.Context(), &database.Update{
			In: database.NewSource(item, nil), Where: equal(item.Column("id"), id), Set: []database.Assignment{{Column: item.Column("name"), Value: "x"}},
		})
		return err
	}
	t.Run("a row that another transaction holds", func(t *testing.T) {
		err := f.Transact(t.Context(), func(tx database.Tx) error {
			plan := all(item)
			plan.Where, plan.Lock = equal(item.Column("id"), int64(1)), true
			if _, _, err := tx.Select(t.Context(), plan, nil); err != nil {
				return err
			}
			err := f.Transact(t.Context(), func(other database.Tx) error { return rename(other, 1) })
			wantError(t, err, database.Locked)
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	t.Run("after a deadlock nothing is written", func(t *testing.T) {
		first, second := make(chan struct{}), make(chan struct{})
		done := make(chan error, 2)
		transfer := func(from, to int64, mine, theirs chan struct{}) {
			done <- f.Transact(t.Context(), func(tx database.Tx) error {
				if err := rename(tx, from); err != nil {
					return err
				}
				close(mine)
				<-theirs
				err := tx.Savepoint(t.Context(), func() error { return rename(tx, to) })
				if err != nil {
					_, err = tx.Insert(t.Context(), insert(item, "after the deadlock"), nil)
				}
				return err
			})
		}
		go transfer(1, 3, first, second)
		go transfer(3, 1, second, first)
		one, other := <-done, <-done
		if one == nil {
			one, other = other, one
		}
		if e := wantError(t, one, database.Locked); !e.Again {
			t.Error("a deadlock is not said to be worth another try")
		}
		if other != nil {
			t.Errorf("the other transaction: %v", other)
		}
		if got := f.rows(t, all(item)); strings.Contains(got, "deadlock") {
			t.Errorf("got %s, want nothing of deadlock", got)
		}
	})
}

func TestViolations(t *testing.T) {
	f := open(t, `
CREATE TABLE parent (a integer, b integer, PRIMARY KEY (a, b)); INSERT INTO parent VALUES (1, 1), (2, 2);
CREATE TABLE child (id integer AUTO_INCREMENT PRIMARY KEY, email varchar(20) NOT NULL, size tinyint CHECK (size > 0), lo integer, hi integer, a integer, b integer,
  doc json, day date, mood enum('ok') , CONSTRAINT hi_over_lo CHECK (hi > lo), UNIQUE KEY `+"`odd.\"name\"`"+` (email), UNIQUE KEY lo_hi (lo, hi),
  CONSTRAINT to_parent FOREIGN KEY (a, b) REFERENCES parent (a, b));
CREATE TRIGGER refuse BEFORE INSERT ON child FOR EACH ROW IF NEW.email = 'hunter3' THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'hunter3 is refused'; END IF;
INSERT INTO child (email, lo, hi, a, b) VALUES ('hunter2', 1, 2, 1, 1)`, nil)
	schema := databasetest.Introspect(t, f)
	parent, child := tableOf(t, schema, "parent"), tableOf(t, schema, "child")
	type set map[string]database.Value
	for _, test := range []struct {
		name    string
		row     set
		code    database.Code
		kind    database.ViolationKind
		columns string
	}{
		{"unique", set{"email": "hunter2"}, database.Violated, database.UniqueViolation, "email"},
		{"unique pair", set{"email": "x", "lo": int64(1), "hi": int64(2)}, database.Violated, database.UniqueViolation, "lo,hi"},
		{"primary key", set{"email": "x", "id": int64(1)}, database.Violated, database.UniqueViolation, "id"},
		{"a value that looks like the message", set{"email": "' for key 'lo_hi'", "id": int64(1)}, database.Violated, database.UniqueViolation, "id"},
		{"foreign key", set{"email": "x", "a": int64(1), "b": int64(2)}, database.Violated, database.ForeignKeyViolation, "a,b"},
		{"null", set{"email": nil}, database.Violated, database.NotNullViolation, "email"},
		{"nothing given", set{"lo": int64(1)}, database.Violated, database.NotNullViolation, "email"},
		{"a column's check", set{"email": "hunter9", "size": int64(-1)}, database.Violated, database.CheckViolation, "size"},
		{"the table's check", set{"email": "hunter9", "lo": int64(3), "hi": int64(2)}, database.Violated, database.CheckViolation, "hi,lo"},
		{"a trigger", set{"email": "hunter3"}, database.Violated, database.OtherViolation, ""},
		{"too long", set{"email": strings.Repeat("hunter9", 9)}, database.Invalid, 0, "email"},
		{"out of range", set{"email": "hunter9", "size": int64(1000)}, database.Invalid, 0, "size"},
		{"no choice", set{"email": "hunter9", "mood": "hunter9"}, database.Invalid, 0, "mood"},
		{"no date", set{"email": "hunter9", "day": "2001-02-30"}, database.Invalid, 0, "day"},
	} {
		t.Run(test.name, func(t *testing.T) {
			plan := &database.Insert{Into: database.NewSource(child, nil)}
			for name, value := range test.row {
				plan.Set = append(plan.Set, database.Assignment{Column: child.Column(name), Value: value})
			}
			err := f.Transact(t.Context(), func(tx database.Tx) error {
				_, err := tx.Insert(t.Context(), plan, nil)
				return err
			})
			e := wantError(t, err, test.code, "hunter")
			switch {
			case test.code == database.Invalid && (e.Column != nil && e.Column.Name != test.columns || e.Column == nil && test.columns != ""):
				t.Errorf("it is about %v, want %s", e.Column, test.columns)
			case test.code == database.Violated && (e.Violation.Kind != test.kind || databasetest.Names(e.Violation.Columns) != test.columns || e.Violation.Table != child):
				t.Errorf("it is %+v, want kind %d about %s", e.Violation, test.kind, test.columns)
			}
		})
	}
	t.Run("a row that others point at", func(t *testing.T) {
		err := f.Transact(t.Context(), func(tx database.Tx) error {
			_, err := tx.Delete(t.Context(), &database.Delete{From: database.NewSource(parent, nil), Where: equal(parent.Column("a"), int64(1))})
			return err
		})
		e := wantError(t, err, database.Violated)
		if v := e.Violation; v.Kind != database.ReferencedViolation || v.Table != child || databasetest.Names(v.Columns) != "a,b" || v.Constraint != "to_parent" {
			t.Errorf("it is %+v", v)
		}
	})
}

// TestLostInTheMiddle cuts the connection of a transaction: the transaction fails, and does not go on with another
// connection.
func TestLostInTheMiddle(t *testing.T) {
	f := open(t, items, nil)
	item := f.table(t, "item")
	err := f.Transact(t.Context(), func(tx database.Tx) error {
		if _, err := tx.Insert(t.Context(), insert(item, "lost"), nil); err != nil {
			return err
		}
		f.killAll(t)
		_, err := tx.Insert(t.Context(), insert(item, "after"), nil)
		wantError(t, err, database.Unreachable)
		return nil // as if do had not seen the error
	})
	wantError(t, err, database.Unreachable)
	err = f.Transact(t.Context(), func(tx database.Tx) error {
		_, err := tx.Insert(t.Context(), insert(item, "lost"), nil)
		f.killAll(t)
		return err
	})
	wantError(t, err, database.Uncertain)
	if got := f.rows(t, all(item)); strings.Contains(got, "lost") || strings.Contains(got, "after") {
		t.Errorf("got %s, want nothing of lost and nothing of after", got)
	}
}

// TestRefused writes as a user who may only read.
func TestRefused(t *testing.T) {
	f := open(t, items, nil)
	reader := f.connection
	reader.User, reader.Password = f.connection.Database+"_r", "hunter2"
	// A server that resolves names may log us in as a user without a name at localhost, if it has one.
	for _, from := range []string{"'%'", "'localhost'"} {
		user := reader.User + "@" + from
		databasetest.ExecuteMySQL(t, f.connection, "CREATE USER "+user+" IDENTIFIED BY 'hunter2'; GRANT SELECT ON "+reader.Database+".* TO "+user)
		t.Cleanup(func() { databasetest.ExecuteMySQL(t, f.connection, "DROP USER "+user) })
	}
	db := openAt(t, reader, func(s *database.Settings) { s.Audit = &contract.AuditTable{Name: "mcp_audit"} })
	schema := databasetest.Introspect(t, db)
	if schema.Audit != nil || !strings.Contains(schema.AuditProblem, "may not create tables") || !strings.Contains(schema.AuditProblem, "CREATE TABLE") {
		t.Errorf("the audit table is %v: %s", schema.Audit, schema.AuditProblem)
	}
	err := db.Transact(t.Context(), func(tx database.Tx) error {
		_, err := tx.Insert(t.Context(), insert(tableOf(t, schema, "item"), "x"), nil)
		return err
	})
	wantError(t, err, database.Refused, reader.User)
}

// TestChanged asks for a column that is gone, and reads a table whose columns changed after the statement was prepared.
func TestChanged(t *testing.T) {
	f := open(t, items, nil)
	item := f.table(t, "item")
	plan := all(item)
	plan.Output = outputs(item.Column("name"))
	before := f.rows(t, plan)
	databasetest.ExecuteMySQL(t, f.connection, "ALTER TABLE item DROP COLUMN version, MODIFY name text")
	if got := f.rows(t, plan); got != before {
		t.Errorf("after the change: %s", got)
	}
	_, _, err := f.Select(t.Context(), all(item), nil)
	wantError(t, err, database.Changed)
}
