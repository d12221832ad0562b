package lint

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const endpoint = `apiVersion: mcpadmin.dev/v1alpha1
kind: MCPEndpoint
metadata: {name: shop, namespace: shop}
spec:
  database: {sqlite: {emptyDir: {}}}
  groups:
  - name: readers
    permissions: [{models: [order], verbs: [view]}]
`

const exposure = `apiVersion: mcpadmin.dev/v1alpha1
kind: MCPModelExposure
metadata: {name: order, namespace: shop}
spec:
  endpointRef: {name: shop}
  table: {name: orders}
  expose: true
`

// lint runs the command over files, and returns what it printed and its error.
func lint(t *testing.T, files map[string]string, flags ...string) (string, error) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, content := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	command := Command()
	command.SetOut(&out)
	command.SetErr(&out)
	command.SilenceUsage, command.SilenceErrors = true, true
	command.SetArgs(append([]string{"-f", "."}, flags...))
	err := command.ExecuteContext(t.Context())
	return out.String(), err
}

func TestFindingsHaveTheirPlace(t *testing.T) {
	for name, c := range map[string]struct {
		added string
		want  []string
	}{
		"a field that does not exist": {exposure + "  fields: {hide: [a]}\n", []string{"a.yaml:17: error: MCPModelExposure shop/order: spec.fields.hide: Forbidden: there is no such field"}},
		"a value of another type":     {exposure + "  limits:\n    maxPageSize: many\n", []string{"a.yaml:18: error: MCPModelExposure shop/order: spec.limits.maxPageSize: "}},
		"a value that is not allowed": {exposure + "  totalCount: Never\n", []string{"a.yaml:17: error: MCPModelExposure shop/order: spec.totalCount: Unsupported value"}},
		"a rule of the schema":        {exposure + token("groups: [readers]", "ttl: 1h", `expiry: "2036-01-01T00:00:00Z"`), []string{"a.yaml:21: error: MCPToken shop/agent: spec: Invalid value: at most one of expiry and ttl"}},
		"a list with doubles":         {exposure + token("groups: [readers, readers]"), []string{"a.yaml:23: error: MCPToken shop/agent: spec.groups[1]: Duplicate value"}},
		"a group that does not exist": {exposure + token("groups: [reader]"), []string{`a.yaml:23: error: MCPToken shop/agent: spec.groups: MCPEndpoint shop has no group "reader"`}},
		"a group of a row policy": {exposure + "  rowPolicies: [{name: mine, groups: [staff], allRows: true}]\n",
			[]string{`a.yaml:17: error: MCPModelExposure shop/order: spec.rowPolicies: row policy "mine" is for group "staff"`}},
		"a model that does not exist": {exposure + token("permissions: [{models: [ordr], verbs: [view]}]"),
			[]string{`a.yaml:18: warning: MCPToken shop/agent: spec.permissions names the model "ordr", which does not exist. The nearest is "order".`}},
		"two exposures of one table": {exposure + "---\n" + strings.ReplaceAll(exposure, "name: order,", "name: purchase,"),
			[]string{`error: MCPModelExposure shop/purchase: spec: table "orders" belongs to MCPModelExposure "order"`}},
		"an endpoint that is not there": {exposure + strings.ReplaceAll(token("groups: [readers]"), "{name: shop}", "{name: shp}"),
			[]string{"a.yaml:22: warning: MCPToken shop/agent: spec.endpointRef.name: the files hold no MCPEndpoint shop/shp"}},
		"examples of a masked field": {exposure + "  fields: {masked: [{name: a}], overrides: [{name: a, examples: Shown}]}\n",
			[]string{"error: MCPModelExposure shop/order: spec.fields: Invalid value: examples would show values of a field that is masked; remove examples, or the field from masked"}},
		"a question that writes": {exposure + "  questions: [{ask: Why, call: {tool: delete, arguments: {id: 1}}}]\n",
			[]string{`error: MCPModelExposure shop/order: spec.questions[0].call.tool: Unsupported value: "delete"`}},
		"a namespace that is not allowed": {exposure + strings.NewReplacer("namespace: shop", "namespace: other", "{name: shop}", "{name: shop, namespace: shop}").Replace(token("groups: [readers]")),
			[]string{"MCPToken other/agent: spec.endpointRef.namespace: MCPEndpoint shop/shop does not allow tokens of namespace other"}},
		"a kind that does not exist": {"---\n" + strings.ReplaceAll(exposure, "MCPModelExposure", "MCPModel"), []string{"a.yaml:11: error: MCPModel shop/order: kind: mcpadmin.dev/v1alpha1 has no kind MCPModel"}},
		"an object given twice":      {exposure + "---\n" + exposure, []string{"a.yaml:20: error: MCPModelExposure shop/order: it is in a.yaml, line 12, too"}},
		"a key given twice":          {exposure + "---\na: 1\na: 2\n", []string{`a.yaml:19: error: it cannot be read: key "a" already set in map`}},
		"no YAML":                    {exposure + "---\na: [\n", []string{"error: it cannot be read: "}},
		"no object":                  {exposure + "---\na: 1\n", []string{"a.yaml:18: error: it is no object of Kubernetes"}},
	} {
		added := c.added
		if !strings.HasPrefix(added, "---") {
			added = "---\n" + added
		}
		out, err := lint(t, map[string]string{"a.yaml": endpoint + added})
		wantError := slices.ContainsFunc(c.want, func(w string) bool { return strings.Contains(w, "error: ") || !strings.Contains(w, "warning") })
		if (err != nil) != wantError {
			t.Errorf("%s: ends with %v", name, err)
		}
		for _, want := range c.want {
			if !strings.Contains(out, want) {
				t.Errorf("%s: the output lacks\n%s\n%s", name, want, out)
			}
		}
	}
}

// A policy that cannot be judged holds everything back, and one for a token that is not there nothing.
func TestNamesInApprovalPoliciesAreChecked(t *testing.T) {
	const policies = `  idempotency: {table: {name: kept}}
  approvals:
  - name: good
    match: {models: [order], operations: [update], groups: [readers], tokens: [agent]}
  - name: a-model
    match:
      models: [ordr]
  - name: an-action
    match: {operations: ["action:refnd"]}
  - name: a-group
    match: {groups: [reader]}
  - name: a-token
    match: {tokens: [agnt]}
---
`
	out, err := lint(t, map[string]string{"a.yaml": endpoint + policies + exposure + token("groups: [readers]")})
	if err != nil {
		t.Errorf("it ends with %v", err)
	}
	for _, want := range []string{
		`a.yaml:14: warning: MCPEndpoint shop/shop: spec.approvals[1].match: match.models: the endpoint serves no model "ordr"`,
		`a.yaml:17: warning: MCPEndpoint shop/shop: spec.approvals[2].match: match.operations: none of the models has an action "refnd"`,
		`a.yaml:19: warning: MCPEndpoint shop/shop: spec.approvals[3].match: match.groups: the endpoint has no group "reader"`,
		`warning: MCPEndpoint shop/shop: The approval policy "a-token" names the token "agnt", which does not exist. The nearest is "agent".`,
		"0 errors, 4 warnings\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks\n%s\n%s", want, out)
		}
	}
}

// token is a document with an MCPToken that has the lines in its spec.
func token(lines ...string) string {
	text := "---\napiVersion: mcpadmin.dev/v1alpha1\nkind: MCPToken\nmetadata: {name: agent, namespace: shop}\nspec:\n  endpointRef: {name: shop}\n"
	for _, line := range lines {
		text += "  " + line + "\n"
	}
	return text
}

func TestLikelyMistakesAreWarnings(t *testing.T) {
	line := strings.NewReplacer("name: order,", "name: line,", "orders", "order_line").Replace(exposure)
	for name, c := range map[string]struct{ manifests, want string }{
		"a model that is not exposed": {exposure + "---\n" + strings.ReplaceAll(line, "  expose: true\n", ""),
			"a.yaml:21: warning: MCPModelExposure shop/line: spec: expose is not set, so tools/list does not show the model."},
		"a model that is not to be exposed": {exposure + "---\n" + strings.ReplaceAll(line, "expose: true", "expose: false"), "0 warnings"},
		"a relation to a model that is not there": {exposure + "  relations: [{name: buyer, columns: [buyer], model: customer}]\n",
			`a.yaml:17: warning: MCPModelExposure shop/order: spec.relations[0].model: the endpoint has no model "customer", so that nobody can follow the relation.`},
		"rows of guarded rows that nothing guards": {exposure + "  inlines: [{model: line}]\n  rowPolicies: [{name: mine, groups: [readers], filters: [{field: id, value: \"1\"}]}]\n---\n" + line,
			`a.yaml:18: warning: MCPModelExposure shop/order: spec.rowPolicies: they guard "order" alone. Rows of "line" belong to its rows`},
	} {
		out, err := lint(t, map[string]string{"a.yaml": endpoint + "---\n" + c.manifests})
		if err != nil || !strings.Contains(out, c.want) {
			t.Errorf("%s: ends with %v, and the output lacks\n%s\n%s", name, err, c.want, out)
		}
	}
}

func TestGoodManifestsHaveNoFindings(t *testing.T) {
	samples, err := filepath.Abs("../../../config/samples")
	if err != nil {
		t.Fatal(err)
	}
	report, err := check(t.Context(), []string{samples}, "default")
	if err != nil || len(report.Findings) > 0 || report.Objects < 8 {
		t.Errorf("%+v, %v", report, err)
	}
	out, err := lint(t, map[string]string{"endpoint.yaml": endpoint, "models/order.yaml": exposure, "notes.txt": "no manifest", ".git/x.yaml": "{"})
	if want := "2 objects in 2 files: 0 errors, 0 warnings\n"; err != nil || out != want {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestAModelOfABrokenExposureIsNotReportedAsMissing(t *testing.T) {
	out, err := lint(t, map[string]string{"a.yaml": endpoint + "---\n" + exposure + "  nonsense: 1\n"})
	if err == nil || strings.Contains(out, "does not exist") || strings.Contains(out, "warning:") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestFindingsAreAnnotationsOfAWorkflow(t *testing.T) {
	out, err := lint(t, map[string]string{"a,b.yaml": endpoint + "---\n" + exposure + "  nonsense: 1\n"}, "-o", "github")
	if want := "::error file=a%2Cb.yaml,line=17,title=MCPModelExposure shop/order::spec.nonsense: Forbidden: there is no such field\n"; err == nil || out != want {
		t.Errorf("%v\n%s\nwant\n%s", err, out, want)
	}
}

func TestWarningsCountIfTheyAreToldTo(t *testing.T) {
	files := map[string]string{"a.yaml": endpoint + "---\n" + strings.ReplaceAll(exposure, "  expose: true\n", "")}
	if out, err := lint(t, files); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if _, err := lint(t, files, "--strict"); err == nil || err.Error() != "1 warning" {
		t.Errorf("--strict ends with %v", err)
	}
}

func TestManyObjectsAreChecked(t *testing.T) {
	all := endpoint
	for i := range 300 {
		all += "---\n" + strings.NewReplacer("name: order,", fmt.Sprintf("name: order-%d,", i), "orders", fmt.Sprintf("orders_%d", i)).Replace(exposure)
	}
	out, _ := lint(t, map[string]string{"a.yaml": all})
	if !strings.Contains(out, "301 objects in 1 file: 0 errors") {
		t.Errorf("%s", out)
	}
}

func TestMeaningsAreCheckedAgainstTheirExposure(t *testing.T) {
	const spec = `  fields:
    exclude: [a]
    masked: [{name: b}]
    overrides: [{name: a, reads: Date}, {name: b, reads: Text}, {name: c, examples: Shown}, {name: d, reads: Integer}]
  operations: [aggregate, describe]
  relations:
  - {name: near, columns: [d, b], model: order, references: [e, f]}
  measures:
  - {name: revenue, measure: {sum: total}}
  - {name: basket, measure: {ratio: [revenu, orders]}}
  - {name: growth, measure: {change: revenue}}
  - {name: part, measure: {share: revenue}}
  segments: [{name: open, filters: {status: open}}]
  questions:
  - {ask: How much, call: {tool: aggregate, arguments: {measures: [revenue], segments: [open]}}}
  - {ask: Which, call: {tool: list}}
  - {ask: How many, call: {tool: aggregate, arguments: {measures: {r: revenue, o: orders, n: {count: "*"}}}}}
  - {ask: Late ones, call: {tool: aggregate, arguments: {measures: [revenue], segments: [opne]}}}
`
	out, err := lint(t, map[string]string{"a.yaml": endpoint + "---\n" + exposure + spec})
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{
		"spec.fields.overrides[0].reads: it has no effect: the field is hidden; remove reads.",
		"spec.fields.overrides[1].reads: it has no effect: the field is masked; remove reads.",
		"spec.fields.overrides[2].examples: it has no effect: spec.operations has neither list nor get",
		"spec.relations[0].columns[1]: nobody can follow the relation: b is masked; show the column, or remove the relation.",
		`spec.measures[1].measure: ratio is of other declared measures: there is no measure "revenu" in spec.measures; the nearest is revenue.`,
		"spec.measures[2].measure: change is of the groups of a call, so that it cannot be declared",
		"spec.questions[1].call.tool: spec.operations does not have list",
		`spec.questions[2].call.arguments: there is no measure "orders" in spec.measures`,
		`spec.questions[3].call.arguments: there is no segment "opne" in spec.segments; the nearest is open.`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if n := strings.Count(out, "warning: "); n != 9 {
		t.Errorf("%d warnings, want 9:\n%s", n, out)
	}
}
