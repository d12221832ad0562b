package engines

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// hostile are texts that would do harm, or break a statement, wherever they reached SQL but as a bound value.
var hostile = []string{
	`'; DROP TABLE vote; --`, `" OR "1"="1`, "` OR 1=1 -- ", `1 OR 1=1`, `1; DELETE FROM book`, `') OR ('1'='1`, `\'; DELETE FROM vote; --`, `\`, `\\'`, `'`, `"`, "`", `''`,
	`/* */`, `--`, `#`, `;`, `$1`, `:ids`, `:prefix`, `?`, `??`, `@@version`, `%s%n`, `{{ .count }}`, `${jndi:ldap://x}`, `pg_sleep(5)`, `'||pg_sleep(5)||'`, `' AND SLEEP(5) AND '1'='1`,
	`x' UNION SELECT name FROM author--`, `title) FROM book; DELETE FROM vote; --`, `book"."title`, `id" DESC; DELETE FROM vote; --`, `1e309`, `0x41`, `NULL`, `null`, `true`,
	"line\nbreak", "tab\there", "\u202e gnp", "\ufeffbom", "😀", strings.Repeat("'", 500), `<script>alert(1)</script>`, `../../etc/passwd`, `%27%20OR%201=1`, `title__contains`, `__`, `-`, `--title`,
}

// injection sends every hostile text through every string that a caller controls. Whatever the answer, it is a tool's
// answer and no fault of the server's, nothing is done that was not asked for, and what is stored is the text itself.
func injection(s *suite, t *testing.T) {
	state := func(t *testing.T) string {
		return s.sql(t, "select count(*) from vote") + " " + s.sql(t, "select count(*) from author") + " " + s.sql(t, "select count(*) from country") + " " +
			s.sql(t, "select count(*) from review") + " " + s.sql(t, "select title from book where id <= 5 order by id")
	}
	before := state(t)
	places := map[string][2]string{
		"search": {"list_book", `{"search":%s}`}, "filter value": {"list_book", `{"filters":{"title":%s}}`}, "contains": {"list_book", `{"filters":{"title__contains":%s}}`},
		"icontains": {"list_book", `{"filters":{"title__icontains":%s}}`}, "startswith": {"list_book", `{"filters":{"notes__startswith":%s}}`}, "iendswith": {"list_book", `{"filters":{"notes__iendswith":%s}}`},
		"in": {"list_book", `{"filters":{"title__in":[%s]}}`}, "related filter": {"list_book", `{"filters":{"author__name__contains":%s}}`}, "integer filter": {"list_book", `{"filters":{"pages":%s}}`},
		"date filter": {"list_book", `{"filters":{"published__date":%s}}`}, "filter key": {"list_book", `{"filters":{%s:1}}`}, "order": {"list_book", `{"order_by":[%s]}`},
		"fields": {"list_book", `{"fields":[%s]}`}, "cursor": {"list_book", `{"cursor":%s}`}, "total": {"list_book", `{"total":%s}`}, "limit": {"list_book", `{"limit":%s}`}, "argument": {"list_book", `{%s:1}`},
		"id": {"get_book", `{"id":%s}`}, "text id": {"get_country", `{"id":%s}`}, "composite id": {"get_edition", `{"id":%s}`}, "query": {"find_models", `{"query":%s}`},
		"term": {"autocomplete_book", `{"term":%s}`}, "relation": {"related_book", `{"id":1,"relation":%s}`}, "data key": {"create_review", `{"data":{%s:1}}`},
		"expected_version": {"update_book", `{"id":1,"data":{"notes":"n"},"expected_version":%s}`}, "operation": {"bulk_review", `{"operation":%s,"items":[1]}`},
		"bulk id": {"bulk_country", `{"operation":"delete","items":[%s]}`}, "action": {"action_book", `{"action":%s,"ids":[1]}`}, "action id": {"action_book", `{"action":"retire","ids":[%s],"confirm":true}`},
		"confirmation_token": {"action_book", `{"action":"retire","ids":[99],"confirm":true,"confirmation_token":%s}`}, "inline": {"update_book", `{"id":1,"inlines":{%s:[]}}`},
	}
	for name, place := range places {
		s.check(t, name, func(t *testing.T) {
			for _, text := range hostile {
				quoted, _ := json.Marshal(text)
				payload, isError := s.call(t, "root", place[0], fmt.Sprintf(place[1], quoted))
				switch code := payload["code"]; {
				case code == "internal" || code == "timeout" || code == "unavailable":
					t.Errorf("%s with %q: %v", place[0], text, payload)
				case isError && code == nil && payload["error_count"] == nil:
					t.Errorf("%s with %q: an error without a code: %v", place[0], text, payload)
				}
				if strings.Contains(strings.ToLower(fmt.Sprint(payload["error"])), "syntax") {
					t.Errorf("%s with %q: %v", place[0], text, payload)
				}
			}
			if after := state(t); after != before {
				t.Fatalf("%s became %s", before, after)
			}
		})
	}
	s.check(t, "what is stored is the text itself", func(t *testing.T) {
		for _, text := range hostile {
			quoted, _ := json.Marshal(text)
			changed := s.ok(t, "root", "update_sample", fmt.Sprintf(`{"id":1,"data":{"words":%s}}`, quoted))
			want(t, changed, string(quoted), "object", "words")
			if got := column(t, s.ok(t, "root", "list_sample", fmt.Sprintf(`{"filters":{"words__contains":%s}}`, quoted)), "id"); !strings.Contains(got, "1") {
				t.Errorf("%q is not found: %s", text, got)
			}
		}
	})
	s.check(t, "a model's name in a tool", func(t *testing.T) {
		for _, text := range hostile {
			quoted, _ := json.Marshal("list_" + text)
			status, body := s.endpoint.Post(secret("root"), `{"method":"tools/call","name":`+string(quoted)+`,"arguments":{}}`)
			if status != 200 || !strings.Contains(body, "not_found") {
				t.Errorf("%q: %d %s", text, status, body)
			}
		}
	})
}
