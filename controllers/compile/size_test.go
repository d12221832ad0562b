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

// randomUID returns a UID that compresses as badly as the UIDs of Kubernetes.
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

func TestALargeEndpointFitsIntoItsParts(t *testing.T) {
	in := large(500, 10000)
	main, err := contract.EncodeMain(mustCompile(t, in))
	if err != nil {
		t.Fatal(err)
	}
	c, objects := compiler(in)
	c.Update(objects)
	largest := 0
	for _, p := range c.Pending() {
		if p.Index == compile.MainPart {
			continue
		}
		part, err := contract.EncodeTokens(c.TokenPart(p.Index))
		if err != nil {
			t.Fatal(err)
		}
		largest = max(largest, len(part[contract.PartKeyConfig]))
	}
	if largest > 32<<10 {
		t.Errorf("a change of one of 10,000 tokens writes %d bytes", largest)
	}
	t.Logf("500 models are %d bytes of at most %d, and the largest part of 10,000 tokens %d", len(main[contract.PartKeyConfig]), contract.MaxPartBytes, largest)
}

// compiler is one that has everything to compile yet, and its objects.
func compiler(in compile.Inputs) (*compile.Compiler, compile.Objects) {
	objects := compile.Objects{Endpoint: in.Endpoint, Webhooks: in.Webhooks, Now: in.Now}
	for i := range in.Exposures {
		objects.Exposures = append(objects.Exposures, &in.Exposures[i])
	}
	given := map[types.UID]*compile.Credential{}
	for i := range in.Tokens {
		t := &in.Tokens[i]
		objects.Tokens = append(objects.Tokens, t)
		if credential, ok := in.Credentials[types.NamespacedName{Namespace: t.Namespace, Name: t.Name}]; ok {
			given[t.UID] = &credential
		}
	}
	objects.Credential = func(t *v1alpha1.MCPToken) *compile.Credential { return given[t.UID] }
	return compile.NewCompiler(compile.Stored{StatusKey: in.StatusKey, SealKey: in.SealKey}), objects
}

// store does what the config reconciler does, and returns the parts that it wrote in their order.
func store(t testing.TB, c *compile.Compiler, objects compile.Objects) []int {
	t.Helper()
	var wrote []int
	for {
		pending := c.Pending()
		if len(pending) == 0 {
			return wrote
		}
		wrote = append(wrote, pending[0].Index)
		if pending[0].Index == compile.MainPart {
			c.Written(compile.MainPart, c.Main().Revision)
		} else {
			c.Written(pending[0].Index, c.TokenPart(pending[0].Index).Revision)
		}
		c.Update(objects)
	}
}

// BenchmarkOneTokenOfMany revokes one of many tokens beside 500 models, and brings it back: what compiling that costs, and
// encoding the part.
func BenchmarkOneTokenOfMany(b *testing.B) {
	for _, tokens := range []int{100, 10_000} {
		b.Run(fmt.Sprint(tokens), func(b *testing.B) {
			c, objects := compiler(large(500, tokens))
			c.Update(objects)
			store(b, c, objects)
			for b.Loop() {
				changed := *objects.Tokens[50]
				changed.Generation++
				changed.Spec.Active = new(changed.Generation%2 == 0)
				objects.Tokens[50] = &changed
				told := objects
				told.Tokens, told.Changed = objects.Tokens[50:51], []types.NamespacedName{{Namespace: changed.Namespace, Name: changed.Name}}
				if out := c.Update(told); len(out.Tokens) != 1 {
					b.Fatalf("got %d: %v, want %d", len(out.Tokens), out.Tokens, 1)
				}
				pending := c.Pending()
				if len(pending) != 1 {
					b.Fatalf("got %d: %v, want %d", len(pending), pending, 1)
				}
				part := c.TokenPart(pending[0].Index)
				if _, err := contract.EncodeTokens(part); err != nil {
					b.Fatal(err)
				}
				c.Written(pending[0].Index, part.Revision)
			}
		})
	}
}
