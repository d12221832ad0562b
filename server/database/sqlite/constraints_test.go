package sqlite_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

const shop = `
CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE "Odd, Table.x" (id TEXT PRIMARY KEY, "a.b" INT, "c, d" INT, UNIQUE ("a.b", "c, d")) WITHOUT ROWID;
CREATE TABLE book (id INTEGER PRIMARY KEY, author_id INT REFERENCES author (id), other_id INT REFERENCES author (id) ON DELETE RESTRICT,
  later_id INT REFERENCES author (id) DEFERRABLE INITIALLY DEFERRED,
  price INT CONSTRAINT "price, that is" CHECK (price > 0 /* ) */), stock INT CHECK ( stock >= 0 AND '(' <> ')' ), slug TEXT, lang TEXT,
  CHECK (price < 1000 OR "stock" > 0));
CREATE UNIQUE INDEX book_slug ON book (lower(slug), [lang]) WHERE price IS NOT NULL;
CREATE UNIQUE INDEX book_lang ON book (lang) WHERE stock = 7;
CREATE TRIGGER guard BEFORE UPDATE ON book WHEN new.slug = 'secret' BEGIN SELECT RAISE(ABORT, 'the slug secret is taken by 42'); END;
CREATE TRIGGER echo AFTER INSERT ON book WHEN new.slug = 'echo' BEGIN INSERT INTO author VALUES (1, 'again'); END;
INSERT INTO author VALUES (1, 'Ada'), (2, 'Bo'), (3, 'Cy');
INSERT INTO "Odd, Table.x" VALUES ('k', 1, 2);
INSERT INTO book VALUES (1, 1, 2, NULL, 5, 7, 'One', 'en')`

func TestViolations(t *testing.T) {
	o := openFilled(t, shop, nil)
	type row = map[string]database.Value
	insert := func(table string, set row) func(database.Tx) error {
		return func(tx database.Tx) error {
			_, err := tx.Insert(t.Context(), o.insert(t, table, set), nil)
			return err
		}
	}
	update := func(table string, id database.Value, set row) func(database.Tx) error {
		return func(tx database.Tx) error {
			_, err := tx.Update(t.Context(), o.update(t, table, id, set))
			return err
		}
	}
	remove := func(table string, id database.Value) func(database.Tx) error {
		return func(tx database.Tx) error {
			_, err := tx.Delete(t.Context(), o.remove(t, table, id))
			return err
		}
	}
	for _, test := range []struct {
		name       string
		do         func(database.Tx) error
		kind       database.ViolationKind
		table      string
		columns    string
		constraint string
	}{
		{"the key", insert("author", row{"id": int64(1), "name": "x"}), database.UniqueViolation, "author", "id", ""},
		{"a unique column", insert("author", row{"name": "Ada"}), database.UniqueViolation, "author", "name", ""},
		{"a unique column, changed", update("author", int64(2), row{"name": "Ada"}), database.UniqueViolation, "author", "name", ""},
		{"a key that is no row's number", insert("Odd, Table.x", row{"id": "k"}), database.UniqueViolation, "Odd, Table.x", "id", ""},
		{"odd names", insert("Odd, Table.x", row{"id": "l", "a.b": int64(1), "c, d": int64(2)}), database.UniqueViolation, "Odd, Table.x", "a.b,c, d", ""},
		{"an index of an expression", insert("book", row{"slug": "ONE", "lang": "en", "price": int64(1)}), database.UniqueViolation, "book", "slug,lang", "book_slug"},
		{"an index of some rows", insert("book", row{"stock": int64(7), "lang": "en"}), database.UniqueViolation, "book", "lang", ""},
		{"null", insert("author", row{"name": nil}), database.NotNullViolation, "author", "name", ""},
		{"a value that is missing", insert("author", nil), database.NotNullViolation, "author", "name", ""},
		{"a check with a name", insert("book", row{"price": int64(0)}), database.CheckViolation, "book", "price", "price, that is"},
		{"a check without one", insert("book", row{"stock": int64(-1)}), database.CheckViolation, "book", "stock", ""},
		{"a check of two columns", insert("book", row{"price": int64(1000), "stock": int64(0)}), database.CheckViolation, "book", "price,stock", ""},
		{"a row that is not there", insert("book", row{"author_id": int64(9)}), database.ForeignKeyViolation, "book", "", ""},
		{"a row that is not there, changed", update("book", int64(1), row{"author_id": int64(9)}), database.ForeignKeyViolation, "book", "", ""},
		{"a row that others point at", remove("author", int64(1)), database.ReferencedViolation, "author", "", ""},
		{"one that a foreign key restricts", remove("author", int64(2)), database.ReferencedViolation, "author", "", ""},
		{"a trigger", update("book", int64(1), row{"slug": "secret"}), database.OtherViolation, "", "", ""},
		{"a trigger that writes elsewhere", insert("book", row{"slug": "echo"}), database.UniqueViolation, "", "", ""},
		{"a declared statement", func(tx database.Tx) error {
			_, err := tx.Execute(t.Context(), declared("UPDATE author SET name = 'Ada' WHERE id IN (", []database.Value{int64(2)}, ")"))
			return err
		}, database.UniqueViolation, "", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := databasetest.Failure(t, o.Transact(t.Context(), test.do))
			if e.Code != database.Violated || e.Violation == nil {
				t.Fatalf("got %s: %v", e.Code, e)
			}
			table := ""
			if e.Violation.Table != nil {
				table = e.Violation.Table.Name
			}
			if e.Violation.Kind != test.kind || table != test.table || databasetest.Names(e.Violation.Columns) != test.columns || e.Violation.Constraint != test.constraint {
				t.Errorf("got kind %v of %q (%s) by %q", e.Violation.Kind, table, databasetest.Names(e.Violation.Columns), e.Violation.Constraint)
			}
			if said := e.Violation.Message; (said == "the slug secret is taken by 42") != (test.name == "a trigger") {
				t.Errorf("a trigger says %q", said)
			}
			if strings.Contains(e.Error(), "secret") || strings.Contains(e.Message, "Ada") {
				t.Errorf("it tells %v", e)
			}
		})
	}
}

func TestDeferredConstraints(t *testing.T) {
	o := openFilled(t, shop, nil)
	pending := o.insert(t, "book", map[string]database.Value{"later_id": int64(9)})
	meet := o.insert(t, "author", map[string]database.Value{"id": int64(9), "name": "Late"})
	undone := errors.New("undone")
	for _, test := range []struct {
		name        string
		met, check  bool
		want        database.Code
		afterwards  string
		savepointed bool
	}{
		{"not met, checked", false, true, database.Violated, "1 3", false},
		{"not met, committed", false, false, database.Violated, "1 3", false},
		{"undone before", false, true, "", "1 3", true},
		{"met, checked and committed", true, true, "", "2 4", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := o.Transact(t.Context(), func(tx database.Tx) error {
				add := func() error {
					_, err := tx.Insert(t.Context(), pending, nil)
					return err
				}
				if test.savepointed {
					if err := tx.Savepoint(t.Context(), func() error { return errors.Join(add(), undone) }); !errors.Is(err, undone) {
						return err
					}
				} else if err := add(); err != nil {
					return err
				}
				if test.met {
					if _, err := tx.Insert(t.Context(), meet, nil); err != nil {
						return err
					}
				}
				if test.check {
					return tx.CheckConstraints(t.Context())
				}
				return nil
			})
			if test.want == "" && err != nil {
				t.Fatal(err)
			}
			if test.want != "" {
				if e := databasetest.Failure(t, err); e.Code != test.want || e.Violation.Kind != database.ForeignKeyViolation {
					t.Errorf("got %s: %v", e.Code, e)
				}
			}
			if got := plainly(t, o.path, "SELECT (SELECT count(*) FROM book) || ' ' || (SELECT count(*) FROM author)"); got != test.afterwards {
				t.Errorf("there are %s rows, want %s", got, test.afterwards)
			}
		})
	}
}

func TestViewsAreWrittenByTheirTriggers(t *testing.T) {
	o := openFilled(t, `CREATE TABLE t (id INTEGER PRIMARY KEY, n INT); INSERT INTO t VALUES (1, 1), (2, 1), (3, 5);
CREATE VIEW v AS SELECT id, n * 10 AS n FROM t;
CREATE TRIGGER v_update INSTEAD OF UPDATE ON v BEGIN UPDATE t SET n = new.n / 10 WHERE id = old.id; END;
CREATE TRIGGER v_delete INSTEAD OF DELETE ON v BEGIN DELETE FROM t WHERE id = old.id; END;
CREATE VIEW plain AS SELECT id, n FROM t`, nil)
	for name, want := range map[string]bool{"t": true, "v": true, "plain": false} {
		if got := databasetest.Table(t, o.schema, name).Writable; got != want {
			t.Errorf("%s: writable is %v", name, got)
		}
	}
	view := databasetest.Table(t, o.schema, "v")
	if want := database.MaySelect | database.MayUpdate | database.MayDelete; view.Privileges != want || view.Columns[0].Privileges != want&^database.MayDelete {
		t.Errorf("it may be used for %b", view.Privileges)
	}
	ten := database.Compare{Column: view.Column("n"), Op: database.Equal, Value: int64(10)}
	err := o.Transact(t.Context(), func(tx database.Tx) error {
		for _, want := range []int64{2, 0} {
			n, err := tx.Update(t.Context(), &database.Update{
				In: database.NewSource(view, nil), Where: ten, Set: []database.Assignment{{Column: view.Column("n"), Value: int64(70)}},
			})
			if n != want || err != nil {
				t.Errorf("%d rows were updated, want %d; %v", n, want, err)
			}
		}
		if n, err := tx.Delete(t.Context(), o.remove(t, "v", int64(3))); n != 1 || err != nil {
			t.Errorf("%d rows were deleted; %v", n, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := plainly(t, o.path, "SELECT group_concat(id || ':' || n, ' ') FROM t"); got != "1:7 2:7" {
		t.Errorf("there are %s", got)
	}
	err = o.Transact(t.Context(), func(tx database.Tx) error {
		_, err := tx.Insert(t.Context(), o.insert(t, "v", map[string]database.Value{"id": int64(9)}), nil)
		return err
	})
	if databasetest.Failure(t, err).Code != database.Refused {
		t.Errorf("a view without a trigger for it: %v", err)
	}
}

func TestForeignKeysThatDoNotFit(t *testing.T) {
	o := openFilled(t, "CREATE TABLE parent (id INTEGER PRIMARY KEY, n INT); CREATE TABLE child (id INTEGER PRIMARY KEY, n INT REFERENCES parent (n))", nil)
	err := o.Transact(t.Context(), func(tx database.Tx) error {
		_, err := tx.Insert(t.Context(), o.insert(t, "child", map[string]database.Value{"n": int64(1)}), nil)
		return err
	})
	if e := databasetest.Failure(t, err); e.Code != database.Failed || !strings.Contains(e.Message, "foreign key") {
		t.Errorf("got %s: %v", e.Code, e)
	}
}

func TestDeclaredStatements(t *testing.T) {
	o := openFilled(t, "CREATE TABLE t (id INTEGER PRIMARY KEY, n INT); INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)", nil)
	err := o.Transact(t.Context(), func(tx database.Tx) error {
		for _, test := range []struct {
			statement *database.Declared
			want      int64
		}{
			{declared("UPDATE t SET n = n + ", []database.Value{int64(10)}, " WHERE id IN (", []database.Value{int64(1), int64(3), int64(9)}, ") RETURNING n"), 2},
			{declared("DELETE FROM t WHERE id IN (", []database.Value{int64(2)}, ")"), 1},
			{declared("DELETE FROM t WHERE id IN (", []database.Value{}, ")"), 0},
		} {
			if n, err := tx.Execute(t.Context(), test.statement); n != test.want || err != nil {
				t.Errorf("it was about %d rows, want %d; %v", n, test.want, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := plainly(t, o.path, "SELECT group_concat(id || ':' || n, ' ') FROM t"); got != "1:11 3:13" {
		t.Errorf("there are %s", got)
	}
}
