package controllers_test

import (
	"context"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

var _ = Describe("The API server and admission", func() {
	var w *world
	BeforeEach(func() { w = newWorld() })

	issuer := func(change func(*v1alpha1.OIDCIssuer)) func(*endpointType) {
		return func(e *endpointType) {
			i := v1alpha1.OIDCIssuer{Name: "corp", URL: "https://login.example.com/realms/staff"}
			change(&i)
			e.Spec.Authentication.OIDC = []v1alpha1.OIDCIssuer{i}
		}
	}
	url := func(u v1alpha1.IssuerURL) func(*endpointType) {
		return issuer(func(i *v1alpha1.OIDCIssuer) { i.URL = u })
	}
	two := func(name string, url v1alpha1.IssuerURL) func(*endpointType) {
		return func(e *endpointType) {
			issuer(func(*v1alpha1.OIDCIssuer) {})(e)
			e.Spec.Authentication.OIDC = append(e.Spec.Authentication.OIDC, v1alpha1.OIDCIssuer{Name: name, URL: url})
		}
	}
	accounts := func(s v1alpha1.ServiceAccountAuthentication) func(*endpointType) {
		return func(e *endpointType) { e.Spec.Authentication.ServiceAccounts = s }
	}
	DescribeTable("agree on an endpoint's authentication", func(valid bool, change func(*endpointType)) {
		e := w.endpoint("shop")
		change(e)
		agree(e, valid)
	},
		Entry("of ServiceAccounts", true, accounts(v1alpha1.ServiceAccountAuthentication{Check: "TokenReview", Audiences: []v1alpha1.Audience{"shop"}})),
		Entry("of ServiceAccounts by nothing", false, accounts(v1alpha1.ServiceAccountAuthentication{Check: "None"})),
		Entry("for nobody", false, accounts(v1alpha1.ServiceAccountAuthentication{Audiences: []v1alpha1.Audience{""}})),
		Entry("for somebody twice", false, accounts(v1alpha1.ServiceAccountAuthentication{Audiences: []v1alpha1.Audience{"a", "a"}})),
		Entry("of an issuer", true, issuer(func(*v1alpha1.OIDCIssuer) {})),
		Entry("of an issuer with all of it", true, issuer(func(i *v1alpha1.OIDCIssuer) {
			i.DiscoveryURL, i.Audiences, i.Algorithms = "https://internal.example.com:8443/x", []v1alpha1.Audience{"shop"}, []v1alpha1.SigningAlgorithm{"RS256", "EdDSA"}
			i.ClockSkew, i.SubjectClaim, i.Listing, i.Scopes = after(time.Minute), "email", "Unlisted", []string{"openid", "groups"}
		})),
		Entry("of an issuer without a name", false, issuer(func(i *v1alpha1.OIDCIssuer) { i.Name = "" })),
		Entry("of an issuer with a name that is none", false, issuer(func(i *v1alpha1.OIDCIssuer) { i.Name = "Corp" })),
		Entry("of an issuer without a URL", false, url("")),
		Entry("of an issuer over HTTP", false, url("http://login.example.com")),
		Entry("of an issuer with a query", false, url("https://login.example.com?realm=x")),
		Entry("of an issuer with a fragment", false, url("https://login.example.com#x")),
		Entry("of an issuer with a user", false, url("https://me:secret@login.example.com")),
		Entry("of an issuer nowhere", false, url("https:///realms")),
		Entry("of an issuer that is no URL", false, url("login.example.com")),
		Entry("of an issuer with a long URL", false, url(v1alpha1.IssuerURL("https://a.example/"+long(500)))),
		Entry("of two issuers", true, two("ci", "https://ci.example.com")),
		Entry("of two issuers of one name", false, two("corp", "https://ci.example.com")),
		Entry("of one issuer with two names", false, two("ci", "https://login.example.com/realms/staff")),
		Entry("with keys", true, issuer(func(i *v1alpha1.OIDCIssuer) { i.KeysURL = "https://login.example.com/keys" })),
		Entry("with keys and discovery", false, issuer(func(i *v1alpha1.OIDCIssuer) { i.KeysURL, i.DiscoveryURL = "https://a.example", "https://b.example" })),
		Entry("with keys over HTTP", false, issuer(func(i *v1alpha1.OIDCIssuer) { i.KeysURL = "http://login.example.com/keys" })),
		Entry("with a symmetric algorithm", false, issuer(func(i *v1alpha1.OIDCIssuer) { i.Algorithms = []v1alpha1.SigningAlgorithm{"HS256"} })),
		Entry("with no signature", false, issuer(func(i *v1alpha1.OIDCIssuer) { i.Algorithms = []v1alpha1.SigningAlgorithm{"none"} })),
		Entry("with an algorithm twice", false, issuer(func(i *v1alpha1.OIDCIssuer) { i.Algorithms = []v1alpha1.SigningAlgorithm{"RS256", "RS256"} })),
		Entry("with no skew", true, issuer(func(i *v1alpha1.OIDCIssuer) { i.ClockSkew = after(0) })),
		Entry("with a skew of an hour", false, issuer(func(i *v1alpha1.OIDCIssuer) { i.ClockSkew = after(time.Hour) })),
		Entry("with a skew into the past", false, issuer(func(i *v1alpha1.OIDCIssuer) { i.ClockSkew = after(-time.Second) })),
		Entry("with a listing that is none", false, issuer(func(i *v1alpha1.OIDCIssuer) { i.Listing = "Hidden" })),
		Entry("with a scope of two words", false, issuer(func(i *v1alpha1.OIDCIssuer) { i.Scopes = []string{"open id"} })),
		Entry("with a scope twice", false, issuer(func(i *v1alpha1.OIDCIssuer) { i.Scopes = []string{"openid", "openid"} })),
		Entry("with a CA that is none", false, issuer(func(i *v1alpha1.OIDCIssuer) { i.CertificateAuthority = "ca.crt" })),
		Entry("with a private key", false, issuer(func(i *v1alpha1.OIDCIssuer) {
			i.CertificateAuthority = "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----\n"
		})),
		Entry("with as many issuers as fit", true, func(e *endpointType) { withIssuers(many(16)...)(e) }),
		Entry("with more issuers than fit", false, func(e *endpointType) { withIssuers(many(17)...)(e) }),
	)

	account := func(name, namespace string) func(*tokenType) {
		return func(t *tokenType) {
			t.Spec.ServiceAccountRef = &v1alpha1.ServiceAccountReference{Name: name, Namespace: namespace}
		}
	}
	oidc := func(change func(*v1alpha1.OIDCIdentity)) func(*tokenType) {
		return func(t *tokenType) {
			t.Spec.OIDC = &v1alpha1.OIDCIdentity{Issuer: "corp", Claims: map[string]v1alpha1.ClaimValue{"department": "sales"}}
			change(t.Spec.OIDC)
		}
	}
	claim := func(name, value string) func(*tokenType) {
		return oidc(func(o *v1alpha1.OIDCIdentity) {
			o.Claims = map[string]v1alpha1.ClaimValue{name: v1alpha1.ClaimValue(value)}
		})
	}
	groups := func(expression v1alpha1.CELExpression, among ...string) func(*tokenType) {
		return oidc(func(o *v1alpha1.OIDCIdentity) { o.Groups = &v1alpha1.OIDCGroups{Expression: expression, Among: among} })
	}
	attribute := func(name string, expression v1alpha1.CELExpression) func(*tokenType) {
		return oidc(func(o *v1alpha1.OIDCIdentity) { o.Attributes = map[string]v1alpha1.CELExpression{name: expression} })
	}
	all := func(changes ...func(*tokenType)) func(*tokenType) {
		return func(t *tokenType) {
			for _, change := range changes {
				change(t)
			}
		}
	}
	subject := func(o *v1alpha1.OIDCIdentity) { o.Claims, o.Subject = nil, "alice" }
	elsewhere := func(t *tokenType) { t.Spec.EndpointRef.Namespace = "other" }
	DescribeTable("agree on whom a token is for", func(valid bool, change func(*tokenType)) {
		t := w.token("agent", "shop")
		change(t)
		agree(t, valid)
	},
		Entry("a ServiceAccount", true, account("clerk", "")),
		Entry("a ServiceAccount elsewhere", true, account("clerk.v2", "assistants")),
		Entry("a ServiceAccount without a name", false, account("", "")),
		Entry("a ServiceAccount in a path", false, account("a/b", "")),
		Entry("a ServiceAccount in a namespace that is none", false, account("clerk", "a.b")),
		Entry("a caller with claims", true, oidc(func(*v1alpha1.OIDCIdentity) {})),
		Entry("one caller", true, oidc(subject)),
		Entry("nobody", false, oidc(func(o *v1alpha1.OIDCIdentity) { o.Claims = nil })),
		Entry("one caller with claims", false, oidc(func(o *v1alpha1.OIDCIdentity) { o.Subject = "alice" })),
		Entry("a caller of no issuer", false, oidc(func(o *v1alpha1.OIDCIdentity) { o.Issuer = "" })),
		Entry("a claim by its pointer", true, claim("/a~1b/~0", "x")),
		Entry("a claim by a broken pointer", false, claim("/a~2", "x")),
		Entry("a claim by a pointer that breaks off", false, claim("/a~", "x")),
		Entry("a claim of no name", false, claim("", "x")),
		Entry("a claim of a long name", false, claim(long(129), "x")),
		Entry("an empty claim", false, claim("a", "")),
		Entry("a long claim", false, claim("a", long(1025))),
		Entry("more claims than fit", false, oidc(func(o *v1alpha1.OIDCIdentity) {
			for _, name := range many(4) {
				o.Claims[name] = v1alpha1.ClaimValue(long(600))
			}
		})),
		Entry("more claims than may be", false, oidc(func(o *v1alpha1.OIDCIdentity) {
			for _, name := range many(16) {
				o.Claims[name] = "x"
			}
		})),
		Entry("attributes", true, attribute("region", "claims.region")),
		Entry("an attribute without an expression", false, attribute("region", "")),
		Entry("an attribute of a name that is none", false, attribute("1region", "claims.region")),
		Entry("an attribute of a long expression", false, attribute("region", v1alpha1.CELExpression(long(1025)))),
		Entry("more attributes than fit", false, oidc(func(o *v1alpha1.OIDCIdentity) {
			o.Attributes = map[string]v1alpha1.CELExpression{"a": v1alpha1.CELExpression(long(1000)), "b": v1alpha1.CELExpression(long(1000)), "c": v1alpha1.CELExpression(long(100))}
		})),
		Entry("an attribute given twice", false, all(attribute("region", "claims.region"), func(t *tokenType) {
			t.Spec.Attributes = map[string]v1alpha1.AttributeValue{"region": "emea"}
		})),
		Entry("attributes of both kinds", true, all(attribute("region", "claims.region"), func(t *tokenType) {
			t.Spec.Attributes = map[string]v1alpha1.AttributeValue{"team": "sales"}
		})),
		Entry("groups", true, groups("claims.groups", "readers", "writers")),
		Entry("groups among none", false, groups("claims.groups")),
		Entry("groups by nothing", false, groups("", "readers")),
		Entry("a group twice", false, groups("claims.groups", "readers", "readers")),
		Entry("more groups than fit", false, groups("claims.groups", append(many(38), many(78)[40:78]...)...)),
		Entry("a ServiceAccount and a caller", false, all(account("clerk", ""), oidc(subject))),
		Entry("a ServiceAccount and a text", false, all(account("clerk", ""), func(t *tokenType) { t.Spec.TokenSecretRef = secretKey("a", "b") })),
		Entry("a caller and a hash", false, all(oidc(subject), func(t *tokenType) { t.Spec.TokenHashSecretRef = secretKey("a", "b") })),
		Entry("a ServiceAccount, with a Secret to write", false, all(account("clerk", ""), func(t *tokenType) { t.Spec.Secret = &v1alpha1.TokenSecretSpec{} })),
		Entry("a caller, with a rotation", false, all(oidc(subject), func(t *tokenType) {
			t.Spec.Rotation = &v1alpha1.TokenRotation{Every: after(time.Hour), Overlap: after(0)}
		})),
		Entry("a ServiceAccount, with a rotation", false, all(account("clerk", ""), func(t *tokenType) { t.Spec.Rotation = &v1alpha1.TokenRotation{} })),
		Entry("a ServiceAccount, by a name that a Secret could not have", true, all(account("clerk", ""), func(t *tokenType) { t.Name = "shop-mcp-config" })),
		Entry("a ServiceAccount, at an endpoint elsewhere", true, all(account("clerk", ""), elsewhere)),
		Entry("a caller, at an endpoint elsewhere", true, all(groups("claims.groups", "readers"), elsewhere)),
		Entry("a caller with attributes, at an endpoint elsewhere", false, all(attribute("region", "claims.region"), elsewhere)),
	)
})

var _ = Describe("The API server", func() {
	It("lets no token become one of another way", func() {
		w := newWorld()
		ways := map[string]func(*tokenType){
			"generated":      func(*tokenType) {},
			"given":          func(t *tokenType) { t.Spec.TokenSecretRef = secretKey("mine", "token") },
			"ServiceAccount": func(t *tokenType) { t.Spec.ServiceAccountRef = &v1alpha1.ServiceAccountReference{Name: "clerk"} },
			"caller":         func(t *tokenType) { t.Spec.OIDC = &v1alpha1.OIDCIdentity{Issuer: "corp", Subject: "alice"} },
		}
		for from, was := range ways {
			token := w.token(strings.ToLower(from), "shop")
			was(token)
			w.create(token)
			for to, becomes := range ways {
				if to == from {
					continue
				}
				Eventually(func() error {
					Expect(k8s.Get(context.Background(), client.ObjectKeyFromObject(token), token)).To(Succeed())
					token.Spec.TokenSecretRef, token.Spec.ServiceAccountRef, token.Spec.OIDC = nil, nil, nil
					becomes(token)
					return k8s.Update(context.Background(), token)
				}).Should(MatchError(ContainSubstring("a token stays what it is")), "%s to %s", from, to)
			}
		}
	})
})
