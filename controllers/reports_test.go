package controllers_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
)

var _ = Describe("What the server's pods report", func() {
	It("makes an endpoint not Ready whose audit table cannot be used, and its tokens do not notice", func() {
		w := newWorld()
		endpoint, token := w.endpoint("shop"), w.token("agent", "shop")
		w.create(endpoint, token)
		first, second := w.runTwo("shop")
		expectReady(endpoint, token)
		const problem = "the audit table public.log cannot be made: the user may not create tables there; make it with: CREATE TABLE …"
		second.change(func(s *fakeServer) { s.status.Database.AuditProblem = problem })
		Eventually(reads(endpoint, "Ready")).Should(Equal("False AuditUnavailable"))
		Expect(reads(endpoint, "DatabaseReady")()).To(Equal("False AuditUnavailable"))
		Expect(message(endpoint, "Ready")).To(Equal("nothing is written: " + problem))
		Expect(reads(token, "Ready")()).To(Equal("True Ready"))

		first.change(func(s *fakeServer) {
			s.status.Database = contract.DatabaseStatus{Reason: contract.ReasonUnreachable, Message: "nobody answers at db:5432"}
		})
		Eventually(reads(endpoint, "Ready")).Should(Equal("False Unreachable"), "what is worse goes first")
		first.change(func(s *fakeServer) { s.status.Database = contract.DatabaseStatus{Reason: contract.ReasonConnected} })
		Eventually(reads(endpoint, "Ready")).Should(Equal("False AuditUnavailable"))
		second.change(func(s *fakeServer) { s.status.Database.AuditProblem = "" })
		expectReady(endpoint)
		second.change(func(s *fakeServer) { s.status.Database.AuditProblem = problem })
		Eventually(reads(endpoint, "Ready")).Should(Equal("False AuditUnavailable"))
		edit(endpoint, func(e *v1alpha1.MCPEndpoint) { e.Spec.Database.Access = v1alpha1.DatabaseReadOnly })
		expectReady(endpoint) // what only reads has nothing to record
		Expect(message(endpoint, "DatabaseReady")).To(HaveSuffix("; there is no history: " + problem))
	})

	It("is noted if it says that nothing is sent to a collector", func() {
		w := newWorld()
		endpoint := w.endpoint("shop")
		w.create(endpoint)
		_, second := w.runTwo("shop")
		expectReady(endpoint)
		second.change(func(s *fakeServer) {
			s.status.TracingProblem = `the Secret of spec.observability.tracing.headersSecretRef has the key "Host", a header that the server sets itself`
			s.status.AuditCollectorProblem = "the Secret of spec.observability.audit.otlp.headersSecretRef does not exist, or is empty"
		})
		notes := func() []string { reads(endpoint, "Ready")(); return endpoint.Status.Notes }
		Eventually(notes).Should(ContainElements(HavePrefix("no traces are sent: the Secret of spec.observability.tracing"), HavePrefix("no audit lines are sent to the collector: the Secret of")))
		expectReady(endpoint)
		second.change(func(s *fakeServer) { s.status.TracingProblem, s.status.AuditCollectorProblem = "", "" })
		Eventually(notes).Should(BeEmpty())
	})

	It("makes an endpoint not Ready whose calls fail for want of their audit lines, and is a note on one whose lines are lost", func() {
		w := newWorld()
		endpoint, token := w.endpoint("shop"), w.token("agent", "shop")
		endpoint.Spec.Observability.Audit.Delivery = v1alpha1.AuditDeliveryRequired
		w.create(endpoint, token)
		_, second := w.runTwo("shop")
		expectReady(endpoint, token)
		const problem = "/var/audit/shop: no space left on device"
		second.change(func(s *fakeServer) { s.status.AuditLinesProblem = problem })
		Eventually(reads(endpoint, "Ready")).Should(Equal("False AuditLinesFailing"))
		Expect(reads(endpoint, "WorkloadAvailable")()).To(Equal("False AuditLinesFailing"))
		Expect(message(endpoint, "Ready")).To(HaveSuffix("audit lines it cannot write: " + problem))
		Expect(reads(token, "Ready")()).To(Equal("True Ready"))

		edit(endpoint, func(e *v1alpha1.MCPEndpoint) { e.Spec.Observability.Audit.Delivery = v1alpha1.AuditDeliveryBestEffort })
		expectReady(endpoint)
		Expect(endpoint.Status.Notes).To(ContainElement("audit lines are lost: " + problem))
		second.change(func(s *fakeServer) { s.status.AuditLinesProblem = "" })
		Eventually(func() []string { reads(endpoint, "Ready")(); return endpoint.Status.Notes }).ShouldNot(ContainElement(ContainSubstring("audit lines")))
	})

	It("is not waited for by a token while the only pod is restarted, unless the token is another by then", func() {
		w := newWorld()
		endpoint, token, other := w.endpoint("shop"), w.token("agent", "shop"), w.token("other", "shop")
		w.create(endpoint, token)
		server := w.runServer("shop", "shop-0")
		expectReady(endpoint, token)
		server.setReady(false)
		w.create(other)
		Eventually(reads(other, "Ready")).Should(Equal("False WaitingForPods"))
		Consistently(reads(token, "Ready")).Should(Equal("True Ready"))
		edit(token, func(t *v1alpha1.MCPToken) { t.Spec.Active = new(bool) })
		Eventually(reads(token, "Ready")).Should(Equal("False WaitingForPods"))
		server.setReady(true)
		expectReady(other)
		Eventually(reads(token, "Ready")).Should(Equal("True Inactive"))
	})

	It("tells in an exposure's status how its columns are shown, and what it goes without", func() {
		w := newWorld()
		endpoint, exposure := w.endpoint("shop"), w.exposure("order", "shop")
		w.create(endpoint, exposure)
		server := w.runServer("shop", "shop-0")
		found := contract.ModelStatus{
			Reason: contract.ReasonServed, Table: "public.order", Columns: []string{"id", "card", "total"}, Hidden: []string{"api_key"},
			Masked: []string{"card"}, ReadOnly: []string{"card", "total"}, Key: []string{"id"}, Tools: []string{"list_order"},
			ForeignKeys: []contract.ForeignKeyStatus{{Columns: []string{"id", "total"}, Model: "customer"}, {Columns: []string{"id"}, Model: strings.Repeat("x", 41)}},
			Notes:       []string{"nothing is written: public.order is a view, which is only read"},
		}
		server.change(func(s *fakeServer) { s.tables["order"] = found })
		Eventually(func() []string { reads(exposure, "Ready")(); return exposure.Status.Notes }).Should(Equal(found.Notes))
		Expect(reads(exposure, "Ready")()).To(Equal("True Ready"))
		Expect(exposure.Status.Columns).To(Equal(found.Columns))
		Expect(exposure.Status.HiddenColumns).To(Equal(found.Hidden))
		Expect(exposure.Status.MaskedColumns).To(Equal(found.Masked))
		Expect(exposure.Status.ReadOnlyColumns).To(Equal(found.ReadOnly))
		keys := []v1alpha1.ForeignKeyStatus{{Columns: []string{"id", "total"}, Model: "customer"}}
		Expect(exposure.Status.ForeignKeys).To(Equal(keys), "what has no room is left out")

		server.change(func(s *fakeServer) {
			s.tables["order"] = contract.ModelStatus{Reason: contract.ReasonSchemaUnknown, Message: "the schema has not been read yet"}
		})
		Eventually(reads(exposure, "Resolved")).Should(Equal("Unknown SchemaUnknown"))
		Expect(exposure.Status.Notes).To(Equal(found.Notes), "what was found stays until something else is")
		Expect(exposure.Status.MaskedColumns).To(Equal(found.Masked))
		Expect(exposure.Status.ForeignKeys).To(Equal(keys))
	})

	It("makes an exposure wait, and not fail, until every pod has looked for the table since", func() {
		w := newWorld()
		endpoint, exposure := w.endpoint("shop"), w.exposure("order", "shop")
		w.create(endpoint)
		first, second := w.runTwo("shop")
		waits := contract.ModelStatus{Reason: contract.ReasonWaitingForReport, Table: "order", Message: "table order does not exist; the schema is read again"}
		for _, pod := range []*fakeServer{first, second} {
			pod.change(func(s *fakeServer) { s.tables["order"] = waits })
		}
		w.create(exposure)
		Eventually(reads(exposure, "Resolved")).Should(Equal("Unknown WaitingForReport"))
		Eventually(reads(exposure, "Ready")).Should(Equal("Unknown WaitingForReport"))
		Expect(reads(exposure, "Reconciling")()).To(HavePrefix("True"))
		Expect(reads(exposure, "Stalled")()).To(BeEmpty())
		first.change(func(s *fakeServer) { delete(s.tables, "order") })
		Eventually(first.heard).Should(BeTrue())
		Consistently(reads(exposure, "Ready")).Should(Equal("Unknown WaitingForReport"), "one pod does not serve it yet")
		second.change(func(s *fakeServer) { delete(s.tables, "order") })
		expectReady(exposure)
		second.change(func(s *fakeServer) {
			s.tables["order"] = contract.ModelStatus{Reason: contract.ReasonTableNotFound, Message: "table order does not exist"}
		})
		Eventually(reads(exposure, "Stalled")).Should(Equal("True TableNotFound"))
	})
})
