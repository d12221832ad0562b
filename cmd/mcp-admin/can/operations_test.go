package can

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// walk is an endpoint with a model for each operation, for each two of them, and for all: what is said of them from the
// table of operations must be what a server does.
type walk struct {
	endpoint  *v1alpha1.MCPEndpoint
	exposures []v1alpha1.MCPModelExposure
	tokens    map[string]*v1alpha1.MCPToken
	script    string
}

func newWalk() *walk {
	w := &walk{endpoint: &v1alpha1.MCPEndpoint{}, tokens: map[string]*v1alpha1.MCPToken{}}
	w.endpoint.Namespace, w.endpoint.Name = "shop", "shop"
	w.endpoint.Spec.Database.SQLite = &v1alpha1.SQLiteSpec{EmptyDir: &v1alpha1.SQLiteEmptyDir{}}
	w.endpoint.Spec.Catalogue.Style = v1alpha1.CataloguePerModel
	w.expose()
	names := contract.OperationNames()
	for i := range names {
		for j := range i {
			w.expose(names[j], names[i])
		}
		w.expose(names[i])
	}
	for name, verbs := range map[string][]v1alpha1.Verb{
		"all": {"*"}, "view": {"view"}, "add": {"add"}, "adds": {"view", "add"}, "changes": {"change"}, "deletes": {"view", "delete"}, "exports": {"view", "export"}, "export": {"export"}, "none": nil, "named": {"view"},
	} {
		t := &v1alpha1.MCPToken{}
		t.Namespace, t.Name, t.Spec.EndpointRef.Name = "shop", name, "shop"
		rule := v1alpha1.PermissionRule{Models: []string{"*"}, Verbs: verbs}
		if name == "named" || name == "all" {
			rule.Actions = []string{"mark", "sales", contract.DeleteSelected}
		}
		t.Spec.Permissions = []v1alpha1.PermissionRule{rule}
		w.tokens[name] = t
	}
	return w
}

// expose adds a table with an action and a report, and its model with these operations. Its rows refer to rows of the first
// one, which offers everything: a relation leads nowhere if it leads to rows that are not to be seen.
func (w *walk) expose(operations ...string) {
	name := fmt.Sprintf("t%d", len(w.exposures))
	w.script += fmt.Sprintf("CREATE TABLE %s (id INTEGER PRIMARY KEY, name TEXT, parent INTEGER REFERENCES t0 (id));\n", name)
	e := v1alpha1.MCPModelExposure{}
	e.Namespace, e.Name = "shop", name
	e.Spec.EndpointRef.Name, e.Spec.Table.Name, e.Spec.Expose = "shop", name, new(true)
	for _, o := range operations {
		e.Spec.Operations = append(e.Spec.Operations, v1alpha1.Operation(o))
	}
	e.Spec.Actions = []v1alpha1.ActionSpec{
		{Name: "mark", Update: &v1alpha1.UpdateActionSpec{Set: []v1alpha1.FieldAssignment{{Field: "name", Source: "Value", Value: new("marked")}}}},
		{Name: "sales", Report: &v1alpha1.ReportActionSpec{Statement: "SELECT count(*) AS n FROM " + name}},
	}
	w.exposures = append(w.exposures, e)
}

// compiled is the Config, with the tokens' own texts.
func (w *walk) compiled(t *testing.T) (*contract.Config, compile.Verdicts) {
	t.Helper()
	in := compile.Inputs{Endpoint: w.endpoint, Exposures: w.exposures, StatusKey: "status-key", SealKey: contract.NewSealKey(), Now: time.Now(),
		Credentials: map[types.NamespacedName]compile.Credential{}}
	for _, token := range w.tokens {
		in.Tokens = append(in.Tokens, *token)
		in.Credentials[types.NamespacedName{Namespace: "shop", Name: token.Name}] = compile.TextCredential(textOf(token))
	}
	config, verdicts := compile.Compile(in)
	if !verdicts.Endpoint.Accepted || len(config.Models) != len(w.exposures) {
		t.Fatalf("%d of %d models: %+v", len(config.Models), len(w.exposures), verdicts.Endpoint)
	}
	return config, verdicts
}

// can is the command's answer about a token.
func (w *walk) can(token string) *answer {
	return objects{token: w.tokens[token], endpoint: w.endpoint, exposures: w.exposures}.answer()
}

// lists are the operations in the tools/list of each token, by model; operations of no model are under "".
type lists map[string][]string

func listsOf(t *testing.T, served *harness.Endpoint, token *v1alpha1.MCPToken) lists {
	t.Helper()
	// The simple form of a request lists the tools model by model, whatever the endpoint's style.
	_, text := served.Post(textOf(token), `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	var answer struct {
		Result struct{ Tools []struct{ Name string } }
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		t.Fatal(err)
	}
	found := lists{}
	for _, tool := range answer.Result.Tools {
		operation, model, _ := strings.Cut(tool.Name, "_")
		if contract.FindOperation(tool.Name) != nil {
			operation, model = tool.Name, ""
		}
		found[model] = append(found[model], operation)
	}
	return found
}

func (l lists) count() int {
	n := 0
	for _, operations := range l {
		n += len(operations)
	}
	return n
}

// Every operation is the same in tools/list, in what can says, in the notes that lint prints, and in the counts.
func TestEveryOperationIsTheSameEverywhere(t *testing.T) {
	for name, change := range map[string]func(*v1alpha1.MCPEndpoint){
		"as it comes": func(*v1alpha1.MCPEndpoint) {},
		"with an audit table": func(e *v1alpha1.MCPEndpoint) {
			e.Spec.Audit = &v1alpha1.AuditSpec{Table: v1alpha1.TableReference{Name: "log"}}
		},
		"read-only": func(e *v1alpha1.MCPEndpoint) { e.Spec.Database.Access = v1alpha1.DatabaseReadOnly },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWalk()
			change(w.endpoint)
			config, verdicts := w.compiled(t)
			database, _ := harness.OnFile(t, t.TempDir()+"/data.sqlite", w.script)
			served := harness.Serve(t, database, config.Models, config.Tokens, func(c *contract.Config) {
				c.Endpoint.Audit, c.Endpoint.Catalogue, c.Endpoint.Database.ReadOnly = config.Endpoint.Audit, config.Endpoint.Catalogue, config.Endpoint.Database.ReadOnly
			})
			listed := map[string]lists{}
			for token, object := range w.tokens {
				listed[token] = listsOf(t, served, object)
				w.holdCount(t, token, listed[token])
				if notes := strings.Join(append(verdicts.Tokens[types.NamespacedName{Namespace: "shop", Name: token}].Notes, verdicts.Endpoint.Notes...), "\n"); strings.Contains(notes, "does not exist") {
					t.Errorf("the notes on %s: %s", token, notes)
				}
			}
			w.everyOperationIsListed(t, listed["all"])
			w.holdRights(t, listed)
		})
	}
}

// everyOperationIsListed makes sure that the walk meets each operation, except operations that the endpoint does not have.
func (w *walk) everyOperationIsListed(t *testing.T, all lists) {
	t.Helper()
	var got []string
	for _, operations := range all {
		got = append(got, operations...)
	}
	var want []string
	for _, o := range slices.Concat(contract.GlobalOperations(), contract.ModelOperations()) {
		readOnly := w.endpoint.Spec.Database.Access == v1alpha1.DatabaseReadOnly
		journal := w.endpoint.Spec.Audit != nil || o.Needs != contract.NeedsAudit && o.Needs != contract.NeedsJournal
		approves := o.Needs != contract.NeedsApprovals // the walk's endpoint asks nobody
		if journal && approves && (!readOnly || !o.Writes()) {
			want = append(want, o.Name)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if got = slices.Compact(got); !slices.Equal(got, want) {
		t.Errorf("the lists have %v, want %v", got, want)
	}
}

// holdRights holds what can says of each model against the lists of tokens with other rights.
func (w *walk) holdRights(t *testing.T, listed map[string]lists) {
	t.Helper()
	granted := func(grants []compile.Grant, name string) bool {
		return slices.ContainsFunc(grants, func(g compile.Grant) bool { return g.Granted && (g.Name == name || name == "") })
	}
	named, all := w.can("named"), w.can("all")
	for i := range all.Models {
		model := all.Models[i].Model
		operations := fmt.Sprint(w.exposures[slices.IndexFunc(w.exposures, func(e v1alpha1.MCPModelExposure) bool { return e.Name == model })].Spec.Operations)
		hold := func(what string, said, does bool) {
			t.Helper()
			if said != does {
				t.Errorf("a model that offers %s: can says of %s %t, the server does %t", operations, what, said, does)
			}
		}
		hold("view", granted(named.Models[i].Verbs, "view"), len(listed["named"][model]) > 0)
		hold("rows", named.Models[i].Rows.All, len(listed["named"][model]) > 0)
		hold("the report", granted(named.Models[i].Reports, ""), slices.Contains(listed["named"][model], "report"))
		hold("an action", granted(all.Models[i].Actions, ""), slices.Contains(listed["all"][model], "action"))
		for verb, token := range map[string]string{"add": "adds", "change": "changes", "delete": "deletes"} {
			hold(verb, granted(w.can(token).Models[i].Verbs, verb), !slices.Equal(listed[token][model], listed["view"][model]))
		}
	}
}

// holdCount holds the counted tools of a token against its list.
func (w *walk) holdCount(t *testing.T, token string, listed lists) {
	t.Helper()
	said := w.can(token).Tools
	global := slices.DeleteFunc(slices.Clone(listed[""]), func(name string) bool { return !contract.FindOperation(name).Global })
	if said.Most != listed.count() || !slices.Equal(said.Global, global) {
		t.Errorf("%s: can says %d tools, with %v; the list has %d, with %v", token, said.Most, said.Global, listed.count(), global)
	}
}

// In each style, the counted tools are the listed ones: Auto goes by the same count in both.
func TestToolsAreCountedAsTheyAreListed(t *testing.T) {
	w := newWalk()
	w.exposures[0].Spec.Pinned, w.exposures[3].Spec.Pinned = new(true), new(true)
	config, _ := w.compiled(t)
	database, _ := harness.OnFile(t, t.TempDir()+"/data.sqlite", w.script)
	served := harness.Serve(t, database, config.Models, config.Tokens)
	most := w.can("all").Tools.Most
	for name, style := range map[string]v1alpha1.CatalogueSpec{
		"model by model": {Style: v1alpha1.CataloguePerModel}, "generic": {Style: v1alpha1.CatalogueGeneric},
		"just short enough": {Style: v1alpha1.CatalogueAuto, MaxTools: int32(most)}, "one too many": {Style: v1alpha1.CatalogueAuto, MaxTools: int32(most - 1)},
	} {
		w.endpoint.Spec.Catalogue = style
		served.Apply(func(c *contract.Config) {
			c.Endpoint.Catalogue = contract.Catalogue{Style: string(style.Style), MaxTools: int(style.MaxTools)}
		})
		for _, token := range slices.Sorted(maps.Keys(w.tokens)) {
			t.Run(name+" of "+token, func(t *testing.T) { w.holdCount(t, token, listsOf(t, served, w.tokens[token])) })
		}
	}
}
