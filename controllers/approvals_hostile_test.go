package controllers_test

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
)

var _ = Describe("Somebody who wants a call allowed and may not allow it", Ordered, func() {
	var (
		w      *world
		server *fakeServer
		token  *v1alpha1.MCPToken
		call   contract.Approval
		a      *v1alpha1.MCPApproval
	)
	BeforeAll(func() {
		installPolicy()
		DeferCleanup(removePolicy)
	})
	BeforeEach(func() {
		w, _, server, token = guardedShop()
		call = w.call("refund", token, "large-refunds")
		call.Subject = "mallory@example.com"
		server.tells(call)
		a = w.approval(call)
		Eventually(state(a)).Should(Equal("Waiting"))
		DeferCleanup(func() {
			Consistently(server.decided(call)).Should(BeEmpty())
		})
	})
	forbidden := func(err error, why string) {
		GinkgoHelper()
		Expect(err).To(HaveOccurred())
		Expect(err.Error()).To(ContainSubstring(why))
	}

	It("cannot without the verb approve, though the namespace's approvals may be written", func() {
		forbidden(w.newPerson("mallory", nil).decides(a, v1alpha1.VerdictApprove), "you need the verb approve of mcpendpoints.mcpadmin.dev shop")
	})

	It("cannot decide on a call of their own, by whatever name the cluster knows them", func() {
		for i, name := range []string{"mallory@example.com", "oidc:mallory@example.com", "https://issuer#mallory@example.com"} {
			forbidden(w.newPersonIn(fmt.Sprint("own-", i), name, nil, "approve").decides(a, v1alpha1.VerdictApprove), "this call is your own")
		}
	})

	It("cannot speak for another, nor claim a group", func() {
		mallory := w.newPerson("mallory", []string{"staff"}, "approve")
		forbidden(mallory.writes(a, func(a *v1alpha1.MCPApproval) {
			a.Spec.Decisions = []v1alpha1.ApprovalDecision{{DecidedBy: "ann", Decision: v1alpha1.VerdictApprove}}
		}), "decidedBy must be you")
		forbidden(mallory.writes(a, func(a *v1alpha1.MCPApproval) {
			a.Spec.Decisions = []v1alpha1.ApprovalDecision{{DecidedBy: "mallory", Decision: v1alpha1.VerdictApprove, Groups: []string{"leads"}}}
		}), "groups must be groups of yours")
		forbidden(mallory.writes(a, func(a *v1alpha1.MCPApproval) {
			a.Spec.Decisions = []v1alpha1.ApprovalDecision{{DecidedBy: "mallory", Decision: v1alpha1.VerdictApprove}, {DecidedBy: "ann", Decision: v1alpha1.VerdictApprove}}
		}), "spec.decisions")
	})

	It("cannot change a decision, nor what was asked for", func() {
		ann := w.newPerson("ann", nil, "approve")
		other := w.call("other", token, "large-refunds")
		server.tells(other)
		b := w.approval(other)
		Eventually(state(b)).Should(Equal("Waiting"))
		Expect(ann.decides(b, v1alpha1.VerdictDeny)).To(Succeed())
		forbidden(ann.writes(b, func(b *v1alpha1.MCPApproval) { b.Spec.Decisions[0].Decision = v1alpha1.VerdictApprove }), "cannot be changed or taken back")
		forbidden(ann.writes(b, func(b *v1alpha1.MCPApproval) { b.Spec.Decisions = nil }), "cannot be changed or taken back")
		forbidden(ann.writes(a, func(a *v1alpha1.MCPApproval) { a.Spec.Request.Digest = b.Spec.Request.Digest }), "request cannot be changed")
		forbidden(ann.writes(a, func(a *v1alpha1.MCPApproval) {
			a.Spec.Request.Policies[0].MinApprovals = 1
			a.Spec.Request.ExpiryTime.Time = a.Spec.Request.ExpiryTime.AddDate(1, 0, 0)
		}), "request cannot be changed")
	})

	It("cannot write the status, nor make an approval, nor bring an old one back", func() {
		mallory := w.newPerson("mallory", nil, "approve")
		Expect(mallory.Get(context.Background(), client.ObjectKeyFromObject(a), a)).To(Succeed())
		forged := a.DeepCopy()
		forged.Status.State = v1alpha1.ApprovalApproved
		forbidden(mallory.Status().Update(context.Background(), forged), "only the manager of mcp-admin writes the status")
		forbidden(mallory.Status().Patch(context.Background(), a.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(`{"status":{"state":"Approved"}}`))), "only the manager")

		copied := &v1alpha1.MCPApproval{ObjectMeta: w.approval(w.call("made up", token)).ObjectMeta, Spec: a.Spec}
		forbidden(mallory.Create(context.Background(), copied), "only the manager of mcp-admin creates")
		withDecision := &v1alpha1.MCPApproval{ObjectMeta: copied.ObjectMeta, Spec: *a.Spec.DeepCopy()}
		withDecision.Spec.Decisions = []v1alpha1.ApprovalDecision{{DecidedBy: "ann", Decision: v1alpha1.VerdictApprove}}
		Expect(apierrors.IsInvalid(k8s.Create(context.Background(), withDecision))).To(BeTrue(), "not even an administrator restores one with its decisions")
	})

	It("gains nothing by an approval of another call, or of another token", func() {
		second := w.token("second", "shop")
		w.create(second)
		expectReady(second)
		theirs := w.call("refund of second", second, "large-refunds")
		theirs.TokenUID = string(token.UID) // a pod mixes them up
		server.tells(theirs)
		mine := w.call("mine", token, "large-refunds")
		mine.Name = call.Name // a pod gives it another call's name
		server.tells(mine)
		unknown := w.call("unknown", token, "no-such-policy")
		server.tells(unknown)
		good := w.call("good", token, "large-refunds")
		server.tells(good)
		Eventually(state(w.approval(good))).Should(Equal("Waiting"))
		Expect(state(w.approval(theirs))()).To(Equal("gone"))
		Expect(state(w.approval(unknown))()).To(Equal("gone"))
		state(a)()
		Expect(a.Spec.Request.Digest).To(Equal(call.Digest))
	})
})
