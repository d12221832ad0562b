package engines

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// generic is the generic tools: they do what the models' own do, and the audit tells of them by their names.
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
			_, body := s.endpoint.PostTo("?tools=generic", secret(token), `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
			var listed struct {
				Result struct{ Tools []struct{ Name string } }
			}
			if err := json.Unmarshal([]byte(body), &listed); err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, tool := range listed.Result.Tools {
				if tool.Name != "aggregate" {
					names = append(names, tool.Name)
				}
			}
			if got := strings.Join(names, " "); got != wanted {
				t.Errorf("%s: %s, want %s", token, got, wanted)
			}
		}
	})
	s.check(t, "find_models ranks", func(t *testing.T) {
		want(t, s.ok(t, "root", "find_models", `{"query":"BOOKS by author"}`), `"book"`, "models", 0, "model_name")
		want(t, s.ok(t, "root", "find_models", `{"query":"card number"}`), `"book"`, "models", 0, "model_name")
	})
}
