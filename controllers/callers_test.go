package controllers_test

import (
	"context"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
)

func withIssuers(names ...string) func(*endpointType) {
	return func(e *endpointType) {
		e.Spec.Network.ExternalURL = "https://mcp.example.com"
		e.Spec.Authentication.OIDC = nil
		for _, name := range names {
			e.Spec.Authentication.OIDC = append(e.Spec.Authentication.OIDC, v1alpha1.OIDCIssuer{Name: name, URL: v1alpha1.IssuerURL("https://" + name + ".example.com")})
		}
	}
}

func (w *world) tokenOfAccount(name, account string) *tokenType {
	t := w.token(name, "shop")
	t.Spec.ServiceAccountRef = &v1alpha1.ServiceAccountReference{Name: account}
	return t
}

func (w *world) tokenOfSubject(name, issuer, subject string) *tokenType {
	t := w.token(name, "shop")
	t.Spec.OIDC = &v1alpha1.OIDCIdentity{Issuer: issuer, Subject: subject}
	return t
}

// knows makes the pod say that it knows the keys of issuers; "" is the cluster.
func (s *fakeServer) knows(names ...string) {
	s.says(func(name string) contract.IssuerStatus {
		return contract.IssuerStatus{Name: name, Reason: contract.ReasonKeysKnown, Usable: true}
	}, names...)
}

// says makes the pod say the same of issuers.
func (s *fakeServer) says(of func(string) contract.IssuerStatus, names ...string) {
	s.change(func(s *fakeServer) {
		s.status.Issuers = nil
		for _, name := range names {
			s.status.Issuers = append(s.status.Issuers, of(name))
		}
	})
}

// letsIdentity reports whether the pod would answer the callers of an identity.
func (s *fakeServer) letsIdentity(key contract.Identity) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.config != nil && slices.ContainsFunc(s.config.Tokens, func(t contract.Token) bool {
		return t.Identity != nil && t.Identity.Key() == key.Key()
	})
}

// tokenSecrets are the names of the Secrets in the namespace that are not an endpoint's.
func (w *world) tokenSecrets() []string {
	GinkgoHelper()
	var found corev1.SecretList
	Expect(k8s.List(context.Background(), &found, client.InNamespace(w.namespace))).To(Succeed())
	names := []string{}
	for i := range found.Items {
		if !strings.Contains(found.Items[i].Name, "-mcp-config") {
			names = append(names, found.Items[i].Name)
		}
	}
	return names
}

var _ = Describe("A token without a text", func() {
	var (
		w        *world
		endpoint *endpointType
		server   *fakeServer
	)
	BeforeEach(func() {
		w, endpoint, server = newShop()
	})

	It("lets a ServiceAccount in, from its creation to its deletion, and needs no Secret", func() {
		token := w.tokenOfAccount("agent", "clerk")
		clerk := contract.Identity{ServiceAccount: w.namespace + "/clerk"}
		w.create(token)
		expectReady(token)
		Expect(server.letsIdentity(clerk)).To(BeTrue())
		Expect(reads(token, "Issued")()).To(Equal("True NotNeeded"))
		Expect(message(token, "Issued")).To(Equal("ServiceAccount " + w.namespace + "/clerk shows its own token"))
		Expect(token.Status.Secret.Name).To(BeEmpty())
		Expect(token.Status.PublicID).To(BeEmpty())
		Expect(token.Status.CallerDisplay).To(Equal("ServiceAccount " + w.namespace + "/clerk"))
		Expect(token.Status.Rights.Verbs).To(BeEmpty(), "there is no model")
		w.expectQuiet()

		edit(token, func(t *tokenType) { t.Spec.Active = new(bool) })
		Eventually(reads(token, "Ready")).Should(Equal("True Inactive"))
		Expect(server.letsIdentity(clerk)).To(BeFalse(), "Ready says that it is enforced")
		edit(token, func(t *tokenType) { t.Spec.Active = nil })
		expectReady(token)
		edit(token, func(t *tokenType) { t.Spec.ServiceAccountRef.Name = "cashier" })
		expectReady(token)
		Expect(server.letsIdentity(clerk)).To(BeFalse())
		cashier := contract.Identity{ServiceAccount: w.namespace + "/cashier"}
		Expect(server.letsIdentity(cashier)).To(BeTrue())
		edit(token, func(t *tokenType) { t.Spec.Permissions = []v1alpha1.PermissionRule{} })
		expectReady(token)

		edit(token, func(t *tokenType) { t.Spec.Expiry = soon() })
		Eventually(reads(token, "Ready")).Should(Equal("True Expired"))
		edit(token, func(t *tokenType) { t.Spec.Expiry = nil })
		expectReady(token)
		Expect(w.tokenSecrets()).To(BeEmpty())
		w.delete(token)
		Eventually(func() bool { return server.letsIdentity(cashier) }).Should(BeFalse())
		Expect(w.tokenSecrets()).To(BeEmpty())
	})

	It("lets in a caller of an issuer once the endpoint has it, and no longer", func() {
		token := w.tokenOfSubject("alice", "corp", "alice@example.com")
		alice := contract.Identity{Issuer: "https://corp.example.com", Subject: "alice@example.com"}
		w.create(token)
		Eventually(reads(token, "Stalled")).Should(Equal("True IssuerNotFound"))
		Expect(message(token, "Accepted")).To(ContainSubstring(`MCPEndpoint shop has no issuer "corp"`))
		Expect(server.letsIdentity(alice)).To(BeFalse())
		edit(endpoint, withIssuers("corp"))
		expectReady(token)
		Expect(server.letsIdentity(alice)).To(BeTrue())
		Expect(message(token, "Issued")).To(Equal(`callers show the tokens that issuer "corp" issued to them`))
		Expect(token.Status.CallerDisplay).To(Equal("corp: alice@example.com"))
		Eventually(reads(endpoint, "Ready")).Should(Equal("Unknown WaitingForReport"))
		server.knows("corp")
		expectReady(endpoint, token)
		w.expectQuiet()

		edit(endpoint, withIssuers())
		Eventually(reads(token, "Stalled")).Should(Equal("True IssuerNotFound"))
		Eventually(func() bool { return server.letsIdentity(alice) }).Should(BeFalse())
		server.knows()
		expectReady(endpoint)
		Expect(reads(endpoint, "AuthenticationReady")()).To(BeEmpty())
	})

	It("says where an expression is wrong", func() {
		edit(endpoint, withIssuers("corp"))
		token := w.token("staff", "shop")
		token.Spec.OIDC = &v1alpha1.OIDCIdentity{
			Issuer: "corp", Claims: map[string]v1alpha1.ClaimValue{"department": "sales", "/realm_access/roles": "mcp"},
			Attributes: map[string]v1alpha1.CELExpression{"region": "claims.region +"},
			Groups:     &v1alpha1.OIDCGroups{Expression: "claims.groups", Among: []string{"readers"}},
		}
		w.create(token)
		Eventually(reads(token, "Stalled")).Should(Equal("True Invalid"))
		Expect(message(token, "Accepted")).To(ContainSubstring("spec.oidc.attributes[region]"))
		edit(token, func(t *tokenType) { t.Spec.OIDC.Attributes["region"] = "claims.region" })
		expectReady(token)
		Expect(token.Status.CallerDisplay).To(Equal("corp: /realm_access/roles=mcp, department=sales"))
	})

	It("is Conflicted where another one has its callers, and takes its place when that goes", func() {
		edit(endpoint, withIssuers("corp"))
		for name, pair := range map[string][2]*tokenType{
			"accounts": {w.tokenOfAccount("a-clerk", "clerk"), w.tokenOfAccount("b-clerk", "clerk")},
			"subjects": {w.tokenOfSubject("a-alice", "corp", "alice"), w.tokenOfSubject("b-alice", "corp", "alice")},
		} {
			older, younger := pair[0], pair[1]
			w.create(older, younger)
			expectReady(older)
			Eventually(reads(younger, "Reconciling")).Should(Equal("True Conflicted"), name)
			Expect(message(younger, "Ready")).To(HavePrefix(`MCPToken "` + older.Name + `" is for the same callers`))
			edit(older, func(t *tokenType) { t.Spec.Active = new(bool) })
			Eventually(reads(older, "Ready")).Should(Equal("True Inactive"))
			Consistently(reads(younger, "Ready")).Should(Equal("False Conflicted"), "a revoked caller comes back by no other way")
			w.delete(older)
			expectReady(younger)
		}
	})

	It("of another namespace takes no caller from the endpoint's own", func() {
		away := newWorld()
		edit(endpoint, func(e *endpointType) {
			withIssuers("corp")(e)
			e.Spec.AllowedTokens = allow(v1alpha1.NamespacesAll, nil, "readers")
		})
		foreign, account := away.foreignToken("alice", w, "shop"), away.foreignToken("clerk", w, "shop")
		foreign.Spec.OIDC = &v1alpha1.OIDCIdentity{Issuer: "corp", Subject: "alice"}
		account.Spec.ServiceAccountRef = &v1alpha1.ServiceAccountReference{Name: "clerk"}
		away.create(foreign, account)
		expectReady(foreign, account)
		Expect(server.letsIdentity(contract.Identity{ServiceAccount: away.namespace + "/clerk"})).To(BeTrue())
		own := w.tokenOfSubject("alice", "corp", "alice")
		w.create(own)
		expectReady(own)
		Eventually(reads(foreign, "Ready")).Should(Equal("False Conflicted"))
		Expect(message(foreign, "Ready")).To(HavePrefix("an MCPToken of another namespace is for the same callers"))
		Expect(away.tokenSecrets()).To(BeEmpty())

		greedy := away.foreignToken("greedy", w, "shop")
		greedy.Spec.OIDC = &v1alpha1.OIDCIdentity{
			Issuer: "corp", Claims: map[string]v1alpha1.ClaimValue{"a": "b"}, Groups: &v1alpha1.OIDCGroups{Expression: "claims.groups", Among: []string{"owners"}},
		}
		away.create(greedy)
		Eventually(reads(greedy, "Ready")).Should(Equal("False GroupNotAllowed"))
	})

	It("is shown by kubectl get with those whom it is for", func() {
		token := w.tokenOfAccount("agent", "clerk")
		w.create(token)
		expectReady(token)
		Expect(w.table("mcptokens", false)["agent"]).To(Equal(map[string]string{
			"Name": "agent", "Ready": "True", "Status": "Ready", "Endpoint": "shop", "Groups": "readers",
			"Caller": "ServiceAccount " + w.namespace + "/clerk",
		}))
	})
})

var _ = Describe("The condition AuthenticationReady", func() {
	var (
		w             *world
		endpoint      *endpointType
		first, second *fakeServer
	)
	BeforeEach(func() {
		w = newWorld()
		endpoint = w.endpoint("shop")
		withIssuers("corp", "ci")(endpoint)
		w.create(endpoint)
		first, second = w.runTwo("shop")
		first.knows("ci", "corp")
		expectReady(endpoint)
	})

	It("says what the pods found of the issuers", func() {
		Expect(reads(endpoint, "AuthenticationReady")()).To(Equal("True KeysKnown"))
		Expect(message(endpoint, "AuthenticationReady")).To(Equal(`the tokens of issuer "ci", issuer "corp" are checked`))
		second.says(func(name string) contract.IssuerStatus {
			return contract.IssuerStatus{Name: name, Reason: contract.ReasonIssuerUnreachable, Message: "https://" + name + ".example.com does not answer"}
		}, "corp")
		Eventually(reads(endpoint, "Ready")).Should(Equal("False IssuerUnreachable"))
		Expect(message(endpoint, "Ready")).To(Equal(`no token of issuer "corp" can be checked: https://corp.example.com does not answer`))
		Expect(reads(endpoint, "Reconciling")()).To(Equal("True IssuerUnreachable"))

		second.change(func(s *fakeServer) { s.status.Issuers[0].Usable = true })
		expectReady(endpoint)
		Expect(reads(endpoint, "AuthenticationReady")()).To(Equal("True KeysKnown"))
		Expect(message(endpoint, "AuthenticationReady")).To(HaveSuffix(
			`are checked, with what was known before; issuer "corp": https://corp.example.com does not answer`))
		w.expectQuiet()

		second.says(func(name string) contract.IssuerStatus {
			return contract.IssuerStatus{Name: name, Reason: contract.ReasonIssuerMismatch, Message: "the configuration is that of https://other.example.com"}
		}, "ci")
		Eventually(reads(endpoint, "Ready")).Should(Equal("False IssuerMismatch"))
		second.knows("ci", "corp")
		expectReady(endpoint)
	})

	It("has the command that lets the server ask for reviews", func() {
		edit(endpoint, func(e *endpointType) {
			e.Spec.Authentication = v1alpha1.AuthenticationSpec{ServiceAccounts: v1alpha1.ServiceAccountAuthentication{Check: v1alpha1.CheckTokenReview}}
		})
		first.knows()
		expectReady(endpoint)
		Eventually(reads(endpoint, "AuthenticationReady")).Should(BeEmpty())
		first.says(func(name string) contract.IssuerStatus {
			return contract.IssuerStatus{Name: name, Reason: contract.ReasonTokenReviewForbidden, Message: "forbidden"}
		}, "")
		Eventually(reads(endpoint, "Ready")).Should(Equal("False TokenReviewForbidden"))
		Expect(message(endpoint, "Ready")).To(HaveSuffix("kubectl create clusterrolebinding " + w.namespace + "-shop-mcp-token-review " +
			"--clusterrole=system:auth-delegator --serviceaccount=" + w.namespace + ":shop-mcp"))
		first.knows("")
		expectReady(endpoint)
		Expect(message(endpoint, "AuthenticationReady")).To(Equal("the tokens of ServiceAccounts are checked"))
	})

	It("fails for an issuer whose tokens are for nobody that is known", func() {
		edit(endpoint, func(e *endpointType) { e.Spec.Network.ExternalURL = "" })
		Eventually(reads(endpoint, "Stalled")).Should(Equal("True AudienceMissing"))
		Expect(message(endpoint, "Ready")).To(ContainSubstring(`no token of issuer "corp" is accepted`))
		edit(endpoint, func(e *endpointType) {
			for i := range e.Spec.Authentication.OIDC {
				e.Spec.Authentication.OIDC[i].Audiences = []v1alpha1.Audience{"shop"}
			}
		})
		expectReady(endpoint)
	})
})
