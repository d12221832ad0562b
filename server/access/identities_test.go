package access

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/identity"
)

// moment is the tests' clock.
var moment = time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)

// forCallers is a token of the namespace "own" unless the name has another.
func forCallers(name string, i contract.Identity) contract.Token {
	namespace, short, other := strings.Cut(name, "/")
	if !other {
		namespace, short = "own", name
	}
	return contract.Token{Namespace: namespace, Name: short, Identity: &i}
}

// identities are the tokens of an endpoint in the namespace "own".
func identities(tokens ...contract.Token) *Tokens {
	config := &contract.Config{Tokens: tokens, Endpoint: contract.Endpoint{Namespace: "own"}}
	return TokensOf(config, catalog.Build(config, nil))
}

func subject(name string, claims map[string]any) *identity.Caller {
	return &identity.Caller{Issuer: "corp", Subject: name, Claims: claims}
}

func TestTheMostSpecificTokenIsFound(t *testing.T) {
	past := moment
	expired := forCallers("expired", contract.Identity{Issuer: "corp", Subject: "late"})
	expired.Expiry = &past
	all := identities(
		forCallers("clerk", contract.Identity{ServiceAccount: "shop/clerk"}),
		forCallers("ann", contract.Identity{Issuer: "corp", Subject: "ann"}),
		forCallers("other-ann", contract.Identity{Issuer: "other", Subject: "ann"}),
		forCallers("staff", contract.Identity{Issuer: "corp", Claims: map[string]string{"groups": "staff"}}),
		forCallers("admins", contract.Identity{Issuer: "corp", Claims: map[string]string{"groups": "admin"}}),
		forCallers("leads", contract.Identity{Issuer: "corp", Claims: map[string]string{"groups": "staff", "/title/of": "lead"}}),
		forCallers("elsewhere/ben", contract.Identity{Issuer: "corp", Subject: "ben"}),
		forCallers("elsewhere/robot", contract.Identity{Issuer: "corp", Subject: "robot"}),
		forCallers("elsewhere/guests", contract.Identity{Issuer: "corp", Claims: map[string]string{"groups": "guest", "site": "b"}}),
		expired,
	)
	groups := func(names ...any) map[string]any { return map[string]any{"groups": names} }
	for _, tc := range []struct {
		name   string
		caller *identity.Caller
		want   string // a token, or the reason
	}{
		{"a ServiceAccount", &identity.Caller{ServiceAccount: "shop/clerk", Subject: "system:serviceaccount:shop:clerk"}, "own/clerk"},
		{"another ServiceAccount", &identity.Caller{ServiceAccount: "shop/cook", Subject: "system:serviceaccount:shop:cook"}, "no_mcptoken"},
		{"an issuer's subject that looks like a ServiceAccount", subject("system:serviceaccount:shop:clerk", nil), "no_mcptoken"},
		{"an issuer's subject named like one", subject("shop/clerk", nil), "no_mcptoken"},
		{"a subject", subject("ann", nil), "own/ann"},
		{"the same subject of another issuer", &identity.Caller{Issuer: "other", Subject: "ann"}, "own/other-ann"},
		{"a subject of an issuer without tokens", &identity.Caller{Issuer: "third", Subject: "ann"}, "no_mcptoken"},
		{"the subject goes before claims", subject("ann", groups("staff", "admin")), "own/ann"},
		{"a claim", subject("cid", groups("staff")), "own/staff"},
		{"a claim that is a text", subject("cid", map[string]any{"groups": "staff"}), "own/staff"},
		{"a part of a claim", subject("cid", groups("staf")), "no_mcptoken"},
		{"a claim of another name", subject("cid", map[string]any{"group": "staff"}), "no_mcptoken"},
		{"two claims go before one", subject("cid", map[string]any{"groups": []any{"staff"}, "title": map[string]any{"of": "lead"}}), "own/leads"},
		{"two claims also before another one", subject("cid", map[string]any{"groups": []any{"admin", "staff"}, "title": map[string]any{"of": "lead"}}), "own/leads"},
		{"two that are equal", subject("cid", groups("admin", "staff")), "ambiguous"},
		{"the same value twice", subject("cid", groups("staff", "staff")), "own/staff"},
		{"nobody's", subject("cid", nil), "no_mcptoken"},
		{"no subject", subject("", groups("staff")), "no_mcptoken"},
		{"an expired token", subject("late", nil), "no_mcptoken"},
		{"an expired token is passed over", subject("late", groups("staff")), "own/staff"},
		{"a token of another namespace", subject("robot", nil), "elsewhere/robot"},
		{"a token of another namespace takes nobody from the own ones", subject("ben", groups("staff")), "own/staff"},
		{"nor with more claims", subject("cid", map[string]any{"groups": []any{"guest", "staff"}, "site": "b"}), "own/staff"},
		{"else it counts", subject("cid", map[string]any{"groups": []any{"guest"}, "site": "b"}), "elsewhere/guests"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for range 2 { // the second time it is remembered
				token, refused := all.Identify(tc.caller, moment)
				got := string(refused.Reason)
				if !token.IsNobody() {
					got += token.Name()
				}
				if got != tc.want {
					t.Errorf("found %q, want %q", got, tc.want)
				}
				if refused.Reason == Ambiguous && refused.Tokens != [2]string{"own/admins", "own/staff"} && refused.Tokens != [2]string{"own/staff", "own/admins"} {
					t.Errorf("between %q", refused.Tokens)
				}
			}
		})
	}
}

// oracle reads the rules word by word (docs/design/rights.md, "Callers").
func oracle(tokens []contract.Token, caller *identity.Caller, now time.Time) string {
	has := func(name, value string) bool {
		switch claim := caller.Claims[name].(type) {
		case string:
			return claim == value
		case []any:
			return slices.Contains(claim, any(value))
		}
		return false
	}
	var found []contract.Token
	for _, t := range tokens {
		i := t.Identity
		if i == nil || t.Expiry != nil && !now.Before(*t.Expiry) {
			continue
		}
		matches := i.ServiceAccount == caller.ServiceAccount && i.Issuer == caller.Issuer
		if i.Issuer != "" {
			matches = matches && (i.Subject == "" || i.Subject == caller.Subject)
		}
		for name, value := range i.Claims {
			matches = matches && has(name, value)
		}
		if matches {
			found = append(found, t)
		}
	}
	before := func(a, b contract.Token) bool {
		if own := a.Namespace == "own"; own != (b.Namespace == "own") {
			return own
		}
		if (a.Identity.Subject != "") != (b.Identity.Subject != "") {
			return a.Identity.Subject != ""
		}
		return len(a.Identity.Claims) > len(b.Identity.Claims)
	}
	for _, t := range found {
		if !slices.ContainsFunc(found, func(o contract.Token) bool { return (o.Namespace != t.Namespace || o.Name != t.Name) && !before(t, o) }) {
			return t.Namespace + "/" + t.Name
		}
	}
	return ""
}

// TestACallerHasOneTokenOrNone changes random tokens part by part, and holds what random callers get against the oracle. Each
// token has a group of its own, so that a union of two would be seen.
func TestACallerHasOneTokenOrNone(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	randomIdentity := func() contract.Identity {
		switch r.IntN(4) {
		case 0:
			return contract.Identity{ServiceAccount: pick("a/x", "a/y", "b/x")}
		case 1:
			return contract.Identity{Issuer: pick("i", "j"), Subject: pick("x", "y", "a/x")}
		}
		i := contract.Identity{Issuer: pick("i", "j"), Claims: map[string]string{}}
		for range 1 + r.IntN(3) {
			i.Claims[pick("c", "d", "e")] = pick("x", "y", "")
		}
		return i
	}
	randomCaller := func() *identity.Caller {
		if r.IntN(4) == 0 {
			account := pick("a/x", "a/y", "b/x", "c/x")
			return &identity.Caller{ServiceAccount: account, Subject: "system:serviceaccount:" + strings.ReplaceAll(account, "/", ":")}
		}
		c := &identity.Caller{Issuer: pick("i", "j", "k"), Subject: pick("x", "y", "z", "a/x"), Claims: map[string]any{}}
		for _, name := range []string{"c", "d", "e"} {
			switch r.IntN(4) {
			case 0:
				c.Claims[name] = pick("x", "y", "z", "")
			case 1:
				c.Claims[name] = []any{pick("x", "y"), pick("y", "z", "")}
			case 2:
				c.Claims[name] = float64(1)
			}
		}
		return c
	}
	models := catalog.Build(&contract.Config{}, nil)
	config := &contract.Config{Endpoint: contract.Endpoint{Namespace: "own"}}
	found, nobody := 0, 0
	for range 20 {
		d := NewDirectory()
		tokens := map[string]contract.Token{}
		for step := range 40 {
			const parts = 4
			for range 1 + r.IntN(4) {
				name := fmt.Sprint(pick("own", "own", "far"), "/", r.IntN(12))
				delete(tokens, name)
				if i := randomIdentity(); !taken(tokens, i) && r.IntN(4) > 0 {
					token := forCallers(name, i)
					token.Groups = []string{name}
					if r.IntN(6) == 0 {
						token.Expiry = &moment
					}
					tokens[name] = token
				}
			}
			var list []contract.Token
			for _, token := range tokens {
				list = append(list, token)
			}
			d = d.With(partsOf(parts, int64(step+1), list))
			all := NewTokens(config, d, models)
			if d.HasIdentities() != (len(list) > 0) || d.HasServiceAccounts() != slices.ContainsFunc(list, func(t contract.Token) bool { return t.Identity.ServiceAccount != "" }) {
				t.Fatal("it is not told right whom there are tokens for")
			}
			for range 30 {
				caller := randomCaller()
				token, refused := all.Identify(caller, moment)
				want := oracle(list, caller, moment)
				if nameOf(token) != want || token.IsNobody() != (refused.Reason != "") {
					t.Fatalf("%+v is %q (%s), want %q among %+v", caller, nameOf(token), refused.Reason, want, list)
				}
				if token.IsNobody() {
					nobody++
					continue
				}
				found++
				if !slices.Equal(token.holder.set.groups, []string{want}) {
					t.Fatalf("%s has the groups %q", want, token.holder.set.groups)
				}
			}
		}
	}
	if found < 1000 || nobody < 1000 {
		t.Fatalf("%d found, %d not: the cases are too poor", found, nobody)
	}
}

// taken reports whether a token has the identity: the manager puts only one of them in force.
func taken(tokens map[string]contract.Token, i contract.Identity) bool {
	for _, t := range tokens {
		if t.Identity.Key() == i.Key() {
			return true
		}
	}
	return false
}

func TestATextIsNoCallerAndACallerNoText(t *testing.T) {
	identity := contract.Identity{ServiceAccount: "a-namespace-of-some-length/and-a-name"}
	claims := contract.Identity{Issuer: "an-issuer-with-a-long-name", Claims: map[string]string{"groups": "staff"}}
	byClaim := claimHash(issuerClaim{claims.Issuer, "groups"}, "staff")
	text := func(name string, sum [sha256.Size]byte) contract.Token {
		return contract.Token{Namespace: "own", Name: name, Hashes: []string{hex.EncodeToString(sum[:])}}
	}
	texts := identities(text("key", identityHash(&identity)), text("claim", byClaim))
	for _, caller := range callersOf(identity, claims) {
		if token, _ := texts.Identify(caller, moment); !token.IsNobody() {
			t.Errorf("the caller %+v is let in as the text of %s", caller, token.Name())
		}
	}
	callers := identities(forCallers("key", identity), forCallers("claim", claims))
	for _, caller := range callersOf(identity, claims) {
		if token, _ := callers.Identify(caller, moment); token.IsNobody() {
			t.Errorf("the caller %+v is not let in: the case is too poor", caller)
		}
	}
	for _, shown := range []string{identity.Key(), claims.Key(), `"claim""an-issuer-with-a-long-name""groups""staff"`, "system:serviceaccount:a-namespace-of-some-length:and-a-name", identity.ServiceAccount} {
		if token := callers.Authenticate("Bearer "+shown, moment); !token.IsNobody() {
			t.Errorf("the text %s is let in as the caller of %s", shown, token.Name())
		}
	}
	both := contract.Token{Namespace: "own", Name: "both", Hashes: []string{contract.HashToken(strings.Repeat("t", 40))}, Identity: &identity}
	if token := identities(both).Authenticate("Bearer "+strings.Repeat("t", 40), moment); !token.IsNobody() {
		t.Error("a token for a caller has a text, too")
	}
}

func callersOf(account, claims contract.Identity) []*identity.Caller {
	return []*identity.Caller{
		{ServiceAccount: account.ServiceAccount, Subject: "system:serviceaccount:x:y"},
		{Issuer: claims.Issuer, Subject: "ann", Claims: map[string]any{"groups": []any{"staff"}}},
	}
}

// While a part is missing, a token in it might go before the found one.
func TestACallerIsNotFoundByClaimsWhileAPartIsMissing(t *testing.T) {
	list := []contract.Token{
		forCallers("clerk", contract.Identity{ServiceAccount: "shop/clerk"}),
		forCallers("ann", contract.Identity{Issuer: "corp", Subject: "ann"}),
		forCallers("staff", contract.Identity{Issuer: "corp", Claims: map[string]string{"groups": "staff"}}),
		forCallers("far/ben", contract.Identity{Issuer: "corp", Subject: "ben"}),
	}
	parts := partsOf(16, 1, list)
	parts[slices.IndexFunc(parts, func(p *contract.TokenPart) bool { return len(p.Tokens) == 0 })] = nil
	config := &contract.Config{Endpoint: contract.Endpoint{Namespace: "own"}}
	all := NewTokens(config, NewDirectory().With(parts), catalog.Build(config, nil))
	for _, tc := range []struct {
		caller *identity.Caller
		want   identity.Refusal
	}{
		{&identity.Caller{ServiceAccount: "shop/clerk", Subject: "x"}, ""},
		{subject("ann", nil), ""},
		{subject("cid", map[string]any{"groups": "staff"}), Incomplete},
		{subject("ben", nil), Incomplete},
		{subject("nobody", nil), Incomplete},
	} {
		if token, refused := all.Identify(tc.caller, moment); refused.Reason != tc.want || token.IsNobody() != (tc.want != "") {
			t.Errorf("%+v: %q, want %q", tc.caller, refused.Reason, tc.want)
		}
	}
}

func TestATokenThatExpiresWhileItIsRememberedIsRefused(t *testing.T) {
	later := moment.Add(time.Minute)
	short := forCallers("short", contract.Identity{Issuer: "corp", Subject: "ann"})
	short.Expiry = &later
	all := identities(short, forCallers("staff", contract.Identity{Issuer: "corp", Claims: map[string]string{"groups": "staff"}}))
	ann, lead := subject("ann", nil), subject("ann", map[string]any{"groups": "staff"})
	for _, tc := range []struct {
		at           time.Time
		alone, staff string
	}{{moment, "own/short", "own/short"}, {later, "", "own/staff"}} {
		token, _ := all.Identify(ann, tc.at)
		other, _ := all.Identify(lead, tc.at)
		if nameOf(token) != tc.alone || nameOf(other) != tc.staff {
			t.Errorf("at %s: %q and %q", tc.at, nameOf(token), nameOf(other))
		}
	}
}

// manyCallers are tokens for as many callers, in one of ten groups as manyTokens are.
func manyCallers(count int, of func(i int) contract.Identity) []contract.Token {
	tokens := manyTokens(count)
	for i := range tokens {
		tokens[i].Hashes, tokens[i].PublicID = nil, ""
		tokens[i].Identity = new(of(i))
	}
	return tokens
}

func TestMemoryOfATokenForCallersIsBounded(t *testing.T) {
	const count = 20_000
	for name, of := range map[string]func(i int) contract.Identity{
		"a subject": func(i int) contract.Identity {
			return contract.Identity{Issuer: "corp", Subject: fmt.Sprint("user-", i)}
		},
		"a claim": func(i int) contract.Identity {
			return contract.Identity{Issuer: "corp", Claims: map[string]string{"repository": fmt.Sprint("org/repository-", i), "ref": "refs/heads/main"}}
		},
	} {
		heap := func() int64 {
			runtime.GC()
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return int64(m.HeapAlloc)
		}
		before := heap()
		parts := decoded(t, partsOf(contract.PartsFor(count), 1, manyCallers(count, of)))
		d := NewDirectory().With(parts)
		for _, p := range parts {
			p.Tokens = nil // as the source does
		}
		each := (heap() - before) / count
		t.Logf("%s: %d bytes a token", name, each)
		if each > 1200 || d.Len() != count {
			t.Errorf("%s: %d tokens take %d bytes each", name, d.Len(), each)
		}
		runtime.KeepAlive(d)
	}
}
