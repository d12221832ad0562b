package sqlite_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

func TestInsertReturnsTheNewRow(t *testing.T) {
	o := openFilled(t, `CREATE TABLE t (id INTEGER PRIMARY KEY, at DATETIME DEFAULT '2020-01-01 00:00:00', name TEXT DEFAULT 'none');
CREATE TABLE pair (a TEXT, b BLOB, PRIMARY KEY (a, b)) WITHOUT ROWID;
CREATE TABLE ignored (id INTEGER PRIMARY KEY); CREATE TRIGGER no BEFORE INSERT ON ignored BEGIN SELECT RAISE(IGNORE); END`, nil)
	defaults := o.insert(t, "t", nil)
	defaults.Returning = all(defaults.Into.Table()).Output
	pair := o.insert(t, "pair", map[string]database.Value{"a": "x,y", "b": []byte{0xff, 0}})
	pair.Returning = []database.Output{{Name: "id", Columns: pair.Into.Table().PrimaryKey, Composite: true}}
	ignored := o.insert(t, "ignored", map[string]database.Value{"id": int64(1)})
	ignored.Returning = all(ignored.Into.Table()).Output
	twice := o.insert(t, "t", map[string]database.Value{"id": int64(1)})
	err := o.Transact(t.Context(), func(tx database.Tx) error {
		for _, test := range []struct {
			plan *database.Insert
			want string
		}{
			{defaults, `{"id":1,"at":"2020-01-01T00:00:00","name":"none"}`},
			{defaults, `{"id":2,"at":"2020-01-01T00:00:00","name":"none"}`},
			{pair, `{"id":"x%2Cy,%2FwA%3D"}`},
			{o.insert(t, "t", map[string]database.Value{"name": "silent"}), ""},
			{ignored, ""}, // a trigger refuses the row
		} {
			if out, err := tx.Insert(t.Context(), test.plan, []byte("before ")); string(out) != "before "+test.want || err != nil {
				t.Errorf("got %s and %v, want %s", out, err, test.want)
			}
		}
		return tx.Savepoint(t.Context(), func() error {
			out, err := tx.Insert(t.Context(), twice, []byte("kept"))
			if e := databasetest.Failure(t, err); e.Code != database.Violated || e.Violation.Kind != database.UniqueViolation || string(out) != "kept" {
				t.Errorf("a key that is there already: %s and %v", out, err)
			}
			return nil
		})
	})
	if databasetest.Failure(t, err).Code != database.Violated {
		t.Errorf("an error that was swallowed let the transaction end with %v", err)
	}
	if got := plainly(t, o.path, "SELECT count(*) FROM t"); got != "0" {
		t.Errorf("%s rows are there", got)
	}
}

func TestWrittenValues(t *testing.T) {
	for _, test := range []struct {
		declared    string
		value       database.Value
		class, want string
	}{
		{"TEXT", "a 'b' \u00e9", "text", "a 'b' \u00e9"},
		{"TEXT", nil, "null", ""},
		{"TEXT", strings.Repeat("x", 1<<20), "text", strings.Repeat("x", 1<<20)},
		{"INTEGER", int64(-1 << 63), "integer", "-9223372036854775808"},
		{"BOOLEAN", true, "integer", "1"},
		{"BOOLEAN", false, "integer", "0"},
		{"REAL", 0.1, "real", "0.1"},
		{"NUMERIC(10,2)", "12.50", "real", "12.5"},
		{"NUMERIC(10,2)", "12.00", "integer", "12"},
		{"DATE", "2026-02-28", "text", "2026-02-28"},
		{"TIME", "12:34:56.5", "text", "12:34:56.5"},
		{"DATETIME", "2026-02-28T01:02:03", "text", "2026-02-28 01:02:03"},
		{"DATETIME", "2026-02-28T01:02:03.25", "text", "2026-02-28 01:02:03.25"},
		{"TIMESTAMPTZ", "2026-02-28T01:02:03+02:00", "text", "2026-02-27 23:02:03"},
		{"TIMESTAMPTZ", "2026-02-28T01:02:03Z", "text", "2026-02-28 01:02:03"},
		{"UUID", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "text", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"},
		{"JSON", []byte(`{"a": 1.10}`), "text", `{"a": 1.10}`},
		{"BLOB", []byte{0x41}, "blob", "A"},
		{"", "5", "text", "5"},
	} {
		t.Run(fmt.Sprintf("%s %.20v", test.declared, test.value), func(t *testing.T) {
			o := openFilled(t, "CREATE TABLE t (id INTEGER PRIMARY KEY, v "+test.declared+"); INSERT INTO t VALUES (1, NULL)", nil)
			err := o.Transact(t.Context(), func(tx database.Tx) error {
				if _, err := tx.Insert(t.Context(), o.insert(t, "t", map[string]database.Value{"v": test.value}), nil); err != nil {
					return err
				}
				n, err := tx.Update(t.Context(), o.update(t, "t", int64(1), map[string]database.Value{"v": test.value}))
				if n != 1 {
					t.Errorf("%d rows were updated", n)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := plainly(t, o.path, "SELECT group_concat(typeof(v) || ' ' || coalesce(CAST(v AS TEXT), ''), '|') FROM t"); got != test.class+" "+test.want+"|"+test.class+" "+test.want {
				t.Errorf("stored are %.100s", got)
			}
		})
	}
}

func TestValuesThatCannotBeStored(t *testing.T) {
	o := openFilled(t, "CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER, v TEXT); CREATE TABLE s (id INTEGER PRIMARY KEY, n INT, v TEXT, d BLOB) STRICT", nil)
	for _, test := range []struct {
		table, column string
		value         database.Value
	}{
		{"t", "n", uint64(1 << 63)},
		{"t", "n", math.NaN()},
		{"t", "id", "abc"},
		{"s", "n", "abc"},
		{"s", "d", "abc"},
	} {
		err := o.Transact(t.Context(), func(tx database.Tx) error {
			_, err := tx.Insert(t.Context(), o.insert(t, test.table, map[string]database.Value{test.column: test.value}), nil)
			return err
		})
		e := databasetest.Failure(t, err)
		if e.Code != database.Invalid || e.Column != databasetest.Table(t, o.schema, test.table).Column(test.column) {
			t.Errorf("%v in %s.%s: got %s, %v about %+v", test.value, test.table, test.column, e.Code, e, e.Column)
		}
		if strings.Contains(e.Error(), "abc") {
			t.Errorf("the value is told: %v", e)
		}
	}
}

func TestVersionsMove(t *testing.T) {
	o := openFilled(t, `CREATE TABLE t (id INTEGER PRIMARY KEY, n INT, at DATETIME, day DATE);
INSERT INTO t VALUES (1, 7, '2999-01-01 00:00:00.999', NULL), (2, NULL, NULL, NULL), (3, 0, '2999-01-01T00:00:00', NULL)`, nil)
	table := databasetest.Table(t, o.schema, "t")
	err := o.Transact(t.Context(), func(tx database.Tx) error {
		_, err := tx.Update(t.Context(), &database.Update{
			In: database.NewSource(table, nil), Where: database.Compare{Column: table.Column("id"), Op: database.Greater, Value: int64(0)},
			Set: []database.Assignment{
				{Column: table.Column("n"), How: database.AssignNext}, {Column: table.Column("at"), How: database.AssignNext},
				{Column: table.Column("day"), How: database.AssignNow},
			},
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := plainly(t, o.path, "SELECT group_concat(n || ' ' || CASE WHEN id = 2 THEN at > datetime('now', '-1 hour') ELSE at END || ' ' || (length(day) = 10), ', ') FROM t"); got !=
		"8 2999-01-01 00:00:01.000 1, 1 1 1, 1 2999-01-01T00:00:00.001 1" {
		t.Errorf("they moved to %s", got)
	}
}

func TestWritesStayWithinThePolicy(t *testing.T) {
	o := openFilled(t, `CREATE TABLE owner (id INTEGER PRIMARY KEY, team TEXT); INSERT INTO owner VALUES (1, 'red'), (2, 'blue');
CREATE TABLE t (id INTEGER PRIMARY KEY, owner_id INT, n INT); INSERT INTO t VALUES (1, 1, 0), (2, 2, 0), (3, 1, 0), (4, NULL, 0);
CREATE VIEW v AS SELECT id, owner_id, n FROM t;
CREATE TRIGGER v_update INSTEAD OF UPDATE ON v BEGIN UPDATE t SET n = new.n WHERE id = old.id; END;
CREATE TRIGGER v_delete INSTEAD OF DELETE ON v BEGIN DELETE FROM t WHERE id = old.id; END`, nil)
	owner := databasetest.Table(t, o.schema, "owner")
	for _, name := range []string{"t", "v"} {
		table := databasetest.Table(t, o.schema, name)
		reds := database.NewSource(table, database.Exists{
			From: database.NewSource(owner, database.Match{Column: owner.Column("team"), Text: "red"}),
			Ours: []*database.Column{table.Column("owner_id")}, Theirs: owner.PrimaryKey,
		})
		every := database.Compare{Column: table.Column("id"), Op: database.Greater, Value: int64(0)}
		seven := []database.Assignment{{Column: table.Column("n"), Value: int64(7)}}
		undone := errors.New("undone")
		err := o.Transact(t.Context(), func(tx database.Tx) error {
			if n, err := tx.Update(t.Context(), &database.Update{In: reds, Where: every, Set: seven}); n != 2 || err != nil {
				t.Errorf("%s: %d rows were updated, %v", name, n, err)
			}
			if n, err := tx.Update(t.Context(), &database.Update{In: reds, Where: byID(t, table, int64(2)), Set: seven}); n != 0 || err != nil {
				t.Errorf("%s: %d rows out of sight were updated, %v", name, n, err)
			}
			if n, err := tx.Delete(t.Context(), &database.Delete{From: reds, Where: every}); n != 2 || err != nil {
				t.Errorf("%s: %d rows were deleted, %v", name, n, err)
			}
			out, _, err := tx.Select(t.Context(), all(databasetest.Table(t, o.schema, "t")), nil)
			if string(out) != `{"id":2,"owner_id":2,"n":0},{"id":4,"owner_id":null,"n":0}` || err != nil {
				t.Errorf("%s: left are %s, %v", name, out, err)
			}
			return undone
		})
		if !errors.Is(err, undone) {
			t.Error(err)
		}
	}
	for name, do := range map[string]func(database.Tx, database.Source) error{
		"update": func(tx database.Tx, all database.Source) error {
			_, err := tx.Update(t.Context(), &database.Update{In: all, Set: assign(t, all.Table(), map[string]database.Value{"n": int64(7)})})
			return err
		},
		"delete": func(tx database.Tx, all database.Source) error {
			_, err := tx.Delete(t.Context(), &database.Delete{From: all})
			return err
		},
	} {
		if err := o.Transact(t.Context(), func(tx database.Tx) error { return do(tx, o.source(t, "t")) }); err == nil {
			t.Errorf("%s without a condition is no error", name)
		}
	}
	if got := plainly(t, o.path, "SELECT group_concat(id || ':' || n, ' ') FROM t"); got != "1:0 2:0 3:0 4:0" {
		t.Errorf("there are %s", got)
	}
}

func TestTablesThatHaveChanged(t *testing.T) {
	o := openFilled(t, "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT); CREATE TABLE gone (id INTEGER PRIMARY KEY); CREATE TABLE keyed (id INTEGER PRIMARY KEY, v TEXT)", nil)
	set := map[string]database.Value{"v": "x"}
	keyed := o.insert(t, "keyed", set)
	keyed.Returning = all(keyed.Into.Table()).Output
	plans := map[string]func(database.Tx) error{
		"a column of a new row": func(tx database.Tx) error {
			_, err := tx.Insert(t.Context(), o.insert(t, "t", set), nil)
			return err
		},
		"a column that is returned": func(tx database.Tx) error {
			_, err := tx.Insert(t.Context(), keyed, nil)
			return err
		},
		"a column that is set": func(tx database.Tx) error {
			_, err := tx.Update(t.Context(), o.update(t, "t", int64(1), set))
			return err
		},
		"a table": func(tx database.Tx) error {
			_, err := tx.Delete(t.Context(), o.remove(t, "gone", int64(1)))
			return err
		},
	}
	for name, do := range plans { // the statements are prepared once the tables are as they were
		if err := o.Transact(t.Context(), do); err != nil {
			t.Errorf("%s, before: %v", name, err)
		}
	}
	execute(t, o.path, "DROP TABLE gone; ALTER TABLE t RENAME COLUMN v TO w; ALTER TABLE keyed RENAME COLUMN id TO number")
	for name, do := range plans {
		if err := o.Transact(t.Context(), do); databasetest.Failure(t, err).Code != database.Changed {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Some files are older than the advice to write texts in single quotes.
func TestTriggersWithTextsInDoubleQuotes(t *testing.T) {
	o := openFilled(t, `CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT);
CREATE TRIGGER t_insert AFTER INSERT ON t BEGIN UPDATE t SET v = "by a trigger" WHERE id = new.id; END`, nil)
	err := o.Transact(t.Context(), func(tx database.Tx) error {
		_, err := tx.Insert(t.Context(), o.insert(t, "t", nil), nil)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := plainly(t, o.path, "SELECT v FROM t"); got != "by a trigger" {
		t.Errorf("there is %q", got)
	}
}
