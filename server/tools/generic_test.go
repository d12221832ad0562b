package tools

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// A generic tool is the model's own tool under another name: what one answers, the other does.
func TestAGenericToolIsTheModelsOwn(t *testing.T) {
	l := newLibrary(t)
	for _, c := range []struct{ token, operation, arguments string }{
		{ownerText, "list", `"fields":["title"],"order_by":["title"]`}, {ownerText, "get", `"id":1,"include_related":true`},
		{ownerText, "describe", ``}, {ownerText, "actions", ``}, {ownerText, "related", `"id":1,"relation":"author"`},
		{ownerText, "autocomplete", `"term":"Du"`}, {ownerText, "history", `"id":1`},
		{ownerText, "create", `"data":{"title":"Emil","author_id":1},"dry_run":true`}, {ownerText, "update", `"id":1,"data":{"title":"Dune II"},"dry_run":true`},
		{ownerText, "delete", `"id":2,"dry_run":true`}, {ownerText, "get", `"id":999`}, {ownerText, "create", `"data":{}`},
		{ownerText, "bulk", `"operation":"update","items":[]`}, {ownerText, "action", `"action":"none","ids":[1]`},
		{readerText, "create", `"data":{}`}, {readerText, "list", ``}, {bookishText, "related", `"id":1,"relation":"author"`},
	} {
		own := l.call(c.token, c.operation+"_book", "{"+c.arguments+"}")
		generic := l.call(c.token, c.operation, "{"+strings.TrimSuffix(`"model":"book",`+c.arguments, ",")+"}")
		if string(own.Text) != string(generic.Text) || own.IsError != generic.IsError {
			t.Errorf("%s %s:\n%s\n%s", c.operation, c.arguments, own.Text, generic.Text)
		}
	}
}

// The checks come in their order: the model is known, the token may, the arguments fit.
func TestTheChecksOfAGenericTool(t *testing.T) {
	l := newLibrary(t)
	for _, c := range []struct {
		token, tool, arguments string
		code                   call.Code
		message                string
	}{
		{ownerText, "list", `[]`, call.CodeInvalidArgument, "arguments must be a JSON object"},
		{ownerText, "list", `{"nope":1}`, call.CodeInvalidArgument, "model parameter is required"},
		{ownerText, "list", `{"model":null}`, call.CodeInvalidArgument, "model parameter is required"},
		{ownerText, "list", `{"model":7}`, call.CodeInvalidArgument, "model must be a model's name, not 7"},
		{ownerText, "list", `{"model":"","nope":1}`, call.CodeNotFound, "Model '' not found"},
		{ownerText, "list", `{"model":"bok","nope":1}`, call.CodeNotFound, "Model 'bok' not found; the nearest is book, and find_models"},
		{bookishText, "list", `{"model":"autor","nope":1}`, call.CodeNotFound, "Model 'autor' not found; find_models"},
		{bookishText, "list", `{"model":"author","nope":1}`, call.CodePermissionDenied, "Permission denied: cannot view author"},
		{ownerText, "describe", `{"model":"book","nope":1}`, call.CodeInvalidArgument, `unknown argument "nope"; the arguments are model`},
		{ownerText, "list_book", `{"model":"book"}`, call.CodeInvalidArgument, `unknown argument "model"; the arguments are limit,`},
		{ownerText, "get", `{"model":"note","id":1}`, call.CodePermissionDenied, "get is not offered for note; its tools are list, "},
	} {
		r := l.call(c.token, c.tool, c.arguments)
		if r.Code != c.code || !strings.HasPrefix(r.Message, c.message) || r.UnknownTool {
			t.Errorf("%s %s: %s %s", c.tool, c.arguments, r.Code, r.Message)
		}
	}
}

// The generic tools name no model, are closed, take the model first, and are those that the token may use somewhere.
func TestTheGenericList(t *testing.T) {
	l := newLibrary(t)
	list := func(token string) string {
		return string(l.set.Tools(l.tokens.Authenticate("Bearer "+token, time.Now()), View{Style: contract.StyleGeneric}, false).Plain)
	}
	names := func(token string) []string {
		var tools []listedTool
		if err := json.Unmarshal([]byte(list(token)), &tools); err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, tool := range tools {
			all = append(all, tool.Name)
		}
		return all
	}
	text := list(ownerText)
	if len(text) > 12_000 {
		t.Errorf("the list has %d bytes", len(text))
	}
	for _, m := range l.set.catalog.Models() {
		if strings.Contains(text, `"`+m.Name+`"`) || strings.Contains(text, "_"+m.Name) {
			t.Errorf("the list names %s", m.Name)
		}
	}
	var want []string
	globals := 0
	for _, op := range call.Globals {
		if op.Name != "approvals" { // no call of the library needs one
			want = append(want, op.Name)
			globals++
		}
	}
	for _, op := range genericOperations() {
		if op.Name != "report" { // no model of the library has one
			want = append(want, op.Name)
		}
	}
	if got := names(ownerText); !slices.Equal(got, want) {
		t.Errorf("the owner has %v", got)
	}
	if n := strings.Count(text, `"properties":{"model":{"type":"string"}`); n != len(want)-globals {
		t.Errorf("%d tools take the model first, want %d", n, len(want)-globals)
	}
	if n := strings.Count(text, `,"additionalProperties":false},"annotations":{`); n != len(want) {
		t.Errorf("%d tools are closed, want %d", n, len(want))
	}
	for _, name := range names(readerText) {
		if op, _ := call.ParseName(name); op != nil && op.Writes() {
			t.Errorf("a reader has %s", name)
		}
	}
}

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"": "", " * ": "", "Customer_Orders": "customer order", "orderLine2": "order line2", "Käufer kaeufer KAUFER": "kaufer",
		"Straße": "strasse", "categories": "category", "address addresses": "address addresse", "ÅNGSTRÖM": "angstrom", "is us gas": "is us gas",
		"Łódź": "lodz", "東京 tokyo": "東京 tokyo",
	} {
		if got := strings.Join(catalog.WordsOf(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// find_models puts the best match first, and looks at nothing that the token may not see.
func TestFindModelsRanks(t *testing.T) {
	l := newLibrary(t, on("author", func(m *contract.Model) { m.Description = "Who writes. Käufer are elsewhere." }))
	for _, c := range []struct{ token, query, want string }{
		{ownerText, "books", "book chapter loan review tag"},
		{ownerText, "BOOK title", "book chapter loan review tag"},
		{ownerText, "kaeufer", "author"},
		{ownerText, "internal api_key secret", ""},
		{ownerText, "isbn", "book"},
		{ownerText, "chapter book", "chapter book loan review tag"},
		{bookishText, "author", "book"},
		{ownerText, "zzz", ""},
	} {
		payload := l.must(c.token, "find_models", string(call.AppendJSON([]byte(`{"query":`), c.query))+"}")
		var names []string
		for _, m := range payload["models"].([]any) {
			names = append(names, m.(map[string]any)["model_name"].(string))
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%q: %s, want %s", c.query, got, c.want)
		}
	}
	found := l.must(bookishText, "find_models", `{"query":"book","detail":"fields"}`)["models"].([]any)[0].(map[string]any)
	if got, _ := json.Marshal([]any{found["fields"].([]any)[:2], found["relations"]}); string(got) != `[["id integer","title text"],["chapter_by_book chapter"]]` {
		t.Errorf("the details are %s", got)
	}
}

// An answer of find_models has at most fifty models, and says how many there are beside them.
func TestFindModelsStopsAtFifty(t *testing.T) {
	set, token := manyModels(t, 70)
	r := set.Call(t.Context(), token, call.FindModels, nil)
	var list modelList
	if err := json.Unmarshal(r.Text, &list); err != nil || list.Count != 50 || list.More != 20 || len(list.Models) != 50 || list.Models[0].ModelName != "t0" {
		t.Errorf("%v %.200s", err, r.Text)
	}
}

func TestDescribeSaysWhatCreateAndUpdateTake(t *testing.T) {
	l := newLibrary(t)
	for token, want := range map[string]string{
		ownerText:  `{"create":{"optional":["id","isbn","price","printed","sold","state"],"required":["title","author_id"]},"update":["author_id","isbn","price","printed","sold","state","title"]}`,
		readerText: `null`,
	} {
		d := l.must(token, "describe_book", `{}`)
		if got, _ := json.Marshal(d["data"]); string(got) != want {
			t.Errorf("the data is %s", got)
		}
		if got, _ := json.Marshal(d["limits"]); string(got) != `{"bulk_items":5,"limit":100,"max_limit":1000}` || d["version_field"] != "version" {
			t.Errorf("the limits are %s, the version is %v", got, d["version_field"])
		}
	}
}
