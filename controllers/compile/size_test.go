package compile_test

import (
	"crypto/rand"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
)

// large are the inputs of an endpoint with models that use all that an exposure offers, and tokens of a hundred groups.
func large(models, tokens int) compile.Inputs {
	in := inputs()
	in.Exposures, in.Tokens, in.Credentials = nil, nil, make(map[types.NamespacedName]compile.Credential, tokens)
	in.Endpoint.Spec.Groups = nil
	for g := range 100 {
		in.Endpoint.Spec.Groups = append(in.Endpoint.Spec.Groups, v1alpha1.Group{
			Name:        fmt.Sprintf("group-%d", g),
			Permissions: []v1alpha1.PermissionRule{{Models: []string{fmt.Sprintf("model_%d", g), fmt.Sprintf("model_%d", g+50)}, Verbs: []v1alpha1.Verb{"view", "change"}}},
		})
	}
	for i := range models {
		e := exposure(fmt.Sprintf("model-%d", i), time.Hour, eloquent)
		e.UID = randomUID()
		in.Exposures = append(in.Exposures, e)
	}
	for i := range tokens {
		t := token(fmt.Sprintf("agent-of-tenant-%d", i), time.Hour, func(s *v1alpha1.MCPTokenSpec) {
			s.Groups = []string{fmt.Sprintf("group-%d", i%100)}
			s.Attributes = map[string]v1alpha1.AttributeValue{"tenant": v1alpha1.AttributeValue(fmt.Sprintf("tenant-%d", i))}
		})
		t.UID = randomUID()
		in.Tokens = append(in.Tokens, t)
		in.Credentials[key(t.Name)] = compile.TextCredential(contract.NewToken())
	}
	return in
}

// randomUID is one that compresses as badly as those of Kubernetes.
func randomUID() types.UID {
	var b [16]byte
	rand.Read(b[:])
	return types.UID(fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]))
}

// eloquent makes an exposure say something of each of thirty columns, with policies, actions and inlines.
func eloquent(s *v1alpha1.MCPModelExposureSpec) {
	s.Description = "What a customer ordered, and where it stands. Prices are in euro."
	s.Expose, s.VersionField, s.DisplayField = new(true), "version", "number"
	for i := range 30 {
		column := fmt.Sprintf("column_%d", i)
		s.Fields.Overrides = append(s.Fields.Overrides, v1alpha1.FieldOverride{
			Name: column, Description: "What column " + column + " of " + s.Table.Name + " holds, in a sentence.",
			Choices: []v1alpha1.Choice{{Value: "open", Label: "Open"}, {Value: "paid", Label: "Paid"}},
		})
		s.SearchFields = append(s.SearchFields, column)
	}
	s.Inlines = []v1alpha1.InlineSpec{{Model: "model_1"}, {Model: "model_2"}}
	for i := range 5 {
		s.Actions = append(s.Actions, v1alpha1.ActionSpec{
			Name: fmt.Sprintf("action_%d", i), Description: "Does something to the selected rows.",
			Parameters: []v1alpha1.ParameterSpec{{Name: "reason", Type: "String", Presence: v1alpha1.ParameterRequired}},
			SQL:        &v1alpha1.SQLActionSpec{Statement: "update " + s.Table.Name + " set state = :reason, changed = now() where id in (:ids)"},
		})
		s.RowPolicies = append(s.RowPolicies, v1alpha1.RowPolicy{
			Name: fmt.Sprintf("policy-%d", i), Groups: []string{fmt.Sprintf("group-%d", i)},
			Filters: []v1alpha1.RowFilter{{Field: "tenant", TokenAttribute: "tenant"}},
		})
	}
}

func TestALargeEndpointFitsIntoOneSecret(t *testing.T) {
	parts, err := contract.Encode(mustCompile(t, large(200, 10000)), 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("200 models and 10,000 tokens are %d bytes of at most %d", len(parts[0][contract.PartKeyConfig]), contract.MaxPartBytes)
}

// BenchmarkLargeEndpoint compiles and encodes 200 such models and 10,000 tokens, of which one is revoked.
func BenchmarkLargeEndpoint(b *testing.B) {
	in := large(200, 10000)
	in.Previous, _ = compile.Compile(in)
	in.Tokens[500].Spec.Active = new(bool)
	for b.Loop() {
		config, _ := compile.Compile(in)
		if config.Revision != 2 {
			b.Fatal(config.Revision)
		}
		if _, err := contract.Encode(config, 1); err != nil {
			b.Fatal(err)
		}
	}
}
