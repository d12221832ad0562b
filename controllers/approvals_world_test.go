package controllers_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers"
)

var _ = Describe("An approval", Ordered, func() {
	BeforeAll(func() {
		installPolicy()
		DeferCleanup(removePolicy)
	})

	It("is made of a call that a pod holds back, reaches every pod when people allow it, and is removed some time after the call ran", func() {
		w, e, server, token := guardedShop(func(p *v1alpha1.ApprovalPolicy) { p.Show = v1alpha1.ApprovalShowValues })
		expectReady(e)
		Expect(reads(e, "ApprovalsReady")()).To(Equal("True ApprovalsTaken"))
		Expect(w.config("shop").Endpoint.Approvals).To(HaveLen(1))
		Expect(w.config("shop").Requires).To(Equal([]string{contract.RequiresApprovals}))

		call := w.call("refund 1", token, "large-refunds")
		call.Reason = "the customer\nwaits"
		server.tells(call)
		a := w.approval(call)
		Eventually(state(a)).Should(Equal("Waiting"))
		Expect(a.Spec.Request.TokenRef).To(Equal(v1alpha1.TokenReference{Namespace: w.namespace, Name: "agent"}))
		Expect(a.Spec.Request.Changes).To(Equal([]v1alpha1.ApprovalChange{{Model: "refund", Change: "Create", Rows: 1, ID: "new refund 1",
			Fields: []v1alpha1.ApprovalField{{Name: "amount", After: "700"}}}}))
		Expect(a.Spec.Request.ExpiryTime.Sub(a.Spec.Request.AskTime.Time)).To(Equal(time.Hour))
		Expect(metav1.IsControlledBy(a, e)).To(BeTrue())
		Eventually(func() string { state(a)(); return a.Status.Reason }).Should(Equal("the customer waits"))
		Consistently(server.decided(call)).Should(BeEmpty())
		Eventually(w.waiting("shop")).Should(Equal("1"))

		ann := w.newPerson("ann", nil, "approve")
		Expect(ann.decides(a, v1alpha1.VerdictApprove)).To(Succeed())
		Eventually(server.decided(call)).Should(Equal(contract.ApprovalApproved))
		Eventually(state(a)).Should(Equal("Approved"))
		Expect(conditionOf(a, "Approved")).To(Equal("True Approved"))
		Eventually(w.waiting("shop")).Should(BeEmpty())
		Expect(counted(a)).To(Equal([]string{"ann Counted"}))
		d := server.decisions[call.Name]
		Expect(d.By).To(Equal([]string{"ann"}))
		Expect(d.Comment).To(Equal("so says ann"))

		ran := became(call, contract.ApprovalExecuted)
		ran.Call = "call-1"
		server.tells(became(call, contract.ApprovalSuperseded), ran)
		Eventually(state(a)).Should(Equal("Executed"), "that it ran goes before all else")
		Expect(a.Status.Call).To(Equal("call-1"))
		Expect(conditionOf(a, "Executed")).To(Equal("True Executed"))
		Expect(conditionOf(a, "Approved")).To(Equal("True Approved"))
		Expect(conditionOf(a, "Superseded")).To(BeEmpty())
		Expect(server.decided(call)()).To(Equal(contract.ApprovalApproved), "the pods tell that it ran")
		w.expectTold(map[string]int{"shop: Normal ApprovalAsked": 1, "shop: Normal ApprovalGranted": 1})

		var ahead atomic.Int64
		running.stop()
		DeferCleanup(func() {
			running.stop()
			running = startManager(apiServer.Config)
		})
		running = startManagerWith(apiServer.Config, func(o *controllers.Options) {
			o.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
		})
		expectRunning()
		Consistently(state(a)).Should(Equal("Executed"))
		ahead.Store(int64(61 * time.Minute))
		Expect(k8s.Patch(context.Background(), a, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"look":"now"}}}`)))).To(Succeed())
		Eventually(state(a)).Should(Equal("gone"))
		Eventually(server.decided(call)).Should(BeEmpty())
	})

	It("ends as people deny it, as its caller withdraws it, as rows or policies change, as the token goes, and with its time", func() {
		w, e, server, token := guardedShop()
		ann := w.newPerson("ann", nil, "approve")
		denied, withdrawn, superseded, changed, late := w.call("denied", token, "large-refunds"), w.call("withdrawn", token, "large-refunds"),
			w.call("superseded", token, "large-refunds"), w.call("changed", token, "large-refunds"), w.call("late", token, "large-refunds")
		late.Asked = time.Now().Add(-time.Hour).Add(2 * time.Second)
		server.tells(denied, withdrawn, superseded, changed, late)
		Eventually(state(w.approval(late))).Should(Equal("Expired"))
		Eventually(server.decided(late)).Should(Equal(contract.ApprovalExpired))

		a := w.approval(denied)
		Eventually(state(a)).Should(Equal("Waiting"))
		Expect(ann.decides(a, v1alpha1.VerdictDeny)).To(Succeed())
		Eventually(state(a)).Should(Equal("Denied"))
		Expect(conditionOf(a, "Denied")).To(Equal("True Denied"))
		Expect(conditionOf(a, "Approved")).To(Equal("False Denied"))
		Eventually(server.decided(denied)).Should(Equal(contract.ApprovalDenied))
		bob := w.newPerson("bob", nil, "approve")
		Expect(bob.decides(a, v1alpha1.VerdictApprove)).To(Succeed(), "the API server does not know that it ended")
		Eventually(func() []string { state(a)(); return counted(a) }).Should(Equal([]string{"ann Counted", "bob TooLate"}))
		Expect(state(a)()).To(Equal("Denied"))
		Consistently(server.decided(denied)).Should(Equal(contract.ApprovalDenied))

		server.tells(became(withdrawn, contract.ApprovalWithdrawn))
		Eventually(state(w.approval(withdrawn))).Should(Equal("Withdrawn"))
		next := became(superseded, contract.ApprovalSuperseded)
		next.By = w.call("next", token).Name
		server.tells(next)
		a = w.approval(superseded)
		Eventually(state(a)).Should(Equal("Superseded"))
		Expect(conditionOf(a, "Superseded")).To(Equal("True RowsChanged"))
		Expect(a.Status.SupersededBy).To(Equal("shop-" + next.By))

		a = w.approval(changed)
		Eventually(state(a)).Should(Equal("Waiting"))
		Expect(ann.decides(a, v1alpha1.VerdictApprove)).To(Succeed())
		Eventually(server.decided(changed)).Should(Equal(contract.ApprovalApproved))
		edit(e, func(e *v1alpha1.MCPEndpoint) { e.Spec.Approvals[0].MinApprovals = 2 })
		Eventually(server.decided(changed)).Should(BeEmpty())
		Eventually(state(a)).Should(Equal("Superseded"))
		Expect(conditionOf(a, "Superseded")).To(Equal("True PolicyChanged"))

		orphan := w.call("orphan", token, "large-refunds")
		server.tells(orphan)
		Eventually(state(w.approval(orphan))).Should(Equal("Waiting"))
		w.delete(token)
		Eventually(state(w.approval(orphan))).Should(Equal("Superseded"))
	})

	It("begins anew when the same call is asked for again after it ended", func() {
		w, _, server, token := guardedShop()
		call := w.call("again", token, "large-refunds")
		server.tells(call)
		a := w.approval(call)
		Eventually(state(a)).Should(Equal("Waiting"))
		server.tells(became(call, contract.ApprovalWithdrawn))
		Eventually(state(a)).Should(Equal("Withdrawn"))
		before := a.UID
		call.Asked = time.Now()
		server.tells(call)
		Eventually(state(a)).Should(Equal("Waiting"))
		Expect(a.UID).NotTo(Equal(before))
	})

	It("needs as many different people as its policy says, of the groups that it names", func() {
		w, _, server, token := guardedShop(func(p *v1alpha1.ApprovalPolicy) {
			p.MinApprovals, p.Approvers = 2, &v1alpha1.Approvers{Groups: []string{"leads"}}
		})
		call := w.call("refund", token, "large-refunds")
		server.tells(call)
		a := w.approval(call)
		Eventually(state(a)).Should(Equal("Waiting"))
		ann, bob, cy := w.newPerson("ann", []string{"leads"}, "approve"), w.newPerson("bob", []string{"staff"}, "approve"), w.newPerson("cy", []string{"leads"}, "approve")
		Expect(ann.decides(a, v1alpha1.VerdictApprove)).To(Succeed())
		Expect(bob.decides(a, v1alpha1.VerdictApprove)).To(Succeed())
		Eventually(func() []string { state(a)(); return counted(a) }).Should(Equal([]string{"ann Counted", "bob NotAnApprover"}))
		Expect(conditionOf(a, "Approved")).To(Equal("False Waiting"))
		Eventually(server.allowed(call)).Should(Equal(map[string]int{"large-refunds": 1}), "the agent learns how many people have allowed it")
		Expect(server.decided(call)()).To(BeEmpty(), "that is no decision")
		Expect(ann.decides(a, v1alpha1.VerdictApprove)).NotTo(Succeed(), "she has decided")
		Expect(ann.writes(a, func(a *v1alpha1.MCPApproval) {
			a.Spec.Decisions = append(a.Spec.Decisions, v1alpha1.ApprovalDecision{DecidedBy: "dora", Decision: v1alpha1.VerdictApprove, Groups: []string{"leads"}})
		})).NotTo(Succeed(), "she is not Dora")
		Expect(state(a)()).To(Equal("Waiting"))
		Expect(cy.decides(a, v1alpha1.VerdictApprove)).To(Succeed())
		Eventually(server.decided(call)).Should(Equal(contract.ApprovalApproved))
		Expect(server.decisions[call.Name].By).To(ConsistOf("ann", "cy"))
	})

	It("can be overridden by whoever has the verb for it, which is a Warning", func() {
		w, _, server, token := guardedShop(func(p *v1alpha1.ApprovalPolicy) { p.MinApprovals = 2 })
		call := w.call("fire", token, "large-refunds")
		server.tells(call)
		a := w.approval(call)
		Eventually(state(a)).Should(Equal("Waiting"))
		Expect(w.newPerson("ann", nil, "approve").decides(a, v1alpha1.VerdictOverride)).To(MatchError(ContainSubstring("the verb override")))
		Expect(w.newPerson("chief", nil, "override").decides(a, v1alpha1.VerdictOverride)).To(Succeed())
		Eventually(server.decided(call)).Should(Equal(contract.ApprovalApproved))
		Eventually(state(a)).Should(Equal("Approved"))
		Expect(conditionOf(a, "Approved")).To(Equal("True Overridden"))
		w.expectTold(map[string]int{"shop: Normal ApprovalAsked": 1, "shop: Warning ApprovalOverridden": 1})
	})

	It("is made for a thousand calls, and for no more at once", func() {
		w, _, server, _ := guardedShop()
		var tokens []*v1alpha1.MCPToken
		for i := range 5 {
			t := w.token(fmt.Sprintf("agent-%d", i), "shop")
			w.create(t)
			tokens = append(tokens, t)
		}
		for _, t := range tokens {
			expectReady(t)
		}
		var calls []contract.Approval
		for i := range 1010 {
			calls = append(calls, w.call(fmt.Sprint("call ", i), tokens[i%5], "large-refunds"))
		}
		server.tells(calls...)
		made := func() int {
			var all v1alpha1.MCPApprovalList
			Expect(k8s.List(context.Background(), &all, client.InNamespace(w.namespace))).To(Succeed())
			return len(all.Items)
		}
		Eventually(made).Should(BeNumerically(">=", 1000))
		Consistently(made).Should(BeNumerically("<", 1008), "those that are made at the same moment may exceed the bound by a few")
	})
})

var _ = Describe("Without the admission policy", Ordered, func() {
	BeforeAll(removePolicy)

	It("no decision counts, then or later, and the endpoint says so", func() {
		w, e, server, token := guardedShop()
		Eventually(reads(e, "Ready")).Should(Equal("False AdmissionPolicyMissing"))
		call := w.call("refund", token, "large-refunds")
		server.tells(call)
		a := w.approval(call)
		Eventually(state(a)).Should(Equal("Waiting"))
		mallory := w.newPerson("mallory", nil)
		Eventually(func() error { // each API server takes a moment to forget the policy
			return mallory.writes(a, func(a *v1alpha1.MCPApproval) {
				a.Spec.Decisions = []v1alpha1.ApprovalDecision{{DecidedBy: "ann", Decision: v1alpha1.VerdictApprove, Groups: []string{"leads"}}}
			})
		}).Should(Succeed())
		Eventually(func() []string { state(a)(); return counted(a) }).Should(Equal([]string{"ann PolicyNotInForce"}))
		Expect(messageOf(a, "Approved")).To(ContainSubstring("not installed"))
		Consistently(server.decided(call)).Should(BeEmpty())

		before := a.UID
		installPolicy()
		DeferCleanup(removePolicy)
		Eventually(reads(e, "Ready")).Should(Equal("True Ready"))
		Eventually(func() bool { return state(a)() == "Waiting" && a.UID != before }).Should(BeTrue(), "the call begins anew, without what nobody checked")
		Expect(a.Spec.Decisions).To(BeEmpty())
		Expect(w.newPerson("ann", nil, "approve").decides(a, v1alpha1.VerdictApprove)).To(Succeed())
		Eventually(server.decided(call)).Should(Equal(contract.ApprovalApproved))

		removePolicy()
		Eventually(server.decided(call)).Should(BeEmpty(), "what nobody checks any more is not allowed any more")
	})

	It("no decision counts that was made while it was weakened, though it is mended at once", func(ctx SpecContext) {
		installPolicy()
		DeferCleanup(removePolicy)
		w, e, server, token := guardedShop()
		Eventually(reads(e, "Ready")).Should(Equal("True Ready"))
		call := w.call("refund", token, "large-refunds")
		server.tells(call)
		a := w.approval(call)
		Eventually(state(a)).Should(Equal("Waiting"))
		before, mallory := a.UID, w.newPerson("mallory", nil)

		binding := policyObjects()[1]
		weakened := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"validationActions":["Audit"]}}`))
		Expect(k8s.Patch(ctx, binding, weakened)).To(Succeed())
		Eventually(func() error { // each API server takes a moment
			return mallory.writes(a, func(a *v1alpha1.MCPApproval) {
				a.Spec.Decisions = []v1alpha1.ApprovalDecision{{DecidedBy: "ann", Decision: v1alpha1.VerdictApprove, Groups: []string{"leads"}}}
			})
		}).Should(Succeed())
		mended := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"validationActions":["Deny"]}}`))
		Expect(k8s.Patch(ctx, binding, mended)).To(Succeed())

		Eventually(func() bool { return state(a)() == "Waiting" && a.UID != before }).Should(BeTrue(), "the call begins anew")
		Expect(a.Spec.Decisions).To(BeEmpty())
		Consistently(server.decided(call)).Should(BeEmpty())
	})
})
