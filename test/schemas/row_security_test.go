package schemas

import (
	"slices"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// Everyone may read all memos that are not secret, and write only the memos of one's own team.
const securedTable = `
CREATE TABLE memo (id integer PRIMARY KEY, team text NOT NULL, body text, secret boolean NOT NULL DEFAULT false);
INSERT INTO memo VALUES (1, 'blue', 'ours', false), (2, 'red', 'theirs', false), (3, 'blue', 'hidden', true);
ALTER TABLE memo ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON memo FOR SELECT USING (NOT secret);
CREATE POLICY added ON memo FOR INSERT WITH CHECK (team = 'blue');
CREATE POLICY changed ON memo FOR UPDATE USING (team = 'blue');
CREATE POLICY removed ON memo FOR DELETE USING (team = 'blue');
`

// A database's own row-level security holds, and its refusals are reported as such, not as changes by others.
func TestRowLevelSecurityOfTheDatabase(t *testing.T) {
	engine := harness.Engines[slices.IndexFunc(harness.Engines, func(e harness.Engine) bool { return e.Name == postgres })]
	database, plain := engine.Open(t, securedTable)
	user := asUser(t, engine.Name, database, plain, []string{"SELECT, INSERT, UPDATE, DELETE ON memo", "SELECT, INSERT ON mcp_admin_log"}, "tester_rls")
	everything := contract.Token{Namespace: "test", Name: "root", Hashes: []string{contract.HashToken(root)},
		Rules: []contract.Rule{{Models: []string{"*"}, Verbs: []string{"*"}, Actions: []string{"*"}}}}
	endpoint := harness.Serve(t, user, []contract.Model{{Name: "memo", Table: "memo", Expose: true}}, []contract.Token{everything}, func(c *contract.Config) {
		c.Endpoint.Audit = &contract.AuditTable{Name: "mcp_admin_log"}
	})
	for _, tc := range []struct {
		tool, arguments string
		isError         bool
		want            string
	}{
		{"list_memo", `{"fields":["body"]}`, false, `"total_count":2`},
		{"get_memo", `{"id":3}`, true, `"code":"not_found"`},
		{"update_memo", `{"id":1,"data":{"body":"ours too"}}`, false, `"body":"ours too"`},
		{"update_memo", `{"id":2,"data":{"body":"mine"}}`, true, `"code":"permission_denied"`},
		{"delete_memo", `{"id":2}`, true, `"code":"permission_denied"`},
		{"create_memo", `{"data":{"id":9,"team":"red"}}`, true, `"code":"permission_denied"`},
		{"bulk_memo", `{"operation":"delete","items":[2,1]}`, false, `"success_count":1,"error_count":1`},
		{"action_memo", `{"action":"delete_selected","ids":[2],"confirm":true}`, true, `"code":"not_found"`}, // rows that cannot be locked are none of an action
	} {
		text, isError := endpoint.Call(root, tc.tool, tc.arguments)
		if isError != tc.isError || !strings.Contains(text, tc.want) {
			t.Errorf("%s %s: error %v, %s; want %s", tc.tool, tc.arguments, isError, text, tc.want)
		}
	}
	var left string
	if err := plain.QueryRow("SELECT string_agg(id || ' ' || team || ' ' || body, ', ' ORDER BY id) FROM memo").Scan(&left); err != nil || left != "2 red theirs, 3 blue hidden" {
		t.Errorf("the table holds %q (%v)", left, err)
	}
}
