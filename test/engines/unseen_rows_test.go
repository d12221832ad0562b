package engines

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// withoutRows leaves list and get out of what authors and reviews offer.
func withoutRows(c *contract.Config) {
	for i := range c.Models {
		switch m := &c.Models[i]; m.Name {
		case "author":
			m.Operations = []string{"describe", "aggregate", "create", "autocomplete"}
		case "review":
			m.Operations = []string{"create"}
		}
	}
}

// Each way to a related row, by the model author or by one that there is not.
var waysToRows = []struct{ tool, arguments string }{
	{"related_book", `{"id":1,"relation":"%s"}`},
	{"get_book", `{"id":1,"fields":["%s__name"]}`},
	{"list_book", `{"fields":["%s__name"]}`},
	{"list_book", `{"filters":{"%s__name__startswith":"U"}}`},
	{"list_book", `{"filters":{"_not":{"%s__id__gt":1}}}`},
	{"list_book", `{"filters":{"title":{"_field":"%s__name"}}}`},
	{"list_book", `{"order_by":["%s__name"]}`},
	{"list_country", `{"filters":{"%s_by_country__any":{"name":"x"}}}`},
	{"list_country", `{"filters":{"%s_by_country__count__gte":1}}`},
	{"list_country", `{"filters":{"%s_by_country__none":{}}}`},
	{"autocomplete_book", `{"term":"s","filters":{"%s__name":"x"}}`},
	{"aggregate_book", `{"measures":{"n":{"count":"*"}},"group_by":["%s__name"]}`},
	{"aggregate_book", `{"measures":{"n":{"max":"%s__name"}}}`},
	{"aggregate_book", `{"measures":{"n":{"count":"*","filters":{"%s__name":"x"}}}}`},
	{"related_category", `{"id":1,"relation":"category_by_parent","filters":{"%s__name":"x"}}`},
}

func TestRowsThatNoToolOfTheirModelShowsAreShownByNoOther(t *testing.T) {
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			t.Parallel()
			s := start(t, engine, withoutRows)
			for _, way := range waysToRows {
				s.check(t, way.tool+" "+way.arguments, func(t *testing.T) {
					hidden := s.fails(t, "root", way.tool, fmt.Sprintf(way.arguments, "author"), "invalid_argument")
					none := s.fails(t, "root", way.tool, fmt.Sprintf(way.arguments, "arthur"), "invalid_argument")
					if got, want := strings.ReplaceAll(fmt.Sprint(hidden), "author", "arthur"), strings.ReplaceAll(fmt.Sprint(none), "author", "arthur"); got != want {
						t.Errorf("an author is %s\na relation that there is not is %s", got, want)
					}
				})
			}
			s.check(t, "include_related and include_inlines leave them out", func(t *testing.T) {
				if got := fmt.Sprint(s.ok(t, "root", "get_book", `{"id":1,"include_related":true,"include_inlines":true}`)); strings.Contains(got, "Ursula") || strings.Contains(got, "Superb") || !strings.Contains(got, "second") {
					t.Errorf("got %s, want the editions, and no author or review", got)
				}
			})
			s.check(t, "a search does not look in them", func(t *testing.T) {
				want(t, s.ok(t, "root", "list_book", `{"search":"Stanisław"}`), `0`, "total_count")
			})
			s.check(t, "nothing offers what is refused", func(t *testing.T) {
				for tool, names := range map[string][]string{
					"describe_book": {"related_model:author", "related_model:review"}, "describe_country": {"related_model:author"},
					"find_models": {"author author", "author_by_country", "review_by_book"},
				} {
					arguments := `{}`
					if tool == "find_models" {
						arguments = `{"detail":"fields"}`
					}
					for got, i := fmt.Sprint(s.ok(t, "root", tool, arguments)), 0; i < len(names); i++ {
						if strings.Contains(got, names[i]) {
							t.Errorf("%s has %s", tool, names[i])
						}
					}
				}
				for _, tool := range s.listed(t, "root", "") {
					if tool == "related_country" {
						t.Error("related_country is listed, which has no relation")
					}
				}
				s.fails(t, "root", "related_country", `{"id":"PL","relation":"author_by_country"}`, "permission_denied")
			})
			s.check(t, "no prompt describes a model that offers no describe", func(t *testing.T) {
				for model, told := range map[string]bool{"author": true, "review": false} {
					_, body := s.endpoint.PostTo("", secret("root"), fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"understand_model","arguments":{"model_name":%q}}}`, model))
					if strings.Contains(body, `"messages"`) != told || !told && !strings.Contains(body, "-32602") {
						t.Errorf("%s: %s", model, body)
					}
				}
			})
			s.check(t, "what their models offer goes on", func(t *testing.T) {
				want(t, s.ok(t, "root", "aggregate_author", `{"measures":{"n":{"count":"*"}}}`), `4`, "results", 0, "n")
				want(t, s.ok(t, "root", "list_book", `{"filters":{"published__gt":{"_measure":{"model":"author","max":"born"}}}}`), `4`, "total_count")
				want(t, s.ok(t, "root", "autocomplete_author", `{"term":"lem"}`), `2`, "results", 0, "id")
				s.ok(t, "root", "create_book", `{"data":{"title":"New","author_id":2},"inlines":{"review":[{"data":{"reader":"Di","stars":3}}]}}`)
				if got := fmt.Sprint(s.failsOn(t, "root", "create_book", `{"data":{"title":"New","author_id":99}}`, "author_id")); !strings.Contains(got, "no such author; autocomplete") {
					t.Errorf("got %s, want where ids are", got)
				}
			})
		})
	}
}
