package can

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/rights"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

const tables = `CREATE TABLE a (id INTEGER PRIMARY KEY, region VARCHAR(10) NOT NULL);
CREATE TABLE b (id INTEGER PRIMARY KEY, region VARCHAR(10) NOT NULL);
CREATE TABLE c (id INTEGER PRIMARY KEY, region VARCHAR(10) NOT NULL);
INSERT INTO a VALUES (1, 'north'), (2, 'south'), (3, 'north');
INSERT INTO b VALUES (1, 'north'), (2, 'south'), (3, 'north');
INSERT INTO c VALUES (1, 'north'), (2, 'south'), (3, 'north');`

var groups = []string{"one", "two", "three"}

// The command and the page say of tokens with random rights exactly what a server lets them do.
func TestAServerAgrees(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	endpoint := &v1alpha1.MCPEndpoint{}
	endpoint.Namespace, endpoint.Name = "shop", "shop"
	endpoint.Spec.Database.SQLite = &v1alpha1.SQLiteSpec{EmptyDir: &v1alpha1.SQLiteEmptyDir{}}
	for _, name := range groups {
		endpoint.Spec.Groups = append(endpoint.Spec.Groups, v1alpha1.Group{Name: name, Permissions: randomRules(r)})
	}
	var tokens []v1alpha1.MCPToken
	credentials := map[types.NamespacedName]compile.Credential{}
	for i := range 60 {
		token := randomToken(r, fmt.Sprintf("token-%d", i))
		tokens = append(tokens, token)
		credentials[types.NamespacedName{Namespace: "shop", Name: token.Name}] = compile.TextCredential(textOf(&token))
	}
	config, verdicts := compile.Compile(compile.Inputs{
		Endpoint: endpoint, Exposures: exposures(), Tokens: tokens, Credentials: credentials, StatusKey: "status-key", SealKey: contract.NewSealKey(), Now: time.Now(),
	})
	if len(config.Models) != 3 || !verdicts.Endpoint.Accepted {
		t.Fatalf("%+v", verdicts)
	}
	database, _ := harness.OnFile(t, t.TempDir()+"/data.sqlite", tables)
	served := harness.Serve(t, database, config.Models, config.Tokens, func(c *contract.Config) { c.Groups = config.Groups })
	p := openPage(t, &rights.Objects{Endpoint: endpoint, Exposures: exposures(), Tokens: tokens})
	cells := 0
	for i := range tokens {
		token := &tokens[i]
		for _, m := range compile.Explain(config, token) {
			found := does(t, served, textOf(token), m.Model)
			for who, said := range map[string]string{"command": said(&m), "page": p.opened(t, token.Name, m.Model)} {
				if said != found {
					t.Errorf("of %s and %s the %s says\n%s\nand the server does\n%s", token.Name, m.Model, who, said, found)
				}
			}
			if cell := p.cell(t, token.Name, m.Model); cell != asInTable(found) {
				t.Errorf("of %s and %s the page's table says\n%s\nand the server does\n%s", token.Name, m.Model, cell, found)
			}
			cells++
		}
	}
	if cells != 3*len(tokens) {
		t.Errorf("%d cells were compared", cells)
	}
}

func textOf(t *v1alpha1.MCPToken) string {
	return t.Name + strings.Repeat("x", contract.MinTokenLength)
}

// exposures are of three models: one with row policies and actions, one as it comes, one with few operations.
func exposures() []v1alpha1.MCPModelExposure {
	all := make([]v1alpha1.MCPModelExposure, 3)
	for i, name := range []string{"a", "b", "c"} {
		e := &all[i]
		e.Namespace, e.Name = "shop", name
		e.Spec.EndpointRef.Name, e.Spec.Table.Name, e.Spec.Expose = "shop", name, new(true)
	}
	all[0].Spec.RowPolicies = []v1alpha1.RowPolicy{
		{Name: "own", Groups: []string{"one"}, Filters: []v1alpha1.RowFilter{{Field: "region", TokenAttribute: "region"}}},
		{Name: "all", Groups: []string{"two"}, AllRows: new(true)},
	}
	set := &v1alpha1.UpdateActionSpec{Set: []v1alpha1.FieldAssignment{{Field: "region", Source: "Value", Value: new("west")}}}
	all[0].Spec.Actions = []v1alpha1.ActionSpec{
		{Name: "move", Update: set}, {Name: "drop", Requires: []v1alpha1.RequiredVerb{"add", "delete"}, Update: set},
	}
	all[2].Spec.Operations = []v1alpha1.Operation{"list", "create"}
	return all
}

func randomRules(r *rand.Rand) []v1alpha1.PermissionRule {
	var rules []v1alpha1.PermissionRule
	for range r.IntN(3) {
		rule := v1alpha1.PermissionRule{Models: []string{[]string{"a", "b", "c", "*", "none"}[r.IntN(5)]}}
		for _, verb := range []v1alpha1.Verb{"view", "add", "change", "delete", "export", "*"} {
			if r.IntN(4) == 0 {
				rule.Verbs = append(rule.Verbs, verb)
			}
		}
		if r.IntN(4) == 0 {
			rule.Actions = []string{[]string{"move", "drop", "*"}[r.IntN(3)]}
		}
		rules = append(rules, rule)
	}
	return rules
}

func randomToken(r *rand.Rand, name string) v1alpha1.MCPToken {
	t := v1alpha1.MCPToken{}
	t.Namespace, t.Name, t.Spec.EndpointRef.Name, t.Spec.Permissions = "shop", name, "shop", randomRules(r)
	for _, group := range groups {
		if r.IntN(3) == 0 {
			t.Spec.Groups = append(t.Spec.Groups, group)
		}
	}
	if r.IntN(2) == 0 {
		t.Spec.Attributes = map[string]v1alpha1.AttributeValue{"region": "north"}
	}
	return t
}

// said is the command's answer about a model: its tools, its actions and its rows.
func said(m *compile.Access) string {
	var words []string
	for i, tool := range []string{"list", "create", "update", "delete"} {
		if m.Verbs[i].Granted {
			words = append(words, tool)
		}
	}
	for _, a := range m.Actions {
		if a.Granted {
			words = append(words, a.Name)
		}
	}
	if m.Verbs[4].Granted {
		words = append(words, "export")
	}
	rows := "0 rows"
	switch {
	case m.Rows.All:
		rows = "3 rows"
	case len(m.Rows.Policies) > 0:
		rows = "2 rows"
	}
	return strings.Join(append(words, rows), " ")
}

// does holds what the server lets a token do to a model.
func does(t *testing.T, served *harness.Endpoint, token, model string) string {
	t.Helper()
	_, listed := served.Post(token, `{"method":"tools/list"}`)
	var words []string
	for _, tool := range []string{"list", "create", "update", "delete"} {
		if strings.Contains(listed, fmt.Sprintf(`"name":"%s_%s"`, tool, model)) {
			words = append(words, tool)
		}
	}
	if text, isError := served.Call(token, "actions_"+model, `{}`); !isError {
		var answer struct{ Actions []struct{ Name string } }
		if err := json.Unmarshal([]byte(text), &answer); err != nil {
			t.Fatal(err)
		}
		// The declared ones come first here, and delete_selected last.
		for _, name := range []string{"move", "drop", "delete_selected"} {
			for _, a := range answer.Actions {
				if a.Name == name {
					words = append(words, name)
				}
			}
		}
	}
	var list struct{ Count int }
	if text, isError := served.Call(token, "list_"+model, `{}`); !isError {
		if err := json.Unmarshal([]byte(text), &list); err != nil {
			t.Fatal(err)
		}
	}
	if _, isError := served.Call(token, "list_"+model, `{"export":"csv"}`); !isError {
		words = append(words, "export")
	}
	return strings.Join(append(words, fmt.Sprintf("%d rows", list.Count)), " ")
}
