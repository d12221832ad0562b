package engines

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// TestSearchOfManyRows searches many rows for what is in all of them, and for what is in a few. It ends by an answer or by the statement
// timeout, which the answer then says.
func TestSearchOfManyRows(t *testing.T) {
	rows := 20_000
	if harness.Whole() {
		rows = 200_000
	}
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			if engine.Remote {
				t.Skip(noTextIndex)
			}
			if engine.Name == contract.EngineDuckDB {
				t.Skip("DuckDB is served without full-text indexes")
			}
			skipOverShards(t, engine, itsPlainSQL)
			var script strings.Builder
			script.WriteString("create table seeds (n int);\n")
			var numbers []string
			for n := range 1000 {
				numbers = append(numbers, fmt.Sprintf("(%d)", n))
			}
			fmt.Fprintf(&script, "insert into seeds values %s;\n", strings.Join(numbers, ","))
			number := fmt.Sprintf("(a.n * 1000 + b.n + 1) as id from seeds a, seeds b where a.n < %d", rows/1000)
			joined := "concat('rock ', 'word', mod(x.id, 97), ' item', x.id)"
			if engine.Name == contract.EngineSQLite {
				joined = "'rock ' || 'word' || (x.id % 97) || ' item' || x.id"
			}
			made := articles(engine, "article", "(0, 'rock of ages', '', 'emea')")
			index := strings.Index(made, "create virtual table")
			if index < 0 {
				index = max(strings.Index(made, "create index"), strings.Index(made, "create fulltext"))
			}
			script.WriteString(made[:index])
			fmt.Fprintf(&script, "insert into article (id, title, body, region) select x.id, 'a title', %s, 'emea' from (select %s) x;\n", joined, number)
			script.WriteString(made[index:])
			opened, plain := engine.Open(t, script.String())
			noteVersion(t, engine, plain)
			models := []contract.Model{{Name: "article", Table: "article", Expose: true}}
			s := &suite{engine, harness.Serve(t, opened, models, tokens(), withAudit), plain}
			for search, found := range map[string]int{"rock": rows + 1, "item77": 1, "rock -title": 1, "rock word77 item77": 1, "rock -item5 title": rows - 1} {
				payload, isError := s.call(t, "root", "list_article", fmt.Sprintf(`{"search": %q, "limit": 3, "total": "exact"}`, search))
				switch {
				case isError && payload["code"] != "timeout":
					t.Errorf("%s: %v", search, payload)
				case !isError && found >= 0 && fmt.Sprint(payload["total_count"]) != fmt.Sprint(found):
					t.Errorf("%s finds %v, want %d", search, payload["total_count"], found)
				}
			}
		})
	}
}
