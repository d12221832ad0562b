package work

import (
	"database/sql"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// PostgreSQL sees in each statement of a caller who calls, and in which trace, whatever the tool. The statement tells it itself.
func TestStatementsNameCallerAndTrace(t *testing.T) {
	engine := harness.Engines[1]
	for _, access := range []string{"reading and writing", "reading only"} {
		t.Run(access, func(t *testing.T) {
			where, plain := engine.Open(t, `CREATE VIEW asked AS SELECT 1 AS id, current_query() AS query;
				CREATE TABLE note (id serial PRIMARY KEY, body text, query text DEFAULT current_query());`)
			caller := newCaller("clerk", contract.Rule{Models: []string{"*"}, Verbs: []string{"*"}, Actions: []string{"*"}})
			s := harness.Serve(t, where, []contract.Model{
				{Name: "asked", Table: "asked", Key: []string{"id"}, Expose: true, Reports: []contract.Report{{Name: "own", Statement: "SELECT query FROM asked"}}},
				{Name: "note", Table: "note", Expose: true},
			}, []contract.Token{caller.Token}, func(c *contract.Config) {
				c.Endpoint.Database.TraceComments = true
				c.Endpoint.Database.ReadOnly = access == "reading only"
			})
			calls := map[string]string{
				"list_asked": `{}`, "get_asked": `{"id":1}`, "report_asked": `{"report":"own"}`, "aggregate_asked": `{"measures":{"m":{"max":"query"}}}`,
			}
			if access == "reading and writing" {
				calls["create_note"] = `{"data":{"body":"x"}}`
			}
			n := 0
			for range 3 { // no statement is prepared with another call's comment
				for tool, arguments := range calls {
					n++
					trace := fmt.Sprintf("00-%032x-00f067aa0ba902b7-01", n)
					status, answer := s.Post(caller.text, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{"traceparent":%q}}}`, tool, arguments, trace))
					want := "/*token='test%2Fclerk',traceparent='" + trace + "'*/"
					if status != http.StatusOK || !strings.Contains(answer, want) {
						t.Errorf("%s: got %d %s, want the comment %s", tool, status, answer, want)
					}
				}
			}
			if access == "reading and writing" {
				mustHave(t, plain, "SELECT count(*) FROM note WHERE query LIKE '%test%Fclerk%'", 3)
			}
		})
	}
}

func mustHave(t *testing.T, db *sql.DB, query string, want int) {
	t.Helper()
	var got int
	if err := db.QueryRow(query).Scan(&got); err != nil || got != want {
		t.Errorf("%s: got %d, %v; want %d", query, got, err, want)
	}
}
