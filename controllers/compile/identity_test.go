package compile_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
)

// withIssuer is an endpoint that accepts the tokens of corp.
func withIssuer() *v1alpha1.MCPEndpoint {
	e := endpoint()
	e.Spec.Network.ExternalURL = "https://mcp.example.com"
	e.Spec.Authentication.OIDC = []v1alpha1.OIDCIssuer{{Name: "corp", URL: "https://login.example.com"}}
	return e
}

func forAccount(name string) func(*v1alpha1.MCPTokenSpec) {
	return func(s *v1alpha1.MCPTokenSpec) { s.ServiceAccountRef = &v1alpha1.ServiceAccountReference{Name: name} }
}

func forSubject(subject string) func(*v1alpha1.MCPTokenSpec) {
	return func(s *v1alpha1.MCPTokenSpec) { s.OIDC = &v1alpha1.OIDCIdentity{Issuer: "corp", Subject: subject} }
}

// forStaff is for all who are staff, and gives them a region and groups by their claims.
func forStaff(s *v1alpha1.MCPTokenSpec) {
	s.OIDC = &v1alpha1.OIDCIdentity{
		Issuer: "corp", Claims: map[string]v1alpha1.ClaimValue{"/realm/roles": "staff", "site": "x"},
		Attributes: map[string]v1alpha1.CELExpression{"region": "claims.region"},
		Groups:     &v1alpha1.OIDCGroups{Expression: "claims.groups", Among: []string{"support", "analysts"}},
	}
}

func TestTheAuthenticationOfAnEndpointIsInItsConfig(t *testing.T) {
	e := withIssuer()
	e.Spec.Authentication.ServiceAccounts = v1alpha1.ServiceAccountAuthentication{Check: "TokenReview", Audiences: []v1alpha1.Audience{"shop"}}
	e.Spec.Authentication.OIDC = append(e.Spec.Authentication.OIDC, v1alpha1.OIDCIssuer{
		Name: "ci", URL: "https://ci.example.com", KeysURL: "https://ci.example.com/keys", Audiences: []v1alpha1.Audience{"b", "a"},
		Algorithms: []v1alpha1.SigningAlgorithm{"PS256", "ES256"}, SubjectClaim: "job", Listing: "Unlisted", Scopes: []string{"openid"},
		ClockSkew: &metav1.Duration{}, CertificateAuthority: certificate,
	})
	config, _ := compile.Compile(compile.Inputs{Endpoint: e, StatusKey: "key", SealKey: contract.NewSealKey(), Now: now})
	if err := config.Validate(); err != nil {
		t.Fatal(err)
	}
	public := []string{"https://mcp.example.com/mcp", "https://mcp.example.com/mcp/"}
	want := contract.Authentication{
		ServiceAccounts: contract.ServiceAccounts{
			Check:     "TokenReview",
			Audiences: append([]string{"http://shop-mcp.shop.svc/mcp", "http://shop-mcp.shop.svc/mcp/"}, append(slices.Clone(public), "shop")...),
		},
		Issuers: []contract.Issuer{
			{
				Name: "ci", URL: "https://ci.example.com", KeysURL: "https://ci.example.com/keys", Audiences: []string{"a", "b"},
				Algorithms: []string{"ES256", "PS256"}, SubjectClaim: "job", Scopes: []string{"openid"}, CertificateAuthority: certificate,
			},
			{
				Name: "corp", URL: "https://login.example.com", Audiences: public, Algorithms: []string{"RS256"},
				ClockSkew: contract.Duration(30 * time.Second), SubjectClaim: "sub", Listed: true,
			},
		},
	}
	if got := config.Endpoint.Authentication; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}

func TestTokensWithoutATextHaveAnIdentity(t *testing.T) {
	for name, row := range map[string]struct {
		change func(*v1alpha1.MCPTokenSpec)
		want   string
	}{
		"a ServiceAccount": {forAccount("clerk"), `{"serviceAccount":"shop/clerk"}`},
		"one elsewhere": {func(s *v1alpha1.MCPTokenSpec) {
			s.ServiceAccountRef = &v1alpha1.ServiceAccountReference{Namespace: "away", Name: "clerk"}
		}, `{"serviceAccount":"away/clerk"}`},
		"a subject": {forSubject("alice"), `{"issuer":"https://login.example.com","subject":"alice"}`},
		"claims": {forStaff, `{"issuer":"https://login.example.com","claims":{"/realm/roles":"staff","site":"x"},"attributes":{"region":"claims.region"},` +
			`"groups":"claims.groups","among":["analysts","support"]}`},
	} {
		t.Run(name, func(t *testing.T) {
			in := inputs()
			in.Endpoint, in.Tokens, in.Credentials = withIssuer(), []v1alpha1.MCPToken{token("agent", time.Hour, row.change)}, nil
			config, verdicts := compile.Compile(in)
			if v := verdicts.Tokens[key("agent")]; !v.Accepted || !v.InForce || v.Revision != 1 {
				t.Fatalf("%+v", v)
			}
			entry := config.Tokens[0]
			if identity, _ := json.Marshal(entry.Identity); string(identity) != row.want {
				t.Errorf("%s\nwant %s", identity, row.want)
			}
			if len(entry.Hashes) > 0 || !slices.Equal(entry.Groups, []string{"support"}) {
				t.Errorf("%+v", entry)
			}
		})
	}
}

func TestVerdictsOnTokensWithoutAText(t *testing.T) {
	inactive := func(s *v1alpha1.MCPTokenSpec) { s.Active = new(bool) }
	claims := func(change func(*v1alpha1.OIDCIdentity)) func(*v1alpha1.MCPTokenSpec) {
		return func(s *v1alpha1.MCPTokenSpec) { forStaff(s); change(s.OIDC) }
	}
	foreign := func(t v1alpha1.MCPToken) v1alpha1.MCPToken {
		t.Namespace, t.Spec.EndpointRef.Namespace = "away", "shop"
		return t
	}
	sameCallers := func(who string) compile.Verdict {
		return compile.Verdict{Reason: "Conflicted", Message: who + " is for the same callers, and goes first; make one of the two, or let them differ in whom they are for"}
	}
	for name, row := range map[string]struct {
		agent  v1alpha1.MCPToken
		others []v1alpha1.MCPToken
		want   compile.Verdict
	}{
		"of an issuer that is not there": {agent: token("agent", 0, claims(func(o *v1alpha1.OIDCIdentity) { o.Issuer = "crop" })),
			want: compile.Verdict{Reason: "IssuerNotFound", Message: `MCPEndpoint shop has no issuer "crop" in its spec.authentication.oidc`}},
		"with a group that is not there": {agent: token("agent", 0, claims(func(o *v1alpha1.OIDCIdentity) { o.Groups.Among = []string{"support", "nobody"} })),
			want: compile.Verdict{Reason: "GroupNotFound", Message: `MCPEndpoint shop has no group "nobody"`}},
		"of another namespace, with a group that is not allowed": {agent: foreign(token("agent", 0, claims(func(o *v1alpha1.OIDCIdentity) { o.Attributes = nil }))),
			want: compile.Verdict{Reason: "GroupNotAllowed", Message: `MCPEndpoint shop does not allow tokens of other namespaces the group "analysts"; ` +
				"name groups that its spec.allowedTokens.groups has"}},
		"for the subject of an older one": {agent: token("agent", 0, forSubject("alice")), others: []v1alpha1.MCPToken{token("elder", time.Hour, forSubject("alice"))},
			want: sameCallers(`MCPToken "elder"`)},
		"for the ServiceAccount of one that was revoked": {agent: token("agent", 0, forAccount("clerk")),
			others: []v1alpha1.MCPToken{token("elder", time.Hour, forAccount("clerk"), inactive)}, want: sameCallers(`MCPToken "elder"`)},
		"for the same claims":                      {agent: token("agent", 0, forStaff), others: []v1alpha1.MCPToken{token("elder", time.Hour, forStaff)}, want: sameCallers(`MCPToken "elder"`)},
		"older than one for the same callers":      {agent: token("agent", time.Hour, forStaff), others: []v1alpha1.MCPToken{token("young", 0, forStaff)}, want: compile.Verdict{Accepted: true, Reason: "Accepted"}},
		"for another subject":                      {agent: token("agent", 0, forSubject("alice")), others: []v1alpha1.MCPToken{token("elder", time.Hour, forSubject("bob"))}, want: compile.Verdict{Accepted: true, Reason: "Accepted"}},
		"younger than one of another namespace":    {agent: token("agent", 0, forSubject("alice")), others: []v1alpha1.MCPToken{foreign(token("elder", time.Hour, forSubject("alice")))}, want: compile.Verdict{Accepted: true, Reason: "Accepted"}},
		"of another namespace, though it is older": {agent: foreign(token("agent", time.Hour, forSubject("alice"))), others: []v1alpha1.MCPToken{token("young", 0, forSubject("alice"))}, want: sameCallers("an MCPToken of another namespace")},
	} {
		t.Run(name, func(t *testing.T) {
			in := inputs()
			in.Endpoint, in.Tokens, in.Credentials = withIssuer(), append(row.others, row.agent), nil
			in.Endpoint.Spec.AllowedTokens = &v1alpha1.AllowedTokens{Namespaces: v1alpha1.TokenNamespaces{From: "All"}, Groups: []string{"support"}}
			config, verdicts := compile.Compile(in)
			if err := config.Validate(); err != nil {
				t.Error(err)
			}
			of := key("agent")
			of.Namespace = row.agent.Namespace
			got := verdicts.Tokens[of]
			if row.want.Revision = 1; !reflect.DeepEqual(got, compile.TokenVerdict{Verdict: row.want, InForce: row.want.Accepted}) {
				t.Errorf("%+v\nwant %+v", got, row.want)
			}
			if entry := config.FindToken(of.Namespace, "agent", "uid-agent"); entry.InForce() != row.want.Accepted || (entry.Groups != nil) != row.want.Accepted {
				t.Errorf("%+v", entry)
			}
		})
	}
}

func TestAnExpressionThatCannotBeCompiledIsInvalidWithItsPlace(t *testing.T) {
	in := inputs()
	in.Endpoint = withIssuer()
	in.Tokens = []v1alpha1.MCPToken{token("agent", 0, forStaff, func(s *v1alpha1.MCPTokenSpec) {
		s.OIDC.Attributes["region"] = "claims.region +"
		s.OIDC.Groups.Expression = "nothing.groups"
	})}
	_, verdicts := compile.Compile(in)
	v := verdicts.Tokens[key("agent")]
	if v.Accepted || v.Reason != "Invalid" || !strings.Contains(v.Message, "spec.oidc.attributes[region]: Invalid value") ||
		!strings.Contains(v.Message, "spec.oidc.groups.expression: Invalid value") || !strings.Contains(v.Message, "nothing") {
		t.Errorf("%+v", v)
	}
}

func TestAnExpressionThatCannotGiveWhatIsWantedIsInvalid(t *testing.T) {
	for _, row := range []struct{ attribute, groups, want string }{
		{"claims.region", "claims.groups", ""},
		{"size(claims.groups)", "claims.groups", "attributes[region]: Invalid value: \"size(claims.groups)\": it must give a text"},
		{"[subject]", "claims.groups", "attributes[region]: Invalid value: \"[subject]\": it must give a text"},
		{"claims.region", "1 + 2", "groups.expression: Invalid value: \"1 + 2\": it must give a list of texts"},
		{"claims.region", "[1, 2]", "groups.expression: Invalid value: \"[1, 2]\": it must give a list of texts"},
		{"subject", "subject", ""}, // one text is right for both
	} {
		in := inputs()
		in.Endpoint = withIssuer()
		in.Tokens = []v1alpha1.MCPToken{token("agent", 0, forStaff, func(s *v1alpha1.MCPTokenSpec) {
			s.OIDC.Attributes["region"] = v1alpha1.CELExpression(row.attribute)
			s.OIDC.Groups.Expression = v1alpha1.CELExpression(row.groups)
		})}
		_, verdicts := compile.Compile(in)
		if v := verdicts.Tokens[key("agent")]; v.Accepted != (row.want == "") || !strings.Contains(v.Message, row.want) {
			t.Errorf("%s, %s: %+v", row.attribute, row.groups, v)
		}
	}
}

func TestWhatATokenWithoutATextChangesIsWrittenWhereItIs(t *testing.T) {
	in := large(3, 2000)
	e := in.Endpoint
	e.Spec.Authentication.OIDC = withIssuer().Spec.Authentication.OIDC
	e.Spec.Network.ExternalURL = "https://mcp.example.com"
	add := func(o *compile.Objects, t v1alpha1.MCPToken) { o.Tokens = append(slices.Clone(o.Tokens), &t) }
	in.Tokens = append(in.Tokens, token("alice", time.Hour, func(s *v1alpha1.MCPTokenSpec) { forSubject("alice")(s); s.Groups = nil }))
	alice := len(in.Tokens) - 1
	for name, change := range map[string]struct {
		do     func(*compile.Objects)
		main   bool
		parts  int
		woken  int
		urgent bool
	}{
		"one for a ServiceAccount": {func(o *compile.Objects) {
			add(o, token("zoe", 0, forAccount("zoe"), func(s *v1alpha1.MCPTokenSpec) { s.Groups = nil }))
		}, false, 1, 1, false},
		"one that waits for its issuer": {func(o *compile.Objects) {
			add(o, token("zoe", 0, forSubject("zoe"), func(s *v1alpha1.MCPTokenSpec) { s.Groups, s.OIDC.Issuer = nil, "later" }))
		}, false, 1, 1, false},
		"an issuer": {func(o *compile.Objects) {
			o.Endpoint = o.Endpoint.DeepCopy()
			o.Endpoint.Generation++
			o.Endpoint.Spec.Authentication.OIDC = append(o.Endpoint.Spec.Authentication.OIDC, v1alpha1.OIDCIssuer{Name: "later", URL: "https://later.example.com"})
		}, true, 0, 0, true},
		"an issuer gone": {func(o *compile.Objects) {
			o.Endpoint = o.Endpoint.DeepCopy()
			o.Endpoint.Generation++
			o.Endpoint.Spec.Authentication.OIDC = nil
		}, true, 1, 1, true},
		"one revoked": {func(o *compile.Objects) {
			o.Tokens = slices.Clone(o.Tokens)
			o.Tokens[alice] = edited(o.Tokens[alice], func(s *v1alpha1.MCPTokenSpec) { s.Active = new(false) })
		}, false, 1, 1, true},
		"one for somebody else": {func(o *compile.Objects) {
			o.Tokens = slices.Clone(o.Tokens)
			o.Tokens[alice] = edited(o.Tokens[alice], func(s *v1alpha1.MCPTokenSpec) { s.OIDC.Subject = "bob" })
		}, false, 1, 1, true},
		"one gone": {func(o *compile.Objects) { o.Tokens = o.Tokens[:alice] }, false, 1, 1, true},
		"an edit that changes nothing": {func(o *compile.Objects) {
			o.Tokens = slices.Clone(o.Tokens)
			o.Tokens[alice] = edited(o.Tokens[alice], func(s *v1alpha1.MCPTokenSpec) { s.Permissions = []v1alpha1.PermissionRule{} })
		}, false, 0, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			c, objects := compiler(in)
			c.Update(objects)
			store(t, c, objects)
			change.do(&objects)
			out, pending := c.Update(objects), c.Pending()
			main := slices.ContainsFunc(pending, func(p compile.Pending) bool { return p.Index == compile.MainPart })
			parts := len(pending)
			if main {
				parts--
			}
			urgent := len(pending) > 0 && pending[0].Urgent
			if main != change.main || parts != change.parts || len(out.Tokens) != change.woken || urgent != change.urgent {
				t.Errorf("main %v, %d parts, urgent %v, %d tokens wake: %+v", main, parts, urgent, len(out.Tokens), pending)
			}
		})
	}
}

func TestATokenIsWaitedForUntilItsIssuerComesAndNoLonger(t *testing.T) {
	in := inputs()
	in.Tokens = []v1alpha1.MCPToken{token("agent", 0, forSubject("alice"))}
	c, objects := compiler(in)
	c.Update(objects)
	verdict := func() compile.TokenVerdict { v, _, _, _ := c.Token(key("agent")); return v }
	if v := verdict(); v.InForce || v.Reason != "IssuerNotFound" {
		t.Fatalf("%+v", v)
	}
	objects.Endpoint = withIssuer()
	objects.Endpoint.Generation = 2
	if out := c.Update(objects); len(out.Tokens) != 1 || !verdict().InForce {
		t.Fatalf("%+v", verdict())
	}
	objects.Endpoint = endpoint()
	objects.Endpoint.Generation = 3
	if out := c.Update(objects); len(out.Tokens) != 1 || verdict().InForce || c.Whole().Tokens[0].InForce() {
		t.Fatalf("%+v", verdict())
	}
}

func TestRightsCountWhatACallerCanHaveByItsClaims(t *testing.T) {
	all := []v1alpha1.MCPModelExposure{exposure("customer", time.Hour), exposure("order", time.Hour)}
	shop := func(change func(*v1alpha1.MCPTokenSpec)) compile.Rights {
		in := inputs()
		in.Endpoint, in.Exposures, in.Tokens = withIssuer(), all, []v1alpha1.MCPToken{token("agent", 0, forStaff, change)}
		c, objects := compiler(in)
		c.Update(objects)
		rights, inForce := c.Rights(key("agent"))
		if !inForce {
			t.Fatal("the token is not in force")
		}
		return rights
	}
	for name, row := range map[string]struct {
		change func(*v1alpha1.MCPTokenSpec)
		models int
	}{
		"groups of its own, and those that claims give": {func(*v1alpha1.MCPTokenSpec) {}, 2},
		"groups that claims give alone":                 {func(s *v1alpha1.MCPTokenSpec) { s.Groups = nil }, 2},
		"fewer of them":                                 {func(s *v1alpha1.MCPTokenSpec) { s.OIDC.Groups.Among = []string{"support"} }, 1},
		"groups of its own alone":                       {func(s *v1alpha1.MCPTokenSpec) { s.OIDC.Groups = nil }, 1},
	} {
		if got := shop(row.change); got.Models != row.models {
			t.Errorf("%s: %+v, want %d models", name, got, row.models)
		}
	}
}

func TestNotesCountAttributesThatClaimsCanGive(t *testing.T) {
	in := inputs()
	in.Endpoint, in.Exposures = withIssuer(), []v1alpha1.MCPModelExposure{exposure("customer", time.Hour, func(s *v1alpha1.MCPModelExposureSpec) {
		s.RowPolicies = []v1alpha1.RowPolicy{{Name: "region", AppliesTo: v1alpha1.AppliesToEveryone, Filters: []v1alpha1.RowFilter{{Field: "region", TokenAttribute: "region"}}}}
	})}
	in.Tokens = []v1alpha1.MCPToken{token("staff", 0, forStaff), token("clerk", 0, forAccount("clerk"))}
	_, verdicts := compile.Compile(in)
	if notes := verdicts.Tokens[key("staff")].Notes; len(notes) != 0 {
		t.Errorf("%q", notes)
	}
	if notes := verdicts.Tokens[key("clerk")].Notes; len(notes) != 1 || !strings.Contains(notes[0], `asks for the attribute "region"`) {
		t.Errorf("%q", notes)
	}
}

// certificate is one that nobody has the key of.
const certificate = `-----BEGIN CERTIFICATE-----
MIIBcTCCARegAwIBAgIUdbzacGFW5gEDwAd8tfy3qbIhcJcwCgYIKoZIzj0EAwIw
DTELMAkGA1UEAwwCY2EwIBcNMjYxMTIyMDk0NDA4WhgPMjEyNjEwMjkwOTQ0MDha
MA0xCzAJBgNVBAMMAmNhMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEnFHdour2
31Q9nYbAhgyRM5zBpmwvw0uXhvcCaYcCbVbyaLVkBeCBPPGVlQrBPQbBnRt/SNVc
Wow0Rq+14CFhzKNTMFEwHQYDVR0OBBYEFNKRLW6PQ410yTgnaakvNHN4SduXMB8G
A1UdIwQYMBaAFNKRLW6PQ410yTgnaakvNHN4SduXMA8GA1UdEwEB/wQFMAMBAf8w
CgYIKoZIzj0EAwIDSAAwRQIhAL/NLj6DQyHWA9lGFKWDirMitJGsFkjZchLjDkjQ
cTMoAiA6eyTeYbJlH8mNxTmSmkWfn/Zjx1YM1WNZwMBA90O2hA==
-----END CERTIFICATE-----
`
