package sqlite_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqlite"
)

// rootVariable names the folder that the test's second process uses as its root: one without a folder for temporary
// files.
const rootVariable = "MCP_TEST_SORT_ROOT"

func TestSortsWithoutATemporaryFolder(t *testing.T) {
	if root := os.Getenv(rootVariable); root != "" {
		sortWithin(t, root)
		return
	}
	if os.Getuid() != 0 {
		t.Skip("only root may change its root folder")
	}
	path := filled(t, `CREATE TABLE t (id INTEGER PRIMARY KEY, body TEXT);
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) INSERT INTO t SELECT i, printf('%05d', 20000 - i) || printf('%.1000c', 'x') FROM n`)
	child := exec.Command(os.Args[0], "-test.run=^TestSortsWithoutATemporaryFolder$", "-test.v")
	child.Env = append(os.Environ(), rootVariable+"="+filepath.Dir(path))
	if said, err := child.CombinedOutput(); err != nil || !strings.Contains(string(said), "--- PASS") {
		t.Fatalf("%v: %s", err, said)
	}
}

// sortWithin sorts some megabytes within a root folder that holds only the database. The working folder is gone.
func sortWithin(t *testing.T, root string) {
	gone := filepath.Join(root, "gone")
	for _, err := range []error{os.Mkdir(gone, 0o700), os.Chdir(gone), os.Remove(gone), syscall.Chroot(root)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	db := sqlite.Open(settings("/some data.sqlite", func(s *database.Settings) {
		s.MaxConnections = 1
		s.StatementTimeout = contract.Duration(time.Minute) // a busy machine sorts slowly
	}))
	defer db.Close()
	schema, err := db.Introspect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	plan := all(databasetest.Table(t, schema, "t"))
	plan.Order, plan.Limit = []database.Order{{Column: databasetest.Table(t, schema, "t").Column("body")}}, 20_000
	if _, page, err := db.Select(t.Context(), plan, nil); err != nil || page.Count != 20_000 {
		t.Fatalf("%d rows: %v", page.Count, err)
	}
}
