package compile_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
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

var (
	now    = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	before = metav1.NewTime(now.Add(-time.Hour))
)

func endpoint() *v1alpha1.MCPEndpoint {
	return &v1alpha1.MCPEndpoint{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "shop"},
		Spec: v1alpha1.MCPEndpointSpec{
			Database: v1alpha1.DatabaseSpec{SQLite: &v1alpha1.SQLiteSpec{EmptyDir: &v1alpha1.SQLiteEmptyDir{}}},
			Groups: []v1alpha1.Group{
				{Name: "support", Permissions: []v1alpha1.PermissionRule{{Models: []string{"customer"}, Verbs: []v1alpha1.Verb{"view"}}}},
				{Name: "analysts", Permissions: []v1alpha1.PermissionRule{{Modules: []string{"*"}, Models: []string{"*"}, Verbs: []v1alpha1.Verb{"view"}}}},
			},
		},
	}
}

func meta(name string, age time.Duration) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID("uid-" + name), CreationTimestamp: metav1.NewTime(now.Add(-age))}
}

func exposure(name string, age time.Duration, change ...func(*v1alpha1.MCPModelExposureSpec)) v1alpha1.MCPModelExposure {
	e := v1alpha1.MCPModelExposure{ObjectMeta: meta(name, age)}
	e.Spec.EndpointRef.Name = "shop"
	e.Spec.Table.Name = name
	for _, f := range change {
		f(&e.Spec)
	}
	return e
}

func token(name string, age time.Duration, change ...func(*v1alpha1.MCPTokenSpec)) v1alpha1.MCPToken {
	t := v1alpha1.MCPToken{ObjectMeta: meta(name, age)}
	t.Spec.EndpointRef.Name = "shop"
	t.Spec.Groups = []string{"support"}
	for _, f := range change {
		f(&t.Spec)
	}
	return t
}

func key(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "shop", Name: name}
}

// credentials gives each token a text of its own.
func credentials(names ...string) map[types.NamespacedName]compile.Credential {
	all := map[types.NamespacedName]compile.Credential{}
	for _, name := range names {
		all[key(name)] = compile.TextCredential("a text that belongs to the token " + name)
	}
	return all
}

func inputs() compile.Inputs {
	return compile.Inputs{
		Endpoint:    endpoint(),
		Exposures:   []v1alpha1.MCPModelExposure{exposure("customer", time.Hour), exposure("order", time.Minute)},
		Tokens:      []v1alpha1.MCPToken{token("agent", time.Hour), token("robot", time.Minute)},
		Credentials: credentials("agent", "robot"),
		StatusKey:   "key",
		SealKey:     contract.NewSealKey(),
		Now:         now,
	}
}

func TestATokenOfAMonthAtMostIsShortLived(t *testing.T) {
	for life, want := range map[time.Duration]bool{2 * time.Hour: true, 30 * 24 * time.Hour: true, 31 * 24 * time.Hour: false} {
		in := inputs()
		in.Tokens[0].Spec.Expiry = new(metav1.NewTime(in.Tokens[0].CreationTimestamp.Add(life)))
		in.Now = in.Tokens[0].CreationTimestamp.Time
		config := mustCompile(t, in)
		if got := config.Tokens[0].ShortLived; got != want {
			t.Errorf("a life of %s is short: %v, want %v", life, got, want)
		}
		if config.Tokens[1].ShortLived {
			t.Error("a token that never expires is short-lived")
		}
	}
}

func TestAFreshConfigHoldsEverythingAtRevisionOne(t *testing.T) {
	in := inputs()
	expiry := metav1.NewTime(now.Add(time.Hour))
	in.Tokens[0].Spec.Expiry = &expiry
	in.Tokens[0].Spec.Groups = []string{"support", "analysts"}
	config, verdicts := compile.Compile(in)
	if err := config.Validate(); err != nil {
		t.Fatal(err)
	}
	if config.Revision != 1 || config.Endpoint.Revision != 1 || config.Models[1].Revision != 1 || config.Tokens[1].Revision != 1 {
		t.Errorf("revisions: %+v", config)
	}
	if got, want := config.Endpoint.URL, "http://shop-mcp.shop.svc/mcp/"; got != want {
		t.Errorf("URL: %s, want %s", got, want)
	}
	if got := config.Models[0]; got.Name != "customer" || got.VerboseNamePlural != "customers" || got.MaxPageSize != 1000 || got.Expose {
		t.Errorf("model: %+v", got)
	}
	agent := config.Tokens[0]
	if agent.Name != "agent" || len(agent.Hashes) != 1 || !agent.Expiry.Equal(expiry.Time) {
		t.Errorf("token: %+v", agent)
	}
	rules, _ := json.Marshal(config.RulesOf(&agent))
	if want := `[{"models":["*"],"verbs":["view"]},{"models":["customer"],"verbs":["view"]}]`; string(rules) != want {
		t.Errorf("rules: %s, want %s", rules, want)
	}
	if v := verdicts.Tokens[key("agent")]; !v.Accepted || !v.InForce || v.Revision != 1 {
		t.Errorf("verdict: %+v", v)
	}
	if !verdicts.LookAgain.Equal(expiry.Time) {
		t.Errorf("look again: %v, want %v", verdicts.LookAgain, expiry)
	}
}

func TestTheNetworkOfTheEndpointIsInTheConfig(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(*v1alpha1.MCPEndpointSpec)
		url     string
		origins []string
	}{
		{"as it is", func(*v1alpha1.MCPEndpointSpec) {}, "http://shop-mcp.shop.svc/mcp/", nil},
		{"with a certificate", func(s *v1alpha1.MCPEndpointSpec) {
			s.Server.TLS = &v1alpha1.ServerTLS{CertificateSecretRef: v1alpha1.SecretReference{Name: "shop-tls"}}
		}, "https://shop-mcp.shop.svc/mcp/", nil},
		{"with a certificate, behind another address", func(s *v1alpha1.MCPEndpointSpec) {
			s.Server.TLS = &v1alpha1.ServerTLS{CertificateSecretRef: v1alpha1.SecretReference{Name: "shop-tls"}}
			s.Network.ExternalURL = "http://mcp.example.com/shop/"
		}, "http://mcp.example.com/shop/mcp/", nil},
		{"with origins", func(s *v1alpha1.MCPEndpointSpec) {
			s.Network.CORS = &v1alpha1.CORSSpec{AllowedOrigins: []v1alpha1.Origin{"https://*.example.com", "http://localhost:5173"}}
		}, "http://shop-mcp.shop.svc/mcp/", []string{"https://*.example.com", "http://localhost:5173"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := inputs()
			c.change(&in.Endpoint.Spec)
			config, verdicts := compile.Compile(in)
			if !verdicts.Endpoint.Accepted || config.Endpoint.URL != c.url || !slices.Equal(config.Endpoint.AllowedOrigins, c.origins) {
				t.Errorf("%+v: %+v", verdicts.Endpoint, config.Endpoint)
			}
		})
	}
}

func TestVerdictsOnExposures(t *testing.T) {
	older, younger := time.Hour, time.Minute
	model := func(name string) func(*v1alpha1.MCPModelExposureSpec) {
		return func(s *v1alpha1.MCPModelExposureSpec) { s.Model = name }
	}
	table := func(schema, name string) func(*v1alpha1.MCPModelExposureSpec) {
		return func(s *v1alpha1.MCPModelExposureSpec) {
			s.Table = v1alpha1.TableReference{Schema: schema, Name: name}
		}
	}
	for name, row := range map[string]struct {
		exposures []v1alpha1.MCPModelExposure
		// of is the exposure that is asked about, reason and message what its verdict is.
		of, reason, message, models string
	}{
		"one of two with a model name": {
			[]v1alpha1.MCPModelExposure{exposure("b", younger, model("x")), exposure("a", older, model("x"))},
			"b", "Conflicted", `model "x" belongs to MCPModelExposure "a", which is older; give this one another name`, "x",
		},
		"the older of them": {
			[]v1alpha1.MCPModelExposure{exposure("a", younger, model("x")), exposure("b", older, model("x"))},
			"b", "Accepted", "", "x",
		},
		"equally old, the name decides": {
			[]v1alpha1.MCPModelExposure{exposure("b", older, model("x")), exposure("a", older, model("x"))},
			"b", "Conflicted", `model "x" belongs to MCPModelExposure "a", which is older; give this one another name`, "x",
		},
		"one of two with a table": {
			[]v1alpha1.MCPModelExposure{exposure("b", younger, table("s", "t")), exposure("a", older, table("s", "t"))},
			"b", "Conflicted", `table "s.t" belongs to MCPModelExposure "a", which is older; delete one of the two`, "a",
		},
		"a table of another schema": {
			[]v1alpha1.MCPModelExposure{exposure("b", younger, table("s", "t")), exposure("a", older, table("r", "t"))},
			"b", "Accepted", "", "a b",
		},
		"a loser claims nothing": {
			[]v1alpha1.MCPModelExposure{exposure("a", 3*older, model("x")), exposure("b", 2*older, model("x"), table("", "t")), exposure("c", older, table("", "t"))},
			"c", "Accepted", "", "c x",
		},
		"one that bypassed validation": {
			[]v1alpha1.MCPModelExposure{exposure("a", older, table("", ""))},
			"a", "Invalid", "table: is missing", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := inputs()
			in.Exposures = row.exposures
			config, verdicts := compile.Compile(in)
			got := verdicts.Exposures[key(row.of)]
			if got.Reason != row.reason || got.Message != row.message || got.Accepted != (row.reason == "Accepted") {
				t.Errorf("verdict: %+v", got)
			}
			var models []string
			for _, m := range config.Models {
				models = append(models, m.Name)
			}
			if got := strings.Join(models, " "); got != row.models {
				t.Errorf("models: %q, want %q", got, row.models)
			}
		})
	}
}

// TestTheOrderOfObjectsChangesNothing compiles random sets of objects, with conflicts of every kind among them, in two
// orders.
func TestTheOrderOfObjectsChangesNothing(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 200 {
		in := inputs()
		in.Exposures, in.Tokens, in.Credentials = nil, nil, map[types.NamespacedName]compile.Credential{}
		for i := range 12 {
			name := fmt.Sprintf("o%02d", i)
			in.Exposures = append(in.Exposures, exposure(name, time.Duration(random.IntN(3))*time.Hour, func(s *v1alpha1.MCPModelExposureSpec) {
				s.Model = fmt.Sprintf("m%d", random.IntN(8))
				s.Table.Name = fmt.Sprintf("t%d", random.IntN(8))
			}))
			in.Tokens = append(in.Tokens, token(name, time.Duration(random.IntN(3))*time.Hour, func(s *v1alpha1.MCPTokenSpec) {
				if random.IntN(4) == 0 {
					s.Active = new(bool)
				}
			}))
			in.Credentials[key(name)] = compile.TextCredential(fmt.Sprintf("a text that may stand more than once %d", random.IntN(8)))
		}
		first, firstVerdicts := compile.Compile(in)
		random.Shuffle(len(in.Exposures), func(i, j int) { in.Exposures[i], in.Exposures[j] = in.Exposures[j], in.Exposures[i] })
		random.Shuffle(len(in.Tokens), func(i, j int) { in.Tokens[i], in.Tokens[j] = in.Tokens[j], in.Tokens[i] })
		second, secondVerdicts := compile.Compile(in)
		if a, b := written(t, first), written(t, second); a != b {
			t.Fatalf("round %d:\n%s\n%s", round, a, b)
		}
		if a, b := fmt.Sprint(firstVerdicts), fmt.Sprint(secondVerdicts); a != b {
			t.Fatalf("round %d:\n%s\n%s", round, a, b)
		}
		if err := first.Validate(); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
	}
}

// BenchmarkCompile compiles an endpoint with 100 models and 1,000 tokens; one token is new.
func BenchmarkCompile(b *testing.B) {
	in := inputs()
	in.Exposures, in.Tokens, in.Credentials = nil, nil, map[types.NamespacedName]compile.Credential{}
	for i := range 1000 {
		name := fmt.Sprintf("o%04d", i)
		if i < 100 {
			in.Exposures = append(in.Exposures, exposure(name, time.Hour))
		}
		in.Tokens = append(in.Tokens, token(name, time.Hour))
		in.Credentials[key(name)] = compile.TextCredential("a text that belongs to the token " + name)
	}
	in.Previous, _ = compile.Compile(in)
	in.Tokens[500].Spec.Active = new(bool)
	for b.Loop() {
		if config, _ := compile.Compile(in); config.Revision != 2 {
			b.Fatalf("got the revision %d, want 2", config.Revision)
		}
	}
}

func mustCompile(t *testing.T, in compile.Inputs) *contract.Config {
	t.Helper()
	config, _ := compile.Compile(in)
	if config == nil {
		t.Fatal("no Config")
	}
	return config
}

// roundTrip returns the Config that another manager reads.
func roundTrip(t *testing.T, c *contract.Config) *contract.Config {
	t.Helper()
	main, err := contract.EncodeMain(c)
	if err != nil {
		t.Fatal(err)
	}
	read, err := contract.DecodeMain(main)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := contract.EncodeTokens(&contract.TokenPart{Version: contract.Version, Revision: c.Revision, Tokens: c.Tokens})
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := contract.DecodeTokens(encoded, 0)
	if err != nil {
		t.Fatal(err)
	}
	read.Tokens = tokens.Tokens
	return read
}

func written(t *testing.T, c *contract.Config) string {
	t.Helper()
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
