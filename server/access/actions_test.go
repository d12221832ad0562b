package access

import (
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// schemaOf is a schema with one table.
func schemaOf(table string) *database.Schema {
	id := &database.Column{Name: "id", Kind: database.Integer}
	schema := &database.Schema{Database: "d", Tables: []*database.Table{{Name: table, Writable: true, Columns: []*database.Column{id}, PrimaryKey: []*database.Column{id}}}}
	return schema.GrantAll()
}

func reach(t *testing.T, m contract.Model, schema *database.Schema, rules ...contract.Rule) (Scope, bool) {
	t.Helper()
	config := &contract.Config{Models: []contract.Model{m}, Tokens: []contract.Token{{Hashes: []string{contract.HashToken(text)}, Rules: rules}}}
	models := catalog.Build(config, schema)
	token := TokensOf(config, models).Authenticate("Bearer "+text, time.Now())
	_, viewed := token.Scope(models.Models()[0])
	return token.Reach(models.Models()[0]), viewed
}

func TestAnActionNeedsWhatItRequiresOrItsNameInARule(t *testing.T) {
	m := contract.Model{Name: "item", Exposure: "item", Table: "item"}
	for name, requires := range map[string][]string{"change": {"change"}, "two": {"add", "delete"}, "unsaid": nil, "odd": {"own"}} {
		m.Actions = append(m.Actions, contract.Action{Name: name, Requires: requires, Webhook: &contract.Webhook{}})
	}
	rule := func(verbs, actions string) contract.Rule {
		return contract.Rule{Models: []string{"item"}, Verbs: strings.Fields(verbs), Actions: strings.Fields(actions)}
	}
	for _, tc := range []struct {
		name  string
		rules []contract.Rule
		want  string
	}{
		{"view alone", []contract.Rule{rule("view", "")}, ""},
		{"every verb", []contract.Rule{rule("*", "")}, "change two"},
		{"the verb", []contract.Rule{rule("change", "")}, "change"},
		{"one of two verbs", []contract.Rule{rule("view add", "")}, ""},
		{"both verbs, by two rules", []contract.Rule{rule("view add", ""), rule("delete", "")}, "two"},
		{"named", []contract.Rule{rule("view", "unsaid odd")}, "odd unsaid"},
		{"named, without view", []contract.Rule{rule("add delete", "unsaid")}, ""},
		{"any", []contract.Rule{rule("view", "*")}, "change odd two unsaid"},
		{"any of another model", []contract.Rule{rule("view", ""), {Models: []string{"other"}, Actions: []string{"*"}}}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, schema := range []*database.Schema{schemaOf("item"), nil} {
				scope, _ := reach(t, m, schema, tc.rules...)
				names := map[string]bool{}
				for _, a := range scope.Actions() {
					names[a.Name] = true
				}
				var got []string
				for _, name := range []string{"change", "odd", "two", "unsaid"} {
					if names[name] {
						got = append(got, name)
					}
				}
				if strings.Join(got, " ") != tc.want {
					t.Errorf("with a schema (%v) it may run %q, want %q", schema != nil, got, tc.want)
				}
			}
		})
	}
}

// A caller who may ask learns that the schema is not known yet, and not that it may not ask; nothing is served.
func TestRightsByAModuleThatIsNotKnownYet(t *testing.T) {
	byModule := contract.Rule{Modules: []string{"sales"}, Models: []string{"item"}, Verbs: []string{"view"}}
	item := contract.Model{Name: "item", Exposure: "item", Table: "item"}
	if scope, viewed := reach(t, item, nil, byModule); !scope.Has(View) || scope.Has(Add) || viewed {
		t.Error("the module is unknown: the rule must count, and nothing be served")
	}
	item.Module = "support"
	if scope, _ := reach(t, item, nil, byModule); scope.Has(View) {
		t.Error("the exposure has another module: the rule must not count")
	}
	item.Module = ""
	schema := schemaOf("item")
	schema.Tables[0].Schema, schema.SearchPath, schema.HasSchemas = "support", []string{"support"}, true
	if scope, viewed := reach(t, item, schema, byModule); scope.Has(View) || viewed {
		t.Error("the table's schema is another: the rule must not count")
	}
	if scope, viewed := reach(t, item, schemaOf("item"), byModule); scope.Has(View) || viewed {
		t.Error("the engine has no schemas: the rule must not count")
	}
}

func TestTheAuditsTableIsNobodysToWrite(t *testing.T) {
	schema := schemaOf("mcp_admin_log")
	schema.Audit = schema.Tables[0]
	scope, viewed := reach(t, contract.Model{Name: "log", Exposure: "log", Table: "mcp_admin_log"}, schema, contract.Rule{Models: []string{"*"}, Verbs: []string{"*"}, Actions: []string{"*"}})
	if !viewed || scope.Has(Add) || scope.Has(Change) || scope.Has(Delete) {
		t.Errorf("viewed is %v, and the verbs are more than view", viewed)
	}
	if source := scope.token.Unscoped(schema.Audit); source.Table() != schema.Audit || source.Policy() != nil {
		t.Error("the audit itself cannot be written")
	}
}
