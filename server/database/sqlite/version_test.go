package sqlite_test

import (
	"reflect"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

func TestNoChangeOfASchemaLooksLikeNone(t *testing.T) {
	for _, mode := range []string{"wal", "delete"} {
		t.Run(mode, func(t *testing.T) {
			path := filled(t, "PRAGMA journal_mode = "+mode+`; CREATE TABLE parent (id integer PRIMARY KEY, code text); CREATE TABLE child (id integer PRIMARY KEY, n int); CREATE VIEW seen AS SELECT * FROM child`)
			db := open(t, settings(path, nil))
			unchanged := func() bool {
				same, err := db.(database.Watched).Unchanged(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				return same
			}
			if unchanged() {
				t.Error("a schema that nobody has read is the same")
			}
			known := databasetest.Introspect(t, db)
			for _, change := range []string{
				`CREATE TABLE extra (id int)`, `ALTER TABLE extra RENAME TO other`, `DROP TABLE other`,
				`ALTER TABLE child ADD COLUMN extra text DEFAULT 'a'`, `ALTER TABLE child RENAME COLUMN extra TO other`, `ALTER TABLE child DROP COLUMN other`,
				`CREATE UNIQUE INDEX one ON child (n)`, `DROP INDEX one`, `CREATE UNIQUE INDEX one ON child (n) WHERE n > 0`,
				`DROP VIEW seen; CREATE VIEW seen AS SELECT id FROM child`, `CREATE TRIGGER put INSTEAD OF INSERT ON seen BEGIN SELECT 1; END`, `DROP TRIGGER put`,
				`ALTER TABLE child ADD COLUMN parent_id int REFERENCES parent ON DELETE CASCADE`, `DROP TABLE parent; CREATE TABLE parent (id text PRIMARY KEY CHECK (length(id) > 1))`,
				`CREATE VIRTUAL TABLE words USING fts5 (word)`,
				`BEGIN; CREATE TABLE a (id int); DROP TABLE a; CREATE TABLE b (id int); COMMIT`,
			} {
				if !unchanged() {
					t.Errorf("before %s: nothing has changed", change)
				}
				execute(t, path, change)
				same := unchanged()
				found := databasetest.Introspect(t, db)
				if reflect.DeepEqual(known, found) {
					t.Errorf("%s: introspection does not see it", change)
				}
				if same {
					t.Errorf("%s: it looks like no change", change)
				}
				known = found
			}
			for _, change := range []string{`INSERT INTO child (id) VALUES (1)`, `DELETE FROM child`, `CREATE TEMPORARY TABLE mine (id int)`} {
				execute(t, path, change)
				if !unchanged() {
					t.Errorf("%s: it looks like a change", change)
				}
			}
		})
	}
}

func TestATableOfTheServersOwnIsMadeAgain(t *testing.T) {
	path := filled(t, `CREATE TABLE thing (id integer PRIMARY KEY)`)
	db := open(t, settings(path, func(s *database.Settings) { s.Audit = &contract.AuditTable{Name: "log"} }))
	databasetest.Introspect(t, db)
	databasetest.Introspect(t, db) // the first has made it
	if same, err := db.(database.Watched).Unchanged(t.Context()); err != nil || !same {
		t.Errorf("the same is %t, %v", same, err)
	}
	execute(t, path, `DROP TABLE log`)
	if same, err := db.(database.Watched).Unchanged(t.Context()); err != nil || same {
		t.Errorf("without the table the same is %t, %v", same, err)
	}
}
