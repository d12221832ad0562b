package controllers_test

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// letsRead gives a person verbs on a Secret.
func (w *world) letsRead(p *person, secret string, verbs ...string) {
	GinkgoHelper()
	meta := w.meta(p.name + "-reads-" + secret)
	w.create(&rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{secret}, Verbs: verbs}}},
		&rbacv1.RoleBinding{ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: p.name}}})
}

var _ = Describe("With fourEyes: Strict", Ordered, func() {
	BeforeAll(func() {
		installPolicy()
		DeferCleanup(removePolicy)
	})
	strict := func(p *v1alpha1.ApprovalPolicy) { p.FourEyes = v1alpha1.FourEyesStrict }

	It("nobody decides who can read the Secret of the token that asks", func() {
		w, e, server, token := guardedShop(strict)
		expectReady(e)
		var calls []contract.Approval
		for i := range 4 {
			calls = append(calls, w.call(fmt.Sprint("refund ", i), token, "large-refunds"))
		}
		server.tells(calls...)
		for i, verb := range []string{"get", "list", "watch"} {
			a := w.approval(calls[i])
			Eventually(state(a)).Should(Equal("Waiting"))
			Expect(a.Spec.Request.TokenSecretRef.Name).To(Equal("agent"))
			reader := w.newPerson("reader-"+verb, nil, "approve", "override")
			w.letsRead(reader, "agent", verb)
			const refusal = "somebody without that right has to decide"
			// The API server knows a new right a moment later.
			Eventually(func() error { return reader.decides(w.approval(calls[i]), v1alpha1.VerdictDeny) }).Should(MatchError(ContainSubstring(refusal)))
			Expect(reader.decides(a, v1alpha1.VerdictApprove)).To(MatchError(ContainSubstring(refusal)))
			Expect(reader.decides(a, v1alpha1.VerdictOverride)).To(MatchError(And(ContainSubstring(refusal), ContainSubstring(verb))))
			Consistently(server.decided(calls[i])).Should(BeEmpty())
		}

		a := w.approval(calls[3])
		Eventually(state(a)).Should(Equal("Waiting"))
		ann := w.newPerson("ann", nil, "approve")
		w.letsRead(ann, "another", "get", "list", "watch")
		Expect(ann.decides(a, v1alpha1.VerdictApprove)).To(Succeed())
		Eventually(server.decided(calls[3])).Should(Equal(contract.ApprovalApproved))
	})

	It("decisions are taken anew when the token's text lies in another Secret", func() {
		w, _, server, _ := guardedShop(strict)
		for _, name := range []string{"first", "own"} {
			w.create(&corev1.Secret{ObjectMeta: w.meta(name), StringData: map[string]string{"token": "a text of the user's own in " + name + ", long enough"}})
		}
		token := w.token("given", "shop")
		token.Spec.TokenSecretRef = &v1alpha1.SecretKeyReference{Name: "first", Key: "token"}
		w.create(token)
		expectReady(token)
		call := w.call("refund", token, "large-refunds")
		server.tells(call)
		a := w.approval(call)
		Eventually(state(a)).Should(Equal("Waiting"))
		before := a.UID
		ann := w.newPerson("ann", nil, "approve")
		w.letsRead(ann, "own", "get")
		Expect(ann.decides(a, v1alpha1.VerdictApprove)).To(Succeed())
		Eventually(server.decided(call)).Should(Equal(contract.ApprovalApproved))

		edit(token, func(t *v1alpha1.MCPToken) { t.Spec.TokenSecretRef.Name = "own" })
		Eventually(server.decided(call)).Should(BeEmpty())
		Eventually(func() bool { return state(a)() == "Waiting" && a.UID != before }).Should(BeTrue())
		Expect(a.Spec.Request.TokenSecretRef.Name).To(Equal("own"))
		Expect(ann.decides(a, v1alpha1.VerdictApprove)).To(MatchError(ContainSubstring("fourEyes: Strict")))
	})

	It("a caller without a Secret is told apart by its subject alone", func(ctx SpecContext) {
		w, _, server, _ := guardedShop(strict)
		token := w.tokenOfAccount("account", "worker")
		w.create(token)
		Eventually(func() int64 { // a pod cannot tell of a token that the manager has not seen
			Expect(k8s.Get(ctx, client.ObjectKeyFromObject(token), token)).To(Succeed())
			return token.Status.ObservedGeneration
		}).Should(Equal(token.Generation))
		call := w.call("refund", token, "large-refunds")
		server.tells(call)
		a := w.approval(call)
		Eventually(state(a)).Should(Equal("Waiting"))
		Expect(a.Spec.Request.TokenSecretRef).To(BeNil())
		Expect(w.newPerson("ann", nil, "approve").decides(a, v1alpha1.VerdictApprove)).To(Succeed())
		Eventually(server.decided(call)).Should(Equal(contract.ApprovalApproved))
	})
})
