package postgres_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

const violable = `
CREATE DOMAIN positive AS int CONSTRAINT positive_check CHECK (VALUE > 0);
CREATE TABLE parent (id int PRIMARY KEY, a int, b int, UNIQUE (a, b));
CREATE TABLE t (id int PRIMARY KEY, email text NOT NULL, a int, b int, low int, high int, boss int REFERENCES t, amount positive, short varchar(5), small smallint,
  price numeric(4,2), mood text, span int4range, active boolean, uid uuid,
  CONSTRAINT ordered CHECK (low < high), CONSTRAINT no_overlap EXCLUDE USING gist (span WITH &&), FOREIGN KEY (a, b) REFERENCES parent (a, b));
CREATE UNIQUE INDEX one_active ON t (mood) WHERE active;
CREATE UNIQUE INDEX one_email ON t (lower(email));
CREATE TABLE child (id int PRIMARY KEY, t_id int NOT NULL REFERENCES t ON DELETE RESTRICT);
CREATE TABLE part (id int, at int NOT NULL, label text NOT NULL, PRIMARY KEY (id, at), UNIQUE (label, at), CONSTRAINT early CHECK (id < 100)) PARTITION BY RANGE (at);
CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM (0) TO (10);
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF NEW.email = 'trigger-hunter2' THEN RAISE 'not this one: %', NEW.email; END IF;
  IF NEW.email = 'code-hunter2' THEN RAISE unique_violation USING MESSAGE = 'seen hunter2', DETAIL = 'hunter2'; END IF;
  IF NEW.email = 'odd-hunter2' THEN RAISE insufficient_privilege USING MESSAGE = 'seen hunter2'; END IF;
  IF NEW.email = 'none' THEN RETURN NULL; END IF;
  RETURN NEW; END $$;
CREATE TRIGGER refuses BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION refuse();
CREATE VIEW checked AS SELECT * FROM t WHERE id < 1000 WITH CHECK OPTION;
CREATE VIEW counted AS SELECT mood, count(*) AS n FROM t GROUP BY 1;
INSERT INTO parent VALUES (1, 1, 1);
INSERT INTO t (id, email, mood, active, span, a, b, boss) VALUES (1, 'Hunter2@x', 'hunter2', true, '[1,5)', 1, 1, NULL), (2, 'y', NULL, NULL, NULL, NULL, NULL, 1);
INSERT INTO child VALUES (1, 2);
INSERT INTO part VALUES (1, 1, 'hunter2')`

func TestViolations(t *testing.T) {
	t.Parallel()
	c := filled(t, violable)
	db := open(t, settings(c, nil))
	schema := databasetest.Introspect(t, db)
	databasetest.Introspect(t, db) // as after a change of the tables: who writes holds what was found before
	table, parent, part := databasetest.Table(t, schema, "public.t"), databasetest.Table(t, schema, "public.parent"), databasetest.Table(t, schema, "public.part")
	add := func(into *database.Table, values ...any) func(database.Tx) error {
		return func(tx database.Tx) error { return insert(t, tx, into, values...) }
	}
	change := func(in *database.Table, id int64, values ...any) func(database.Tx) error {
		return func(tx database.Tx) error {
			_, err := tx.Update(t.Context(), &database.Update{In: database.NewSource(in, nil), Set: set(in, values...), Where: is(in, "id", id)})
			return err
		}
	}
	remove := func(from *database.Table, id int64) func(database.Tx) error {
		return func(tx database.Tx) error {
			_, err := tx.Delete(t.Context(), &database.Delete{From: database.NewSource(from, nil), Where: is(from, "id", id)})
			return err
		}
	}
	three := int64(3)
	for _, test := range []struct {
		name string
		do   func(database.Tx) error
		kind database.ViolationKind
		want string
	}{
		{"key", add(table, "id", int64(1), "email", "hunter2"), database.UniqueViolation, "public.t id t_pkey"},
		{"partial index", add(table, "id", three, "email", "z", "mood", "hunter2", "active", true), database.UniqueViolation, "public.t mood one_active"},
		{"index on an expression", add(table, "id", three, "email", "hunter2@X"), database.UniqueViolation, "public.t email one_email"},
		{"foreign key of two", add(table, "id", three, "email", "z", "a", int64(98), "b", int64(99)), database.ForeignKeyViolation, "public.t a,b t_a_b_fkey"},
		{"foreign key to its own table", change(table, 2, "boss", int64(77)), database.ForeignKeyViolation, "public.t boss t_boss_fkey"},
		{"referenced by another", remove(parent, 1), database.ReferencedViolation, "public.t a,b t_a_b_fkey"},
		{"referenced by its own table", remove(table, 1), database.ReferencedViolation, "public.t boss t_boss_fkey"},
		{"referenced, RESTRICT", remove(table, 2), database.ReferencedViolation, "public.child t_id child_t_id_fkey"},
		{"referenced, by a change", change(parent, 1, "a", int64(5)), database.ReferencedViolation, "public.t a,b t_a_b_fkey"},
		{"not null", add(table, "id", three), database.NotNullViolation, "public.t email "},
		{"check", change(table, 1, "low", int64(5), "high", int64(4)), database.CheckViolation, "public.t low,high ordered"},
		{"check of a domain", change(table, 1, "amount", int64(-5)), database.CheckViolation, "public.t amount positive_check"},
		{"exclusion", add(table, "id", three, "email", "z", "span", "[2,3)"), database.ExclusionViolation, "public.t span no_overlap"},
		{"no partition", add(part, "id", int64(2), "at", int64(99), "label", "hunter2"), database.PartitionViolation, "public.part at "},
		{"trigger", add(table, "id", three, "email", "trigger-hunter2"), database.OtherViolation, "public.t  "},
		{"trigger that names a code", add(table, "id", three, "email", "code-hunter2"), database.UniqueViolation, "public.t  "},
		{"a view's check", add(databasetest.Table(t, schema, "public.checked"), "id", int64(5000), "email", "hunter2"), database.OtherViolation, "public.checked  "},
		{"key of a partition", add(part, "id", int64(1), "at", int64(1), "label", "hunter2"), database.UniqueViolation, "public.part id,at part_1_pkey"},
		{"unique of a partition", add(part, "id", int64(2), "at", int64(1), "label", "hunter2"), database.UniqueViolation, "public.part label,at part_1_label_at_key"},
		{"check of a partition", add(part, "id", int64(200), "at", int64(1), "label", "hunter2"), database.CheckViolation, "public.part id early"},
		{"not null of a partition", add(part, "id", int64(2), "at", int64(1)), database.NotNullViolation, "public.part label "},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := within(t, db, test.do)
			if e == nil || e.Code != database.Violated || e.Violation == nil {
				t.Fatalf("got %v", e)
			}
			v := e.Violation
			if got := fmt.Sprintf("%s %s %s", v.Table, databasetest.Names(v.Columns), v.Constraint); v.Kind != test.kind || got != test.want {
				t.Errorf("got %d %q, want %d %q", v.Kind, got, test.kind, test.want)
			}
			for _, column := range v.Columns {
				if v.Table.Column(column.Name) != column {
					t.Errorf("%s is none of the table's own columns", column.Name)
				}
			}
			if said := e.Error() + fmt.Sprintf("%+v", e.Cause); strings.Contains(strings.ToLower(said), "hunter2") || strings.Contains(said, "INSERT INTO") {
				t.Errorf("it tells too much: %s", said)
			}
		})
	}
	t.Run("a partition that is written itself", func(t *testing.T) {
		own := databasetest.Table(t, schema, "public.part_1")
		e := within(t, db, add(own, "id", int64(1), "at", int64(1), "label", "z"))
		if e == nil || e.Violation == nil || e.Violation.Table != own || databasetest.Names(e.Violation.Columns) != "id,at" {
			t.Errorf("got %+v", e)
		}
	})
}

func TestWritesThatAreRefused(t *testing.T) {
	t.Parallel()
	c := filled(t, violable+`; CREATE TABLE secret (id int PRIMARY KEY); INSERT INTO secret VALUES (1); CREATE TABLE gone (id int PRIMARY KEY)`)
	owner := open(t, settings(c, nil))
	schema := databasetest.Introspect(t, owner)
	table := databasetest.Table(t, schema, "public.t")
	user := "writer_" + c.Database
	databasetest.Execute(t, databasetest.URI(c), "CREATE USER "+user+" PASSWORD 'x'; GRANT SELECT, INSERT, UPDATE ON t TO "+user+"; GRANT SELECT ON secret TO "+user)
	t.Cleanup(func() { databasetest.Execute(t, databasetest.URI(c), "DROP OWNED BY "+user+"; DROP USER "+user) })
	limited := c
	limited.User, limited.Password = user, "x"
	writer := open(t, settings(limited, nil))
	databasetest.Execute(t, databasetest.URI(c), "DROP TABLE gone")
	change := func(values ...any) func(database.Tx) error {
		return func(tx database.Tx) error {
			_, err := tx.Update(t.Context(), &database.Update{In: database.NewSource(table, nil), Set: set(table, values...), Where: is(table, "id", int64(1))})
			return err
		}
	}
	declared := func(sql string) func(database.Tx) error {
		return func(tx database.Tx) error {
			_, err := tx.Execute(t.Context(), &database.Declared{Pieces: []database.Piece{{SQL: sql}}})
			return err
		}
	}
	for _, test := range []struct {
		name   string
		db     database.DB
		do     func(database.Tx) error
		code   database.Code
		column string
		says   string
	}{
		{"no right to delete", writer, func(tx database.Tx) error {
			_, err := tx.Delete(t.Context(), &database.Delete{From: database.NewSource(table, nil), Where: is(table, "id", int64(2))})
			return err
		}, database.Refused, "", "may not"},
		{"no right to lock", writer, func(tx database.Tx) error {
			secret := databasetest.Table(t, schema, "public.secret")
			_, _, err := tx.Select(t.Context(), &database.Select{From: database.NewSource(secret, is(secret, "id", int64(1))), Limit: 1, Lock: true}, nil)
			return err
		}, database.Refused, "", "the rights to SELECT and to UPDATE"},
		{"no right to insert", writer, func(tx database.Tx) error {
			return insert(t, tx, databasetest.Table(t, schema, "public.secret"), "id", int64(3))
		}, database.Refused, "", "may not"},
		{"a trigger that says there is no right", owner, func(tx database.Tx) error {
			return insert(t, tx, table, "id", int64(3), "email", "odd-hunter2")
		}, database.Refused, "", "may not"},
		{"a view that cannot be written", owner, func(tx database.Tx) error {
			return insert(t, tx, databasetest.Table(t, schema, "public.counted"), "mood", "x")
		}, database.Refused, "", "does not allow"},
		{"too long", owner, change("short", "hunter2"), database.Invalid, "", "out of its range"},
		{"out of range", owner, change("email", "z", "small", int64(40000)), database.Invalid, "small", "40000"},
		{"too many digits", owner, change("price", "1234.5"), database.Invalid, "", "out of its range"},
		{"no uuid", owner, change("email", "z", "uid", "nonsense"), database.Invalid, "uid", "nonsense"},
		{"U+0000", owner, change("email", "a\x00b"), database.Invalid, "email", "U+0000"},
		{"a table that is gone", owner, func(tx database.Tx) error {
			return insert(t, tx, databasetest.Table(t, schema, "public.gone"), "id", int64(1))
		}, database.Changed, "", "changed"},
		{"declared SQL that is none", owner, declared("UPDATE t SET hunter2 hunter2"), database.Failed, "", "could not answer"},
		{"declared SQL about what is not there", owner, declared("UPDATE t SET nowhere = 1"), database.Changed, "", "changed"},
		{"too slow", owner, declared("SELECT pg_sleep(600)"), database.Timeout, "", "longer than"},
		{"an update without a condition", owner, func(tx database.Tx) error {
			_, err := tx.Update(t.Context(), &database.Update{In: database.NewSource(table, nil), Set: set(table, "email", "x")})
			return err
		}, database.Failed, "", "without a condition"},
	} {
		t.Run(test.name, func(t *testing.T) {
			db := test.db
			if test.code == database.Timeout {
				db = open(t, settings(c, func(s *database.Settings) { s.StatementTimeout = contract.Duration(2 * time.Second) }))
			}
			for range 3 { // unnamed, then prepared, then prepared before
				e := within(t, db, test.do)
				if e == nil || e.Code != test.code || !strings.Contains(e.Message, test.says) {
					t.Fatalf("got %+v", e)
				}
				if got := e.Column; test.column == "" && got != nil || test.column != "" && got != table.Column(test.column) {
					t.Errorf("it is about %v", got)
				}
				if strings.Contains(e.Error()+fmt.Sprintf("%+v", e.Cause), "hunter2") {
					t.Errorf("it tells too much: %+v", e.Cause)
				}
			}
		})
	}
	if got := scalar(t, c, "SELECT count(*) FROM t"); got != "2" {
		t.Errorf("there are %s rows", got)
	}
	t.Run("no right to read", func(t *testing.T) {
		_, _, err := writer.Select(t.Context(), all(databasetest.Table(t, schema, "public.child")), nil)
		if e := databasetest.Failure(t, err); e.Code != database.Refused {
			t.Errorf("got %v", e)
		}
	})
}
