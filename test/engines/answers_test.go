package engines

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// answers are the forms and sizes of what is answered.
func answers(s *suite, t *testing.T) {
	s.check(t, "columns hold what objects hold", func(t *testing.T) {
		for _, model := range []string{"author", "book", "edition", "sample", "order_line", "overview", "jotting"} {
			objects := s.ok(t, "viewer", "list_"+model, `{}`)
			columns := s.ok(t, "viewer", "list_"+model, `{"format":"columns"}`)
			var results []any
			for _, row := range at(t, columns, "rows").([]any) {
				members := object{}
				for i, name := range at(t, columns, "columns").([]any) {
					members[name.(string)] = row.([]any)[i]
				}
				results = append(results, members)
			}
			wanted, _ := json.Marshal(objects["results"])
			want(t, object{"results": results, "count": columns["count"]}, fmt.Sprintf(`{"results":%s,"count":%v}`, wanted, objects["count"]))
		}
	})
	s.check(t, "columns go on from page to page", func(t *testing.T) {
		first := s.ok(t, "viewer", "list_book", `{"format":"columns","fields":["title"],"order_by":["-title"],"limit":2}`)
		want(t, first, `["id","title"]`, "columns")
		second := s.ok(t, "viewer", "list_book", fmt.Sprintf(`{"format":"columns","fields":["title"],"order_by":["-title"],"limit":9,"cursor":%q}`, first["next_cursor"]))
		if n := len(at(t, first, "rows").([]any)) + len(at(t, second, "rows").([]any)); n != 5 {
			t.Fatalf("%d books in %v and %v", n, first, second)
		}
		const asked = `"fields":["pages","author__name","id","title","pages"],"format":"columns","limit":1`
		want(t, s.ok(t, "viewer", "list_book", `{`+asked+`}`), `["pages","author__name","id","title"]`, "columns")
		want(t, s.ok(t, "viewer", "list_book", `{`+asked+`}`), `[341,"Ursula K. Le Guin",1,"The Dispossessed"]`, "rows", 0)
		want(t, s.ok(t, "viewer", "related_author", `{"id":1,"relation":"book_by_author",`+asked+`}`), `["pages","author__name","id","title"]`, "columns")
		if text, _ := s.endpoint.Call(secret("viewer"), "get_book", `{"id":1,"fields":["title","pages"]}`); !strings.HasPrefix(text, `{"id":1,"title":"The Dispossessed","pages":341`) {
			t.Errorf("fields are not in the order that was asked for: %s", text)
		}
		want(t, s.ok(t, "viewer", "list_edition", `{"fields":["label","id"],"format":"columns","limit":1}`), `["label","id"]`, "columns")
		related := s.ok(t, "viewer", "related_author", `{"id":1,"relation":"book_by_author","format":"columns","limit":1}`)
		want(t, related, `1`, "count")
		want(t, related, `2`, "total_count")
		want(t, related, `"The Dispossessed"`, "rows", 0, 1)
	})
	s.check(t, "masks and cut values stand in columns", func(t *testing.T) {
		s.ok(t, "root", "update_book", `{"id":2,"data":{"notes":"`+strings.Repeat("x", 20_000)+`"}}`)
		answer := s.ok(t, "viewer", "list_book", `{"format":"columns","fields":["card_number","notes"],"filters":{"id__in":[1,2]},"order_by":["id"]}`)
		want(t, answer, `[1,"****1111","100% fine_print"]`, "rows", 0)
		if cut := at(t, answer, "rows", 1, 2).(string); !strings.HasSuffix(cut, "...[cut: 20,000 bytes in all]") {
			t.Fatalf("the end of a long value: %s", cut[max(0, len(cut)-50):])
		}
	})
	s.check(t, "rows end after 64 KiB, or after max_bytes", func(t *testing.T) {
		for range 5 {
			s.ok(t, "root", "bulk_review", `{"operation":"create","items":[`+strings.TrimSuffix(strings.Repeat(`{"data":{"book_id":1,"reader":"Z","stars":1,"body":"`+strings.Repeat("z", 2000)+`"}},`, 10), ",")+`]}`)
		}
		standard := s.ok(t, "viewer", "list_review", `{"filters":{"reader":"Z"}}`)
		if n := len(at(t, standard, "results").([]any)); n < 30 || n > 33 || standard["next_cursor"] == nil || !strings.HasPrefix(standard["notice"].(string), "the rows were cut off after 65536 bytes: next_cursor leads to the rest") {
			t.Fatalf("%d rows, %v", n, standard["notice"])
		}
		rest := s.ok(t, "viewer", "list_review", fmt.Sprintf(`{"filters":{"reader":"Z"},"cursor":%q}`, standard["next_cursor"]))
		if n := len(at(t, standard, "results").([]any)) + len(at(t, rest, "results").([]any)); n != 50 {
			t.Fatalf("%d rows on both pages", n)
		}
		want(t, s.ok(t, "viewer", "list_review", `{"filters":{"reader":"Z"},"max_bytes":1000000}`), `50`, "count")
		want(t, s.ok(t, "viewer", "related_book", `{"id":1,"relation":"review_by_book","max_bytes":5000,"format":"columns"}`), `5`, "count")
	})
	s.check(t, "a row policy is told of", func(t *testing.T) {
		want(t, s.ok(t, "clerk", "describe_book", `{}`), "\"you see the rows of policy `own-region`\"", "rows")
		want(t, s.ok(t, "stranger", "describe_book", `{}`), `"you see no rows: no row policy is for you"`, "rows")
		want(t, s.ok(t, "viewer", "describe_book", `{}`), `null`, "rows")
		want(t, s.ok(t, "clerk", "list_book", `{"limit":1}`), `"policy"`, "rows")
		want(t, s.ok(t, "clerk", "list_book", `{"limit":1,"format":"columns"}`), `"policy"`, "limited")
		want(t, s.ok(t, "clerk", "related_author", `{"id":1,"relation":"book_by_author"}`), `"policy"`, "rows")
		want(t, s.ok(t, "stranger", "list_book", `{}`), `{"count":0,"total_count":0,"rows":"policy","results":[]}`)
		want(t, s.ok(t, "viewer", "list_book", `{"limit":0}`), `{"count":0,"total_count":5,"results":[]}`)
		want(t, s.ok(t, "clerk", "list_author", `{"limit":0}`), `{"count":0,"total_count":4,"results":[]}`)
	})
}
