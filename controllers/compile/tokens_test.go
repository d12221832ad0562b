package compile_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
)

func TestASecretThatCannotBeReadTakesNoTokenAway(t *testing.T) {
	text := contract.NewToken()
	in := compile.Inputs{
		Endpoint: endpoint(), StatusKey: "status", SealKey: contract.NewSealKey(), Now: now,
		Tokens:      []v1alpha1.MCPToken{token("agent", time.Hour), token("new", time.Minute)},
		Credentials: map[types.NamespacedName]compile.Credential{key("agent"): compile.TextCredential(text)},
	}
	in.Previous, _ = compile.Compile(in)
	in.Credentials = map[types.NamespacedName]compile.Credential{key("agent"): compile.UnsureCredential()}
	config, verdicts := compile.Compile(in)
	if config.Revision != in.Previous.Revision || !verdicts.Tokens[key("agent")].InForce {
		t.Errorf("the Config changed: %+v", config.Tokens)
	}
	if verdicts.Tokens[key("new")].InForce {
		t.Error("a token that was never looked up is in force")
	}
}

// A manager that starts knows the stored Config before it has read a token's Secret.
func TestTheEntryOfATokenThatIsNotInForceStaysUntilItsSecretIsRead(t *testing.T) {
	for name, change := range map[string]func(*v1alpha1.MCPTokenSpec){
		"inactive": func(s *v1alpha1.MCPTokenSpec) { s.Active = new(bool) },
		"expired":  func(s *v1alpha1.MCPTokenSpec) { s.Expiry = &before },
	} {
		t.Run(name, func(t *testing.T) {
			in := compile.Inputs{
				Endpoint: endpoint(), StatusKey: "status", SealKey: contract.NewSealKey(), Now: now,
				Tokens:      []v1alpha1.MCPToken{token("agent", time.Hour, change)},
				Credentials: map[types.NamespacedName]compile.Credential{key("agent"): compile.TextCredential(contract.NewToken())},
			}
			in.Previous, _ = compile.Compile(in)
			if sums := in.Previous.Tokens[0].RefusedSums; len(sums) != 1 || in.Previous.Tokens[0].InForce() {
				t.Fatalf("the entry does not tell whose text is refused: %+v", in.Previous.Tokens[0])
			}
			for name, credentials := range map[string]map[types.NamespacedName]compile.Credential{
				"not read yet": nil, "not to be read": {key("agent"): compile.UnsureCredential()},
			} {
				in.Credentials = credentials
				if config, _ := compile.Compile(in); config.Revision != in.Previous.Revision || !reflect.DeepEqual(config.Tokens, in.Previous.Tokens) {
					t.Errorf("%s: got revision %d and %+v, want %d and %+v", name, config.Revision, config.Tokens, in.Previous.Revision, in.Previous.Tokens)
				}
			}
		})
	}
}

// What tells whose text is refused is no hash of it, and is there as long as the token is not in force and its text is known.
func TestARefusedTokenIsKnownByWhatLetsNobodyIn(t *testing.T) {
	text := contract.NewToken()
	agent, pod := token("agent", time.Hour), token("pod", time.Hour, func(s *v1alpha1.MCPTokenSpec) { s.ServiceAccountRef = &v1alpha1.ServiceAccountReference{Name: "pod"} })
	in := compile.Inputs{
		Endpoint: endpoint(), StatusKey: "status", SealKey: contract.NewSealKey(), Now: now,
		Tokens: []v1alpha1.MCPToken{agent, pod}, Credentials: map[types.NamespacedName]compile.Credential{key("agent"): compile.TextCredential(text)},
	}
	compiled := func(change func(*v1alpha1.MCPToken)) []contract.Token {
		t.Helper()
		for i := range in.Tokens {
			change(&in.Tokens[i])
			in.Tokens[i].Generation++
		}
		config, _ := compile.Compile(in)
		in.Previous = config
		return config.Tokens
	}
	for _, entry := range compiled(func(*v1alpha1.MCPToken) {}) {
		if !entry.InForce() || entry.RefusedSums != nil {
			t.Errorf("in force: %+v", entry)
		}
	}
	entries := compiled(func(t *v1alpha1.MCPToken) { t.Spec.Active = new(bool) })
	for i, hash := range []string{contract.HashToken(text), contract.HashToken((&contract.Identity{ServiceAccount: "shop/pod"}).Key())} {
		if got, want := entries[i].RefusedSums, []string{contract.RefusedSum(hash)}; entries[i].InForce() || !slices.Equal(got, want) || want[0] == hash {
			t.Errorf("not active: %+v, want the sums %v", entries[i], want)
		}
	}
	in.Credentials[key("agent")] = compile.NoCredential(v1alpha1.SecretKeyReference{Name: "agent", Key: "token"}, false)
	if entries = compiled(func(*v1alpha1.MCPToken) {}); entries[0].RefusedSums != nil {
		t.Errorf("its Secret was deleted, and so is its text: %+v", entries[0])
	}
	in.Credentials[key("agent")] = compile.TextCredential(text)
	for _, entry := range compiled(func(t *v1alpha1.MCPToken) { t.Spec.Active = nil }) {
		if !entry.InForce() || entry.RefusedSums != nil {
			t.Errorf("in force again: %+v", entry)
		}
	}
}

func TestATokenThatWaitsExpiresToo(t *testing.T) {
	expiry := metav1.NewTime(now.Add(time.Hour))
	for _, c := range []struct {
		name   string
		change func(*v1alpha1.MCPTokenSpec)
		want   time.Time
	}{
		{"in force", func(*v1alpha1.MCPTokenSpec) {}, expiry.Time},
		{"without its group", func(s *v1alpha1.MCPTokenSpec) { s.Groups = []string{"nobody"} }, expiry.Time},
		{"inactive, which it stays", func(s *v1alpha1.MCPTokenSpec) { s.Active = new(bool) }, time.Time{}},
		{"expired, which it stays", func(s *v1alpha1.MCPTokenSpec) { s.Expiry = &before }, time.Time{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			agent := token("agent", time.Hour, func(s *v1alpha1.MCPTokenSpec) { s.Expiry = &expiry }, c.change)
			_, verdicts := compile.Compile(compile.Inputs{
				Endpoint: endpoint(), Tokens: []v1alpha1.MCPToken{agent}, StatusKey: "status", SealKey: contract.NewSealKey(), Now: now,
				Credentials: map[types.NamespacedName]compile.Credential{key("agent"): compile.TextCredential(contract.NewToken())},
			})
			if !verdicts.LookAgain.Equal(c.want) {
				t.Errorf("look again: %v, want %v", verdicts.LookAgain, c.want)
			}
		})
	}
}

func TestVerdictsOnTokens(t *testing.T) {
	inactive := func(s *v1alpha1.MCPTokenSpec) { s.Active = new(bool) }
	expires := func(at time.Time) func(*v1alpha1.MCPTokenSpec) {
		return func(s *v1alpha1.MCPTokenSpec) { s.Expiry = &metav1.Time{Time: at} }
	}
	sameText := credentials("agent")
	sameText[key("elder")] = sameText[key("agent")]
	for name, row := range map[string]struct {
		tokens      []v1alpha1.MCPToken
		credentials map[types.NamespacedName]compile.Credential
		want        compile.TokenVerdict
	}{
		"inactive": {
			tokens: []v1alpha1.MCPToken{token("agent", 0, inactive)},
			want:   compile.TokenVerdict{Verdict: compile.Verdict{Accepted: true, Reason: "Inactive", Message: "the token is not active"}},
		},
		"expired this very moment": {
			tokens: []v1alpha1.MCPToken{token("agent", 0, expires(now))},
			want:   compile.TokenVerdict{Verdict: compile.Verdict{Accepted: true, Reason: "Expired", Message: "the token expired at 2026-01-02T03:04:05Z"}},
		},
		"not yet expired": {
			tokens: []v1alpha1.MCPToken{token("agent", 0, expires(now.Add(time.Nanosecond)))},
			want:   compile.TokenVerdict{Verdict: compile.Verdict{Accepted: true, Reason: "Accepted"}, InForce: true},
		},
		"of an unknown group": {
			tokens: []v1alpha1.MCPToken{token("agent", 0, func(s *v1alpha1.MCPTokenSpec) { s.Groups = append(s.Groups, "nobody") })},
			want:   compile.TokenVerdict{Verdict: compile.Verdict{Reason: "GroupNotFound", Message: `MCPEndpoint shop has no group "nobody"`}},
		},
		"without a text": {
			tokens:      []v1alpha1.MCPToken{token("agent", 0)},
			credentials: map[types.NamespacedName]compile.Credential{key("agent"): {Reason: "SecretNotFound"}},
			want:        compile.TokenVerdict{Verdict: compile.Verdict{Accepted: true, Reason: "Accepted"}},
		},
		"not looked up yet": {
			tokens:      []v1alpha1.MCPToken{token("agent", 0)},
			credentials: credentials(),
			want:        compile.TokenVerdict{Verdict: compile.Verdict{Accepted: true, Reason: "Accepted"}},
		},
		"with the text of an older one": {
			tokens:      []v1alpha1.MCPToken{token("agent", 0), token("elder", time.Hour)},
			credentials: sameText,
			want:        compile.TokenVerdict{Verdict: compile.Verdict{Reason: "Conflicted", Message: `the token has the same text as MCPToken "elder", which is older`}},
		},
		"with the text of an older one that was revoked": {
			tokens:      []v1alpha1.MCPToken{token("agent", 0), token("elder", time.Hour, inactive)},
			credentials: sameText,
			want:        compile.TokenVerdict{Verdict: compile.Verdict{Reason: "Conflicted", Message: `the token has the same text as MCPToken "elder", which is older`}},
		},
		"one that bypassed validation": {
			tokens: []v1alpha1.MCPToken{token("agent", 0, func(s *v1alpha1.MCPTokenSpec) { s.Permissions = []v1alpha1.PermissionRule{{}} })},
			want:   compile.TokenVerdict{Verdict: compile.Verdict{Reason: "Invalid", Message: "rules[0].models: is missing"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := inputs()
			in.Tokens = row.tokens
			if row.credentials != nil {
				in.Credentials = row.credentials
			}
			config, verdicts := compile.Compile(in)
			if row.want.Revision = 1; name == "not looked up yet" {
				row.want.Revision = 0 // it has no entry until it was
			}
			if got := verdicts.Tokens[key("agent")]; !reflect.DeepEqual(got, row.want) {
				t.Errorf("verdict: %+v, want %+v", got, row.want)
			}
			entry := config.FindToken("shop", "agent", "uid-agent")
			if entry == nil {
				entry = &contract.Token{}
			}
			if in := len(entry.Hashes) > 0 && len(entry.Groups) > 0; in != row.want.InForce {
				t.Errorf("entry: %+v", entry)
			}
			if !row.want.InForce && (entry.Hashes != nil || entry.Rules != nil || entry.Expiry != nil) {
				t.Errorf("an entry that is not in force says more than who it is: %+v", entry)
			}
		})
	}
}

func TestCredentials(t *testing.T) {
	generated := "mcp_0123456789abcdef.0123456789abcdef0123456789abcdef0123456789a"
	for name, row := range map[string]struct {
		credential       compile.Credential
		hash, id, reason string
	}{
		"a generated text":      {compile.TextCredential(generated), contract.HashToken(generated), "mcp_0123456789abcdef", ""},
		"with an end of line":   {compile.TextCredential(generated + "\n"), contract.HashToken(generated), "mcp_0123456789abcdef", ""},
		"a text of one's own":   {compile.TextCredential(strings.Repeat("x", 32)), contract.HashToken(strings.Repeat("x", 32)), "", ""},
		"one too short":         {compile.TextCredential(strings.Repeat("x", 31)), "", "", "TokenTooShort"},
		"a hash":                {compile.HashCredential(" " + strings.ToUpper(contract.HashToken("x")) + "\n"), contract.HashToken("x"), "", ""},
		"something that is not": {compile.HashCredential("x"), "", "", "Invalid"},
	} {
		t.Run(name, func(t *testing.T) {
			got := row.credential
			if strings.Join(got.Hashes, " ") != row.hash || got.PublicID != row.id || got.Reason != row.reason {
				t.Errorf("%+v", got)
			}
		})
	}
}
