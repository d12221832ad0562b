package duckdb_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// add writes a text at the end of a file.
func add(t *testing.T, file, text string) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestARowThatIsHalfWrittenIsNotAnswered(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "item.csv")
	add(t, file, "id,name\n1,whole\n2,ha")
	changed(t, file, time.Hour) // from now on: no pause of this test is a quiet minute
	e, token := serve(t, folder, "item")
	for _, c := range []struct{ tool, arguments string }{
		{"list_item", `{}`}, {"get_item", `{"id":1}`}, {"aggregate_item", `{"measures":{"n":{"count":"*"}}}`}, {"list_item", `{"filters":{"name__startswith":"h"},"total":"exact"}`},
	} {
		text, isError := e.Call(token, c.tool, c.arguments)
		if !isError || !strings.Contains(text, `"code":"unavailable"`) || !strings.Contains(text, "is being written, or was not written to its end") {
			t.Errorf("%s %s: %s", c.tool, c.arguments, text)
		}
	}
	schema, err := open(t, folder, time.Minute).Introspect(t.Context())
	if err != nil || len(schema.Tables) != 1 || len(schema.Unserved) != 1 || !strings.Contains(schema.Unserved[0].Note, "item.csv is not read until it has not changed for a minute") {
		t.Errorf("the schema is %+v (%v)", schema, err)
	}
	add(t, file, "lf\n")
	eventually(t, e, token, "list_item", `{}`, `[{"id":1,"name":"whole"},{"id":2,"name":"half"}]`)
}

// changed has a file be one that was changed last at some time from now.
func changed(t *testing.T, file string, from time.Duration) {
	t.Helper()
	if at := time.Now().Add(from); os.Chtimes(file, at, at) != nil {
		t.Fatal("the time of the file cannot be set")
	}
}

// Many programs write no line break at the end of a file.
func TestAFileWithoutALastLineBreakIsReadOnceItIsQuiet(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "item.csv")
	add(t, file, "id,name\n1,first\n2,last")
	changed(t, file, time.Hour)
	d := open(t, folder, time.Minute)
	if schema, err := d.Introspect(t.Context()); err != nil || len(schema.Unserved) != 1 {
		t.Fatalf("a file that was just written: %+v, %v", schema, err)
	}
	changed(t, file, -time.Hour)
	if is, err := d.(database.Watched).Unchanged(t.Context()); is || err != nil {
		t.Errorf("nothing has changed (%v)", err)
	}
	e, token := serve(t, folder, "item")
	eventually(t, e, token, "list_item", `{}`, `[{"id":1,"name":"first"},{"id":2,"name":"last"}]`)
}

// A file that nobody touches becomes whole by time alone.
func TestAFileWithoutALastLineBreakSettles(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "item.csv")
	add(t, file, "id,name\n1,first\n2,last")
	changed(t, file, 3*time.Second-time.Minute)
	e, token := serve(t, folder, "item")
	eventually(t, e, token, "list_item", `{}`, `[{"id":1,"name":"first"},{"id":2,"name":"last"}]`)
}

// wholeRow matches the name of each row in a file that grows.
var wholeRow = regexp.MustCompile(`^row-\d+-end$`)

func TestAFileThatGrowsWhileItIsReadShowsWholeRows(t *testing.T) {
	const rows = 150
	folder := t.TempDir()
	file := filepath.Join(folder, "item.csv")
	add(t, file, "id,name\n0,row-0-end\n")
	e, token := serve(t, folder, "item")
	eventually(t, e, token, "list_item", `{}`, `"row-0-end"`)
	done := make(chan struct{})
	var calls sync.WaitGroup
	for range 2 {
		calls.Go(func() {
			for !isClosed(done) {
				text, isError := e.Call(token, "list_item", `{"limit":1000}`)
				if isError {
					if !strings.Contains(text, `"code":"unavailable"`) {
						t.Errorf("a call fails: %s", text)
						return
					}
					continue
				}
				var page struct{ Results []struct{ Name string } }
				if err := json.Unmarshal([]byte(text), &page); err != nil {
					t.Error(err)
				}
				for _, row := range page.Results {
					if !wholeRow.MatchString(row.Name) {
						t.Errorf("a row is called %q", row.Name)
						return
					}
				}
			}
		})
	}
	for i := 1; i < rows; i++ {
		row := fmt.Sprintf("%d,row-%d-end\n", i, i)
		for _, part := range []string{row[:2], row[2:5], row[5 : len(row)-2], row[len(row)-2:]} {
			add(t, file, part)
		}
	}
	close(done)
	calls.Wait()
	eventually(t, e, token, "aggregate_item", `{"measures":{"n":{"count":"*"}}}`, fmt.Sprint(`"n":`, rows))
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestACSVFileIsReplacedWhileItIsRead(t *testing.T) {
	folder, spare := t.TempDir(), t.TempDir()
	file := filepath.Join(folder, "item.csv")
	put := func(n int) {
		next := filepath.Join(spare, "next.csv")
		if err := os.WriteFile(next, []byte("id,n,pad\n"+strings.Repeat(fmt.Sprintf("1,%d,%s\n", n, strings.Repeat("x", 40)), 10000*n)), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(next, file); err != nil {
			t.Fatal(err)
		}
	}
	put(1)
	e, token := serve(t, folder, "item")
	done := make(chan struct{})
	var calls sync.WaitGroup
	calls.Go(func() {
		for !isClosed(done) {
			text, isError := e.Call(token, "aggregate_item", `{"measures":{"n":{"count":"*"},"least":{"min":"n"},"most":{"max":"n"}}}`)
			if !strings.Contains(text, `"n":10000,"least":1,"most":1`) && !strings.Contains(text, `"n":20000,"least":2,"most":2`) && !(isError && strings.Contains(text, `"code":"unavailable"`)) {
				t.Errorf("a call is answered %s", text)
				return
			}
		}
	})
	for i := range 10 {
		put(1 + (i+1)%2)
	}
	close(done)
	calls.Wait()
	eventually(t, e, token, "aggregate_item", `{"measures":{"n":{"count":"*"}}}`, `"n":10000`)
}

// DuckDB reads what is there of a compressed file that is cut off.
func TestACompressedFileThatIsCutOffIsNotAnswered(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "whole.csv.gz")
	f, err := os.Create(whole)
	if err != nil {
		t.Fatal(err)
	}
	packed := gzip.NewWriter(f)
	for i := range 50_000 {
		fmt.Fprintf(packed, "%d,row-%d-%x-end\n", i, i, i*i*7919)
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(filepath.Dir(whole), "whole.csv.zst")
	made(t, "", "COPY (SELECT i AS id, md5(i::VARCHAR) AS name FROM range(50000) t(i)) TO '"+other+"' (FORMAT csv, COMPRESSION zstd)")
	for _, from := range []string{whole, other} {
		content, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		for _, cut := range []int{0, 1, 8, 12, 1000, len(content) / 2, len(content) - 20} {
			folder := t.TempDir()
			if err := os.WriteFile(filepath.Join(folder, "item.csv"+filepath.Ext(from)), content[:len(content)-cut], 0o600); err != nil {
				t.Fatal(err)
			}
			text, err := ask(t.Context(), open(t, folder, time.Minute), "SELECT count(*) FROM item")
			if cut == 0 && text != `[50000]` || cut > 0 && err == nil {
				t.Errorf("%s without %d of its %d bytes: %s (%v)", filepath.Base(from), cut, len(content), text, err)
			}
		}
	}
}
