package monitoring

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// linesOfAToken are the lines that a real server writes of a token's day: 10 calls, which show 120 rows, change 3, export 1 file and make
// 2 mistakes, and 1 call after it has expired; with a line of another token among them.
func linesOfAToken(t *testing.T) (token string, lines []string) {
	t.Helper()
	database, _ := harness.Engines[0].Open(t, bookRows(60))
	agent, text := harness.Viewer()
	agent.Rules[0].Verbs = []string{"*", "export"}
	other, otherText := harness.Viewer()
	other.Name, otherText = "other", strings.ReplaceAll(otherText, "viewer", "otherr")
	other.Hashes = []string{contract.HashToken(otherText)}
	endpoint := harness.Serve(t, database, []contract.Model{{Name: "book", Table: "book"}}, []contract.Token{agent, other},
		func(c *contract.Config) { c.Endpoint.AuditLines.Reads = contract.AuditRows })
	call := func(tool, arguments string, fails bool) string {
		t.Helper()
		answer, isError := endpoint.Call(text, tool, arguments)
		if isError != fails {
			t.Fatalf("%s %s: %s", tool, arguments, answer)
		}
		return answer
	}
	call("list_book", `{"limit":50}`, false)
	call("list_book", `{"limit":9}`, false)
	call("get_book", `{"id":1}`, false)
	call("get_book", `{"id":999}`, true)
	call("create_book", `{"data":{"id":61,"title":"new"}}`, false)
	call("update_book", `{"id":61,"data":{"title":"newer"}}`, false)
	call("delete_book", `{"id":61,"dry_run":true}`, false)
	call("delete_book", `{"id":61}`, false)
	call("delete_book", `{"id":61}`, true)
	if answer, isError := endpoint.Call(otherText, "list_book", `{"limit":7}`); isError {
		t.Fatal(answer)
	}
	fetchExport(t, call("list_book", `{"export":"csv"}`, false))
	endpoint.Apply(func(c *contract.Config) {
		past := time.Now().Add(-time.Hour)
		c.Tokens[0].Expiry = &past
	})
	endpoint.Post(text, `{"method":"tools/list"}`)
	for end := time.Now().Add(patience); len(endpoint.Log.Lines(`"cause":"expired"`)) == 0 || len(endpoint.Log.Lines(`"operation":"export:list"`)) < 2; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("lines are missing: %s", endpoint.Log)
		}
	}
	return agent.Namespace + "/" + agent.Name, endpoint.Log.Lines(`"msg":"audit"`)
}

// Each panel shows what the token did, no more and no less.
func TestTheDashboardOfATokenShowsWhatItDid(t *testing.T) {
	token, lines := linesOfAToken(t)
	want := map[string]string{
		"Calls": "map[:10]", "Rows shown": "map[:120]", "Rows changed": "map[:3]", "Files exported": "map[:1]", "Calls that failed": "map[:2]", "Refused": "map[:1]",
	}
	d, ok := readDashboards(t)["token.json"]
	if !ok || d.asks() != loki {
		t.Fatalf("it asks %v", d.asks())
	}
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			q, err := parseLogQL(target.Expr)
			if err != nil {
				t.Errorf("%s: %v", p.Title, err)
				continue
			}
			sums, shown := map[string]float64{}, []string(nil)
			for _, line := range lines {
				labels, text, value, kept := q.run(t, line, token)
				if !kept {
					continue
				}
				var of []string
				for _, name := range q.by {
					of = append(of, labels[name])
				}
				sums[strings.Join(of, " ")] += value
				shown = append(shown, text)
			}
			for _, name := range q.by {
				if !strings.Contains(target.LegendFormat, "{{"+name+"}}") {
					t.Errorf("%s tells the %s apart, and not in its legend %s", p.Title, name, target.LegendFormat)
				}
			}
			got := fmt.Sprint(sums)
			if q.function == "" {
				got = strings.Join(shown, "\n")
			}
			t.Logf("%s: %s", p.Title, got)
			if expected, ok := want[p.Title]; ok && got != expected {
				t.Errorf("%s: got %s, want %s", p.Title, got, expected)
			} else if len(sums) == 0 {
				t.Errorf("%s shows nothing", p.Title)
			}
			delete(want, p.Title)
		}
	}
	if len(want) > 0 {
		t.Errorf("there is no panel %v", slices.Collect(maps.Keys(want)))
	}
}
