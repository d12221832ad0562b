package compile_test

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
)

// grown is a compiler whose layout began to grow while the tokens of one endpoint were stored in one part, and that has
// compiled as many new ones since.
func grown(t *testing.T, tokens int) (*compile.Compiler, compile.Objects, []*v1alpha1.MCPToken) {
	t.Helper()
	in, more := large(1, tokens), large(0, tokens)
	for i := range more.Tokens {
		more.Tokens[i].Name = "new-" + more.Tokens[i].Name
	}
	for name, credential := range more.Credentials {
		name.Name = "new-" + name.Name
		in.Credentials[name] = credential
	}
	old := len(in.Tokens)
	in.Tokens = append(in.Tokens, more.Tokens...)
	c, objects := compiler(in)
	all := objects.Tokens
	objects.Tokens = all[:old]
	c.Update(objects)
	store(t, c, objects)
	if !c.TooLarge(0) {
		t.Fatal("the layout does not grow")
	}
	objects.Tokens = all
	c.Update(objects)
	return c, objects, all[old:]
}

func names(tokens []contract.Token) []string {
	var names []string
	for _, t := range tokens {
		names = append(names, t.Name)
	}
	return names
}

func nameOf(t *v1alpha1.MCPToken) types.NamespacedName {
	return types.NamespacedName{Namespace: t.Namespace, Name: t.Name}
}

func TestThePartsThatThereAreDoNotTakeTheTokensThatComeWhileTheLayoutGrows(t *testing.T) {
	c, objects, added := grown(t, 40)
	first := names(c.TokenPart(0).Tokens)
	for _, token := range added {
		own := contract.PartOf(token.Namespace, token.Name, 4)
		if in := slices.Contains(first, token.Name); in != (own == 0) {
			t.Errorf("%s of part %d is in the first part: %v", token.Name, own, in)
		}
		if own == 0 {
			continue
		}
		if c.StoredToken(token.Namespace, token.Name) || c.NeedsLayout(nameOf(token)) != 4 {
			t.Errorf("%s counts as stored before pods are told of its part", token.Name)
		}
	}
	if had := len(first); had < 40 {
		t.Fatalf("the first part has %d tokens left", had)
	}
	store(t, c, objects)
	at := slices.IndexFunc(objects.Tokens, func(t *v1alpha1.MCPToken) bool {
		return t == added[0] || contract.PartOf(t.Namespace, t.Name, 4) == 2 && slices.Contains(added, t)
	})
	leaver := objects.Tokens[at]
	objects.Tokens = slices.Delete(slices.Clone(objects.Tokens), at, at+1)
	c.Update(objects)
	if wrote := store(t, c, objects); !slices.Equal(wrote, []int{contract.PartOf(leaver.Namespace, leaver.Name, 4)}) {
		t.Errorf("a token that lies in part %d alone is taken away from %v", contract.PartOf(leaver.Namespace, leaver.Name, 4), wrote)
	}
	c.Settle()
	c.Update(objects)
	store(t, c, objects)
	for _, token := range objects.Tokens {
		if !c.StoredToken(token.Namespace, token.Name) || c.NeedsLayout(nameOf(token)) != 0 {
			t.Errorf("%s is not stored at the end", token.Name)
		}
	}
}

func TestAGrowthThatIsNotToldYetCanBecomeLarger(t *testing.T) {
	c, objects, _ := grown(t, 40)
	if !c.TooLarge(1) {
		t.Fatal("a new part that does not fit stops the growth for ever")
	}
	c.Update(objects)
	store(t, c, objects)
	if published, _ := c.Layout(); published != (contract.Layout{Parts: 16, Before: 1}) {
		t.Fatalf("%+v", published)
	}
	if c.TooLarge(1) {
		t.Error("it grows again while pods read the first parts")
	}
	expectParts(t, c)
}

// A manager that takes over amid a growth knows which tokens the parts from before do not have.
func TestAGrowthOutlivesTheManager(t *testing.T) {
	c, objects, added := grown(t, 40)
	store(t, c, objects)
	_, parts := c.Layout()
	stored := compile.Stored{Main: c.Main()}
	for i := range parts {
		stored.Parts = append(stored.Parts, c.TokenPart(i))
	}
	next := compile.NewCompiler(stored)
	next.Update(objects)
	if pending := next.Pending(); len(pending) > 0 {
		t.Errorf("it writes %v", pending)
	}
	for _, token := range added {
		if got, want := next.NeedsLayout(nameOf(token)), c.NeedsLayout(nameOf(token)); got != want {
			t.Errorf("%s needs %d parts, and needed %d", token.Name, got, want)
		}
	}
	expectParts(t, next)
}

func TestWhatIsTakenAwayIsWrittenWithoutWhatDoesNotFit(t *testing.T) {
	for _, leaner := range []bool{false, true} {
		in := large(1, 6)
		c, objects := compiler(in)
		added := objects.Tokens[4:]
		objects.Tokens = objects.Tokens[:4]
		c.Update(objects)
		store(t, c, objects)
		stored := c.TokenPart(0)
		leaver, larger := objects.Tokens[0], objects.Tokens[1]
		objects.Tokens = append([]*v1alpha1.MCPToken{
			edited(larger, func(s *v1alpha1.MCPTokenSpec) { s.Attributes["more"] = "of them" }), objects.Tokens[2], objects.Tokens[3],
		}, added...)
		c.Update(objects)
		reduced := c.Reduced(0, stored, leaner)
		if got := names(reduced.Tokens); len(got) != 3 || slices.Contains(got, leaver.Name) {
			t.Fatalf("written are %q", got)
		}
		at := slices.IndexFunc(reduced.Tokens, func(t contract.Token) bool { return t.Name == larger.Name })
		if reduced.Tokens[at].InForce() == leaner {
			t.Errorf("leaner %v: the token that became larger is in force: %v", leaner, !leaner)
		}
		c.WroteReduced(reduced)
		if got := c.StoredRevision(0); got != reduced.Revision || got <= stored.Revision {
			t.Errorf("revision %d is stored", got)
		}
		pending := c.Pending()
		if len(pending) != 1 || pending[0].Urgent || c.RevisionOf(0) <= reduced.Revision {
			t.Errorf("what is left to write: %+v", pending)
		}
		waiting := slices.Clone(added)
		if leaner {
			waiting = append(waiting, larger)
		}
		for _, token := range objects.Tokens {
			waits := slices.ContainsFunc(waiting, func(w *v1alpha1.MCPToken) bool { return w.Name == token.Name })
			if c.StoredToken(token.Namespace, token.Name) == waits {
				t.Errorf("leaner %v: %s counts as stored: %v", leaner, token.Name, waits)
			}
		}
		store(t, c, objects)
		if len(c.TokenPart(0).Tokens) != 5 || len(c.Pending()) > 0 {
			t.Error("the rest is not written")
		}
	}
}
