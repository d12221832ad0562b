package docs

import (
	"os"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

// SQL that is not saved as a file is PostgreSQL's, and run there in a transaction that is undone: it may make roles, which are
// the whole server's. What stands beside calls is run in their database.
func TestEverySQLOfTheDocumentsRuns(t *testing.T) {
	if os.Getenv("MCP_TEST_POSTGRES") == "" {
		t.Skip("MCP_TEST_POSTGRES is not set: make docs-test sets it")
	}
	db := databasetest.Connect(t, databasetest.URI(databasetest.PostgreSQL(t)))
	for _, path := range documents(t) {
		for _, b := range blocksOf(t, path) {
			if b.Language != "sql" || b.NotRun != "" || b.File != "" || b.Beside {
				continue
			}
			tx, err := db.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tx.Exec(t.Context(), b.Text()); err != nil {
				t.Errorf("%s, line %d: %v", path, b.Line, err)
			}
			if err := tx.Rollback(t.Context()); err != nil {
				t.Error(err)
			}
			done.ran++
		}
	}
}
