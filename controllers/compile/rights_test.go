package compile_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
)

func TestRightsAreCounted(t *testing.T) {
	shown := func(s *v1alpha1.MCPModelExposureSpec) { s.Expose = new(true) }
	all := []v1alpha1.MCPModelExposure{exposure("customer", 3*time.Hour, shown), exposure("order", 2*time.Hour, shown), exposure("log", time.Hour)}
	permit := func(rules ...v1alpha1.PermissionRule) func(*v1alpha1.MCPTokenSpec) {
		return func(s *v1alpha1.MCPTokenSpec) { s.Groups, s.Permissions = nil, rules }
	}
	for name, row := range map[string]struct {
		exposures []v1alpha1.MCPModelExposure
		style     v1alpha1.CatalogueSpec
		change    func(*v1alpha1.MCPTokenSpec)
		want      compile.Rights
	}{
		"of a group":            {all, v1alpha1.CatalogueSpec{}, func(*v1alpha1.MCPTokenSpec) {}, compile.Rights{Models: 1, Verbs: []v1alpha1.Verb{"view"}, Tools: 8}},
		"all":                   {all, v1alpha1.CatalogueSpec{}, permit(v1alpha1.PermissionRule{Models: []string{"*"}, Verbs: []v1alpha1.Verb{"*"}}), compile.Rights{Models: 3, Verbs: []v1alpha1.Verb{"view", "add", "change", "delete"}, Tools: 2 + 2*12}},
		"all, and export":       {all, v1alpha1.CatalogueSpec{}, permit(v1alpha1.PermissionRule{Models: []string{"*"}, Verbs: []v1alpha1.Verb{"*", "export"}}), compile.Rights{Models: 3, Verbs: []v1alpha1.Verb{"view", "add", "change", "delete", "export"}, Tools: 2 + 2*12}},
		"of a model that hides": {all, v1alpha1.CatalogueSpec{}, permit(v1alpha1.PermissionRule{Models: []string{"log"}, Verbs: []v1alpha1.Verb{"add"}}), compile.Rights{Models: 1, Verbs: []v1alpha1.Verb{"add"}, Tools: 1}},
		"of a model not there":  {all, v1alpha1.CatalogueSpec{}, permit(v1alpha1.PermissionRule{Models: []string{"nothing"}, Verbs: []v1alpha1.Verb{"view"}}), compile.Rights{Tools: 1}},
		"none":                  {all, v1alpha1.CatalogueSpec{}, permit(), compile.Rights{Tools: 1}},
		"in a generic list":     {all, v1alpha1.CatalogueSpec{Style: "Generic"}, permit(v1alpha1.PermissionRule{Models: []string{"*"}, Verbs: []v1alpha1.Verb{"view"}}), compile.Rights{Models: 3, Verbs: []v1alpha1.Verb{"view"}, Tools: 8}},
		"of more than fit":      {all, v1alpha1.CatalogueSpec{MaxTools: 10}, permit(v1alpha1.PermissionRule{Models: []string{"*"}, Verbs: []v1alpha1.Verb{"view"}}), compile.Rights{Models: 3, Verbs: []v1alpha1.Verb{"view"}, Tools: 8}},
		"of nothing at all":     {nil, v1alpha1.CatalogueSpec{}, permit(v1alpha1.PermissionRule{Models: []string{"*"}, Verbs: []v1alpha1.Verb{"view"}}), compile.Rights{}},
	} {
		t.Run(name, func(t *testing.T) {
			got, inForce := rights(row.exposures, row.style, token("agent", time.Hour, row.change))
			if !inForce || !reflect.DeepEqual(got, row.want) {
				t.Errorf("%+v, want %+v", got, row.want)
			}
		})
	}
	if _, inForce := rights(all, v1alpha1.CatalogueSpec{}, token("agent", 0, func(s *v1alpha1.MCPTokenSpec) { s.Active = new(bool) })); inForce {
		t.Error("a token that is not in force has rights")
	}
}

// rights compiles one token and returns what it may do.
func rights(exposures []v1alpha1.MCPModelExposure, style v1alpha1.CatalogueSpec, agent v1alpha1.MCPToken) (compile.Rights, bool) {
	e, credential := endpoint(), compile.TextCredential(contract.NewToken())
	e.Spec.Catalogue = style
	objects := compile.Objects{
		Endpoint: e, Tokens: []*v1alpha1.MCPToken{&agent}, Now: now,
		Credential: func(*v1alpha1.MCPToken) *compile.Credential { return &credential },
	}
	for i := range exposures {
		objects.Exposures = append(objects.Exposures, &exposures[i])
	}
	c := compile.NewCompiler(compile.Stored{StatusKey: "status", SealKey: contract.NewSealKey()})
	c.Update(objects)
	return c.Rights(key("agent"))
}

func TestWhichNamespacesAreAdmitted(t *testing.T) {
	team := &v1alpha1.NamespaceSelector{MatchLabels: map[string]v1alpha1.LabelValue{"team": "a"}}
	none := &v1alpha1.NamespaceSelector{MatchExpressions: []v1alpha1.NamespaceRequirement{{Key: "closed", Operator: "DoesNotExist"}}}
	for name, row := range map[string]struct {
		allowed   *v1alpha1.AllowedTokens
		namespace string
		labels    map[string]string
		want      bool
	}{
		"its own":                             {nil, "shop", nil, true},
		"another":                             {nil, "away", map[string]string{}, false},
		"the same, another":                   {allowed("Same", nil), "away", map[string]string{}, false},
		"all":                                 {allowed("All", nil), "away", map[string]string{}, true},
		"with the label":                      {allowed("Selector", team), "away", map[string]string{"team": "a"}, true},
		"with another label":                  {allowed("Selector", team), "away", map[string]string{"team": "b"}, false},
		"not known":                           {allowed("Selector", none), "away", nil, false},
		"without the label":                   {allowed("Selector", none), "away", map[string]string{}, true},
		"with it":                             {allowed("Selector", none), "away", map[string]string{"closed": ""}, false},
		"by a selector that bypassed the API": {allowed("Selector", &v1alpha1.NamespaceSelector{}), "away", map[string]string{}, false},
		"from a place that does not exist":    {allowed("Everywhere", nil), "away", map[string]string{}, false},
	} {
		e := endpoint()
		e.Spec.AllowedTokens = row.allowed
		if got := compile.Admits(e, row.namespace, row.labels); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func allowed(from v1alpha1.FromNamespaces, selector *v1alpha1.NamespaceSelector) *v1alpha1.AllowedTokens {
	return &v1alpha1.AllowedTokens{Namespaces: v1alpha1.TokenNamespaces{From: from, Selector: selector}}
}
