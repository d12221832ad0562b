package pageserver

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// approvalOf is a call that waits, of a caller whom an issuer knows.
func approvalOf(word, subject string) *v1alpha1.MCPApproval {
	now := time.Now().Truncate(time.Second)
	a := &v1alpha1.MCPApproval{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "shop-" + strings.Repeat(word, 20)}}
	a.Spec.EndpointRef.Name = "shop"
	a.Spec.Request = v1alpha1.ApprovalRequest{
		TokenRef: v1alpha1.TokenReference{Namespace: "shop", Name: "agent"}, TokenUID: "1", Caller: "c", Subject: subject, Tool: "update_order", Operation: "update", Model: "order",
		Policies: []v1alpha1.ApprovalAsker{{Name: "large", Sum: "1", MinApprovals: 1, ApproverGroups: []string{"oidc:leads"}}}, Digest: strings.Repeat("a", 64),
		AskTime: metav1.NewTime(now), ExpiryTime: metav1.NewTime(now.Add(time.Hour)), Rows: new(int64(1)),
	}
	return a
}

// A decision is that of the person who logged in, with their groups; only their own page sends it.
func (w *world) testApprovals(t *testing.T, r *replica) {
	first, own := approvalOf("a", "carl"), approvalOf("b", "lea")
	w.create(first, own,
		role("approvers", rbacv1.PolicyRule{APIGroups: []string{"mcpadmin.dev"}, Resources: []string{"mcpapprovals"}, Verbs: []string{"get", "list", "update"}},
			rbacv1.PolicyRule{APIGroups: []string{"mcpadmin.dev"}, Resources: []string{"mcpendpoints"}, Verbs: []string{"approve"}}),
		bound("approvers", "approvers", rbacv1.Subject{Kind: rbacv1.GroupKind, APIGroup: rbacv1.GroupName, Name: "oidc:leads"}))
	path := "/e/shop/shop/approvals/" + first.Name
	r.as("nobody").get("/approvals").wants(t, "nobody", http.StatusForbidden, "You may not list mcpapprovals in all namespaces.")
	b, other := r.as("lea", "leads"), r.as("max", "leads")
	b.get("/approvals").wants(t, "the calls that wait", http.StatusOK, "2 calls wait for people.", path, "mcp-admin approvals -A")
	b.get("/e/shop/shop/approvals/"+own.Name).wants(t, "an own call", http.StatusOK, "This call is your own; somebody else has to decide.")
	a := b.get(path)
	a.wants(t, "one call", http.StatusOK, `value="Approve">Allow`, "mcp-admin approve "+first.Name+" --comment why -n shop")
	form := a.form()
	form.Set("verdict", "Approve")
	form.Set("comment", "go on")
	theirs := url.Values{"verdict": form["verdict"], "seen": form["seen"], "form": other.get(path).form()["form"]}
	for what, c := range map[string]struct {
		form    url.Values
		headers map[string]string
	}{
		"another site": {form, map[string]string{"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}}, "no browser": {form, nil},
		"a page of ours, with another's form": {theirs, ours(nil)},
	} {
		if a := b.ask(http.MethodPost, path, c.form, false, c.headers); a.code != http.StatusForbidden {
			t.Errorf("%s may decide: %d", what, a.code)
		}
	}
	if a := b.ask(http.MethodPost, path, form, false, ours(nil)); a.code != http.StatusSeeOther || a.header.Get("Location") != path {
		t.Errorf("%d %s %v", a.code, a.text, a.header)
	}
	if err := w.k8s.Get(t.Context(), client.ObjectKeyFromObject(first), first); err != nil {
		t.Fatal(err)
	}
	if d := first.Spec.Decisions; len(d) != 1 || d[0].DecidedBy != "oidc:lea" || strings.Join(d[0].Groups, " ") != "oidc:leads" || d[0].Comment != "go on" {
		t.Errorf("the decisions are %v", d)
	}
	stale := other.ask(http.MethodPost, path, url.Values{"verdict": form["verdict"], "seen": form["seen"], "form": theirs["form"]}, false, ours(nil))
	stale.wants(t, "a screen from before", http.StatusConflict, "since you loaded the page", "Nothing was decided.")
}
