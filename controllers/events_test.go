package controllers_test

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers"
)

// told are the events of the namespace, each as "object: Type Reason" with how often it was told.
func (w *world) told() map[string]int {
	var events eventsv1.EventList
	_ = k8s.List(context.Background(), &events, client.InNamespace(w.namespace))
	told := map[string]int{}
	for _, e := range events.Items {
		if e.ReportingController != controllers.Name {
			continue // the API server tells of Services, too
		}
		times := 1
		if e.Series != nil {
			times = int(e.Series.Count)
		}
		told[fmt.Sprintf("%s: %s %s", e.Regarding.Name, e.Type, e.Reason)] += times
	}
	return told
}

// expectTold waits for exactly these events, and for no other.
func (w *world) expectTold(want map[string]int) {
	GinkgoHelper()
	Eventually(w.told).Should(Equal(want))
	Consistently(w.told).Should(Equal(want))
}

var _ = Describe("Events", func() {
	var (
		w        *world
		endpoint *endpointType
		server   *fakeServer
	)
	BeforeEach(func() {
		w, endpoint, server = newShop()
	})

	It("tell nothing of what only waited for its turn", func() {
		exposure, token := w.exposure("order", "shop"), w.token("agent", "shop")
		server.change(func(s *fakeServer) { s.frozen = true })
		w.create(exposure, token)
		Eventually(reads(token, "Ready")).Should(Equal("False WaitingForPods"))
		server.change(func(s *fakeServer) { s.frozen = false })
		expectReady(exposure, token)
		edit(token, func(t *tokenType) { t.Spec.Active = new(bool) })
		Eventually(reads(token, "Ready")).Should(Equal("True Inactive"))
		edit(endpoint, func(e *endpointType) { e.Spec.Server.Limits.MaxBodyBytes = 2048 })
		expectReady(endpoint)
		w.delete(token)
		w.expectTold(map[string]int{})
	})

	It("tell of a lost database once, of the endpoint, and once that it is back", func() {
		var objects []client.Object
		for i := range 5 {
			objects = append(objects, w.exposure(fmt.Sprintf("table-%d", i), "shop"), w.token(fmt.Sprintf("agent-%d", i), "shop"))
		}
		w.create(objects...)
		expectReady(objects...)
		server.change(func(s *fakeServer) {
			s.status.Database = contract.DatabaseStatus{Reason: contract.ReasonAuthenticationFailed, Message: "the database refused the user"}
		})
		Eventually(reads(objects[0], "Ready")).Should(Equal("False AuthenticationFailed"), "the exposure says it in its status")
		w.expectTold(map[string]int{"shop: Warning AuthenticationFailed": 1})
		server.change(func(s *fakeServer) { s.status.Database = contract.DatabaseStatus{Reason: contract.ReasonConnected} })
		expectReady(endpoint, objects[0])
		w.expectTold(map[string]int{"shop: Warning AuthenticationFailed": 1, "shop: Normal Ready": 1})
	})

	It("tell of trouble once for each reason, whatever comes between, and once that it is over", func() {
		finds := func(reason string) {
			server.change(func(s *fakeServer) { s.tables["order"] = contract.ModelStatus{Reason: reason, Message: "look"} })
		}
		finds(contract.ReasonTableNotFound)
		exposure := w.exposure("order", "shop")
		w.create(exposure)
		Eventually(reads(exposure, "Stalled")).Should(Equal("True TableNotFound"))
		finds(contract.ReasonSchemaUnknown)
		Eventually(reads(exposure, "Ready")).Should(Equal("Unknown SchemaUnknown"))
		finds(contract.ReasonTableNotFound)
		Eventually(reads(exposure, "Stalled")).Should(Equal("True TableNotFound"))
		w.expectTold(map[string]int{"order: Warning TableNotFound": 1})
		finds(contract.ReasonNotPermitted)
		Eventually(reads(exposure, "Ready")).Should(Equal("False NotPermitted"))
		server.change(func(s *fakeServer) { s.tables = map[string]contract.ModelStatus{} })
		expectReady(exposure)
		w.expectTold(map[string]int{"order: Warning TableNotFound": 1, "order: Warning NotPermitted": 1, "order: Normal Ready": 1})
	})

	It("tell that a token whose Secret was deleted is another one, and nothing of one that expires by plan", func() {
		token, brief := w.token("agent", "shop"), w.token("brief", "shop")
		brief.Spec.Expiry = soon()
		w.create(token, brief)
		expectReady(token)
		w.delete(w.secret("agent"))
		Eventually(reads(brief, "Ready")).Should(Equal("True Expired"))
		expectReady(token)
		w.expectTold(map[string]int{"agent: Warning Reissued": 1})
	})

	It("tell of a group that was removed, of each token that had it", func() {
		token := w.token("agent", "shop")
		w.create(token)
		expectReady(token)
		edit(endpoint, func(e *endpointType) { e.Spec.Groups = []v1alpha1.Group{{Name: "others"}} })
		Eventually(reads(token, "Stalled")).Should(Equal("True GroupNotFound"))
		edit(endpoint, func(e *endpointType) { e.Spec.Groups[0].Name = "readers" })
		expectReady(token)
		w.expectTold(map[string]int{"agent: Warning GroupNotFound": 1, "agent: Normal Ready": 1})
	})
})
