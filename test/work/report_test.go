// Package work tests what is more than a read or a write of rows: reports, and the taking back of changes, over HTTP on each
// engine.
package work

import (
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

const teams = `
CREATE TABLE player (id integer NOT NULL PRIMARY KEY, team varchar(20) NOT NULL, name varchar(20) NOT NULL, score decimal(8,2) NOT NULL, boss integer);
INSERT INTO player VALUES (1, 'red', 'Ann', 10.50, NULL), (2, 'red', 'Bob', 7.25, 1), (3, 'blue', 'Cy', 10.50, NULL), (4, 'blue', 'Di', 99.00, 3), (5, 'blue', 'Ed', 1.00, 4);
`

// reports are the reports of the model player.
var reports = []contract.Report{
	{Name: "ranks", Statement: "SELECT name, team, score, rank() OVER (PARTITION BY team ORDER BY score DESC) AS place FROM player WHERE score >= :least ORDER BY team, place",
		Parameters: []contract.Parameter{{Name: "least", Type: contract.TypeDecimal, Required: true}}},
	{Name: "under", Statement: "WITH RECURSIVE below(id, name) AS (SELECT id, name FROM player WHERE id = :who UNION ALL SELECT p.id, p.name FROM player p JOIN below b ON p.boss = b.id) SELECT id, name FROM below ORDER BY id",
		Parameters: []contract.Parameter{{Name: "who", Type: contract.TypeInteger}}},
	{Name: "mine", Statement: "SELECT name FROM player WHERE team IN (:groups) AND team = :attribute_team AND 'test/red' = :token ORDER BY id"},
	{Name: "twins", Statement: "SELECT a.name, b.name FROM player a JOIN player b ON a.score = b.score AND a.id < b.id"},
	{Name: "none", Statement: "SELECT id FROM player WHERE team IN (:groups) AND id < 0"},
	{Name: "secret", Statement: "SELECT name FROM player"},
}

type caller struct {
	contract.Token
	text string
}

func newCaller(name string, rules ...contract.Rule) caller {
	text := "mcp_" + strings.Repeat(name[:1], 16) + "." + strings.Repeat("0", 43)
	return caller{contract.Token{Namespace: "test", Name: name, Hashes: []string{contract.HashToken(text)}, Rules: rules}, text}
}

var redAndBlue = func(c *contract.Config) { c.Groups = []contract.Group{{Name: "blue"}, {Name: "red"}} }

func TestReports(t *testing.T) {
	for _, e := range harness.Engines {
		t.Run(e.Title, func(t *testing.T) {
			database, plain := e.Open(t, teams)
			red := newCaller("red", contract.Rule{Models: []string{"player"}, Verbs: []string{"view"}, Actions: []string{"ranks", "under", "mine", "twins", "none"}})
			red.Groups, red.Attributes = []string{"red"}, map[string]string{"team": "red"}
			viewer := newCaller("viewer", contract.Rule{Models: []string{"player"}, Verbs: []string{"*"}})
			s := harness.Serve(t, database, []contract.Model{{Name: "player", Table: "player", Expose: true, Reports: reports}}, []contract.Token{red.Token, viewer.Token}, redAndBlue)
			for _, tc := range []struct{ arguments, want string }{
				{`{"report":"ranks","parameters":{"least":"7.25"}}`,
					`{"report":"ranks","count":4,"results":[{"name":"Di","team":"blue","score":"99.00","place":1},{"name":"Cy","team":"blue","score":"10.50","place":2},{"name":"Ann","team":"red","score":"10.50","place":1},{"name":"Bob","team":"red","score":"7.25","place":2}]}`},
				{`{"report":"under","parameters":{"who":3},"format":"columns"}`, `{"report":"under","count":3,"columns":["id","name"],"rows":[[3,"Cy"],[4,"Di"],[5,"Ed"]]}`},
				{`{"report":"under"}`, `{"report":"under","count":0,"results":[]}`},
				{`{"report":"mine"}`, `{"report":"mine","count":2,"results":[{"name":"Ann"},{"name":"Bob"}]}`},
				{`{"report":"twins"}`, `{"report":"twins","count":1,"results":[{"name":"Ann","name_2":"Cy"}]}`},
				{`{"report":"under","parameters":{"who":3},"limit":2}`, `{"report":"under","count":2,"results":[{"id":3,"name":"Cy"},{"id":4,"name":"Di"}],"next_offset":2,"notice":"more rows: offset 2"}`},
				{`{"report":"under","parameters":{"who":3},"limit":2,"offset":2}`, `{"report":"under","count":1,"results":[{"id":5,"name":"Ed"}]}`},
				{`{"report":"under","parameters":{"who":3},"offset":7}`, `{"report":"under","count":0,"results":[]}`},
				{`{"report":"secret"}`, `{"error":"Permission denied: cannot run secret on player; you may run ranks, under, mine, twins, none","code":"permission_denied"}`},
				{`{"report":"nope"}`, `{"error":"report: player has no report \"nope\"; you may run ranks, under, mine, twins, none","code":"invalid_argument"}`},
				{`{"report":"ranks"}`, `least: is required, in parameters: a value of type decimal`},
				{`{"report":"ranks","parameters":{"least":"x' OR 1=1"}}`, `least: must be a decimal number`},
				{`{"report":"ranks","parameters":{"least":1,"token":"test/blue"}}`, `token: ranks has no such parameter; its parameters are least`},
			} {
				if got, _ := s.Call(red.text, "report_player", tc.arguments); got != tc.want && !strings.Contains(got, tc.want) {
					t.Errorf("%s:\n got %s\nwant %s", tc.arguments, got, tc.want)
				}
			}
			if got, isError := s.Call(viewer.text, "report_player", `{"report":"ranks","parameters":{"least":1}}`); !isError || !strings.Contains(got, "permission_denied") {
				t.Errorf("a report that no rule names: %s", got)
			}
			_, list := s.Post(viewer.text, `{"method":"tools/list"}`)
			if strings.Contains(list, "report_player") || strings.Contains(list, "twins") {
				t.Error("a token without reports is shown them")
			}
			_, list = s.Post(red.text, `{"method":"tools/list"}`)
			if !strings.Contains(list, "ranks(least decimal), under(who integer?)") || strings.Contains(list, "secret") {
				t.Errorf("the list does not name the token's reports: %s", list)
			}
			if got, _ := s.Call(red.text, "actions_player", `{}`); !strings.Contains(got, `"name":"ranks"`) || strings.Contains(got, "secret") || !strings.Contains(got, `"report":true`) {
				t.Errorf("actions: %s", got)
			}
			untouched(t, plain)
		})
	}
}

// untouched makes sure that no report changed a row.
func untouched(t *testing.T, plain *sql.DB) {
	t.Helper()
	var rows int
	if err := plain.QueryRow("SELECT count(*) FROM player").Scan(&rows); err != nil || rows != 5 {
		t.Errorf("there are %d rows: %v", rows, err)
	}
}

// TestReportsOnlyRead runs what a report's statement could call to change something: the transaction does not let it.
func TestReportsOnlyRead(t *testing.T) {
	scripts := map[string]string{
		harness.PostgreSQL: "CREATE FUNCTION bump() RETURNS integer LANGUAGE sql VOLATILE AS 'UPDATE player SET score = 0 RETURNING 1';",
	}
	for _, e := range harness.Engines {
		if scripts[e.Title] == "" {
			continue // SQLite has no functions of its own that write, and MariaDB's are tried by nobody without a right to make them
		}
		t.Run(e.Title, func(t *testing.T) {
			where, plain := e.Open(t, teams+scripts[e.Title])
			red := newCaller("red", contract.Rule{Models: []string{"player"}, Verbs: []string{"view"}, Actions: []string{"*"}})
			s := harness.Serve(t, where, []contract.Model{{Name: "player", Table: "player", Expose: true, Reports: []contract.Report{
				{Name: "bump", Statement: "SELECT bump() AS changed"},
				{Name: "remember", Statement: "SELECT set_config('app.token', 'test/other', false) AS said"},
				{Name: "recall", Statement: "SELECT current_setting('app.token', true) AS said"},
				{Name: "slow", Statement: "SELECT pg_sleep(600)::text AS slept"},
			}}}, []contract.Token{red.Token}, func(c *contract.Config) {
				c.Endpoint.Database.MaxConnections, c.Endpoint.Database.StatementTimeout = 1, contract.Duration(3*time.Second)
			})
			if got, isError := s.Call(red.text, "report_player", `{"report":"bump"}`); !isError {
				t.Errorf("it changed rows: %s", got)
			}
			s.Call(red.text, "report_player", `{"report":"remember"}`)
			if got, _ := s.Call(red.text, "report_player", `{"report":"recall"}`); strings.Contains(got, "other") {
				t.Errorf("a report's setting outlived it: %s", got)
			}
			if got, isError := s.Call(red.text, "report_player", `{"report":"slow"}`); !isError || !strings.Contains(got, "timeout") {
				t.Errorf("it runs without end: %s", got)
			}
			if got, isError := s.Call(red.text, "report_player", `{"report":"recall"}`); isError {
				t.Errorf("the connection is not usable again: %s", got)
			}
			untouched(t, plain)
		})
	}
}

// TestAReportMustSayThatItIgnoresPolicies serves a model with row policies and a report.
func TestAReportMustSayThatItIgnoresPolicies(t *testing.T) {
	where, _ := harness.Engines[0].Open(t, teams)
	red := newCaller("red", contract.Rule{Models: []string{"player"}, Verbs: []string{"view"}, Actions: []string{"all"}})
	model := contract.Model{Name: "player", Table: "player", Expose: true,
		RowPolicies: []contract.RowPolicy{{Name: "red", Everyone: true, Filters: []contract.Filter{{Field: "team", Value: "red"}}}},
		Reports:     []contract.Report{{Name: "all", Statement: "SELECT count(*) AS n FROM player", IgnoresPolicies: true}},
	}
	s := harness.Serve(t, where, []contract.Model{model}, []contract.Token{red.Token})
	if got, isError := s.Call(red.text, "report_player", `{"report":"all"}`); isError || !strings.Contains(got, `"n":5`) {
		t.Errorf("it does not pass by the policies: %s", got)
	}
	model.Reports[0].IgnoresPolicies = false
	if err := model.Validate(); err == nil || !strings.Contains(err.Error(), "does not say that it ignores") {
		t.Errorf("a Config with a report that does not say so is taken: %v", err)
	}
}

// TestSessionSettings has a view show the rows of whoever calls, as row-level security would, over one connection.
func TestSessionSettings(t *testing.T) {
	for _, e := range harness.Engines {
		if e.Title != harness.PostgreSQL {
			continue
		}
		where, _ := e.Open(t, teams+`
			CREATE VIEW own AS SELECT id, team, name, current_setting('app.token', true) AS caller, current_setting('app.groups', true) AS groups_of FROM player WHERE team = current_setting('app.team', true);
			CREATE TABLE note (id serial PRIMARY KEY, owner text NOT NULL DEFAULT current_setting('app.token', true), body text);`)
		all := contract.Rule{Models: []string{"*"}, Verbs: []string{"*"}, Actions: []string{"*"}}
		red, blue, plain := newCaller("red", all), newCaller("blue", all), newCaller("plain", all)
		red.Groups, red.Attributes = []string{"blue", "red"}, map[string]string{"team": "red"}
		blue.Groups, blue.Attributes = []string{"blue"}, map[string]string{"team": "blue"}
		s := harness.Serve(t, where, []contract.Model{
			{Name: "own", Table: "own", Key: []string{"id"}, Expose: true, Reports: []contract.Report{{Name: "count", Statement: "SELECT count(*) AS n, min(caller) AS caller FROM own"}}},
			{Name: "note", Table: "note", Expose: true},
		}, []contract.Token{red.Token, blue.Token, plain.Token}, redAndBlue, func(c *contract.Config) {
			c.Endpoint.Database.MaxConnections = 1
			c.Endpoint.Database.SessionSettings = []contract.SessionSetting{
				{Name: "app.token", Source: contract.SessionToken}, {Name: "app.groups", Source: contract.SessionGroups},
				{Name: "app.team", Source: contract.SessionAttribute, Attribute: "team"},
			}
		})
		wants := []struct {
			caller
			rows, count string
		}{
			{red, `"results":[{"id":1,"team":"red","name":"Ann","caller":"test/red","groups_of":"blue,red"},{"id":2,"team":"red","name":"Bob","caller":"test/red","groups_of":"blue,red"}]`, `"n":2,"caller":"test/red"`},
			{plain, `"results":[]`, `"n":0,"caller":null`},
			{blue, `"results":[{"id":3,"team":"blue","name":"Cy","caller":"test/blue","groups_of":"blue"},{"id":4,"team":"blue","name":"Di","caller":"test/blue","groups_of":"blue"},{"id":5,"team":"blue","name":"Ed","caller":"test/blue","groups_of":"blue"}]`, `"n":3,"caller":"test/blue"`},
		}
		for round := range 4 { // the same statement comes again, prepared
			for _, w := range wants {
				if got, _ := s.Call(w.text, "list_own", `{"order_by":["id"]}`); !strings.Contains(got, w.rows) {
					t.Errorf("round %d: %s sees %s", round, w.Name, got)
				}
				if got, _ := s.Call(w.text, "list_own", `{"order_by":["id"],"total":"none"}`); !strings.Contains(got, w.rows) {
					t.Errorf("round %d: %s sees %s", round, w.Name, got)
				}
				if got, _ := s.Call(w.text, "report_own", `{"report":"count"}`); !strings.Contains(got, w.count) {
					t.Errorf("round %d: %s is told %s", round, w.Name, got)
				}
				got, _ := s.Call(w.text, "create_note", `{"data":{"body":"x"}}`)
				if !strings.Contains(got, `"owner":"test/`+w.Name+`"`) {
					t.Errorf("round %d: %s writes %s", round, w.Name, got)
				}
			}
		}
	}
}
