package access

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/identity"
)

func TestClaimsGiveAttributesAndGroups(t *testing.T) {
	token := forCallers("staff", contract.Identity{
		Issuer: "corp", Claims: map[string]string{"org": "shop"},
		Attributes: map[string]string{"mail": "claims.email", "city": "claims.city", "who": "subject", "broken": "claims.("},
		Groups:     "claims.groups", Among: []string{"clerks", "readers"},
	})
	token.Groups, token.Attributes = []string{"everyone"}, map[string]string{"shop": "1", "city": "Rome"}
	all := identities(token)
	for _, tc := range []struct {
		name       string
		claims     map[string]any
		groups     []string
		attributes map[string]string
	}{
		{"all that there is", map[string]any{"email": "ann@example.com", "city": "Oslo", "groups": []any{"readers", "clerks"}},
			[]string{"everyone", "clerks", "readers"}, map[string]string{"mail": "ann@example.com", "city": "Oslo", "who": "ann", "shop": "1"}},
		{"nothing", nil, []string{"everyone"}, map[string]string{"who": "ann", "shop": "1"}},
		{"groups that do not count", map[string]any{"groups": []any{"admins", "everyone", "Clerks"}}, []string{"everyone"}, map[string]string{"who": "ann", "shop": "1"}},
		{"one group as a text", map[string]any{"groups": "clerks"}, []string{"everyone", "clerks"}, map[string]string{"who": "ann", "shop": "1"}},
		{"what is no text", map[string]any{"email": 7.0, "city": []any{"Oslo"}, "groups": 7.0}, []string{"everyone"}, map[string]string{"who": "ann", "shop": "1"}},
		{"a text that is too long", map[string]any{"email": strings.Repeat("x", 10_000)}, []string{"everyone"}, map[string]string{"who": "ann", "shop": "1"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			claims := maps.Clone(tc.claims)
			if claims == nil {
				claims = map[string]any{}
			}
			claims["org"] = "shop"
			got, refused := all.Identify(subject("ann", claims), moment)
			if got.IsNobody() {
				t.Fatalf("nobody is let in: %s", refused.Reason)
			}
			attributes := map[string]string{}
			for _, a := range got.holder.attributes {
				attributes[a.name] = a.value
			}
			if !slices.Equal(got.holder.set.groups, tc.groups) || !maps.Equal(attributes, tc.attributes) {
				t.Errorf("groups %q, attributes %q", got.holder.set.groups, attributes)
			}
		})
	}
	if set := all.directory.find(hash{}); set != nil {
		t.Error("nothing is found as a text")
	}
}

func TestRulesOfGroupsThatClaimsGiveHold(t *testing.T) {
	token := forCallers("staff", contract.Identity{Issuer: "corp", Claims: map[string]string{"org": "shop"}, Groups: "claims.groups", Among: []string{"clerks"}})
	view := contract.Group{Name: "clerks", Rules: []contract.Rule{{Models: []string{"a"}, Verbs: []string{"view"}}}}
	_, models := tokens()
	config := &contract.Config{Tokens: []contract.Token{token}, Groups: []contract.Group{view}}
	d := DirectoryOf(config)
	all := NewTokens(config, d, models)
	clerk := subject("ann", map[string]any{"org": "shop", "groups": []any{"clerks"}})
	guest := subject("ben", map[string]any{"org": "shop"})
	verbs := func(all *Tokens, c *identity.Caller) Verbs {
		t.Helper()
		token, refused := all.Identify(c, moment)
		if token.IsNobody() {
			t.Fatalf("nobody is let in: %s", refused.Reason)
		}
		return token.Verbs(models.Model("a"))
	}
	if verbs(all, clerk) != View || verbs(all, guest) != 0 {
		t.Error("the group's rules do not hold, or for the others, too")
	}
	// The same caller under changed groups, and then under changed tokens.
	view.Rules[0].Verbs = []string{"add"}
	if got := verbs(NewTokens(&contract.Config{Groups: []contract.Group{view}}, d, models), clerk); got != Add {
		t.Errorf("under changed groups the verbs are %v", got)
	}
	token.Identity = new(*token.Identity)
	token.Identity.Among = []string{"others"}
	if got := verbs(all.With(d.With([]*contract.TokenPart{{Tokens: []contract.Token{token}}})), clerk); got != 0 {
		t.Errorf("under a changed token the verbs are %v", got)
	}
	gone, _ := all.With(d.With([]*contract.TokenPart{{}})).Identify(clerk, moment)
	if !gone.IsNobody() {
		t.Error("a caller is let in whose token was deleted")
	}
}

func TestCallersOfOneTokenAreToldApart(t *testing.T) {
	all := identities(forCallers("staff", contract.Identity{Issuer: "corp", Claims: map[string]string{"org": "shop"}}))
	seen := map[string]string{}
	long := strings.Repeat("x", 5000)
	for _, name := range []string{"ann", "ann ", "änn", "a\\u00e4nn", `\u00e4nn`, "ann\n", "ann\x00", "ann as ben", long, long + "y", long[:197] + "...", "\xff", "�"} {
		token, _ := all.Identify(subject(name, map[string]any{"org": "shop"}), moment)
		if token.IsNobody() {
			t.Fatalf("%q is nobody", name)
		}
		caller := token.Caller()
		if other, twice := seen[caller]; twice {
			t.Errorf("%q and %q are both %s", name, other, caller)
		}
		seen[caller] = name
		if strings.ContainsFunc(caller, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsPrint(r) }) || len(caller) > 300 {
			t.Errorf("%q is not short and plain", caller)
		}
		if token.Name() != "own/staff" || token.Subject() != name {
			t.Errorf("the name is %q, the subject %q", token.Name(), token.Subject())
		}
	}
	byText, _ := tokens(contract.Token{Namespace: "ns", Name: "t", Hashes: []string{contract.HashToken(text)}})
	if token := byText.Authenticate("Bearer "+text, moment); token.Caller() != "ns/t" || token.Subject() != "" {
		t.Errorf("a token with a text is %q with the subject %q", token.Caller(), token.Subject())
	}
}

func TestCallersThatNobodyRemembersAreForgotten(t *testing.T) {
	all := identities(forCallers("staff", contract.Identity{Issuer: "corp", Claims: map[string]string{"org": "shop"}}))
	claims := map[string]any{"org": "shop"}
	collected := make(chan struct{})
	func() {
		one := subject("one", claims)
		runtime.AddCleanup(one, func(struct{}) { close(collected) }, struct{}{})
		all.Identify(one, moment)
	}()
	for i := range 3 * maxVisitors {
		all.Identify(subject(fmt.Sprint(i), claims), moment)
		if n := len(all.visitors.byCaller); n > maxVisitors {
			t.Fatalf("%d visitors are remembered", n)
		}
	}
	runtime.GC()
	runtime.GC()
	select {
	case <-collected:
	default:
		t.Error("a caller is kept in memory")
	}
}

// Many requests of one caller at the same time see the same, and the race detector sees nothing.
func TestACallerMayComeManyTimesAtOnce(t *testing.T) {
	all := identities(forCallers("staff", contract.Identity{
		Issuer: "corp", Claims: map[string]string{"org": "shop"}, Attributes: map[string]string{"who": "subject"}, Groups: "claims.groups", Among: []string{"clerks"},
	}))
	ann := subject("ann", map[string]any{"org": "shop", "groups": "clerks"})
	seen := make([]Token, 50)
	var running sync.WaitGroup
	for i := range seen {
		running.Go(func() { seen[i], _ = all.Identify(ann, moment) })
	}
	running.Wait()
	for _, token := range seen {
		who, _ := token.holder.attribute("who")
		if token != seen[0] || who != "ann" || !token.holder.in("clerks") {
			t.Fatalf("%s is %q", token.Caller(), who)
		}
	}
}

// BenchmarkIdentify finds the token of a caller who comes again, and of one who was never seen.
func BenchmarkIdentify(b *testing.B) {
	const count = 10_000
	list := manyCallers(count, func(i int) contract.Identity {
		return contract.Identity{
			Issuer: "ci", Claims: map[string]string{"repository": fmt.Sprint("org/repository-", i), "ref": "refs/heads/main"},
			Attributes: map[string]string{"who": "subject"},
		}
	})
	config := &contract.Config{Endpoint: contract.Endpoint{Namespace: "agents"}}
	all := NewTokens(config, NewDirectory().With(partsOf(contract.PartsFor(count), 1, list)), catalog.Build(config, nil))
	callers := make([]*identity.Caller, 1000)
	for i := range callers {
		callers[i] = &identity.Caller{Issuer: "ci", Subject: fmt.Sprint("repo:", i), Claims: map[string]any{
			"repository": fmt.Sprint("org/repository-", i*10), "ref": "refs/heads/main", "sub": fmt.Sprint("repo:", i),
		}}
	}
	b.Run("again", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if token, refused := all.Identify(callers[i%len(callers)], moment); token.IsNobody() {
				b.Fatalf("nobody is let in: %s", refused.Reason)
			}
		}
	})
	b.Run("first", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			all.visitors = &visitors{}
			if token, refused := all.Identify(callers[i%len(callers)], moment); token.IsNobody() {
				b.Fatalf("nobody is let in: %s", refused.Reason)
			}
		}
	})
}
