package engines

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// readLines has audit lines about calls that read, and turns them off again.
func readLines(s *suite, t *testing.T) {
	set := func(level string) { s.endpoint.Apply(func(c *contract.Config) { c.Endpoint.AuditLines.Reads = level }) }
	t.Cleanup(func() { set("") })
	// lines are the lines that a call has.
	lines := func(t *testing.T, call func()) (found []object) {
		t.Helper()
		s.endpoint.Log.Reset()
		call()
		for _, text := range s.endpoint.Log.Lines(`"msg":"audit"`) {
			var line object
			if err := json.Unmarshal([]byte(text), &line); err != nil {
				t.Fatal(err)
			}
			found = append(found, line)
		}
		return found
	}
	one := func(t *testing.T, call func()) object {
		t.Helper()
		found := lines(t, call)
		if len(found) != 1 {
			t.Fatalf("got %d lines, want 1: %v", len(found), found)
		}
		return found[0]
	}
	rows := func(t *testing.T, line object, want int) {
		t.Helper()
		if got := fmt.Sprint(line["rows"]); got != fmt.Sprint(want) {
			t.Errorf("the line tells of %s rows, want %d: %v", got, want, line)
		}
	}
	set(contract.AuditSummary)
	s.check(t, "who asked what, and how much they saw", func(t *testing.T) {
		line := one(t, func() {
			s.ok(t, "viewer", "list_book", `{"fields":["title"],"filters":{"author__name__icontains":"le"},"limit":2}`)
		})
		want(t, line, `"test/viewer"`, "token")
		want(t, line, `"list_book"`, "tool")
		want(t, line, `"list"`, "operation")
		want(t, line, `["id","title"]`, "fields")
		want(t, line, `"ok"`, "outcome")
		rows(t, line, 2)
		want(t, line, `"127.0.0.1"`, "address")
		want(t, line, `"{\"fields\":[\"title\"],\"filters\":{\"author__name__icontains\":\"?\"},\"limit\":2}"`, "asked")
		if line["ids"] != nil {
			t.Errorf("a summary has the ids %v", line["ids"])
		}
	})
	s.check(t, "the client and the trace, as the request tells them", func(t *testing.T) {
		line := one(t, func() {
			status, answer := s.endpoint.Post(secret("viewer"), `{"jsonrpc":"2.0","id":"q-1","method":"tools/call","params":{"name":"get_book","arguments":{"id":1},
				"_meta":{"io.modelcontextprotocol/clientInfo":{"name":"ledger","version":"3.1"},"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}}`)
			if status != 200 || !strings.Contains(answer, "title") {
				t.Fatalf("%d %s", status, answer)
			}
		})
		want(t, line, `"ledger 3.1"`, "client")
		want(t, line, `"q-1"`, "request")
		want(t, line, `"0af7651916cd43dd8448eb211c80319c"`, "trace")
		rows(t, line, 1)
	})
	s.check(t, "a read that fails", func(t *testing.T) {
		line := one(t, func() { s.fails(t, "viewer", "get_book", `{"id":987654}`, "not_found") })
		want(t, line, `"not_found"`, "outcome")
		rows(t, line, 0)
	})
	s.check(t, "every tool that reads", func(t *testing.T) {
		for tool, arguments := range map[string]string{
			"aggregate_book": `{"measures":{"n":{"count":"*"}}}`, "related_author": `{"id":1,"relation":"book_by_author"}`, "describe_book": `{}`, "find_models": `{}`,
			"autocomplete_book": `{"term":"so"}`, "history_book": `{"id":1}`, "list": `{"model":"book","limit":1}`,
		} {
			line := one(t, func() { s.ok(t, "root", tool, arguments) })
			want(t, line, fmt.Sprintf("%q", tool), "tool")
		}
	})
	s.check(t, "steps of transact", func(t *testing.T) {
		found := lines(t, func() {
			s.ok(t, "root", "transact", `{"steps":[{"tool":"get_book","arguments":{"id":1}},{"tool":"update_book","arguments":{"id":1,"data":{"pages":7}}}]}`)
		})
		var tools []string
		calls := map[any]bool{}
		for _, line := range found {
			if took, told := line["seconds"].(float64); told && took > 3600 {
				t.Errorf("a step took %v seconds: %v", took, line)
			}
			tools = append(tools, line["tool"].(string))
			calls[line["call"]] = true
		}
		if strings.Join(tools, " ") != "get_book update_book transact" || len(calls) != 1 {
			t.Errorf("got %v, of calls %v", tools, calls)
		}
	})
	s.check(t, "no value", func(t *testing.T) {
		s.endpoint.Log.Reset()
		s.ok(t, "viewer", "list_book", `{"filters":{"_any":[{"title":"a-secret-word"},{"author__name__in":["a-secret-word"]}]},"search":"a-secret-word"}`)
		s.ok(t, "viewer", "aggregate_book", `{"measures":{"n":{"count":"*","filters":{"title":"a-secret-word"}}}}`)
		if found := s.endpoint.Log.Lines("a-secret-word"); len(found) > 0 {
			t.Errorf("got %v", found)
		}
	})
	set(contract.AuditRows)
	s.check(t, "the rows that were shown", func(t *testing.T) {
		line := one(t, func() { s.ok(t, "viewer", "list_book", `{"order_by":["id"],"limit":2,"format":"columns"}`) })
		want(t, line, `["1","2"]`, "ids")
		want(t, one(t, func() { s.ok(t, "viewer", "get_book", `{"id":2}`) }), `["2"]`, "ids")
	})
	s.check(t, "rows of another model than the call's", func(t *testing.T) {
		line := one(t, func() {
			s.ok(t, "root", "related_author", `{"id":1,"relation":"book_by_author","order_by":["id"],"limit":1}`)
		})
		want(t, line, `"author"`, "model")
		want(t, line, `"book"`, "rows_of")
		if line := one(t, func() { s.ok(t, "root", "list_book", `{"limit":1}`) }); line["rows_of"] != nil {
			t.Errorf("got rows_of in %v", line)
		}
	})
	s.check(t, "the row whose past was shown", func(t *testing.T) {
		want(t, one(t, func() { s.ok(t, "root", "history_book", `{"id":1}`) }), `["1"]`, "ids")
	})
	s.check(t, "the row that is about to be changed", func(t *testing.T) {
		must := func(required bool) {
			s.endpoint.Apply(func(c *contract.Config) { c.Endpoint.AuditLines.Required = required })
		}
		must(true)
		defer must(false)
		found := lines(t, func() { s.ok(t, "root", "update_book", `{"id":1,"data":{"pages":7},"dry_run":true}`) })
		if len(found) != 2 {
			t.Fatalf("got %v", found)
		}
		want(t, found[0], `"intent"`, "outcome")
		want(t, found[0], `["1"]`, "ids")
		want(t, found[1], `["1"]`, "ids")
	})
	set("")
	s.check(t, "nothing if nobody asked for it", func(t *testing.T) {
		if found := lines(t, func() { s.ok(t, "viewer", "get_book", `{"id":2}`) }); len(found) > 0 {
			t.Errorf("got %v", found)
		}
	})
}
