package engines

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// MariaDB, and MySQL with most collations, sort texts by their beginnings only. Pages that go on behind a whole text would leave out
// rows whose texts begin alike.
func TestTextsThatBeginAlikeAreOnSomePage(t *testing.T) {
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			t.Parallel()
			text, collated := "text", ""
			if engine.Name == contract.EngineMySQL {
				text, collated = "mediumtext", " collate utf8mb4_general_ci"
			}
			var script strings.Builder
			for table, kind := range map[string]string{"note": text, "folded": text + collated, "page": "varchar(1500)" + collated, "short": "varchar(250)" + collated} {
				fmt.Fprintf(&script, "create table %s (id integer primary key, body %s);\ncreate table %s_bare (body %s, n integer);\n", table, kind, table, kind)
				id := 0
				for _, length := range []int{240, 300, 600, 1100} {
					for _, end := range []string{"z", "a", "m", "a"} {
						if length < 250 || table != "short" {
							id++
							body := strings.Repeat("a", length) + end
							fmt.Fprintf(&script, "insert into %s values (%d, '%s');\ninsert into %s_bare values ('%s', %d);\n", table, id, body, table, body, id)
						}
					}
				}
			}
			database, plain := engine.Open(t, script.String())
			var models []contract.Model
			for _, table := range []string{"note", "folded", "page", "short"} {
				models = append(models, contract.Model{Name: table, Table: table, Expose: true}, contract.Model{Name: table + "_bare", Table: table + "_bare", Expose: true})
			}
			s := &suite{engine, harness.Serve(t, database, models, tokens()), plain}
			for _, table := range []string{"note", "folded", "page", "short"} {
				for _, order := range []string{"body", "-body"} {
					s.check(t, table+" by "+order, func(t *testing.T) {
						whole := strings.Fields(column(t, s.ok(t, "root", "list_"+table, fmt.Sprintf(`{"order_by":[%q],"fields":["id"]}`, order)), "id"))
						var paged []string
						for cursor := ""; len(paged) <= len(whole); {
							page := s.ok(t, "root", "list_"+table, fmt.Sprintf(`{"order_by":[%q],"fields":["id"],"limit":1%s}`, order, cursor))
							paged = append(paged, column(t, page, "id"))
							if page["next_cursor"] == nil {
								break
							}
							cursor = fmt.Sprintf(`,"cursor":%q`, page["next_cursor"])
						}
						if !slices.Equal(whole, paged) {
							t.Errorf("one page has the rows %v, pages of one row have %v", whole, paged)
						}
					})
				}
				s.check(t, "groups of "+table, func(t *testing.T) {
					seen := map[string]bool{}
					all := s.ok(t, "root", "aggregate_"+table, `{"group_by":["body"],"measures":{"n":{"count":"*"}},"total":"exact"}`)
					total := len(at(t, all, "results").([]any))
					for offset := range total {
						page := s.ok(t, "root", "aggregate_"+table, fmt.Sprintf(`{"group_by":["body"],"measures":{"n":{"count":"*"}},"limit":1,"offset":%d}`, offset))
						seen[column(t, page, "body")] = true
					}
					if len(seen) != total {
						t.Errorf("pages of one group have %d groups of %d", len(seen), total)
					}
				})
			}
			s.check(t, "a table without a key says that texts do not tell its rows apart", func(t *testing.T) {
				page := s.ok(t, "root", "list_page_bare", `{"limit":1,"fields":["body"]}`)
				if notice := fmt.Sprint(page["notice"]); engine.Name == contract.EngineMySQL && !strings.Contains(notice, "tells these rows apart") {
					t.Errorf("got %q, want a notice that the rows are alike", notice)
				}
			})
		})
	}
}
