package compile_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
)

// edited is the token as it comes from the API server after an edit.
func edited(t *v1alpha1.MCPToken, change func(*v1alpha1.MCPTokenSpec)) *v1alpha1.MCPToken {
	next := t.DeepCopy()
	next.Generation++
	change(&next.Spec)
	return next
}

func TestAChangeIsWrittenWhereItIsAndNowhereElse(t *testing.T) {
	in := large(3, 2000)
	c, objects := compiler(in)
	c.Update(objects)
	if wrote := store(t, c, objects); len(wrote) != 17 || wrote[len(wrote)-1] != compile.MainPart {
		t.Fatalf("the first parts: %v", wrote)
	}
	for name, change := range map[string]struct {
		do     func(*compile.Objects)
		main   bool
		parts  int
		tokens int
		urgent bool
	}{
		"nothing":  {func(*compile.Objects) {}, false, 0, 0, false},
		"a status": {func(o *compile.Objects) { o.Tokens[3] = o.Tokens[3].DeepCopy() }, false, 0, 0, false},
		"a token revoked": {func(o *compile.Objects) {
			o.Tokens[3] = edited(o.Tokens[3], func(s *v1alpha1.MCPTokenSpec) { s.Active = new(false) })
		}, false, 1, 1, true},
		"a token gone": {func(o *compile.Objects) { o.Tokens = o.Tokens[1:] }, false, 1, 1, true},
		"a token added": {func(o *compile.Objects) {
			added, known := token("zoe", 0, func(s *v1alpha1.MCPTokenSpec) { s.Groups = nil }), o.Credential
			o.Tokens = append(o.Tokens, &added)
			text := compile.TextCredential(contract.NewToken())
			o.Credential = func(t *v1alpha1.MCPToken) *compile.Credential {
				if t.Name == "zoe" {
					return &text
				}
				return known(t)
			}
		}, false, 1, 1, false},
		"a group of many tokens": {func(o *compile.Objects) {
			e := o.Endpoint.DeepCopy()
			e.Generation++
			e.Spec.Groups[5].Permissions[0].Verbs = []v1alpha1.Verb{v1alpha1.VerbView}
			o.Endpoint = e
		}, true, 0, 0, true},
		"a model added": {func(o *compile.Objects) {
			added := exposure("zebra", 0)
			o.Exposures = append(o.Exposures, &added)
		}, true, 0, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			c, objects := compiler(in)
			c.Update(objects)
			store(t, c, objects)
			change.do(&objects)
			out := c.Update(objects)
			pending := c.Pending()
			main := slices.ContainsFunc(pending, func(p compile.Pending) bool { return p.Index == compile.MainPart })
			parts := len(pending)
			if main {
				parts--
			}
			urgent := len(pending) > 0 && pending[0].Urgent
			if main != change.main || parts != change.parts || len(out.Tokens) != change.tokens || urgent != change.urgent {
				t.Errorf("main %v, %d parts, urgent %v, %d tokens wake: %+v", main, parts, urgent, len(out.Tokens), pending)
			}
		})
	}
}

// A token's reconciler waits until its generation and its text were looked at: it hears of it even if nothing changes.
func TestWhatATokensReconcilerWaitsForIsTold(t *testing.T) {
	in := large(4, 40)
	c, objects := compiler(in)
	nothing := compile.Credential{Reason: v1alpha1.ReasonWaitingForToken}
	first, known := objects.Tokens[0], objects.Credential
	given := nothing
	objects.Credential = func(t *v1alpha1.MCPToken) *compile.Credential {
		if t.Name == first.Name {
			return &given
		}
		return known(t)
	}
	c.Update(objects)
	refused := compile.Credential{Reason: v1alpha1.ReasonOwnershipConflict}
	objects.Credential = func(t *v1alpha1.MCPToken) *compile.Credential {
		if t.Name == first.Name {
			return &refused
		}
		return known(t)
	}
	if out := c.Update(objects); len(out.Tokens) != 1 || out.Tokens[0].Name != first.Name {
		t.Errorf("another reason why there is no text: %v", out.Tokens)
	}
	objects.Tokens[0] = edited(first, func(s *v1alpha1.MCPTokenSpec) { s.Secret = &v1alpha1.TokenSecretSpec{Type: "mine"} })
	if out := c.Update(objects); len(out.Tokens) != 1 || out.Tokens[0].Name != first.Name {
		t.Errorf("an edit that changes nothing in the Config: %v", out.Tokens)
	}
	if out := c.Update(objects); len(out.Tokens) != 0 {
		t.Errorf("nothing: %v", out.Tokens)
	}
}

func TestALayoutGrowsWithoutAMomentWithoutATokenOrWithARevokedOne(t *testing.T) {
	in := large(1, 200)
	c, objects := compiler(in)
	c.Update(objects)
	store(t, c, objects)
	more := large(0, 500)
	for i := range more.Tokens {
		more.Tokens[i].Name = fmt.Sprint("more-", i)
		objects.Tokens = append(objects.Tokens, &more.Tokens[i])
	}
	c.Update(objects)
	published, parts := c.Layout()
	if published.Parts != 1 || parts != 4 {
		t.Fatalf("%+v is told while %d parts are being made", published, parts)
	}
	wrote := store(t, c, objects)
	if want := []int{1, 2, 3, compile.MainPart}; !slices.Equal(wrote, want) {
		t.Errorf("written in the order %v, want %v", wrote, want)
	}
	if published, _ = c.Layout(); published != (contract.Layout{Parts: 4, Before: 1}) {
		t.Fatalf("the layout is %+v", published)
	}
	// A pod may still read the first part alone: it has all tokens, and a revocation reaches it there too.
	if held := len(c.TokenPart(0).Tokens); held != 200 { // the others were never looked up
		t.Errorf("the first part has %d tokens", held)
	}
	at := slices.IndexFunc(objects.Tokens, func(t *v1alpha1.MCPToken) bool { return contract.PartOf(t.Namespace, t.Name, 4) == 2 })
	objects.Tokens[at] = edited(objects.Tokens[at], func(s *v1alpha1.MCPTokenSpec) { s.Active = new(false) })
	c.Update(objects)
	if wrote := store(t, c, objects); !slices.Equal(wrote, []int{0, 2}) {
		t.Errorf("a revocation is written to %v", wrote)
	}
	c.Settle()
	c.Update(objects)
	if wrote := store(t, c, objects); !slices.Equal(wrote, []int{compile.MainPart}) {
		t.Errorf("the end of the growth is written to %v", wrote)
	}
	objects.Tokens[at] = edited(objects.Tokens[at], func(s *v1alpha1.MCPTokenSpec) { s.Active = nil })
	c.Update(objects)
	if wrote := store(t, c, objects); !slices.Equal(wrote, []int{2}) {
		t.Errorf("after the growth a token is written to %v", wrote)
	}
}

func TestAPartThatIsLostWaitsForItsLivingTokens(t *testing.T) {
	in := large(1, 3)
	c, objects := compiler(in)
	known := objects.Credential
	for _, object := range objects.Tokens {
		object.Status.Revision = 7 // it was in force before the manager started
	}
	looked := 0
	objects.Credential = func(t *v1alpha1.MCPToken) *compile.Credential {
		if slices.Index(objects.Tokens, t) < looked {
			return known(t)
		}
		return nil
	}
	for ; looked < 3; looked++ {
		c.Update(objects)
		if slices.ContainsFunc(c.Pending(), func(p compile.Pending) bool { return p.Index == 0 }) {
			t.Fatalf("the part is written when %d of 3 tokens were looked up", looked)
		}
	}
	c.Update(objects)
	store(t, c, objects)
	if tokens := c.TokenPart(0).Tokens; len(tokens) != 3 || len(tokens[2].Hashes) == 0 {
		t.Errorf("%+v", tokens)
	}
}

func TestModelsThatDoNotFitAreLeftOutFromTheYoungest(t *testing.T) {
	in := large(10, 0)
	for i := range in.Exposures {
		in.Exposures[i].CreationTimestamp = metav1.NewTime(now.Add(time.Duration(-i) * time.Minute))
	}
	c, objects := compiler(in)
	c.Update(objects)
	c.MainTooLarge()
	c.Update(objects)
	if n := len(c.Main().Models); n != 9 {
		t.Fatalf("%d models", n)
	}
	key := types.NamespacedName{Namespace: "shop", Name: "model-0"}
	if v := c.Exposures()[key]; v.Accepted || v.Reason != v1alpha1.ReasonConfigTooLarge {
		t.Errorf("the youngest: %+v", v)
	}
	if len(c.Main().Endpoint.WithheldTables) != 1 {
		t.Error("its table may be written by what others delete")
	}
}
