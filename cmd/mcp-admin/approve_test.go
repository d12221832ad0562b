package main

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	approvalpolicy "github.com/mcp-admin/mcp-admin-operator/config/approval-policy"
)

// makeDesk makes an endpoint whose orders above 100 need a lead, with a server, the admission policy and its people.
func (w *world) makeDesk(t *testing.T) {
	t.Helper()
	text := bytes.ReplaceAll(approvalpolicy.Policy, []byte(approvalpolicy.Manager), []byte("admin"))
	first, second, _ := bytes.Cut(text, []byte("\n---\n"))
	policy, binding := &admissionv1.ValidatingAdmissionPolicy{}, &admissionv1.ValidatingAdmissionPolicyBinding{}
	w.check(yaml.Unmarshal(first, policy))
	w.check(yaml.Unmarshal(second, binding))
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "desk", Name: name} }
	e := &v1alpha1.MCPEndpoint{ObjectMeta: meta("desk")}
	e.Spec.Database.SQLite = &v1alpha1.SQLiteSpec{EmptyDir: &v1alpha1.SQLiteEmptyDir{}}
	e.Spec.Idempotency = &v1alpha1.IdempotencySpec{Table: v1alpha1.TableReference{Name: "kept"}}
	e.Spec.Audit = &v1alpha1.AuditSpec{Table: v1alpha1.TableReference{Name: "log"}}
	e.Spec.Approvals = []v1alpha1.ApprovalPolicy{{Name: "large", Description: "above the desk's limit", Approvers: &v1alpha1.Approvers{Groups: []string{"leads"}}, FourEyes: v1alpha1.FourEyesStrict,
		Match: v1alpha1.ApprovalMatch{Models: []string{"order"}, When: &v1alpha1.ApprovalWhen{After: &runtime.RawExtension{Raw: []byte(`{"total__gt":100}`)}}}}}
	x := &v1alpha1.MCPModelExposure{ObjectMeta: meta("order")}
	x.Spec.EndpointRef.Name, x.Spec.Table.Name, x.Spec.Expose = "desk", "orders", new(true)
	clerk := &v1alpha1.MCPToken{ObjectMeta: meta("clerk")}
	clerk.Spec.EndpointRef.Name = "desk"
	clerk.Spec.Permissions = []v1alpha1.PermissionRule{{Models: []string{"order"}, Verbs: []v1alpha1.Verb{"view", "change"}}}
	w.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "desk"}}, policy, binding, e, x, clerk)
	for name, verbs := range map[string][]string{"ann": {"approve"}, "bob": nil} {
		rules := []rbacv1.PolicyRule{{APIGroups: []string{"mcpadmin.dev"}, Resources: []string{"mcpapprovals"}, Verbs: []string{"get", "list", "update"}}}
		if verbs != nil {
			rules = append(rules, rbacv1.PolicyRule{APIGroups: []string{"mcpadmin.dev"}, Resources: []string{"mcpendpoints"}, ResourceNames: []string{"desk"}, Verbs: verbs})
		}
		w.create(&rbacv1.Role{ObjectMeta: meta(name), Rules: rules}, &rbacv1.RoleBinding{
			ObjectMeta: meta(name), RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: name}},
		})
	}
	w.runServer("desk", "desk", "desk-0")
}

// approvalsOf are the approvals of the namespace desk in a state.
func (w *world) approvalsOf(state v1alpha1.ApprovalState) (found []v1alpha1.MCPApproval) {
	var all v1alpha1.MCPApprovalList
	w.check(w.k8s.List(context.Background(), &all, client.InNamespace("desk")))
	for i := range all.Items {
		if all.Items[i].EffectiveState() == state {
			found = append(found, all.Items[i])
		}
	}
	return found
}

// An agent asks, people decide with the commands, and the agent's call runs: with the real server, manager and API server.
func (w *world) testApprovals(t *testing.T) {
	w.makeDesk(t)
	w.expect(t, false, []string{"No call waits for an approval."}, "approvals", "-n", "desk")
	call := []string{"call", "clerk", "update_order", "id=1", `data={"total":700}`, "-n", "desk"}
	var answer struct{ Code, Approval string }
	w.eventually("the server is there, and holds the call back", func() bool {
		out, _ := w.command(call...)
		if i := strings.Index(out, "{"); i >= 0 {
			_ = json.NewDecoder(strings.NewReader(out[i:])).Decode(&answer)
		}
		return answer.Code == "approval_required"
	})
	w.eventually("the manager makes an MCPApproval", func() bool { return len(w.approvalsOf(v1alpha1.ApprovalWaiting)) == 1 })
	name := "desk-" + answer.Approval
	w.expect(t, false, []string{"NAME ", "EXPIRES", name, "Waiting", "clerk", "update", "in 5"}, "approvals", "-n", "desk")
	w.expect(t, false, []string{"Tool:       update_order", "Policy:     large (1 approval of people in leads who cannot read the token's Secret): above the desk's limit", "What it would do:\n  update order 1\n", "    total\n"}, "approvals", answer.Approval, "-n", "desk")
	w.expect(t, false, []string{"What it would do:\n  update order 1\n", "    total: 10 -> 700\n"}, "approvals", answer.Approval, "-n", "desk", "--values")
	w.expect(t, true, []string{"pods is forbidden"}, "approvals", name, "-n", "desk", "--values", "--as", "ann", "--as-group", "leads")
	w.expect(t, true, []string{"pods is forbidden"}, "approve", name, "-n", "desk", "--values", "--as", "ann", "--as-group", "leads")
	w.expect(t, true, []string{"total: 10 -> 700", "Allow it? Write yes: ", "nothing was decided"}, "approve", name, "-n", "desk", "--values")
	w.expect(t, true, []string{"namespace desk has no MCPApproval", "the nearest is \"" + name + "\""}, "approve", name[:len(name)-1], "-n", "desk")
	w.expect(t, true, []string{"you need the verb approve of mcpendpoints.mcpadmin.dev desk in namespace desk"}, "approve", name, "-n", "desk", "--as", "bob", "--as-group", "leads")
	w.expect(t, true, []string{"your approval of " + name + " would not count", "policy large asks for people in leads"}, "approve", name, "-n", "desk", "--as", "ann")
	w.expect(t, true, []string{"--override needs --comment"}, "approve", name, "-n", "desk", "--override")
	w.expect(t, true, []string{"you need the verb override"}, "approve", name, "-n", "desk", "--as", "ann", "--override", "--comment", "now")
	w.expect(t, true, []string{"a policy says fourEyes: Strict, and you have the right to get the Secret clerk in namespace desk", "somebody without that right has to decide"}, "approve", name, "-n", "desk", "--as", "root", "--as-group", "system:masters", "--as-group", "leads")
	w.expect(t, false, []string{name + ": Approved, allowed by ann"}, "approve", answer.Approval, "-n", "desk", "--as", "ann", "--as-group", "leads", "--comment", "go on")
	w.expect(t, true, []string{"you have decided about " + name + " already (Approve)"}, "approve", name, "-n", "desk", "--as", "ann", "--as-group", "leads")
	decided := time.Now()
	w.eventually("the same call runs", func() bool {
		out, _ := w.command(call...)
		return strings.Contains(out, `"total": 700`) || strings.Contains(out, `"total":700`)
	})
	t.Logf("from the approval to the call's success: %s", time.Since(decided).Round(time.Millisecond))
	w.eventually("the MCPApproval says so", func() bool { return len(w.approvalsOf(v1alpha1.ApprovalExecuted)) == 1 })
	w.expect(t, true, []string{name + " waits no more: it is Executed"}, "deny", name, "-n", "desk", "--as", "ann")
	// The row is another one by now, so that the same call is another change: it waits anew.
	if out, _ := w.command(call...); !strings.Contains(out, "approval_required") {
		t.Errorf("the same call once more: %s", out)
	}
	w.eventually("it waits anew", func() bool { return len(w.approvalsOf(v1alpha1.ApprovalWaiting)) == 1 })
	w.expect(t, false, []string{": Denied, denied by ann"}, "deny", w.approvalsOf(v1alpha1.ApprovalWaiting)[0].Name, "-n", "desk", "--as", "ann")

	call[3] = "id=2"
	if out, _ := w.command(call...); !strings.Contains(out, "approval_required") {
		t.Fatalf("another row: %s", out)
	}
	w.eventually("it waits", func() bool { return len(w.approvalsOf(v1alpha1.ApprovalWaiting)) == 1 })
	name = w.approvalsOf(v1alpha1.ApprovalWaiting)[0].Name
	w.expect(t, false, []string{name + ": Denied, denied by ann"}, "deny", name, "-n", "desk", "--as", "ann", "--comment", "not this one")
	w.eventually("the agent is told", func() bool {
		out, _ := w.command(call...)
		return strings.Contains(out, "approval_denied") && strings.Contains(out, "not this one")
	})
	w.expect(t, false, []string{"Executed", "Denied"}, "approvals", "--all", "-A")
	w.testPageApprovals(t, call)
	for _, o := range []client.Object{&admissionv1.ValidatingAdmissionPolicyBinding{}, &admissionv1.ValidatingAdmissionPolicy{}} {
		o.SetName(approvalpolicy.Name)
		if err := w.k8s.Delete(context.Background(), o); err != nil && !apierrors.IsNotFound(err) {
			t.Error(err)
		}
	}
}
