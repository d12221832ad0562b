package duckdb_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/contract/memlimit"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/duckdb"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// open opens what lies at a path.
func open(t *testing.T, path string, timeout time.Duration) database.DB {
	t.Helper()
	db := duckdb.Open(database.Settings{DuckDBPath: path, Database: contract.Database{MaxConnections: 2, StatementTimeout: contract.Duration(timeout)}})
	t.Cleanup(db.Close)
	return db
}

// ask runs a query as a report of an administrator.
func ask(ctx context.Context, db database.DB, query string) (string, error) {
	out, _, err := db.Report(ctx, &database.Report{Statement: &database.Declared{Pieces: []database.Piece{{SQL: query}}}, Form: database.RowArrays, Limit: 10}, nil)
	return string(out), err
}

func oneFile(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	made(t, "", "COPY (SELECT 1 AS id) TO '"+folder+"/item.parquet'")
	return folder
}

func TestNoStatementLeavesTheServedFiles(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret.csv")
	if err := os.WriteFile(outside, []byte("id\n42\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	folder := oneFile(t)
	file := filepath.Join(t.TempDir(), "shop.duckdb")
	made(t, file, "CREATE TABLE item AS SELECT 1 AS id")
	for _, path := range []string{folder, filepath.Join(folder, "item.parquet"), file} {
		db := open(t, path, time.Minute)
		if out, err := ask(t.Context(), db, "SELECT id FROM item -- the end"); err != nil || out != "[1]" {
			t.Fatalf("%s: %s, %v", path, out, err)
		}
		for _, statement := range []string{
			"SELECT * FROM read_csv('" + outside + "')", "SELECT * FROM read_text('" + outside + "')", "SELECT * FROM '" + outside + "'", "SELECT * FROM glob('" + filepath.Dir(outside) + "/*')",
			"COPY (SELECT 1) TO '" + folder + "/written.csv'", "SELECT 1) TO '" + folder + "/written.csv'", "ATTACH '" + outside + "'", "INSTALL httpfs", "LOAD httpfs",
			"SET threads = 1", "SET GLOBAL enable_external_access = true", "CREATE TABLE other (id INTEGER)", "DROP TABLE item", "INSERT INTO item VALUES (2)", "PRAGMA database_list",
			"SELECT 1; SELECT 2", "SELECT * FROM read_parquet('https://example.invalid/a.parquet')", "EXPORT DATABASE '" + folder + "'",
		} {
			out, err := ask(t.Context(), db, statement)
			if err == nil {
				t.Errorf("%s: %s answers %s", filepath.Base(path), statement, out)
				continue
			}
			if told := database.AsError(err); strings.Contains(told.Error(), outside) || strings.Contains(told.Error(), "SELECT") {
				t.Errorf("%s: the error tells of the statement: %v", statement, told)
			}
		}
		if out, err := ask(t.Context(), db, "SELECT count(*) FROM item"); err != nil || out != "[1]" {
			t.Errorf("after all that: %s, %v", out, err)
		}
	}
	if entries, _ := os.ReadDir(folder); len(entries) != 1 {
		t.Errorf("the folder has %v", entries)
	}
}

// long runs for minutes if nothing ends it.
const long = "SELECT count(*) FROM range(1000000000000) AS n(i) WHERE i % 7 = 8"

func TestAStatementEndsWithItsTimeAndWithItsCaller(t *testing.T) {
	db := open(t, oneFile(t), 300*time.Millisecond)
	if _, err := ask(t.Context(), db, long); database.AsError(err).Code != database.Timeout {
		t.Errorf("beyond its time: %v", err)
	}
	patient := open(t, oneFile(t), time.Hour)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(300*time.Millisecond, cancel)
	if _, err := ask(ctx, patient, long); database.AsError(err).Code != database.Cancelled {
		t.Errorf("without its caller: %v", err)
	}
	if out, err := ask(t.Context(), patient, "SELECT 1"); err != nil || out != "[1]" {
		t.Errorf("after that: %s, %v", out, err)
	}
}

func TestAStatementThatNeedsTooMuchMemoryFailsAlone(t *testing.T) {
	t.Setenv(memlimit.Variable, "134217728")
	db := open(t, oneFile(t), time.Minute)
	_, err := ask(t.Context(), db, "SELECT len(list(i::VARCHAR || 'abcdefghijklmnopqrstuvwxyz')) FROM range(100000000) AS n(i)")
	if told := database.AsError(err); told.Code != database.Invalid || !strings.Contains(told.Message, "more memory") {
		t.Errorf("it says %v", err)
	}
	if out, err := ask(t.Context(), db, "SELECT 1"); err != nil || out != "[1]" {
		t.Errorf("after that: %s, %v", out, err)
	}
}

func TestAFileThatIsNotSoundIsLeftOutAndSaid(t *testing.T) {
	folder := oneFile(t)
	if err := os.WriteFile(filepath.Join(folder, "broken.parquet"), []byte("no parquet"), 0o600); err != nil {
		t.Fatal(err)
	}
	schema, err := open(t, folder, time.Minute).Introspect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(schema.Tables) != 1 || len(schema.Unserved) != 1 || !strings.Contains(schema.Unserved[0].Note, "broken.parquet is not served") || strings.Contains(schema.Unserved[0].Note, folder) {
		t.Errorf("%d tables, notes %v", len(schema.Tables), schema.Unserved)
	}
	file := filepath.Join(t.TempDir(), "broken.duckdb")
	if err := os.WriteFile(file, []byte("no database"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, file, time.Minute).Introspect(t.Context()); database.AsError(err).Code != database.Unreachable {
		t.Errorf("a database that is none: %v", err)
	}
}

// A product of three such numbers has more digits than DuckDB computes with, and is an error.
const great = "9223372036854775807"

func TestNoErrorTellsOfRowsThatAPolicyHides(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shop.duckdb")
	made(t, file, "CREATE TABLE item (id INTEGER PRIMARY KEY, region VARCHAR, size BIGINT, word VARCHAR, group_id INTEGER)",
		"INSERT INTO item VALUES (1, 'emea', 2, '7', 1), (2, 'apac', "+great+", 'x', 1), (3, 'emea', 3, '8', 2)")
	clerk, token := harness.Viewer()
	clerk.Groups = []string{"clerks"}
	models := []contract.Model{{Name: "item", Table: "item", Expose: true, RowPolicies: []contract.RowPolicy{
		{Name: "own", Groups: []string{"clerks"}, Filters: []contract.Filter{{Field: "region", Value: "emea"}}}}}}
	e := harness.Serve(t, harness.Database{DuckDBPath: file}, models, []contract.Token{clerk})
	for _, c := range []struct{ tool, arguments, want string }{
		{"list_item", `{"filters":{"id__lt":{"mul":["size","size","size"]}},"fields":["id"]}`, `[{"id":1},{"id":3}]`},
		{"list_item", `{"fields":["id",{"as":"x","mul":["size","size","size"]}]}`, `[{"id":1,"x":8},{"id":3,"x":27}]`},
		{"list_item", `{"fields":["id",{"as":"x","mul":["size","size","size"]}],"order_by":["-x"]}`, `[{"id":3,"x":27},{"id":1,"x":8}]`},
		{"aggregate_item", `{"measures":{"x":{"sum":{"mul":["size","size","size"]}}}}`, `[{"x":35}]`},
		{"aggregate_item", `{"group_by":["group_id"],"measures":{"x":{"max":{"mul":["size","size","size"]}}},"order_by":["group_id"]}`, `[{"group_id":1,"x":8},{"group_id":2,"x":27}]`},
	} {
		if text, isError := e.Call(token, c.tool, c.arguments); isError || !strings.Contains(text, `"results":`+c.want) {
			t.Errorf("%s %s: %s, want %s", c.tool, c.arguments, text, c.want)
		}
	}
	everybody, all := harness.Viewer()
	everybody.Groups = nil
	models[0].RowPolicies = nil
	e = harness.Serve(t, harness.Database{DuckDBPath: file}, models, []contract.Token{everybody})
	if text, isError := e.Call(all, "aggregate_item", `{"measures":{"x":{"sum":{"mul":["size","size","size"]}}}}`); !isError || !strings.Contains(text, "38 digits") || strings.Contains(text, great) {
		t.Errorf("with the row: %s", text)
	}
}
