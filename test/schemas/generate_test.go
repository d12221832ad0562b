package schemas

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/generate"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/target"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// The manifests that "mcp-admin generate" guesses for other people's databases are served unchanged: no edit is needed
// until every model is there, and each tool that reads answers.
func TestGuessesForThirdPartySchemasAreServed(t *testing.T) {
	if os.Getenv("MCP_TEST_SCHEMAS") == "" {
		t.Skip("MCP_TEST_SCHEMAS is not set: the schemas are fetched from Debian packages")
	}
	for _, a := range applications {
		t.Run(a.name+" on "+a.engine, func(t *testing.T) { a.testGuesses(t) })
	}
}

func (a application) testGuesses(t *testing.T) {
	engine := harness.Engines[slices.IndexFunc(harness.Engines, func(e harness.Engine) bool { return e.Name == a.engine })]
	database, _ := engine.Open(t, a.script(t))
	named := &target.Database{SQLite: database.SQLiteFile, Secret: database.Connection, Engine: a.engine, Name: a.name}
	schema, err := named.Schema(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	g, err := generate.From(schema, generate.Options{Endpoint: types.NamespacedName{Namespace: "test", Name: "test"}})
	if err != nil {
		t.Fatal(err)
	}
	text, err := g.YAML(false)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("generate: %s on %s: %d tables, %d models, %d lines, %d guesses, left out: %s\n", a.name, engine.Title,
		len(schema.Tables), len(g.Models), strings.Count(string(text), "\n"), g.Count(), leftOut(g))

	in := compile.Inputs{Endpoint: g.MCPEndpoint(), StatusKey: contract.NewToken(), SealKey: contract.NewSealKey(), Now: time.Now()}
	for _, m := range g.Models {
		in.Exposures = append(in.Exposures, m.Exposure)
	}
	config, verdicts := compile.Compile(in)
	for key, v := range verdicts.Exposures {
		if !v.Accepted {
			t.Errorf("%s is not accepted: %s", key, v.Message)
		}
	}
	everything := contract.Token{Namespace: "test", Name: "root", Hashes: []string{contract.HashToken(root)},
		Rules: []contract.Rule{{Models: []string{"*"}, Verbs: []string{"view"}}}}
	endpoint := harness.Serve(t, database, config.Models, []contract.Token{everything})
	if served := len(endpoint.Status().Models); served != len(g.Models) {
		t.Errorf("%d models are served, want %d", served, len(g.Models))
	}
	for _, m := range endpoint.Status().Models {
		if !m.Served() {
			t.Errorf("%s is not served: %s %s", m.Name, m.Reason, m.Message)
			continue
		}
		table{t, endpoint, m}.read()
	}
}

// read calls the tools that read.
func (t table) read() {
	t.Helper()
	described := t.ok("describe", `{}`)
	if len(described["admin_config"].(object)["search_fields"].([]any)) > 0 {
		t.ok("list", `{"limit":2,"search":"a"}`)
	}
	if t.has("autocomplete") {
		t.ok("autocomplete", `{"term":"a"}`)
	}
	for _, row := range t.ok("list", `{"limit":2}`)["results"].([]any) {
		if id, ok := row.(object)["id"]; ok && t.has("get") && len(t.model.Key) == 1 {
			t.ok("get", `{"id":`+encoded(id)+`}`)
		}
	}
}

func leftOut(g *generate.Guesses) string {
	var all []string
	for _, l := range g.LeftOut {
		all = append(all, l.Table.Name+" ("+l.Reason+")")
	}
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(all, ", ")
}
