package page

import (
	"net/http"
	"strings"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// approvalName is an approval's name, by a word of ours.
func approvalName(endpoint, word string) string {
	return endpoint + "-" + (word + strings.Repeat("a", 20))[:20]
}

// approvalPath is the path of an approval of the shop.
func approvalPath(word string) string { return "e/shop/shop/approvals/" + approvalName("shop", word) }

// approvalOf is a call that waits.
func approvalOf(endpoint, word, reason string, asked time.Time) *v1alpha1.MCPApproval {
	a := &v1alpha1.MCPApproval{ObjectMeta: metav1.ObjectMeta{Namespace: endpoint, Name: approvalName(endpoint, word)}}
	a.Spec.EndpointRef.Name = endpoint
	a.Spec.Request = v1alpha1.ApprovalRequest{
		TokenRef: v1alpha1.TokenReference{Namespace: endpoint, Name: "clerk"}, TokenUID: "1", Caller: "clerk", Subject: "carl", Tool: "update_order", Operation: "update", Model: "order",
		Policies: []v1alpha1.ApprovalAsker{{Name: "large-orders", Sum: "1", MinApprovals: 1}}, Digest: strings.Repeat("a", 64),
		AskTime: metav1.NewTime(asked), ExpiryTime: metav1.NewTime(asked.Add(24 * time.Hour)), Rows: new(int64(1)),
		Changes: []v1alpha1.ApprovalChange{{Model: "order", Change: v1alpha1.ApprovalUpdates, Rows: 1, ID: "7", Fields: []v1alpha1.ApprovalField{{Name: "total", Before: "10", After: "700"}}}},
	}
	a.Status = v1alpha1.MCPApprovalStatus{State: v1alpha1.ApprovalWaiting, ObservedGeneration: 1, Reason: reason}
	return a
}

// fillApprovals makes calls that wait at the shop, one that ended, one of the person's own, and one with hostile texts.
func (s *stage) fillApprovals(c *cluster) {
	s.t.Helper()
	now := time.Now().Truncate(time.Second)
	first, second := approvalOf("shop", "first", "the customer waits", now.Add(-time.Hour)), approvalOf("shop", "second", "", now.Add(-time.Minute))
	own := approvalOf("shop", "own", "mine", now)
	own.Spec.Request.Subject = "admin"
	second.Spec.Request.Policies[0].ApproverGroups = []string{"leads"}
	past := approvalOf("shop", "past", "", now.Add(-2*time.Hour))
	past.Status.State, past.Status.EndTime = v1alpha1.ApprovalDenied, &metav1.MicroTime{Time: now}
	past.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionDenied, Status: metav1.ConditionTrue, Reason: "Denied", Message: "denied by bob", LastTransitionTime: metav1.NewTime(now)}}
	hostile := approvalOf("hostile", "hostile", script+turned+strings.Repeat("w", 400), now)
	r := &hostile.Spec.Request
	r.Subject, r.Tool, r.Model, r.Notice = script+turned+strings.Repeat("s", 900), "<script>alert(1)</script>", "<b>bold</b>", script+strings.Repeat("n", 300)
	r.Policies[0].Name, r.Policies[0].ApproverGroups = "<i>policy</i>", []string{script + turned}
	r.Changes = []v1alpha1.ApprovalChange{{Model: "<b>bold</b>", Change: v1alpha1.ApprovalUpdates, Rows: 1, ID: script + turned + strings.Repeat("i", 200),
		Fields: []v1alpha1.ApprovalField{{Name: "<img src=x onerror=alert(1)>", Before: script + turned, After: `"https://evil.example/ ` + turned + strings.Repeat("y", 1200) + `"`}}}}
	s.check(c.create(s.t.Context(), first, second, own, past, hostile))
	for person, verbs := range map[string][]string{"reviewer": {"get", "list", "update"}, "watcher": {"get", "list"}} {
		role := metav1.ObjectMeta{Namespace: "shop", Name: person}
		s.check(c.k8s.Create(s.t.Context(), &rbacv1.Role{ObjectMeta: role, Rules: []rbacv1.PolicyRule{{APIGroups: []string{v1alpha1.GroupVersion.Group}, Resources: []string{"mcpapprovals"}, Verbs: verbs}}}))
		s.check(c.k8s.Create(s.t.Context(), &rbacv1.RoleBinding{ObjectMeta: role, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: person},
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: person}}}))
	}
}

// overApprovals is the page of somebody who may decide, and of others who may not.
func (s *stage) overApprovals(c *cluster) {
	s.t.Helper()
	one := approvalPath("first")
	s.drive(work{
		Name: "approvals",
		Link: s.serve("ui", "--kubeconfig", c.kubeconfig),
		Screens: []visit{
			{Path: "approvals", Wants: []string{"4 calls wait for people.", "update order", "shop/clerk", "as carl", "the customer waits", "nobody has checked it", "hostile/hostile", "<script>", "mcp-admin approvals -A"}},
			{Path: "approvals?show=ended", Wants: []string{"denied by bob"}, Lacks: []string{"the customer waits"}},
			{Path: "e/shop/shop/approvals", Wants: []string{"3 calls wait for people."}, Lacks: []string{"<script>"}},
			{Path: one, Wants: []string{"the customer waits", "Before", "700", "large-orders", "Allow", "Deny", "Override…", "mcp-admin approve " + approvalName("shop", "first") + " --comment why -n shop"}},
			{Path: one + "/override", Wants: []string{"You alone allow", "say why (required)", "Leave it"}},
			{Path: approvalPath("second"), Wants: []string{"does not count for policy large-orders", "Deny"}, Lacks: []string{"Allow"}},
			{Path: approvalPath("own"), Wants: []string{"This call is your own; somebody else has to decide."}, Lacks: []string{"Override…"}},
			{Path: approvalPath("past"), Wants: []string{"Denied", "denied by bob"}, Lacks: []string{"Override…"}},
			{Path: approvalPath("nothing"), Status: http.StatusNotFound, Wants: []string{"has no MCPApproval"}},
			{Path: "e/hostile/hostile/approvals/" + approvalName("hostile", "hostile"), Wants: []string{"<script>", `\u202e`, "https://evil.example/"}},
			{Path: "e/hostile/hostile/approvals/" + approvalName("hostile", "hostile") + "/override", Wants: []string{"<b>bold</b>"}},
		},
		Keyboard: &one,
		Plain:    &visit{Path: one, Wants: []string{"Allow", "the customer waits"}},
		Attack:   &attack{s.site(), one, "x"},
		Questions: []question{
			{"What waits for me? Allow it.", []string{"click Approvals 4 wait", "open the customer waits", "press /", "type talked to the customer", "click Allow"},
				[]string{"admin", "Approve", "talked to the customer", "The manager has not looked at it yet"}},
			{"Allow it against the policies.", []string{"click shop/shop", "click Approvals 3 wait", "open second", "click Override…", "press /", "type outage 4711", "click Override: allow it"},
				[]string{"admin", "Override", "outage 4711"}},
		},
	})
	var now v1alpha1.MCPApproval
	for word, want := range map[string]v1alpha1.ApprovalVerdict{"first": v1alpha1.VerdictApprove, "second": v1alpha1.VerdictOverride, "own": ""} {
		s.check(c.k8s.Get(s.t.Context(), types.NamespacedName{Namespace: "shop", Name: approvalName("shop", word)}, &now))
		if d := now.Spec.Decisions; want == "" && len(d) > 0 || want != "" && (len(d) != 1 || d[0].Decision != want || d[0].DecidedBy != "admin") {
			s.t.Errorf("the decisions about %s are %v, want %s of admin", word, d, want)
		}
	}
	third := approvalPath("own")
	s.drive(work{Name: "approvals without the verb", Link: s.serve("ui", "--kubeconfig", c.kubeconfig, "-n", "shop", "--as", "reviewer"), Screens: []visit{
		{Path: "approvals", Wants: []string{"3 calls wait", "other namespaces than shop"}, Lacks: []string{"<script>"}},
		{Path: third, Wants: []string{"You may not approve mcpendpoints in namespace shop.", "kubectl auth can-i approve mcpendpoints.mcpadmin.dev/shop -n shop"}, Lacks: []string{"Allow", "Override…"}},
		{Path: third + "/override", Wants: []string{"You may not override mcpendpoints in namespace shop."}, Lacks: []string{"Leave it"}},
	}})
	s.drive(work{Name: "approvals of somebody who only looks", Link: s.serve("ui", "--kubeconfig", c.kubeconfig, "-n", "shop", "--as", "watcher"), Screens: []visit{
		{Path: third, Wants: []string{"You may not update mcpapprovals in namespace shop."}, Lacks: []string{"Allow", "Override…"}},
	}})
}
