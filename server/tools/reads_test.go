package tools

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// on changes a model of the library.
func on(name string, change func(*contract.Model)) func(*contract.Config) {
	return func(c *contract.Config) {
		for i := range c.Models {
			if c.Models[i].Name == name {
				change(&c.Models[i])
			}
		}
	}
}

// maskNames makes the names of authors readable by their last two characters only.
var maskNames = on("author", func(m *contract.Model) { m.Masked = []contract.MaskedField{{Name: "name", KeepLast: 2}} })

func TestAnswersOfReads(t *testing.T) {
	l := newLibrary(t, on("author", func(m *contract.Model) { m.DisplayField = "name" }), maskBodies)
	const one, two = `{"id":1,"name":"Herbert","branch":"north"}`, `{"id":2,"name":"Le Guin","branch":"south"}`
	for _, c := range []struct{ tool, arguments, want string }{
		{"list_author", `{}`, `{"count":2,"total_count":2,"results":[` + one + `,` + two + `]}`},
		{"list_author", `{"total":"exact","offset":1}`, `{"count":1,"total_count":2,"results":[` + two + `]}`},
		{"list_author", `{"total":"none"}`, `{"count":2,"results":[` + one + `,` + two + `]}`},
		{"list_author", `{"limit":0}`, `{"count":0,"total_count":2,"results":[]}`},
		{"list_review", `{"fields":["body"]}`, `{"count":1,"total_count":1,"results":[{"id":1,"body":"****"}]}`},
		{"get_author", `{"id":1,"include_related":false}`, one},
		{"get_shelf", `{"id":2,"include_related":true}`, `{"id":2,"parent_id":1,"name":"some","_related":{"parent":[{"id":1,"parent_id":null,"name":"all"}],"shelf_by_parent":[{"id":3,"parent_id":2,"name":"few"}]}}`},
		{"get_shelf", `{"id":1,"include_related":true}`, `{"id":1,"parent_id":null,"name":"all","_related":{"parent":[],"shelf_by_parent":[{"id":2,"parent_id":1,"name":"some"}]}}`},
		{"related_shelf", `{"id":3,"relation":"parent"}`, `{"relation":"parent","type":"single","result":{"id":2,"parent_id":1,"name":"some"}}`},
		{"related_shelf", `{"id":1,"relation":"parent"}`, `{"relation":"parent","type":"single","result":null}`},
		{"related_shelf", `{"id":3,"relation":"shelf_by_parent"}`, `{"relation":"shelf_by_parent","type":"many","count":0,"total_count":0,"results":[]}`},
		{"related_book", `{"id":1,"relation":"chapter_by_book","limit":1,"offset":1}`, `{"relation":"chapter_by_book","type":"many","count":1,"total_count":2,"results":[{"id":2,"book_id":1,"number":2,"title":"Two"}]}`},
		{"related_tag", `{"id":"1,sand","relation":"book"}`, `{"relation":"book","type":"single","result":{"id":1,"title":"Dune","isbn":"111","author_id":1,"state":"draft","price":null,"sold":null,"printed":null,"upper_title":"DUNE","notes":null,"version":1}}`},
		{"autocomplete_author", `{"term":"er"}`, `{"model":"author","term":"er","count":1,"results":[{"id":1,"text":"Herbert"}]}`},
		{"autocomplete_author", `{"term":"2"}`, `{"model":"author","term":"2","count":1,"results":[{"id":2,"text":"Le Guin"}]}`},
		{"autocomplete_author", `{"term":"guin le"}`, `{"model":"author","term":"guin le","count":1,"results":[{"id":2,"text":"Le Guin"}]}`},
		{"autocomplete_author", `{"term":"%"}`, `{"model":"author","term":"%","count":0,"results":[]}`},
		{"autocomplete_author", `{"limit":1}`, `{"model":"author","term":"","count":1,"results":[{"id":1,"text":"Herbert"}],"next_offset":1,"notice":"more rows: offset 1"}`},
		{"autocomplete_author", `{"limit":1,"offset":1}`, `{"model":"author","term":"","count":1,"results":[{"id":2,"text":"Le Guin"}]}`},
		{"autocomplete_tag", `{"term":"1,sand"}`, `{"model":"tag","term":"1,sand","count":1,"results":[{"id":"1,sand","text":"sand"}]}`},
		{"autocomplete_review", `{"term":"1"}`, `{"model":"review","term":"1","count":1,"results":[{"id":1,"text":"1 (Dune)"}]}`},
		{"autocomplete_loan", `{"term":"x"}`, `{"model":"loan","term":"x","count":0,"results":[]}`},
	} {
		if r := l.call(ownerText, c.tool, c.arguments); string(r.Text) != c.want {
			t.Errorf("%s %s: %s\nwant %s", c.tool, c.arguments, r.Text, c.want)
		}
	}
}

var maskBodies = on("review", func(m *contract.Model) { m.Masked = []contract.MaskedField{{Name: "body"}} })

func TestWrongArgumentsOfReads(t *testing.T) {
	l := newLibrary(t)
	for _, c := range []struct {
		tool, arguments string
		code            call.Code
		says            string
	}{
		{"list_author", `{"total":"some"}`, call.CodeInvalidArgument, `total must be "exact" or "none"`},
		{"list_author", `{"limit":-1}`, call.CodeInvalidArgument, "limit must be an integer of at least 0"},
		{"list_author", `{"cursor":7}`, call.CodeInvalidArgument, "cursor must be a string"},
		{"list_author", `{"cursor":""}`, call.CodeInvalidArgument, "cursor must not be empty: leave it out"},
		{"get_author", `{"id":1,"include_everything":true}`, call.CodeInvalidArgument, `unknown argument "include_everything"; the arguments are id, fields, include_related`},
		{"describe_author", `{"colour":"red"}`, call.CodeInvalidArgument, `unknown argument "colour"; describe_author takes no arguments`},
		{"find_models", `{"colour":"red"}`, call.CodeInvalidArgument, `unknown argument "colour"; the arguments are query, detail, offset`},
		{"list_author", `{"cursor":"x","offset":3}`, call.CodeInvalidArgument, "cursor and offset do not go together"},
		{"get_author", `{"id":1,"include_related":"yes"}`, call.CodeInvalidArgument, "include_related must be true or false"},
		{"get_author", `{"id":9,"include_related":true}`, call.CodeNotFound, "author not found"},
		{"related_book", `{"relation":"author"}`, call.CodeInvalidArgument, "id parameter is required"},
		{"related_book", `{"id":1}`, call.CodeInvalidArgument, "relation parameter is required; its relations are author, chapter_by_book, "},
		{"related_book", `{"id":1,"relation":"chapters"}`, call.CodeInvalidArgument, `book has no relation "chapters"; its relations are author, chapter_by_book, `},
		{"related_book", `{"id":9,"relation":"author"}`, call.CodeNotFound, "book not found"},
		{"related_book", `{"id":1,"relation":"author","limit":"all"}`, call.CodeInvalidArgument, "limit must be an integer"},
		{"history_book", `{"id":9}`, call.CodeNotFound, "book not found"},
		{"history_book", `{}`, call.CodeInvalidArgument, "id parameter is required"},
		{"autocomplete_author", `{"term":["x"]}`, call.CodeInvalidArgument, "term must be a string"},
		{"autocomplete_author", `{"term":"a b c d e f g h i j k"}`, call.CodeInvalidArgument, "term: at most 10 words, not 11"},
		{"autocomplete_author", `{"term":"a\u0000"}`, call.CodeInvalidArgument, "term must not contain U+0000"},
	} {
		if r := l.call(ownerText, c.tool, c.arguments); r.Code != c.code || !strings.Contains(r.Message, c.says) {
			t.Errorf("%s %s: %s, want %s %s", c.tool, c.arguments, r.Text, c.code, c.says)
		}
	}
}

// A relation leads nowhere for a token that may not view what is there: it looks like one that does not exist.
func TestRelationsToWhatTheTokenMayNotView(t *testing.T) {
	l := newLibrary(t)
	unknown := l.call(bookishText, "related_book", `{"id":1,"relation":"colour"}`).Message
	hidden := l.call(bookishText, "related_book", `{"id":1,"relation":"author"}`).Message
	if strings.ReplaceAll(unknown, "colour", "author") != hidden || !strings.Contains(hidden, "its relations are chapter_by_book") {
		t.Errorf("an unknown relation: %s\na hidden one: %s", unknown, hidden)
	}
	row := l.must(bookishText, "get_book", `{"id":1,"include_related":true,"include_inlines":true}`)
	if related := row["_related"].(map[string]any); len(related) != 1 || len(related["chapter_by_book"].([]any)) != 2 {
		t.Errorf("_related is %v", related)
	}
	if inlines := row["_inlines"].(map[string]any); len(inlines) != 1 || len(inlines["chapter"].([]any)) != 2 {
		t.Errorf("_inlines is %v", inlines)
	}
}

func TestIncludesShowNoMoreThanTheyMay(t *testing.T) {
	l := newLibrary(t)
	for i := range 12 {
		if _, err := l.plain.Exec("INSERT INTO chapter (book_id, number, title) VALUES (1, ?, 'more')", 10+i); err != nil {
			t.Fatal(err)
		}
	}
	row := l.must(ownerText, "get_book", `{"id":1,"include_related":true,"include_inlines":true}`)
	if n := len(row["_inlines"].(map[string]any)["chapter"].([]any)); n != 3 {
		t.Errorf("%d chapters as inlines, want the 3 that the exposure allows", n)
	}
	if n := len(row["_related"].(map[string]any)["chapter_by_book"].([]any)); n != 10 {
		t.Errorf("%d related chapters, want 10", n)
	}
	if notice := fmt.Sprint(row["_notice"]); !strings.Contains(notice, "chapter") || !strings.Contains(notice, "related_book") {
		t.Errorf("_notice is %s", notice)
	}
	if row := l.must(ownerText, "get_book", `{"id":2,"include_related":true}`); row["_notice"] != nil {
		t.Errorf("_notice where all is shown: %s", row["_notice"])
	}
}

// A masked field looks like none where it could be found out by comparing.
func TestMaskedFieldsAreShownMaskedAndComparedNowhere(t *testing.T) {
	l := newLibrary(t, maskNames)
	row := l.must(ownerText, "get_author", `{"id":1}`)
	if row["name"] != "****" { // Herbert has fewer than 2·2+4 characters
		t.Errorf("the name is %v", row["name"])
	}
	related := l.must(ownerText, "related_book", `{"id":1,"relation":"author"}`)["result"].(map[string]any)
	included := l.must(ownerText, "get_book", `{"id":1,"include_related":true}`)["_related"].(map[string]any)["author"].([]any)[0].(map[string]any)
	if related["name"] != "****" || included["name"] != "****" {
		t.Errorf("related rows show %v and %v", related["name"], included["name"])
	}
	for _, arguments := range []string{
		`{"filters":{"name":"Herbert"}}`, `{"filters":{"name__startswith":"H"}}`, `{"filters":{"name__isnull":false}}`, `{"order_by":["name"]}`, `{"order_by":["-name"]}`,
	} {
		if r := l.call(ownerText, "list_author", arguments); !r.IsError || !strings.Contains(r.Message, "name is masked for you, so nothing can filter") {
			t.Errorf("%s: %s", arguments, r.Message)
		}
	}
	if r := l.call(ownerText, "list_book", `{"filters":{"author__name":"Herbert"}}`); r.Code != call.CodeInvalidArgument {
		t.Errorf("through a relation: %s", r.Text)
	}
	if r := l.call(ownerText, "autocomplete_author", `{"term":"Herbert"}`); strings.Contains(string(r.Text), `"count":1`) {
		t.Errorf("autocomplete finds by a masked field: %s", r.Text)
	}
}

// All that get_ brings together counts as one answer.
func TestRelatedRowsOfOneRowAreCutAndSaySo(t *testing.T) {
	l := newLibrary(t)
	whole := l.call(ownerText, "get_book", `{"id":1}`).Text
	l.set.settings.MaxResultBytes = len(whole) + 1
	row := l.must(ownerText, "get_book", `{"id":1,"include_related":true,"include_inlines":true}`)
	if parts := fmt.Sprint(row["_inlines"], row["_related"]); strings.Contains(parts, "map[id") {
		t.Errorf("the answer goes on beyond its size: %s", parts)
	}
	if notice := fmt.Sprint(row["_notice"]); !strings.Contains(notice, "chapter_by_book") || !strings.Contains(notice, "related_book") {
		t.Errorf("notice is %s", notice)
	}
	l.set.settings.MaxResultBytes = len(whole) - 1
	for tool, arguments := range map[string]string{
		"get_book": `{"id":1,"include_related":true}`, "related_chapter": `{"id":1,"relation":"book"}`,
	} {
		if r := l.call(ownerText, tool, arguments); r.Code != call.CodeTooLarge || !strings.Contains(r.Message, "list_book") {
			t.Errorf("%s of a row that is larger than an answer: %s", tool, r.Text)
		}
	}
}

func TestAnIntegerBeyondAllIDsIsTheIDOfNoRow(t *testing.T) {
	l := newLibrary(t)
	const beyond = `"99999999999999999999"`
	for tool, arguments := range map[string]string{
		"get_book": `{"id":` + beyond + `}`, "get_tag": `{"id":"99999999999999999999,sand"}`, "delete_book": `{"id":` + beyond + `}`,
		"update_book":  `{"id":` + beyond + `,"data":{"title":"x"}}`,
		"action_shelf": `{"action":"delete_selected","ids":[` + beyond + `,"-99999999999999999999"],"confirm":true}`,
	} {
		if r := l.call(ownerText, tool, arguments); r.Code != call.CodeNotFound {
			t.Errorf("%s %s: %s", tool, arguments, r.Text)
		}
	}
	answer := l.must(ownerText, "action_shelf", `{"action":"delete_selected","ids":[`+beyond+`,3],"confirm":true}`)
	if fmt.Sprint(answer["missing_ids"]) != "[99999999999999999999]" || answer["affected_count"] != 1.0 {
		t.Errorf("beside one that is there: %v", answer)
	}
	if r := l.call(ownerText, "action_shelf", `{"action":"delete_selected","ids":[null],"confirm":true}`); r.Code != call.CodeInvalidArgument {
		t.Errorf("null: %s", r.Text)
	}
}

func TestLargeResultsAreCutAndSaySo(t *testing.T) {
	l := shelves(t, 50)
	l.set.settings.MaxResultBytes = 500
	var walked []any
	arguments := `{}`
	for {
		list := l.must(ownerText, "list_shelf", arguments)
		walked = append(walked, ids(list)...)
		if list["next_cursor"] == nil {
			break
		}
		if notice := fmt.Sprint(list["notice"]); !strings.Contains(notice, "cut off after 500 bytes: next_cursor leads to the rest") {
			t.Fatalf("notice is %s", notice)
		}
		arguments = fmt.Sprintf(`{"cursor":%q}`, list["next_cursor"])
	}
	if len(walked) != 53 || !reflect.DeepEqual(walked[51:], []any{52.0, 53.0}) {
		t.Errorf("walked through %v", walked)
	}
	related := l.must(ownerText, "related_shelf", `{"id":1,"relation":"shelf_by_parent","offset":2}`)
	if notice := fmt.Sprint(related["notice"]); !strings.Contains(notice, fmt.Sprintf("offset %v leads to the rest", related["count"].(float64)+2)) {
		t.Errorf("notice of related rows is %s", notice)
	}
}

func TestLongValuesAreShortenedInLists(t *testing.T) {
	l := newLibrary(t)
	if _, err := l.plain.Exec("UPDATE shelf SET name = ? WHERE id = 2", strings.Repeat("long ", call.MaxListValue)); err != nil {
		t.Fatal(err)
	}
	list := l.must(ownerText, "list_shelf", `{"fields":["name"]}`)
	name := list["results"].([]any)[1].(map[string]any)["name"].(string)
	if len(name) > call.MaxListValue+100 || !strings.Contains(fmt.Sprint(list["notice"]), "get_shelf shows up to") {
		t.Errorf("a name of %d bytes, notice %v", len(name), list["notice"])
	}
	if got, want := fmt.Sprint(l.must(ownerText, "list", `{"model":"shelf","fields":["name"]}`)["notice"]), `get {"model": "shelf"} shows up to`; !strings.Contains(got, want) {
		t.Errorf("the generic list says %q, want %q in it", got, want)
	}
	if whole := l.must(ownerText, "get_shelf", `{"id":2}`)["name"].(string); len(whole) != 5*call.MaxListValue {
		t.Errorf("get_ shows %d bytes", len(whole))
	}
}

// The row policy stands in every read: the clerk of the south sees the author of the south, and nothing of the other one.
func TestReadsUnderARowPolicy(t *testing.T) {
	l := newLibrary(t, on("author", func(m *contract.Model) {
		m.RowPolicies = []contract.RowPolicy{{Name: "branch", Everyone: true, Filters: []contract.Filter{{Field: "branch", TokenAttribute: "branch"}}}}
	}))
	const south = `{"id":2,"name":"Le Guin","branch":"south"}`
	for _, c := range []struct{ tool, arguments, want string }{
		{"list_author", `{}`, `{"count":1,"total_count":1,"rows":"policy","results":[` + south + `]}`},
		{"list_author", `{"limit":0}`, `{"count":0,"total_count":1,"rows":"policy","results":[]}`},
		{"list_author", `{"format":"columns"}`, `{"count":1,"total_count":1,"limited":"policy","columns":["id","name","branch"],"rows":[[2,"Le Guin","south"]]}`},
		{"related_book", `{"id":2,"relation":"author","format":"columns"}`, `{"relation":"author","type":"single","result":` + south + `}`},
		{"get_author", `{"id":1}`, `{"error":"author not found","code":"not_found"}`},
		{"related_author", `{"id":1,"relation":"book_by_author"}`, `{"error":"author not found","code":"not_found"}`},
		{"history_author", `{"id":1}`, `{"error":"author not found","code":"not_found"}`},
		{"related_book", `{"id":1,"relation":"author"}`, `{"relation":"author","type":"single","result":null}`},
		{"related_book", `{"id":2,"relation":"author"}`, `{"relation":"author","type":"single","result":` + south + `}`},
		{"autocomplete_author", `{}`, `{"model":"author","term":"","count":1,"results":[{"id":2,"text":"Le Guin"}]}`},
		{"autocomplete_author", `{"term":"1"}`, `{"model":"author","term":"1","count":0,"results":[]}`},
		{"list_book", `{"fields":["title"],"filters":{"author__name":"Herbert"}}`, `{"count":0,"total_count":0,"rows":"policy","results":[]}`},
		{"list_book", `{"fields":["title"],"filters":{"author__id__ne":9}}`, `{"count":2,"total_count":2,"rows":"policy","results":[{"id":1,"title":"Dune"},{"id":2,"title":"Emma"}]}`},
		{"list_book", `{"fields":["title","author__name"],"order_by":["author__name","-title"]}`, `{"count":2,"total_count":2,"rows":"policy","results":[{"id":1,"title":"Dune","author__name":null},{"id":2,"title":"Emma","author__name":"Le Guin"}]}`},
		{"list_book", `{"fields":["title"],"filters":{"author__name__isnull":true}}`, `{"count":1,"total_count":1,"rows":"policy","results":[{"id":1,"title":"Dune"}]}`},
	} {
		if r := l.call(clerkText, c.tool, c.arguments); string(r.Text) != c.want {
			t.Errorf("%s %s: %s\nwant %s", c.tool, c.arguments, r.Text, c.want)
		}
	}
	related := l.must(clerkText, "get_book", `{"id":1,"include_related":true}`)["_related"].(map[string]any)
	if len(related["author"].([]any)) != 0 {
		t.Errorf("_related shows %v", related["author"])
	}
	// A token without the attribute matches nothing.
	if list := l.must(ownerText, "list_author", `{}`); list["total_count"] != 0.0 {
		t.Errorf("the owner, who is of no branch, sees %v", list)
	}
}
