package controllers_test

import (
	"context"
	"encoding/json"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// foreignToken is a token in the world's namespace for an endpoint in another one.
func (w *world) foreignToken(name string, of *world, endpoint string) *tokenType {
	t := w.token(name, endpoint)
	t.Spec.EndpointRef.Namespace = of.namespace
	return t
}

func (w *world) label(labels map[string]string) {
	GinkgoHelper()
	edit(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}, func(n *corev1.Namespace) {
		for key, value := range labels {
			metav1.SetMetaDataLabel(&n.ObjectMeta, key, value)
		}
	})
}

func allow(from v1alpha1.FromNamespaces, selector *v1alpha1.NamespaceSelector, groups ...string) *v1alpha1.AllowedTokens {
	return &v1alpha1.AllowedTokens{Namespaces: v1alpha1.TokenNamespaces{From: from, Selector: selector}, Groups: groups}
}

var _ = Describe("A token of another namespace", func() {
	var (
		home, away *world
		endpoint   *endpointType
		server     *fakeServer
	)
	agents := &v1alpha1.NamespaceSelector{MatchLabels: map[string]v1alpha1.LabelValue{"agents": "yes"}}
	BeforeEach(func() {
		home, away = newWorld(), newWorld()
		endpoint = home.endpoint("shop")
		endpoint.Spec.AllowedTokens = allow(v1alpha1.NamespacesSelector, agents, "readers")
		home.create(endpoint)
		server = home.runServer("shop", "shop-0")
	})

	It("works as soon as its namespace is allowed, and is refused as soon as it is not", func() {
		token := away.foreignToken("agent", home, "shop")
		away.create(token)
		Eventually(reads(token, "Ready")).Should(Equal("False EndpointNotFound"))
		away.label(map[string]string{"agents": "yes"})
		expectReady(token)
		text := away.text("agent")
		Expect(server.lets(text)).To(BeTrue())
		Expect(string(away.secret("agent").Data["url"])).To(Equal("http://shop-mcp." + home.namespace + ".svc/mcp/"))
		Expect(metav1.IsControlledBy(away.secret("agent"), token)).To(BeTrue(), "it goes with its MCPToken, in its own namespace")

		away.label(map[string]string{"agents": "no"})
		Eventually(reads(token, "Ready")).Should(Equal("False EndpointNotFound"))
		Eventually(func() bool { return server.lets(text) }).Should(BeFalse())
		edit(endpoint, func(e *endpointType) { e.Spec.AllowedTokens = allow(v1alpha1.NamespacesAll, nil, "readers") })
		expectReady(token)
		Expect(server.lets(text)).To(BeTrue(), "it is the same token")
		edit(endpoint, func(e *endpointType) { e.Spec.AllowedTokens = nil })
		Eventually(func() bool { return server.lets(text) }).Should(BeFalse())
		expectReady(endpoint)
	})

	It("cannot tell an endpoint that does not allow it from one that is not there", func() {
		refused, missing := away.foreignToken("agent", home, "shop"), away.foreignToken("stray", home, "none")
		given := away.foreignToken("given", home, "shop")
		given.Spec.TokenSecretRef = secretKey("mine", "token")
		away.create(refused, missing, given)
		for _, token := range []*tokenType{refused, missing, given} {
			Eventually(reads(token, "Ready")).Should(Equal("False EndpointNotFound"))
		}
		edit(endpoint, func(e *endpointType) { e.Spec.Groups = nil }) // whatever happens to it
		home.create(home.exposure("order", "shop"))
		Consistently(func() string { reads(refused, "Ready")(); return shown(refused) }).Should(Equal(shown(missing)))
		Expect(shown(given)).To(Equal(shown(missing)))
		var secrets corev1.SecretList
		Expect(k8s.List(context.Background(), &secrets, client.InNamespace(away.namespace))).To(Succeed())
		Expect(secrets.Items).To(BeEmpty())
	})

	It("has the allowed groups only, and nothing of its own", func() {
		away.label(map[string]string{"agents": "yes"})
		edit(endpoint, func(e *endpointType) { e.Spec.Groups = append(e.Spec.Groups, v1alpha1.Group{Name: "writers"}) })
		token := away.foreignToken("agent", home, "shop")
		token.Spec.Groups = []string{"writers"}
		away.create(token)
		Eventually(reads(token, "Accepted")).Should(Equal("False GroupNotAllowed"))
		unknown := away.foreignToken("other", home, "shop")
		unknown.Spec.Groups = []string{"nobody"}
		away.create(unknown)
		Eventually(reads(unknown, "Accepted")).Should(Equal("False GroupNotAllowed"))
		Expect(strings.ReplaceAll(message(unknown, "Accepted"), "nobody", "writers")).To(Equal(message(token, "Accepted")))
		edit(endpoint, func(e *endpointType) { e.Spec.AllowedTokens.Groups = []string{"writers"} })
		expectReady(token)

		greedy := away.foreignToken("greedy", home, "shop")
		greedy.Spec.Permissions = []v1alpha1.PermissionRule{{Models: []string{"*"}, Verbs: []v1alpha1.Verb{"*"}}}
		Expect(k8s.Create(context.Background(), greedy)).To(MatchError(ContainSubstring("no permissions and no attributes of its own")))
	})

	It("does not disturb those of the endpoint's own namespace, nor of the same name", func() {
		away.label(map[string]string{"agents": "yes"})
		own, foreign := home.token("agent", "shop"), away.foreignToken("agent", home, "shop")
		home.create(own)
		away.create(foreign)
		expectReady(own, foreign)
		Expect(server.lets(home.text("agent"))).To(BeTrue())
		Expect(server.lets(away.text("agent"))).To(BeTrue())
		text := away.text("agent")
		away.delete(foreign)
		Eventually(func() bool { return server.lets(text) }).Should(BeFalse())
		expectReady(own)
	})

	It("is refused by a manager that watches some namespaces, and the endpoint says why", func() {
		away.label(map[string]string{"agents": "yes"})
		running.stop()
		running = startManager(apiServer.Config, home.namespace, away.namespace)
		DeferCleanup(func() {
			running.stop()
			running = startManager(apiServer.Config)
		})
		own, foreign := home.token("agent", "shop"), away.foreignToken("agent", home, "shop")
		home.create(own)
		away.create(foreign)
		expectReady(own)
		Eventually(reads(foreign, "Ready")).Should(Equal("False EndpointNotFound"))
		Eventually(reads(endpoint, "Ready")).Should(Equal("False NamespacesNotWatched"))
		edit(endpoint, func(e *endpointType) { e.Spec.AllowedTokens = allow(v1alpha1.NamespacesSame, nil) })
		expectReady(endpoint)
	})
})

// shown is all that a token's author sees of it, but for the names in it.
func shown(t *tokenType) string {
	var lines []string
	for _, c := range t.Status.Conditions {
		lines = append(lines, strings.Join([]string{c.Type, string(c.Status), c.Reason, c.Message}, " "))
	}
	status := t.Status.DeepCopy()
	status.Conditions = nil
	encoded, err := json.Marshal(status)
	Expect(err).NotTo(HaveOccurred())
	lines = append(lines, string(encoded))
	return strings.NewReplacer("/shop", "/NAME", "/none", "/NAME").Replace(strings.Join(lines, "\n"))
}
