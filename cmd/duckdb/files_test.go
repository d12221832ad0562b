package duckdb_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/duckdb/duckdb-go/v2" // registers the driver

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// made runs statements on a DuckDB of its own, which writes files.
func made(t *testing.T, database string, statements ...string) {
	t.Helper()
	db, err := sql.Open("duckdb", database)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// serve serves tables of what lies at a path, each as a model of its name, whose key is id.
func serve(t *testing.T, path string, tables ...string) (*harness.Endpoint, string) {
	t.Helper()
	var models []contract.Model
	for _, table := range tables {
		models = append(models, contract.Model{Name: table, Table: table, Expose: true, Key: []string{"id"}})
	}
	viewer, text := harness.Viewer()
	return harness.ServeAs(t, func(*server.Server) {}, harness.Database{DuckDBPath: path}, models, []contract.Token{viewer}), text
}

// eventually calls a tool until its answer holds a text.
func eventually(t *testing.T, e *harness.Endpoint, token, tool, arguments, wanted string) {
	t.Helper()
	var text string
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if text, _ = e.Call(token, tool, arguments); strings.Contains(text, wanted) {
			return
		}
	}
	t.Fatalf("%s %s: %s, and never %s", tool, arguments, text, wanted)
}

func TestAFolderOfFilesIsServed(t *testing.T) {
	folder := t.TempDir()
	if err := os.MkdirAll(filepath.Join(folder, "visits", "year=2025"), 0o755); err != nil {
		t.Fatal(err)
	}
	made(t, "",
		"COPY (SELECT i AS id, 'item ' || i AS name, (i * 1.25)::DECIMAL(10,2) AS price, DATE '2026-01-01' + i::INTEGER AS day FROM range(1, 6) t(i)) TO '"+folder+"/sale.parquet'",
		"COPY (SELECT i AS id, 'né' AS name FROM range(1, 3) t(i)) TO '"+folder+"/people.csv'",
		"COPY (SELECT i AS id, 'x' AS page FROM range(1, 4) t(i)) TO '"+folder+"/visits/year=2025/a.parquet'",
	)
	e, token := serve(t, folder, "sale", "people", "visits")
	for _, c := range []struct{ tool, arguments, want string }{
		{"list_sale", `{"filters":{"price__gte":"5.00"},"order_by":["-id"],"fields":["id","price","day"]}`, `{"id":5,"price":"6.25","day":"2026-01-06"},{"id":4,"price":"5.00","day":"2026-01-05"}`},
		{"aggregate_sale", `{"group_by":["day__month"],"measures":{"total":{"sum":"price"},"mean":{"avg":"price"}}}`, `"18.75"`},
		{"list_people", `{}`, `"né"`},
		{"list_visits", `{"filters":{"year":2025}}`, `"total_count":3`},
	} {
		if text, isError := e.Call(token, c.tool, c.arguments); isError || !strings.Contains(text, c.want) {
			t.Errorf("%s %s: %s, want %s", c.tool, c.arguments, text, c.want)
		}
	}
	made(t, "", "COPY (SELECT 4 AS id, 'y' AS page) TO '"+folder+"/visits/b.tmp' (FORMAT parquet)")
	if err := os.MkdirAll(filepath.Join(folder, "visits", "year=2026"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(folder, "visits", "b.tmp"), filepath.Join(folder, "visits", "year=2026", "b.parquet")); err != nil {
		t.Fatal(err)
	}
	eventually(t, e, token, "list_visits", `{"filters":{"year":2026}}`, `"id":4`)
	for _, m := range e.Status().Models {
		if !m.Served() {
			t.Errorf("%s is not served: %s", m.Name, m.Message)
		}
	}
}

func TestADatabaseThatTakesAnothersPlaceIsServed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shop.duckdb")
	made(t, file, "CREATE TABLE item (id INTEGER PRIMARY KEY, name VARCHAR)", "INSERT INTO item VALUES (1, 'old')")
	e, token := serve(t, file, "item")
	eventually(t, e, token, "list_item", `{}`, `"old"`)
	made(t, file+".new", "CREATE TABLE item (id INTEGER PRIMARY KEY, name VARCHAR, note VARCHAR)", "INSERT INTO item VALUES (1, 'new', 'more')")
	if err := os.Rename(file+".new", file); err != nil {
		t.Fatal(err)
	}
	eventually(t, e, token, "list_item", `{}`, `"new"`)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	eventually(t, e, token, "list_item", `{}`, `"error"`)
}

func TestNothingIsWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shop.duckdb")
	made(t, file, "CREATE TABLE item (id INTEGER PRIMARY KEY, name VARCHAR)", "INSERT INTO item VALUES (1, 'old')")
	all, text := harness.Viewer()
	all.Rules = []contract.Rule{{Models: []string{"*"}, Verbs: []string{"*"}, Actions: []string{"*"}}}
	e := harness.Serve(t, harness.Database{DuckDBPath: file}, []contract.Model{{Name: "item", Table: "item", Expose: true}}, []contract.Token{all})
	status, body := e.Post(text, `{"method":"tools/list"}`)
	if status != 200 || strings.Contains(body, "create_item") || strings.Contains(body, "delete_item") || !strings.Contains(body, "list_item") {
		t.Errorf("the tools are %s", body)
	}
	answer, isError := e.Call(text, "create_item", `{"data":{"id":2,"name":"new"}}`)
	if !isError || !strings.Contains(answer, "nothing in the endpoint's database can be written") {
		t.Errorf("a new row: %s", answer)
	}
}

// types has a value of each type, and what a row shows of it.
var types = []struct{ name, sql, json string }{
	{"boolean", "true", `true`},
	{"tiny", "(-5)::TINYINT", `-5`},
	{"huge", "170141183460469231731687303715884105727::HUGEINT", `"170141183460469231731687303715884105727"`},
	{"unsigned", "18446744073709551615::UBIGINT", `"18446744073709551615"`},
	{"exact", "12.30::DECIMAL(10,2)", `"12.30"`},
	{"rough", "0.1::FLOAT", `0.1`},
	{"rough8", "1e300::DOUBLE", `1e+300`},
	{"words", "'zwölf \"x\"'", `"zwölf \"x\""`},
	{"day", "DATE '2024-02-29'", `"2024-02-29"`},
	{"clock", "TIME '10:00:00.5'", `"10:00:00.5"`},
	{"moment", "TIMESTAMP '2024-02-29 10:00:00.123456'", `"2024-02-29T10:00:00.123456"`},
	{"seconds", "'2024-02-29 10:00:00'::TIMESTAMP_S", `"2024-02-29T10:00:00"`},
	{"nanos", "'2024-02-29 10:00:00.123456789'::TIMESTAMP_NS", `"2024-02-29T10:00:00.123456789"`},
	{"instant", "TIMESTAMPTZ '2024-02-29 10:00:00+02'", `"2024-02-29T08:00:00Z"`},
	{"uid", "'644793d0-f745-477b-94f6-5d322b9e5b89'::UUID", `"644793d0-f745-477b-94f6-5d322b9e5b89"`},
	{"mood", "'ok'::ENUM('sad', 'ok', 'happy')", `"ok"`},
	{"span", "INTERVAL '1 day 2 hours'", `"1 day 02:00:00"`},
	{"raw", `'\xAA\x00'::BLOB`, `"qgA="`},
	{"listed", "[1, 2, NULL]", `[1,2,null]`},
	{"record", "{'a': 1, 'b': 'x'}", `{"a":1,"b":"x"}`},
	{"mapped", "MAP {'k': 1}", `{"k":1}`},
	{"doc", `'{"a": [1, "x"]}'::JSON`, `{"a": [1, "x"]}`},
	{"bits", "'0101'::BIT", `"0101"`},
	{"vector", "[1, 2, 3]::FLOAT[3]", `[1.0,2.0,3.0]`},
	{"nothing", "NULL::INTEGER", `null`},
}

func TestValuesOfEachType(t *testing.T) {
	file := filepath.Join(t.TempDir(), "types.duckdb")
	columns := "1 AS id"
	for _, c := range types {
		columns += ", " + c.sql + " AS " + c.name
	}
	made(t, file, "CREATE TABLE sample AS SELECT "+columns, "INSERT INTO sample (SELECT 2 AS id, * EXCLUDE (id) FROM sample WHERE id = 1)", "INSERT INTO sample (id) VALUES (3)", "ALTER TABLE sample ADD PRIMARY KEY (id)")
	e, token := serve(t, file, "sample")
	text, _ := e.Call(token, "get_sample", `{"id":1}`)
	var row map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &row); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	for _, c := range types {
		if got := string(row[c.name]); got != c.json {
			t.Errorf("%s is %s, want %s", c.name, got, c.json)
		}
	}
	for _, filter := range []string{
		`"huge__gt":"9223372036854775807"`, `"unsigned__gt":"9223372036854775807"`, `"exact":"12.3"`, `"exact__lt":"12.301"`, `"rough":0.1`, `"rough8__gte":1e300`,
		`"words__icontains":"ZWÖLF"`, `"day__year":2024`, `"day__date":"2024-02-29"`, `"clock__gt":"10:00"`, `"moment__gte":"2024-02-29T10:00:00.123456"`, `"moment__hour":10`,
		`"seconds":"2024-02-29T10:00:00"`, `"nanos__lt":"2024-02-29T10:00:00.123457"`, `"instant":"2024-02-29T10:00:00+02:00"`, `"instant__month":2`,
		`"uid":"644793d0-f745-477b-94f6-5d322b9e5b89"`, `"mood":"ok"`, `"mood__in":["ok","sad"]`, `"mood__gt":"sad"`, `"bits":"0101"`,
		`"listed__contains":[2]`, `"record__contains":{"b":"x"}`, `"mapped__has_key":"k"`, `"doc__contains":{"a":["x"]}`, `"nothing__isnull":true,"id":1`, `"boolean":true`,
	} {
		if text, isError := e.Call(token, "list_sample", `{"fields":["id"],"order_by":["id"],"limit":1,"filters":{`+filter+`}}`); isError || !strings.Contains(text, `"results":[{"id":1}]`) {
			t.Errorf("%s finds %s", filter, text)
		}
	}
	for _, c := range types {
		if c.name == "raw" || strings.HasPrefix(c.json, "[") || strings.HasPrefix(c.json, "{") || c.name == "bits" || c.name == "nothing" {
			continue
		}
		for _, order := range []string{c.name, "-" + c.name} {
			seen := ""
			for arguments, pages := `{"limit":1,"order_by":["`+order+`"],"fields":["id"]}`, 0; arguments != "" && pages < 5; pages++ {
				text, isError := e.Call(token, "list_sample", arguments)
				var page struct {
					Results []struct{ ID int }
					Cursor  string `json:"next_cursor"`
				}
				if err := json.Unmarshal([]byte(text), &page); isError || err != nil {
					t.Fatalf("by %s: %s", order, text)
				}
				for _, row := range page.Results {
					seen += fmt.Sprint(row.ID, " ")
				}
				arguments = ""
				if page.Cursor != "" {
					arguments = `{"limit":1,"order_by":["` + order + `"],"fields":["id"],"cursor":"` + page.Cursor + `"}`
				}
			}
			if want := map[bool]string{true: "1 2 3 ", false: "3 1 2 "}[order == c.name]; seen != want && seen != strings.Replace(want, "1 2", "2 1", 1) {
				t.Errorf("by %s the pages have %s, want %s", order, seen, want)
			}
		}
	}
}
