package controllers_test

import (
	"context"
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// metric is the value of a counter or gauge of the manager.
func metric(name, label string) float64 {
	GinkgoHelper()
	families, err := metrics.Registry.Gather()
	Expect(err).NotTo(HaveOccurred())
	for _, family := range families {
		for _, m := range family.Metric {
			if family.GetName() == name && (label == "" || m.Label[0].GetValue() == label) {
				return m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	return 0
}

// removalIsLate waits until the endpoint and the metric say that a removal takes too long.
func removalIsLate(endpoint *endpointType) {
	GinkgoHelper()
	Eventually(reads(endpoint, "Ready")).Should(Equal("False RemovalPending"))
	Eventually(func() float64 { return metric("mcp_admin_manager_removals_late", "") }).Should(BeNumerically(">", 0))
}

var _ = Describe("A removal that does not reach a pod", func() {
	var w *world
	var endpoint *endpointType
	var server *fakeServer
	var token *tokenType
	var text string
	BeforeEach(func() {
		w, endpoint, server = newShop()
		token = w.token("agent", "shop")
		w.create(token)
		expectReady(token)
		text = w.text("agent")
	})
	freeze := func(frozen bool) { server.change(func(s *fakeServer) { s.frozen = frozen }) }
	reachesThePod := func() {
		GinkgoHelper()
		Eventually(func() bool { return server.lets(text) }).Should(BeFalse())
		Eventually(reads(endpoint, "Ready")).Should(Equal("True Ready"))
		Eventually(func() float64 { return metric("mcp_admin_manager_removals_late", "") }).Should(BeZero())
	}

	It("is told after a restart of the manager, too", func() {
		freeze(true)
		written := w.secret("shop-mcp-config-tokens-0").ResourceVersion
		w.delete(token)
		Eventually(func() string { return w.secret("shop-mcp-config-tokens-0").ResourceVersion }).ShouldNot(Equal(written))
		running.stop()
		running = startManager(apiServer.Config)
		removalIsLate(endpoint)
		freeze(false)
		reachesThePod()
	})

	It("is told if it was asked for while no manager ran", func() {
		freeze(true)
		running.stop()
		Expect(k8s.Delete(context.Background(), token)).To(Succeed())
		running = startManager(apiServer.Config)
		removalIsLate(endpoint)
		freeze(false)
		reachesThePod()
	})

	It("is told if it cannot be written, and is written soon after it can be", func() {
		running.writes.refuse(func(r *http.Request) bool {
			return r.Method == http.MethodPatch && strings.HasSuffix(r.URL.Path, "/namespaces/"+w.namespace+"/secrets/shop-mcp-config-tokens-0")
		})
		DeferCleanup(func() { running.writes.refuse(nil) })
		w.delete(token)
		removalIsLate(endpoint)
		Expect(message(endpoint, "Ready")).To(ContainSubstring("could not be written"))
		Expect(server.lets(text)).To(BeTrue())
		other := w.exposure("item", "shop")
		w.create(other)
		Eventually(reads(other, "Ready")).Should(Equal("True Ready"), "another part is written meanwhile")
		running.writes.refuse(nil)
		reachesThePod()
	})
})

var _ = Describe("A namespace that is deleted", func() {
	It("is no failure to write a Config", func() {
		w, _, _ := newShop()
		token := w.token("agent", "shop")
		w.create(token)
		expectReady(token)
		failed := metric("mcp_admin_manager_config_writes_total", "failed")
		Expect(k8s.Delete(context.Background(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}})).To(Succeed())
		tried := func() int {
			return strings.Count(strings.Join(running.writes.to(w.namespace), " "), "POST /api/v1/namespaces/"+w.namespace+"/secrets")
		}
		before := tried()
		Expect(k8s.Delete(context.Background(), w.secret("shop-mcp-config-tokens-0"))).To(Succeed())
		Eventually(tried).Should(BeNumerically(">", before))
		edit(token, func(t *tokenType) {
			t.Spec.Permissions = []v1alpha1.PermissionRule{{Models: []string{"other"}, Verbs: []v1alpha1.Verb{"view"}}}
		})
		Consistently(func() float64 { return metric("mcp_admin_manager_config_writes_total", "failed") }).Should(Equal(failed))
	})
})
