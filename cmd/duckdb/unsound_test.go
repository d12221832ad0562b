package duckdb_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// A file that takes another's place while it is read is read anew: no call fails, and none has rows of both.
func TestAFileIsReplacedWhileItIsRead(t *testing.T) {
	folder, spare := t.TempDir(), t.TempDir()
	file := filepath.Join(folder, "item.parquet")
	put := func(n int) {
		next := filepath.Join(spare, "next.parquet")
		made(t, "", "COPY (SELECT i AS id, "+strconv.Itoa(n)+" AS n, repeat('x', 50) AS pad FROM range("+strconv.Itoa(20000*n)+") t(i)) TO '"+next+"' (ROW_GROUP_SIZE 2048)")
		if err := os.Rename(next, file); err != nil {
			t.Fatal(err)
		}
	}
	put(1)
	e, token := serve(t, folder, "item")
	eventually(t, e, token, "aggregate_item", `{"measures":{"n":{"count":"*"}}}`, `20000`)
	done := make(chan struct{})
	var calls sync.WaitGroup
	for range 3 {
		calls.Go(func() {
			for asked := 0; ; asked++ {
				select {
				case <-done:
					return
				default:
				}
				text, isError := e.Call(token, "aggregate_item", `{"measures":{"n":{"count":"*"},"least":{"min":"n"},"most":{"max":"pad"}}}`)
				if isError || !strings.Contains(text, `"n":20000,"least":1,`) && !strings.Contains(text, `"n":40000,"least":2,`) {
					t.Errorf("call %d: %s", asked, text)
					return
				}
			}
		})
	}
	for i := range 12 {
		put(1 + (i+1)%2)
	}
	close(done)
	calls.Wait()
}

func TestAValueThatAFileCannotHaveIsNotTheCallersMistake(t *testing.T) {
	folder := t.TempDir()
	rows := []byte("id,v\n" + strings.Repeat("1,2\n", 30000) + "2,secret-word\n")
	if err := os.WriteFile(filepath.Join(folder, "late.csv"), rows, 0o600); err != nil {
		t.Fatal(err)
	}
	e, token := serve(t, folder, "late")
	text, _ := e.Call(token, "aggregate_late", `{"measures":{"s":{"sum":"v"}}}`)
	if !strings.Contains(text, `"code":"unavailable"`) || !strings.Contains(text, "a row of late cannot be read") || strings.Contains(text, "secret-word") {
		t.Errorf("the agent is told %s", text)
	}
	db := open(t, folder, time.Minute)
	if _, err := db.Introspect(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err := ask(t.Context(), db, "SELECT sum(v) FROM late")
	if told := database.AsError(err); told.Code != database.Unready || !strings.Contains(told.Error(), "late.csv, line 30002") || strings.Contains(told.Error(), "secret-word") {
		t.Errorf("the log has %v", told)
	}
	if unchanged, _ := db.(database.Watched).Unchanged(t.Context()); unchanged {
		t.Error("the schema is not read again")
	}
	schema, err := db.Introspect(t.Context())
	if err != nil || len(schema.Unserved) != 1 || !strings.Contains(schema.Unserved[0].Note, "Not all rows of late can be read") || strings.Contains(schema.Unserved[0].Note, "secret-word") {
		t.Errorf("the status notes %v (%v)", schema.Unserved, err)
	}
}

func TestAValueThatDuckDBDoesNotTakeIsNamed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "spans.duckdb")
	made(t, file, "CREATE TABLE item (id INTEGER PRIMARY KEY, span INTERVAL, day DATE)", "INSERT INTO item VALUES (1, INTERVAL 1 DAY, DATE '2026-01-01')")
	e, token := serve(t, file, "item")
	for filter, want := range map[string]string{
		`"span":"P1M"`:              `filters: span: must be an interval as rows show it: 1 month 2 days 03:04:05, not \"P1M\"`,
		`"day__lt":"9999999-01-01"`: `filters: day: must be within the range of DuckDB's type DATE, not \"9999999-01-01\"`,
	} {
		if text, _ := e.Call(token, "list_item", `{"filters":{`+filter+`}}`); !strings.Contains(text, want) || !strings.Contains(text, `"code":"invalid_argument"`) {
			t.Errorf("%s: %s, want %s", filter, text, want)
		}
	}
}

func TestAReportThatCannotRunIsNotTriedAgain(t *testing.T) {
	folder := oneFile(t)
	db := open(t, folder, time.Minute)
	if _, err := db.Introspect(t.Context()); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]string{
		"SELECT getenv('HOME')":                 "Catalog Error: Scalar Function with name getenv does not exist",
		"SELECT nosuch FROM item":               `Binder Error: Referenced column "nosuch" not found`,
		"SELECT * FROM '/etc/passwd'":           "Catalog Error",
		"SELECT * FROM read_csv('/etc/passwd')": "Permission Error: it may open no file, and change no setting",
		"SELECT sum(id, 'a secret') FROM item":  "Binder Error: No function matches the given name and argument types sum",
		"SELECT FROM WHERE":                     "Parser Error",
	} {
		_, err := ask(t.Context(), db, query)
		told := database.AsError(err)
		if told.Code != database.Unfit || told.Cause == nil || told.Cause.Error() != want {
			t.Errorf("%s: %v, want %s", query, err, want)
		}
	}
}

func TestWhatCannotBeOpenedSaysWhy(t *testing.T) {
	folder := t.TempDir()
	sound := filepath.Join(folder, "sound.duckdb")
	made(t, sound, "CREATE TABLE item AS SELECT i AS id FROM range(500000) t(i)")
	all, err := os.ReadFile(sound)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		content []byte
		want    string
	}{
		"none.duckdb":    {[]byte("no database at all, but some text"), "it is no DuckDB database"},
		"cut.duckdb":     {all[:len(all)/2], "it is broken"},
		"broken.parquet": {[]byte("PAR1garbagegarbagePAR1"), "it is broken"},
		"latin.csv":      {[]byte("name,v\ncaf\xe9,1\n"), "it is not UTF-8"},
	} {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, c.content, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := open(t, path, time.Minute).Introspect(t.Context())
		if told := database.AsError(err); err == nil || told.Code != database.Unreachable || !strings.Contains(told.Message, c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}
