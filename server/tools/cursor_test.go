package tools

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// shelves is a library with so many more shelves, of which some share names, and some have none to be in.
func shelves(t *testing.T, n int) *library {
	l := newLibrary(t)
	for i := range n {
		if _, err := l.plain.Exec("INSERT INTO shelf (parent_id, name) VALUES (?, ?)", map[bool]any{true: 1}[i%3 == 0], strings.Repeat("x", i%4)); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// ids are the ids of a list's rows.
func ids(list map[string]any) []any {
	var all []any
	for _, row := range list["results"].([]any) {
		all = append(all, row.(map[string]any)["id"])
	}
	return all
}

func TestCursorWalksTheWholeList(t *testing.T) {
	l := shelves(t, 20)
	for _, order := range []string{`[]`, `["-id"]`, `["name"]`, `["-parent_id","name"]`, `["parent_id","-name"]`} {
		t.Run(order, func(t *testing.T) {
			l.t = t
			whole := l.must(ownerText, "list_shelf", `{"order_by":`+order+`}`)
			if whole["next_cursor"] != nil {
				t.Error("a list that is whole has a next_cursor")
			}
			var walked []any
			cursor := ""
			for page := 1; ; page++ {
				more := ""
				if cursor != "" {
					more = `,"cursor":"` + cursor + `"`
				}
				// limit and fields may change from page to page
				list := l.must(ownerText, "list_shelf", fmt.Sprintf(`{"order_by":%s,"limit":%d,"fields":%s%s}`, order, 2+page, []string{`["name"]`, `[]`}[page%2], more))
				walked = append(walked, ids(list)...)
				if list["total_count"] != 23.0 {
					t.Errorf("page %d: total_count is %v", page, list["total_count"])
				}
				if list["next_cursor"] == nil {
					break
				}
				cursor = list["next_cursor"].(string)
			}
			if !reflect.DeepEqual(walked, ids(whole)) {
				t.Errorf("page by page: %v\nat once:      %v", walked, ids(whole))
			}
		})
	}
}

func TestCursorIsOfItsListOnly(t *testing.T) {
	limited := func(c *contract.Config) {
		for i := range c.Models {
			if c.Models[i].Name == "shelf" {
				c.Models[i].RowPolicies = []contract.RowPolicy{
					{Name: "all", Groups: []string{"staff"}, AllRows: true},
					{Name: "some", Everyone: true, Filters: []contract.Filter{{Field: "id", Lookup: "gt", Value: "0"}}},
				}
			}
		}
		for i := range c.Tokens {
			if c.Tokens[i].Name == "owner" {
				c.Tokens[i].Groups = []string{"staff"}
			}
		}
	}
	l := newLibrary(t, limited)
	const base = `"order_by":["-name"],"filters":{"name__contains":"e","id__gte":1},"search":"e"`
	cursor := l.must(ownerText, "list_shelf", `{"limit":1,`+base+`}`)["next_cursor"]
	for _, c := range []struct {
		name, token, tool, arguments string
		opens                        bool
	}{
		{"the same", ownerText, "list_shelf", base, true},
		{"another limit, fields and total", ownerText, "list_shelf", base + `,"limit":9,"fields":["name"],"total":"none"`, true},
		{"the same, written otherwise", ownerText, "list_shelf", `"search":" e ", "filters": {"id__gte" : 1, "name__contains":"e"}, "order_by": ["-name"]`, true},
		{"another order", ownerText, "list_shelf", `"order_by":["name"],"filters":{"name__contains":"e","id__gte":1},"search":"e"`, false},
		{"another filter", ownerText, "list_shelf", `"order_by":["-name"],"filters":{"name__contains":"e","id__gte":2},"search":"e"`, false},
		{"no filter", ownerText, "list_shelf", `"order_by":["-name"],"search":"e"`, false},
		{"another search", ownerText, "list_shelf", `"order_by":["-name"],"filters":{"name__contains":"e","id__gte":1},"search":"s"`, false},
		{"an offset beside it", ownerText, "list_shelf", base + `,"offset":0`, false},
		{"another model", ownerText, "list_author", base, false},
		{"a token of another row policy", readerText, "list_shelf", base, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := l.call(c.token, c.tool, fmt.Sprintf(`{"cursor":%q,%s}`, cursor, c.arguments))
			switch {
			case c.opens && r.IsError:
				t.Errorf("refused: %s", r.Text)
			case !c.opens && (r.Code != call.CodeInvalidArgument || !strings.Contains(r.Message, "cursor")):
				t.Errorf("answered: %s", r.Text)
			}
		})
	}
	if r := l.call(ownerText, "list_shelf", `{"cursor":"AAAA"}`); r.Code != call.CodeInvalidArgument || !strings.Contains(r.Message, "leave cursor out to start again") {
		t.Errorf("a cursor that is none: %s", r.Text)
	}
}

func TestCursorTellsNothingOfTheRow(t *testing.T) {
	l := newLibrary(t)
	list := l.must(ownerText, "list_author", `{"order_by":["name"],"limit":1,"fields":["id"]}`)
	if cursor, _ := list["next_cursor"].(string); cursor == "" || strings.Contains(cursor, "Herbert") || len(cursor) > 100 {
		t.Errorf("next_cursor is %q", cursor)
	}
}

// A table whose declared key nothing makes unique can be paged by offset only, as can an order by texts that are too long
// to be carried along.
func TestListsWithoutACursor(t *testing.T) {
	l := newLibrary(t)
	for range 3 {
		if _, err := l.plain.Exec("INSERT INTO note VALUES (?)", strings.Repeat("n", 2048)); err != nil {
			t.Fatal(err)
		}
		if _, err := l.plain.Exec("INSERT INTO shelf (name) VALUES (?)", "z"+strings.Repeat("n", 2048)); err != nil {
			t.Fatal(err)
		}
	}
	for tool, arguments := range map[string]string{"list_note": `{"limit":1}`, "list_shelf": `{"limit":1,"order_by":["-name"]}`} {
		if list := l.must(ownerText, tool, arguments); list["count"] != 1.0 || list["next_cursor"] != nil {
			t.Errorf("%s: %v", tool, list["next_cursor"])
		}
	}
}

// decoded is a JSON value as tests compare it.
func decoded(t *testing.T, text string) any {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return value
}
