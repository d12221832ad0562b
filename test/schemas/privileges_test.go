package schemas

import (
	"database/sql"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// The tables of the privileges' tests: one with a child, and one that is nobody's but its owner's.
const privilegeTables = `
CREATE TABLE item (id integer PRIMARY KEY, name varchar(20) NOT NULL, amount integer, cost integer);
INSERT INTO item VALUES (1, 'one', 10, 5), (2, 'two', 20, 6);
CREATE TABLE part (id integer PRIMARY KEY, item_id integer, FOREIGN KEY (item_id) REFERENCES item (id));
CREATE TABLE vault (id integer PRIMARY KEY, content varchar(20));
`

// grant has the rights of a user of the database, and what an endpoint with that user offers and says.
type grant struct {
	name   string
	grants []string
	audit  bool
	// tools are item's, in any order; notes are pieces of its notes, and of the others' problems by their models.
	tools    string
	notes    []string
	problems map[string]string
	// seen are more pieces of the notes, on an engine that lists what its user may not use.
	seen []string
	// auditProblem is a piece of the status.
	auditProblem string
	// works are calls of item's tools that must succeed.
	works []string
}

var privileges = []grant{
	{
		name: "SELECT alone", grants: []string{"SELECT ON item", "SELECT ON part"}, tools: "list get describe related autocomplete",
		notes:    []string{"No create: the database user lacks INSERT", "No update: the database user lacks UPDATE", "No delete: the database user lacks DELETE"},
		problems: map[string]string{"vault": "may not read"},
		works:    []string{`list {}`, `get {"id":1}`, `related {"id":1,"relation":"part_by_item"}`},
	},
	{
		name: "INSERT on some columns", grants: []string{"SELECT ON item", "SELECT ON part", "INSERT (id, name) ON item"}, tools: "list get create describe bulk related autocomplete",
		notes: []string{"No update: the database user lacks UPDATE"},
		works: []string{`create {"data":{"id":9,"name":"nine"}}`, `bulk {"operation":"create","items":[{"data":{"id":10,"name":"ten"}}]}`},
	},
	{
		name: "INSERT without a required column", grants: []string{"SELECT ON item", "INSERT (id) ON item"}, tools: "list get describe autocomplete",
		notes: []string{"No create: a new row needs name"},
	},
	{
		name: "UPDATE on some columns", grants: []string{"SELECT ON item", "UPDATE (amount) ON item"}, tools: "list get update describe bulk autocomplete",
		notes: []string{"No create", "No delete"},
		works: []string{`update {"id":1,"data":{"amount":11}}`},
	},
	{
		name: "SELECT on some columns", grants: []string{"SELECT (id, name) ON item"}, tools: "list get describe autocomplete",
		notes: []string{"No create"}, seen: []string{"The database user may not read amount, cost"},
		works: []string{`list {"filters":{"name":"one"}}`, `get {"id":1}`},
	},
	{
		name: "all, and nothing on the audit table", grants: []string{"SELECT, INSERT, UPDATE, DELETE ON item", "SELECT ON part"}, audit: true,
		tools: "list get describe related autocomplete", notes: []string{"Read-only: the endpoint's audit table cannot be used"}, auditProblem: "audit table",
		works: []string{`list {}`},
	},
	{
		name: "all, and SELECT on the audit table", grants: []string{"SELECT, INSERT, UPDATE, DELETE ON item", "SELECT ON part", "SELECT ON mcp_admin_log"}, audit: true,
		tools: "list get describe related autocomplete", notes: []string{"Read-only: the endpoint's audit table cannot be used"}, auditProblem: "INSERT",
		works: []string{`list {}`},
	},
	{
		name: "all, and INSERT and SELECT on the audit table", grants: []string{"SELECT, INSERT, UPDATE, DELETE ON item", "SELECT, UPDATE ON part", "SELECT, INSERT ON mcp_admin_log"}, audit: true,
		tools: "list get create update delete describe actions action bulk related history autocomplete",
		works: []string{`create {"data":{"id":3,"name":"three"}}`, `update {"id":3,"data":{"amount":1}}`, `delete {"id":3}`, `history {"id":1}`},
	},
}

// What an endpoint offers, and what it says of what it does not, follows what the database's user may do.
func TestTheDatabaseUsersPrivilegesDecideWhatIsOffered(t *testing.T) {
	for _, engine := range harness.Engines {
		if engine.Name == sqlite {
			continue // it has no users
		}
		for i, g := range privileges {
			t.Run(engine.Name+"/"+g.name, func(t *testing.T) { g.test(t, engine, i) })
		}
	}
}

func (g grant) test(t *testing.T, engine harness.Engine, number int) {
	if engine.Name == mysql && !strings.Contains(strings.Join(g.grants, ";"), "ON part") {
		g.grants = append(slices.Clone(g.grants), "SELECT ON part") // else the foreign key's other end cannot be seen
	}
	database, plain := engine.Open(t, privilegeTables)
	user := asUser(t, engine.Name, database, plain, g.grants, "tester_"+string(rune('a'+number)))
	models := []contract.Model{{Name: "item", Table: "item", Expose: true}, {Name: "part", Table: "part"}, {Name: "vault", Table: "vault"}}
	everything := contract.Token{Namespace: "test", Name: "root", Hashes: []string{contract.HashToken(root)},
		Rules: []contract.Rule{{Models: []string{"*"}, Verbs: []string{"*"}, Actions: []string{"*"}}}}
	endpoint := harness.Serve(t, user, models, []contract.Token{everything}, func(c *contract.Config) {
		if g.audit {
			c.Endpoint.Audit = &contract.AuditTable{Name: "mcp_admin_log"}
		}
	})
	status := endpoint.Status()
	for _, m := range status.Models {
		if m.Name == "item" {
			if engine.Name == postgres {
				g.notes = append(slices.Clone(g.notes), g.seen...)
			}
			g.compare(t, m)
		} else if want := g.problems[m.Name]; want != "" && (m.Served() || !strings.Contains(m.Message, want) && !strings.Contains(m.Message, "does not exist")) {
			t.Errorf("%s: %s %q, want %q", m.Name, m.Reason, m.Message, want)
		}
	}
	if (g.auditProblem == "") != (status.Database.AuditProblem == "") || !strings.Contains(status.Database.AuditProblem, g.auditProblem) {
		t.Errorf("of the audit table it says %q, want %q", status.Database.AuditProblem, g.auditProblem)
	}
	for _, call := range g.works {
		operation, arguments, _ := strings.Cut(call, " ")
		if text, isError := endpoint.Call(root, operation+"_item", arguments); isError {
			t.Errorf("%s: %s", call, text)
		}
	}
}

func (g grant) compare(t *testing.T, m contract.ModelStatus) {
	t.Helper()
	if !m.Served() {
		t.Fatalf("item is not served: %s %s", m.Reason, m.Message)
	}
	want := strings.Fields(g.tools)
	for i := range want {
		want[i] += "_item"
	}
	if slices.Contains(want, "list_item") {
		want = append(want, "aggregate_item")
	}
	if !slices.Contains(want, "related_item") { // there is a relation if part can be read
		m.Tools = slices.DeleteFunc(m.Tools, func(tool string) bool { return tool == "related_item" })
	}
	slices.Sort(want)
	if got := slices.Sorted(slices.Values(m.Tools)); !slices.Equal(got, want) {
		t.Errorf("the tools are %v, want %v", got, want)
	}
	notes := strings.Join(m.Notes, " ")
	for _, piece := range g.notes {
		if !strings.Contains(notes, piece) {
			t.Errorf("the notes are %q, without %q", notes, piece)
		}
	}
	if len(g.notes) == 0 && notes != "" {
		t.Errorf("the notes are %q", notes)
	}
}

// asUser makes a user with these grants alone, and returns the database as that user reaches it. The audit table is there.
func asUser(t *testing.T, engine string, database harness.Database, plain *sql.DB, grants []string, name string) harness.Database {
	t.Helper()
	dialect := sqltext.MariaDB
	if engine == postgres {
		dialect = sqltext.PostgreSQL
	}
	for _, statement := range sqltext.AuditTable(dialect, "", "mcp_admin_log") {
		if _, err := plain.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	return harness.AsUser(t, engine, database, plain, name, grants)
}
