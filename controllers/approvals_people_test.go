package controllers_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/yaml"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	approvalpolicy "github.com/mcp-admin/mcp-admin-operator/config/approval-policy"
	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// The pods' half: what a server's pod does with calls that it holds back.

// approvalPage is the answer at /approvals. The caller holds the lock.
func (s *fakeServer) approvalPage(after string) contract.ApprovalPage {
	seen, _ := strconv.Atoi(after)
	seen = min(seen, len(s.approvals))
	end := min(len(s.approvals), seen+contract.MaxApprovalsPage)
	return contract.ApprovalPage{Cursor: strconv.Itoa(end), More: end < len(s.approvals), Approvals: s.approvals[seen:end]}
}

// tells has the pod tell of calls: that they wait, or what became of them.
func (s *fakeServer) tells(approvals ...contract.Approval) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.approvals = append(s.approvals, approvals...)
	s.status.ApprovalsSerial = strconv.Itoa(len(s.approvals))
	s.changed()
}

// decided polls the state of a decision as the pod has it; "" if it has none.
func (s *fakeServer) decided(a contract.Approval) func() string {
	return func() string {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.decisions[a.Name].State
	}
}

// allowed polls how many people have allowed a call that still waits, by policy, as the pod has it.
func (s *fakeServer) allowed(a contract.Approval) func() map[string]int {
	return func() map[string]int {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.waiting[a.Name].Allowed
	}
}

// call is a call of a token that waits for the policies: another one for each text.
func (w *world) call(text string, t *v1alpha1.MCPToken, policies ...string) contract.Approval {
	sum := sha256.Sum256([]byte(w.namespace + text))
	a := contract.Approval{
		Digest: hex.EncodeToString(sum[:]), State: contract.ApprovalWaiting, Token: w.namespace + "/" + t.Name, TokenUID: string(t.UID),
		Caller: w.namespace + "/" + t.Name, Tool: "create_refund", Operation: "create", Model: "refund", Policies: policies, Asked: time.Now(), Rows: 1,
		Changes: []contract.ApprovalChange{{Model: "refund", Change: "create", Rows: 1, ID: "new refund 1", Fields: []string{"amount"},
			After: map[string]json.RawMessage{"amount": json.RawMessage("700")}}},
	}
	a.Name = contract.ApprovalName(a.Digest)
	return a
}

// became is a call that came into another state now.
func became(a contract.Approval, state string) contract.Approval {
	a.State, a.Ended = state, new(time.Now())
	return a
}

// approval is the object of a call.
func (w *world) approval(a contract.Approval) *v1alpha1.MCPApproval {
	return &v1alpha1.MCPApproval{ObjectMeta: w.meta("shop-" + a.Name)}
}

// state polls an approval's state; "gone" if there is none.
func state(a *v1alpha1.MCPApproval) func() string {
	return func() string {
		if err := k8s.Get(context.Background(), client.ObjectKeyFromObject(a), a); apierrors.IsNotFound(err) {
			return "gone"
		} else if err != nil {
			return err.Error()
		}
		return string(a.EffectiveState())
	}
}

// waiting polls how many calls wait for people, as the manager's metrics say; "" if none does.
func (w *world) waiting(endpoint string) func() string {
	return func() string {
		families, err := metrics.Registry.Gather()
		Expect(err).NotTo(HaveOccurred())
		for _, family := range families {
			for _, m := range family.GetMetric() {
				if family.GetName() == "mcp_admin_manager_approvals_waiting" && m.GetLabel()[0].GetValue() == w.namespace+"/"+endpoint {
					return strconv.FormatFloat(m.GetGauge().GetValue(), 'f', -1, 64)
				}
			}
		}
		return ""
	}
}

// condition is a condition as "Status Reason".
func conditionOf(a *v1alpha1.MCPApproval, conditionType string) string {
	c := meta.FindStatusCondition(a.Status.Conditions, conditionType)
	if c == nil {
		return ""
	}
	return string(c.Status) + " " + c.Reason
}

// The people.

// person is a user with some groups, and a client of theirs.
type person struct {
	client.Client
	name   string
	groups []string
}

// newPerson is a user who may do the verbs on the world's endpoint, and may write approvals.
func (w *world) newPerson(name string, groups []string, verbs ...string) *person {
	GinkgoHelper()
	return w.newPersonIn(name, name, groups, verbs...)
}

// newPersonIn is newPerson with a Role of another name.
func (w *world) newPersonIn(role, name string, groups []string, verbs ...string) *person {
	GinkgoHelper()
	config := rest.CopyConfig(apiServer.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: name, Groups: append([]string{"system:authenticated"}, groups...)}
	c, err := client.New(config, client.Options{Scheme: k8s.Scheme()})
	Expect(err).NotTo(HaveOccurred())
	rules := []rbacv1.PolicyRule{{APIGroups: []string{"mcpadmin.dev"}, Resources: []string{"mcpapprovals", "mcpapprovals/status"}, Verbs: []string{"*"}}}
	if len(verbs) > 0 {
		rules = append(rules, rbacv1.PolicyRule{APIGroups: []string{"mcpadmin.dev"}, Resources: []string{"mcpendpoints"}, ResourceNames: []string{"shop"}, Verbs: verbs})
	}
	w.create(&rbacv1.Role{ObjectMeta: w.meta(role), Rules: rules}, &rbacv1.RoleBinding{
		ObjectMeta: w.meta(role), RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: name}},
	})
	// The API server knows a new right a moment later.
	Eventually(func() error {
		return c.List(context.Background(), &v1alpha1.MCPApprovalList{}, client.InNamespace(w.namespace))
	}).Should(Succeed())
	return &person{c, name, groups}
}

// decides adds a decision of the person's own.
func (p *person) decides(a *v1alpha1.MCPApproval, verdict v1alpha1.ApprovalVerdict) error {
	return p.writes(a, func(a *v1alpha1.MCPApproval) {
		a.Spec.Decisions = append(a.Spec.Decisions, v1alpha1.ApprovalDecision{DecidedBy: p.name, Decision: verdict, Groups: p.groups, Comment: "so says " + p.name})
	})
}

// writes changes an approval.
func (p *person) writes(a *v1alpha1.MCPApproval, change func(*v1alpha1.MCPApproval)) error {
	for {
		if err := p.Get(context.Background(), client.ObjectKeyFromObject(a), a); err != nil {
			return err
		}
		change(a)
		if err := p.Update(context.Background(), a); !apierrors.IsConflict(err) {
			return err
		}
	}
}

// The policy.

// policyObjects are the admission policy and its binding, for a manager that is the suite's administrator.
func policyObjects() []client.Object {
	GinkgoHelper()
	text := bytes.ReplaceAll(approvalpolicy.Policy, []byte(approvalpolicy.Manager), []byte("admin"))
	first, second, _ := bytes.Cut(text, []byte("\n---\n"))
	policy, binding := &admissionv1.ValidatingAdmissionPolicy{}, &admissionv1.ValidatingAdmissionPolicyBinding{}
	Expect(yaml.UnmarshalStrict(first, policy)).To(Succeed())
	Expect(yaml.UnmarshalStrict(second, binding)).To(Succeed())
	return []client.Object{policy, binding}
}

// installPolicy installs the admission policy, until removePolicy.
func installPolicy() {
	GinkgoHelper()
	for _, o := range policyObjects() {
		Expect(client.IgnoreAlreadyExists(k8s.Create(context.Background(), o))).To(Succeed())
	}
}

func removePolicy() {
	GinkgoHelper()
	for _, o := range policyObjects() {
		Expect(client.IgnoreNotFound(k8s.Delete(context.Background(), o))).To(Succeed())
		Eventually(func() error { return k8s.Get(context.Background(), client.ObjectKeyFromObject(o), o) }).ShouldNot(Succeed())
	}
}

// guardedShop is a shop whose refunds above 500 need an approval.
func guardedShop(change ...func(*v1alpha1.ApprovalPolicy)) (*world, *v1alpha1.MCPEndpoint, *fakeServer, *v1alpha1.MCPToken) {
	GinkgoHelper()
	w := newWorld()
	e := w.endpoint("shop")
	e.Spec.Idempotency = &v1alpha1.IdempotencySpec{Table: v1alpha1.TableReference{Name: "kept"}}
	p := v1alpha1.ApprovalPolicy{Name: "large-refunds", Match: v1alpha1.ApprovalMatch{
		Models: []string{"refund"}, When: &v1alpha1.ApprovalWhen{After: &runtime.RawExtension{Raw: []byte(`{"amount__gt":"500"}`)}},
	}}
	for _, f := range change {
		f(&p)
	}
	e.Spec.Approvals = []v1alpha1.ApprovalPolicy{p}
	t := w.token("agent", "shop")
	w.create(e, w.exposure("refund", "shop"), t)
	server := w.runServer("shop", "shop-0")
	expectReady(t)
	return w, e, server, t
}

// counted says of each decision whether it counts.
func counted(a *v1alpha1.MCPApproval) []string {
	var all []string
	for _, d := range a.Status.Decisions {
		all = append(all, fmt.Sprintf("%s %s", d.DecidedBy, d.Reason))
	}
	slices.Sort(all)
	return all
}

// messageOf is the message of a condition.
func messageOf(a *v1alpha1.MCPApproval, conditionType string) string {
	if c := meta.FindStatusCondition(a.Status.Conditions, conditionType); c != nil {
		return c.Message
	}
	return ""
}
