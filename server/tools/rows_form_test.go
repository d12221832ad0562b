package tools

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// rowsOf turns an answer in columns into results.
func rowsOf(answer map[string]any) []any {
	results := []any{}
	for _, row := range answer["rows"].([]any) {
		members := map[string]any{}
		for i, name := range answer["columns"].([]any) {
			members[name.(string)] = row.([]any)[i]
		}
		results = append(results, members)
	}
	return results
}

// Columns say what objects say, and lead on in the same way.
func TestColumnsHoldWhatObjectsHold(t *testing.T) {
	l := newLibrary(t, on("author", func(m *contract.Model) { m.Masked = []contract.MaskedField{{Name: "name", KeepLast: 2}} }))
	for _, c := range []struct{ tool, arguments string }{
		{"list_book", `"limit":2`}, {"list_book", `"fields":["title"]`}, {"list_book", `"limit":0`}, {"list_book", `"total":"none"`},
		{"list_author", `"order_by":["-id"]`}, {"list_tag", `"limit":3`},
		{"related_author", `"id":1,"relation":"book_by_author"`},
	} {
		objects := l.must(ownerText, c.tool, `{"format":"objects",`+c.arguments+`}`)
		columns := l.must(ownerText, c.tool, `{"format":"columns",`+c.arguments+`}`)
		if got := rowsOf(columns); !reflect.DeepEqual(got, objects["results"]) {
			t.Errorf("%s %s: %v, want %v", c.tool, c.arguments, got, objects["results"])
		}
		for _, name := range []string{"count", "total_count", "type", "notice"} {
			if !reflect.DeepEqual(columns[name], objects[name]) {
				t.Errorf("%s %s: %s is %v, want %v", c.tool, c.arguments, name, columns[name], objects[name])
			}
		}
		if (columns["next_cursor"] == nil) != (objects["next_cursor"] == nil) || columns["results"] != nil {
			t.Errorf("%s %s: %v", c.tool, c.arguments, columns)
		}
	}
	first := l.must(ownerText, "list_shelf", `{"limit":1}`)
	next := l.must(ownerText, "list_shelf", fmt.Sprintf(`{"format":"columns","cursor":%q}`, first["next_cursor"]))
	if rows := next["rows"].([]any); rows[0].([]any)[0] != 2.0 {
		t.Errorf("behind a page of objects: %v", rows)
	}
}

func TestRowsEndAfter64KiBOrWhatTheCallSays(t *testing.T) {
	l := shelves(t, 500)
	if _, err := l.plain.Exec("UPDATE shelf SET name = ?", strings.Repeat("x", 1000)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		arguments     string
		atMost, rows  int
		notice, limit string
	}{
		{`{}`, 67_000, 40, "cut off after 65536 bytes", "at most 1048576)"},
		{`{"max_bytes":20000}`, 22_000, 10, "cut off after 20000 bytes: next_cursor leads to the rest", "at most 1048576)"},
		{`{"max_bytes":1}`, 2_000, 1, "cut off after 1 bytes", "at most 1048576)"},
		{`{"max_bytes":20000,"format":"columns"}`, 22_000, 10, "cut off after 20000 bytes", "at most 1048576)"},
		{`{"max_bytes":1048576,"limit":503}`, 600_000, 503, "<nil>", ""},
	} {
		text := l.call(ownerText, "list_shelf", c.arguments).Text
		list := l.must(ownerText, "list_shelf", c.arguments)
		notice := fmt.Sprint(list["notice"])
		if len(text) > c.atMost || list["count"].(float64) < float64(c.rows) || !strings.Contains(notice, c.notice) || !strings.HasSuffix(notice, c.limit) {
			t.Errorf("%s: %d bytes, %v rows, notice %s", c.arguments, len(text), list["count"], notice)
		}
	}
	if related := l.must(ownerText, "related_shelf", `{"id":1,"relation":"shelf_by_parent","max_bytes":3000}`); related["count"].(float64) > 5 || !strings.Contains(fmt.Sprint(related["notice"]), "cut off after 3000 bytes: offset ") {
		t.Errorf("related rows: %v of them, %v", related["count"], related["notice"])
	}
	if found := l.must(ownerText, "autocomplete_shelf", `{"limit":500}`); found["count"] == 500.0 || !strings.Contains(fmt.Sprint(found["notice"]), "cut off after 65536 bytes: offset ") {
		t.Errorf("autocomplete_ answers %v, %v", found["count"], found["notice"])
	}
	// A smaller bound of the endpoint's is the bound of a call that says nothing, too, and the most it may ask for.
	l.set.settings.MaxResultBytes = 5000
	if notice := fmt.Sprint(l.must(ownerText, "list_shelf", `{}`)["notice"]); !strings.HasSuffix(notice, "cut off after 5000 bytes: next_cursor leads to the rest, or ask for fewer fields") {
		t.Errorf("notice of a small endpoint: %s", notice)
	}
	for arguments, want := range map[string]string{
		`{"max_bytes":5001}`:     "max_bytes must be from 1 to 5000, not 5001; an answer that is cut off says how to go on",
		`{"max_bytes":0}`:        "max_bytes must be from 1 to 5000, not 0; an answer that is cut off says how to go on",
		`{"max_bytes":"5"}`:      `max_bytes must be an integer of at least 0, not "5"`,
		`{"format":"rows"}`:      `format must be "objects" or "columns", or left out, not "rows"`,
		`{"format":["columns"]}`: `format must be a string, not ["columns"]`,
	} {
		if r := l.call(ownerText, "list_shelf", arguments); r.Code != call.CodeInvalidArgument || r.Message != want {
			t.Errorf("%s: %s", arguments, r.Text)
		}
	}
}

// The rows beside a row of get_ end 64 KiB behind it; the row itself comes whole.
func TestRelatedRowsOfOneRowEndAfter64KiB(t *testing.T) {
	l := shelves(t, 10)
	if _, err := l.plain.Exec("UPDATE shelf SET parent_id = nullif(1, id), name = ?", strings.Repeat("x", 15_000)); err != nil {
		t.Fatal(err)
	}
	row := l.must(ownerText, "get_shelf", `{"id":1,"include_related":true}`)
	shown := len(row["_related"].(map[string]any)["shelf_by_parent"].([]any))
	if shown != 5 || len(row["name"].(string)) != 15_000 || !strings.Contains(fmt.Sprint(row["_notice"]), "shelf_by_parent (offset 5); related_shelf goes on") {
		t.Errorf("%d related rows, notice %v", shown, row["_notice"])
	}
}

func TestDescribeSaysWhichRowsAreSeen(t *testing.T) {
	south := contract.Filter{Field: "branch", TokenAttribute: "branch"}
	l := newLibrary(t, on("author", func(m *contract.Model) {
		m.RowPolicies = []contract.RowPolicy{
			{Name: "own-branch", Everyone: true, Filters: []contract.Filter{south}},
		}
	}), on("book", func(m *contract.Model) {
		m.RowPolicies = []contract.RowPolicy{
			{Name: "cheap", Everyone: true, Filters: []contract.Filter{{Field: "id", Lookup: "lt", Value: "3"}}},
			{Name: "first", Everyone: true, Filters: []contract.Filter{{Field: "id", Value: "1"}}},
		}
	}), on("review", func(m *contract.Model) {
		m.RowPolicies = []contract.RowPolicy{{Name: "nobody", Groups: []string{"nobody"}, AllRows: true}}
	}), on("shelf", func(m *contract.Model) {
		m.RowPolicies = []contract.RowPolicy{{Name: "all", Everyone: true, AllRows: true}, {Name: "first", Everyone: true, Filters: []contract.Filter{{Field: "id", Value: "1"}}}}
	}))
	for model, want := range map[string]any{
		"author": "you see the rows of policy `own-branch`",
		"book":   "you see the rows of the policies `cheap`, `first`",
		"review": "you see no rows: no row policy is for you",
		"shelf":  nil,
		"tag":    nil,
	} {
		if got := l.must(ownerText, "describe_"+model, `{}`)["rows"]; got != want {
			t.Errorf("describe_%s: %v, want %v", model, got, want)
		}
		if got := l.must(ownerText, "list_"+model, `{}`)["rows"]; (got != nil) != (want != nil) {
			t.Errorf("list_%s: rows is %v", model, got)
		}
	}
}

func TestGroupsHaveFormsSizesAndPolicies(t *testing.T) {
	l := shelves(t, 500)
	if _, err := l.plain.Exec("UPDATE shelf SET name = id || ?", strings.Repeat("x", 1000)); err != nil {
		t.Fatal(err)
	}
	groups := l.must(ownerText, "aggregate_shelf", `{"measures":{"n":{"count":"*"}},"group_by":["name"],"limit":500,"total":"exact"}`)
	if notice := fmt.Sprint(groups["notice"]); !strings.HasPrefix(notice, fmt.Sprintf("the groups were cut off after 65536 bytes: offset %v leads to the rest, or ask for fewer measures or more bytes (max_bytes", groups["count"])) {
		t.Errorf("%v groups, %s", groups["count"], notice)
	}
	columns := l.must(ownerText, "aggregate_shelf", `{"measures":{"n":{"count":"*"}},"format":"columns","total":"exact"}`)
	if want := "map[columns:[n] count:1 rows:[[503]] total_groups:1]"; fmt.Sprint(columns) != want {
		t.Errorf("got %v, want %s", columns, want)
	}
	limited := newLibrary(t, on("author", func(m *contract.Model) {
		m.RowPolicies = []contract.RowPolicy{{Name: "own-branch", Everyone: true, Filters: []contract.Filter{{Field: "branch", TokenAttribute: "branch"}}}}
	}))
	for arguments, want := range map[string]string{
		`{"measures":{"n":{"count":"*"}}}`:                    `{"count":1,"rows":"policy","results":[{"n":1}]}`,
		`{"measures":{"n":{"count":"*"}},"format":"columns"}`: `{"count":1,"limited":"policy","columns":["n"],"rows":[[1]]}`,
	} {
		if r := limited.call(clerkText, "aggregate_author", arguments); string(r.Text) != want {
			t.Errorf("%s: %s, want %s", arguments, r.Text, want)
		}
	}
}
