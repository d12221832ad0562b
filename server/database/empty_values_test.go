package database_test

import (
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/objpool"
)

// Values without a single byte are values, not NULL: also in memory that no call used before.
func TestEmptyValuesAreNoNulls(t *testing.T) {
	objpool.Switch(false)
	defer objpool.Switch(true)
	script := map[string]string{}
	for engine, bytes := range map[string]string{"PostgreSQL": "BYTEA", "MySQL": "BLOB", "SQLite": "BLOB"} {
		script[engine] = strings.ReplaceAll(`CREATE TABLE t (id INTEGER PRIMARY KEY, note VARCHAR(9), data BYTES);
INSERT INTO t VALUES (1, 'x', NULL), (2, NULL, NULL)`, "BYTES", bytes)
	}
	onAllEngines(t, script, func(t *testing.T, f fixture) {
		table := f.table(t, "t")
		id, note, data := table.Column("id"), table.Column("note"), table.Column("data")
		source := database.NewSource(table, nil)
		is := func(c *database.Column, value database.Value) database.Condition {
			return database.Compare{Column: c, Op: database.Equal, Value: value}
		}
		write := func(do func(tx database.Tx) error) {
			t.Helper()
			if err := f.Transact(t.Context(), do); err != nil {
				t.Fatal(err)
			}
		}
		for _, none := range [][]byte{{}, nil} {
			write(func(tx database.Tx) error {
				_, err := tx.Update(t.Context(), &database.Update{In: source, Where: database.IsNull{Column: data}, Set: []database.Assignment{{Column: data, Value: none}}})
				return err
			})
			if got := f.ids(t, table, is(data, none)); got != "1 2" {
				t.Errorf("no bytes are found in the rows %q", got)
			}
			write(func(tx database.Tx) error {
				_, err := tx.Update(t.Context(), &database.Update{In: source, Where: database.Not{Condition: database.IsNull{Column: data}}, Set: []database.Assignment{{Column: data}}})
				return err
			})
		}
		write(func(tx database.Tx) error { // no other value stands in the statement
			_, err := tx.Update(t.Context(), &database.Update{In: source, Where: database.Not{Condition: database.IsNull{Column: note}}, Set: []database.Assignment{{Column: note, Value: ""}}})
			return err
		})
		if got := f.ids(t, table, is(note, "")); got != "1" {
			t.Errorf("the empty text is found in the rows %q", got)
		}
		if got := f.ids(t, table, database.In{Column: note, Values: []database.Value{""}}); got != "1" {
			t.Errorf("among texts it is found in the rows %q", got)
		}
		if got := f.ids(t, table, database.Not{Condition: is(note, "")}); got != "2" {
			t.Errorf("all but the empty text are the rows %q", got)
		}
		_, page := f.read(t, &database.Select{From: source, Output: outputs(id), Order: ascending(id), Limit: 1, Cursor: database.Refs(note)})
		if len(page.Last) != 1 || page.Last[0] != "" {
			t.Errorf("the cursor has %#v", page.Last)
		}
	})
}
