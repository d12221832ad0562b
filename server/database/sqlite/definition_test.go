package sqlite

import (
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

func FuzzDefinitions(f *testing.F) {
	for _, seed := range []string{
		"CREATE TABLE t (a INT CONSTRAINT \"n\" CHECK (a > 0 /* ) */), [b] TEXT CHECK (b <> ')'))", "CHECK (", "CHECK ()", "check(a", "(a", "'", "[", "/*", "--", "CONSTRAINT CHECK (a)",
	} {
		f.Add(seed)
	}
	table := &database.Table{Columns: []*database.Column{{Name: "a"}, {Name: "b"}}}
	f.Fuzz(func(t *testing.T, sql string) {
		for _, check := range checks(table, sql) {
			if len(check.Columns) > len(table.Columns) {
				t.Errorf("%q names %d columns", sql, len(check.Columns))
			}
		}
		if columns := indexed(table, sql); len(columns) > len(table.Columns) {
			t.Errorf("%q names %d columns", sql, len(columns))
		}
	})
}
