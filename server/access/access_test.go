package access

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

const text = "mcp_0123456789abcdef.0123456789012345678901234567890123456789abc"

// tokens compiles Config tokens over models a, b and c, of modules x, x and y.
func tokens(entries ...contract.Token) (*Tokens, *catalog.Catalog) {
	config := &contract.Config{Tokens: entries}
	schema := &database.Schema{Database: "d"}
	for _, name := range []string{"a", "b", "c"} {
		module := "x"
		if name == "c" {
			module = "y"
		}
		schema.Tables = append(schema.Tables, &database.Table{Name: name, Columns: []*database.Column{{Name: "id", Kind: database.Integer}}})
		config.Models = append(config.Models, contract.Model{Name: name, Exposure: name, Module: module, Table: name, DefaultPageSize: 1, MaxPageSize: 1})
	}
	models := catalog.Build(config, schema.GrantAll())
	return TokensOf(config, models), models
}

func TestOnlyALivingTokenAuthenticates(t *testing.T) {
	now := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	past, future := now.Add(-time.Second), now.Add(time.Second)
	entry := func(expiry *time.Time, hashes ...string) contract.Token {
		return contract.Token{Namespace: "ns", Name: "t", Hashes: hashes, Expiry: expiry}
	}
	valid := contract.HashToken(text)
	for _, tc := range []struct {
		name   string
		entry  contract.Token
		header string
		want   bool
	}{
		{"the token", entry(nil, valid), "Bearer " + text, true},
		{"the scheme in other letters", entry(nil, valid), "bEARER " + text, true},
		{"more than one space", entry(nil, valid), "Bearer   " + text + " ", true},
		{"before its expiry", entry(&future, valid), "Bearer " + text, true},
		{"one of two hashes", entry(nil, contract.HashToken("x"), valid), "Bearer " + text, true},
		{"at its expiry", entry(&now, valid), "Bearer " + text, false},
		{"after its expiry", entry(&past, valid), "Bearer " + text, false},
		{"without a hash", entry(nil), "Bearer " + text, false},
		{"no header", entry(nil, valid), "", false},
		{"no scheme", entry(nil, valid), text, false},
		{"another scheme", entry(nil, valid), "Basic " + text, false},
		{"another text", entry(nil, valid), "Bearer " + text + "x", false},
		{"other letters", entry(nil, valid), "Bearer " + strings.ToUpper(text), false},
		{"its hash", entry(nil, valid), "Bearer " + valid, false},
		{"the hash of nothing, and nothing", entry(nil, contract.HashToken("")), "Bearer ", false},
		{"the hash of nothing, and no header", entry(nil, contract.HashToken("")), "", false},
		{"a text that is too short", entry(nil, contract.HashToken("short")), "Bearer short", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			all, _ := tokens(tc.entry)
			if got := all.Authenticate(tc.header, now); got.IsNobody() == tc.want {
				t.Errorf("authenticated is %v, want %v", !got.IsNobody(), tc.want)
			}
		})
	}
}

// TestRightsAreWhatTheRulesSayAndNothingElse compares compiled rights with an oracle that reads docs/design/rights.md,
// "Rules" word by word, over random rules.
func TestRightsAreWhatTheRulesSayAndNothingElse(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(from ...string) []string {
		var some []string
		for _, s := range from {
			if r.IntN(3) == 0 {
				some = append(some, s)
			}
		}
		return some
	}
	module := map[string]string{"a": "x", "b": "x", "c": "y"}
	oracle := func(rules []contract.Rule, model, verb string) bool {
		return slices.ContainsFunc(rules, func(rule contract.Rule) bool {
			inModule := rule.Modules == nil || slices.Contains(rule.Modules, "*") || slices.Contains(rule.Modules, module[model])
			about := slices.Contains(rule.Models, "*") || slices.Contains(rule.Models, model)
			grants := slices.Contains(rule.Verbs, verb) || slices.Contains(rule.Verbs, "*") || verb == "view" && slices.Contains(rule.Verbs, "change")
			return inModule && about && grants
		})
	}
	verbs := map[string]Verbs{"view": View, "add": Add, "change": Change, "delete": Delete}
	granted := 0
	for i := range 5000 {
		var rules []contract.Rule
		for range r.IntN(4) {
			rules = append(rules, contract.Rule{Modules: pick("x", "y", "*", "z"), Models: pick("a", "b", "c", "*", "nope"), Verbs: pick("view", "add", "change", "delete", "*")})
		}
		all, models := tokens(contract.Token{Namespace: "ns", Name: "t", Hashes: []string{contract.HashToken(text)}, Rules: rules})
		token := all.Authenticate("Bearer "+text, time.Now())
		for _, m := range models.Models() {
			for verb, bit := range verbs {
				want := oracle(rules, m.Name, verb)
				if got := token.Verbs(m).Has(bit); got != want {
					t.Fatalf("case %d: %s on %s is %v, want %v, by %+v", i, verb, m.Name, got, want, rules)
				}
				if _, ok := token.Scope(m); verb == "view" && ok != want {
					t.Fatalf("case %d: a scope on %s is %v, want %v", i, m.Name, ok, want)
				}
				if want {
					granted++
				}
			}
		}
	}
	if granted == 0 {
		t.Fatal("no case granted anything: the cases are too poor")
	}
}

func TestTokensOfEqualRulesShareTheirRights(t *testing.T) {
	rules := []contract.Rule{{Models: []string{"*"}, Verbs: []string{"view"}}}
	var entries []contract.Token
	for i := range 100 {
		entries = append(entries, contract.Token{Namespace: "ns", Name: fmt.Sprint(i), Hashes: []string{contract.HashToken(fmt.Sprint(text, i))}, Rules: rules})
	}
	all, _ := tokens(entries...)
	first := all.Authenticate("Bearer "+text+"0", time.Now())
	last := all.Authenticate("Bearer "+text+"99", time.Now())
	if first.rights != last.rights || first.holder == last.holder {
		t.Error("rights are not shared, or tokens are")
	}
}

func BenchmarkAuthenticate(b *testing.B) {
	all, _ := tokens(contract.Token{Namespace: "ns", Name: "t", Hashes: []string{contract.HashToken(text)}})
	now, header := time.Now(), "Bearer "+text
	b.ReportAllocs()
	for b.Loop() {
		if all.Authenticate(header, now).IsNobody() {
			b.Fatal("refused")
		}
	}
}
