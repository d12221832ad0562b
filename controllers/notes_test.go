package controllers_test

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
)

var _ = Describe("A status", func() {
	var w *world
	BeforeEach(func() { w = newWorld() })

	It("notes rights that reach nothing, and stays Ready", func() {
		endpoint, exposure, token := w.endpoint("shop"), w.exposure("order", "shop"), w.token("agent", "shop")
		token.Spec.Permissions = []v1alpha1.PermissionRule{{Models: []string{"ordr"}, Verbs: []v1alpha1.Verb{"view"}}}
		w.create(endpoint, exposure, token)
		w.runServer("shop", "shop-0")
		expectReady(endpoint, exposure)
		Eventually(func() []string {
			expectReady(token)
			return token.Status.Notes
		}).Should(ConsistOf(`spec.permissions names the model "ordr", which does not exist. The nearest is "order".`))
		Expect(message(token, "Ready")).To(HavePrefix("the token works; note: spec.permissions"))
		Expect(endpoint.Status.Notes).To(ConsistOf(ContainSubstring("No model is advertised")))

		edit(exposure, func(e *exposureType) { e.Spec.Expose = new(true) })
		edit(token, func(t *tokenType) { t.Spec.Permissions[0].Models = []string{"order"} })
		Eventually(func() []string {
			expectReady(token, endpoint)
			return append(token.Status.Notes, endpoint.Status.Notes...)
		}).Should(BeEmpty())
	})

	It("notes a list that is longer than common clients take", func() {
		endpoint, token := w.endpoint("shop"), w.token("agent", "shop")
		endpoint.Spec.Catalogue.Style = v1alpha1.CataloguePerModel
		token.Spec.Permissions = []v1alpha1.PermissionRule{{Models: []string{"*"}, Verbs: []v1alpha1.Verb{"*"}}}
		w.create(endpoint, token)
		for i := range 11 {
			exposure := w.exposure(fmt.Sprintf("table-%d", i), "shop")
			exposure.Spec.Expose = new(true)
			w.create(exposure)
		}
		w.runServer("shop", "shop-0")
		notes := func() []string {
			expectReady(endpoint)
			return endpoint.Status.Notes
		}
		Eventually(notes).Should(ConsistOf(ContainSubstring("tools/list has up to 134 tools for " + w.namespace + "/agent,")))
		edit(endpoint, func(e *endpointType) { e.Spec.Catalogue.Style = "" })
		Eventually(notes).Should(BeEmpty())
	})

	It("says at once that the database refuses its user, of the endpoint and of what it served", func() {
		endpoint, exposure := w.endpoint("shop"), w.exposure("order", "shop")
		w.create(endpoint, exposure)
		server := w.runServer("shop", "shop-0")
		expectReady(endpoint, exposure)
		server.change(func(s *fakeServer) {
			s.status.Database = contract.DatabaseStatus{Reason: contract.ReasonAuthenticationFailed, Message: "the database refused the user"}
		})
		Eventually(reads(endpoint, "DatabaseReady")).Should(Equal("False AuthenticationFailed"))
		Eventually(reads(exposure, "Ready")).Should(Equal("False AuthenticationFailed"))
		Expect(exposure.Status.Columns).NotTo(BeEmpty())
		server.change(func(s *fakeServer) { s.status.Database = contract.DatabaseStatus{Reason: contract.ReasonConnected} })
		expectReady(endpoint, exposure)
	})

	It("say that collectors get nothing while the Secrets of their headers are missing, and the endpoint is Ready", func() {
		endpoint := w.endpoint("shop")
		collector := func(secret string) v1alpha1.CollectorSpec {
			return v1alpha1.CollectorSpec{Endpoint: "https://otel.example.com", HeadersSecretRef: &v1alpha1.SecretReference{Name: secret}}
		}
		endpoint.Spec.Observability.Tracing = &v1alpha1.TracingSpec{CollectorSpec: collector("traces")}
		endpoint.Spec.Observability.Audit.OTLP = new(collector("audit"))
		w.create(endpoint)
		w.runServer("shop", "shop-0")
		expectReady(endpoint)
		notes := func() []string { reads(endpoint, "Ready")(); return endpoint.Status.Notes }
		Eventually(notes).Should(ContainElements(HavePrefix("no traces are sent: "), HavePrefix("no audit lines are sent to the collector: ")))
		for _, secret := range []string{"traces", "audit"} {
			w.create(&corev1.Secret{ObjectMeta: w.meta(secret), StringData: map[string]string{"x-key": "k"}})
		}
		Eventually(notes).ShouldNot(ContainElement(ContainSubstring("are sent")))
	})
})
