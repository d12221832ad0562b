package generate

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
)

// The server's own tables are known by their columns: an endpoint may give them any name.
func TestTheServersOwnTablesAreLeftOut(t *testing.T) {
	script := func(d sqltext.Dialect) string {
		statements := append(sqltext.Audit.Statements(d, "", "book"), sqltext.Idempotency.Statements(d, "", "kept")...)
		return "CREATE TABLE item (id int PRIMARY KEY);" + strings.Join(statements, ";")
	}
	check := func(t *testing.T, flags ...string) {
		text := run(t, flags...)
		for _, want := range []string{"book: the journal of this server\n", "kept: the idempotency keys of this server\n"} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in\n%s", want, text)
			}
		}
		if strings.Count(text, "kind: MCPModelExposure") != 1 {
			t.Errorf("one model is wanted in\n%s", text)
		}
		if text := run(t, append(flags, "--include", "kept")...); !strings.Contains(text, "table: {name: kept}\n") {
			t.Errorf("--include does not take it:\n%s", text)
		}
	}
	t.Run("SQLite", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "shop.sqlite")
		execute(t, file, script(sqltext.SQLite))
		check(t, "--sqlite", file)
	})
	t.Run("MariaDB", func(t *testing.T) {
		c := databasetest.MariaDB(t)
		databasetest.ExecuteMySQL(t, c, script(sqltext.MariaDB))
		check(t, "--dsn", databasetest.URI(c))
	})
}
