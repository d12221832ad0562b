package engines

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// listed are the names of the tools of a list.
func (s *suite) listed(t *testing.T, token, query string) []string {
	t.Helper()
	_, body := s.endpoint.PostTo(query, secret(token), `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	var list struct {
		Result struct{ Tools []struct{ Name string } }
	}
	if err := json.Unmarshal([]byte(body), &list); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Result.Tools {
		names = append(names, tool.Name)
	}
	return names
}

// operations are named by find_models on each model, with spaces between them.
func (s *suite) operations(t *testing.T, token string) map[string]string {
	t.Helper()
	found, on := s.ok(t, token, "find_models", `{}`), map[string]string{}
	for _, m := range at(t, found, "models").([]any) {
		own := m.(object)["operations"]
		if own == nil {
			own = found["operations"]
		}
		on[m.(object)["model_name"].(string)] = strings.Trim(fmt.Sprint(own), "[]")
	}
	return on
}

// generic is the generic tools: they do what the models' own do, and the audit has them by their names.
func generic(s *suite, t *testing.T) {
	s.check(t, "each tool answers as the model's own", func(t *testing.T) {
		for operation, arguments := range map[string]string{
			"list": `"limit":1000,"fields":["title"],"order_by":["title"],"total":"none","offset":1`, "get": `"id":1,"include_related":true`, "describe": ``, "actions": ``,
			"related": `"id":1,"relation":"author"`, "autocomplete": `"term":"e"`, "history": `"id":1`, "update": `"id":1,"data":{"pages":5},"dry_run":true`,
			"delete": `"id":1,"dry_run":true`, "action": `"action":"delete_selected","ids":[99999]`, "create": `"data":{"pages":1}`,
		} {
			own, ownFails := s.call(t, "root", operation+"_book", "{"+arguments+"}")
			answer, fails := s.call(t, "root", operation, "{"+strings.TrimSuffix(`"model":"book",`+arguments, ",")+"}")
			if fmt.Sprint(own, ownFails) != fmt.Sprint(answer, fails) {
				t.Errorf("%s:\n%v\n%v", operation, own, answer)
			}
		}
	})
	s.check(t, "rows are written, and told of by the tool that was called", func(t *testing.T) {
		created := s.ok(t, "root", "create", `{"model":"category","data":{"name":"by a generic tool"}}`)
		id := fmt.Sprint(at(t, created, "id"))
		want(t, s.ok(t, "root", "update", `{"model":"category","id":`+id+`,"data":{"name":"and changed"}}`), `"and changed"`, "object", "name")
		want(t, s.ok(t, "root", "bulk", `{"model":"category","operation":"delete","items":[`+id+`]}`), `1`, "success_count")
		s.fails(t, "root", "get", `{"model":"category","id":`+id+`}`, "not_found")
		lines := s.endpoint.Log.Lines(`"tool":"create"`)
		if len(lines) == 0 || !strings.Contains(lines[len(lines)-1], `"model":"category"`) {
			t.Errorf("the audit has %q", lines)
		}
	})
	s.check(t, "no rule, no right", func(t *testing.T) {
		s.fails(t, "nobody", "list", `{"model":"book"}`, "permission_denied")
		s.fails(t, "viewer", "delete", `{"model":"book","id":1}`, "permission_denied")
		s.fails(t, "bookish", "get", `{"model":"author","id":1}`, "permission_denied")
		s.fails(t, "root", "list", `{"model":"nothing"}`, "not_found")
		s.fails(t, "root", "list", `{}`, "invalid_argument")
	})
	s.check(t, "the list has what the token may use on one model at least", func(t *testing.T) {
		for token, wanted := range map[string]string{
			"nobody": "find_models", "adder": "find_models transact create bulk", "deleter": "find_models transact delete bulk",
			"viewer": "find_models describe list get actions related history autocomplete",
		} {
			names := slices.DeleteFunc(s.listed(t, token, "?tools=generic"), func(name string) bool { return name == "aggregate" })
			if got := strings.Join(names, " "); got != wanted {
				t.Errorf("%s: %s, want %s", token, got, wanted)
			}
		}
	})
	s.check(t, "find_models says once which operations most models have", func(t *testing.T) {
		for _, token := range []string{"root", "viewer", "bookish"} {
			listed := map[string]string{}
			for _, tool := range s.listed(t, token, "?tools=per-model") {
				operation, model, _ := strings.Cut(tool, "_")
				listed[model] += " " + operation
			}
			for model, operations := range s.operations(t, token) {
				if listed[model] != "" && listed[model] != " "+operations {
					t.Errorf("%s: %s has the operations %s, and the tools%s", token, model, operations, listed[model])
				}
			}
		}
		same, whole := 0, s.ok(t, "root", "find_models", `{"detail":"fields"}`)
		for _, m := range at(t, whole, "models").([]any) {
			if m.(object)["operations"] == nil {
				same++
			} else if fmt.Sprint(m.(object)["operations"]) == fmt.Sprint(whole["operations"]) {
				t.Errorf("%v repeats the operations of most", m)
			}
			for name, value := range m.(object) {
				if value == "" || value == strings.ReplaceAll(fmt.Sprint(m.(object)["model_name"]), "_", " ") && name == "verbose_name" {
					t.Errorf("%s says nothing in %v", name, m)
				}
			}
		}
		if same < 2 {
			t.Errorf("%d models have the operations of most", same)
		}
	})
	s.check(t, "find_models ranks", func(t *testing.T) {
		want(t, s.ok(t, "root", "find_models", `{"query":"BOOKS by author"}`), `"book"`, "models", 0, "model_name")
		want(t, s.ok(t, "root", "find_models", `{"query":"card number"}`), `"book"`, "models", 0, "model_name")
	})
}
