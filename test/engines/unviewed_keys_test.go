package engines

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// withClosedAuthors gives authors a policy that shows two of them, and a token that may write books and view no author.
func withClosedAuthors(c *contract.Config) {
	for i := range c.Models {
		if m := &c.Models[i]; m.Name == "author" {
			m.RowPolicies = []contract.RowPolicy{{Name: "some", Groups: []string{"staff"}, Filters: []contract.Filter{{Field: "id", Lookup: "lte", Value: "2"}}}}
		}
	}
}

// A foreign key to a model that the token may not view: the database says whether there is such a row, which nothing can hide.
// A row that the model's policy hides looks missing, whether or not the token may view the model.
func TestForeignKeysToModelsThatTheTokenMayNotView(t *testing.T) {
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			t.Parallel()
			for _, test := range []struct {
				name      string
				configure []func(*contract.Config)
				refused   []int
				taken     int
			}{
				{"without a policy only a missing row is refused", nil, []int{99}, 3},
				{"with a policy a hidden row looks missing", []func(*contract.Config){withClosedAuthors}, []int{3, 99}, 2},
			} {
				(&suite{Engine: engine}).check(t, test.name, func(t *testing.T) {
					s := start(t, engine, test.configure...)
					told := map[string]bool{}
					for _, id := range test.refused {
						for _, call := range []struct{ tool, arguments string }{
							{"create_book", `{"data":{"title":"x","author_id":%d}}`}, {"update_book", `{"id":2,"data":{"author_id":%d},"dry_run":true}`}, {"update_book", `{"id":2,"data":{"author_id":%d}}`},
							{"update_book", `{"id":2,"data":{"editor_id":%d}}`},
						} {
							refusal := strings.ReplaceAll(fmt.Sprint(s.fails(t, "bookish", call.tool, fmt.Sprintf(call.arguments, id), "validation_error")), "editor", "author")
							told[refusal] = true
							if strings.Contains(refusal, "autocomplete") {
								t.Errorf("got %s, want no way to rows of authors", refusal)
							}
						}
					}
					if len(told) != 1 {
						t.Errorf("the refusals differ: %v", told)
					}
					s.ok(t, "bookish", "create_book", fmt.Sprintf(`{"data":{"title":"x","author_id":%d}}`, test.taken))
					s.ok(t, "bookish", "update_book", fmt.Sprintf(`{"id":2,"data":{"editor_id":%d}}`, test.taken))
				})
			}
		})
	}
}
