package main

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// People decide about an order with the page: with the real server, manager, API server and admission policy.
func (w *world) testPageApprovals(t *testing.T, call []string) {
	call[3] = "id=3"
	if out, _ := w.command(append(call, "approval_reason=<b>the customer waits</b>")...); !strings.Contains(out, "approval_required") {
		t.Fatalf("a third row: %s", out)
	}
	w.eventually("it waits", func() bool { return len(w.approvalsOf(v1alpha1.ApprovalWaiting)) == 1 })
	name := w.approvalsOf(v1alpha1.ApprovalWaiting)[0].Name
	one := "e/desk/desk/approvals/" + name

	bob := w.openPage(t, "-n", "desk", "--as", "bob")
	w.shows(bob, "approvals", "1 call waits for people.", name, "desk/clerk", "&lt;b&gt;the customer waits&lt;/b&gt;", "other namespaces than desk", "mcp-admin approvals -n desk")
	w.shows(bob, one, "You may not approve mcpendpoints in namespace desk.", "kubectl auth can-i approve mcpendpoints.mcpadmin.dev/desk -n desk", "<bdi>total</bdi>")
	w.shows(w.openPage(t, "-n", "desk", "--as", "root", "--as-group", "system:masters"), one, "A policy says fourEyes: Strict, and you have the right to get the token", "somebody without that right has to decide")
	ann := w.openPage(t, "-n", "desk", "--as", "ann", "--as-group", "leads")
	w.shows(ann, one, `value="Approve">Allow`, `value="Deny">Deny`, "1 approval of people in leads", "mcp-admin deny "+name)
	if _, text := ann.Get(one); strings.Contains(text, "Override…") {
		t.Error("Override is offered to somebody without the verb")
	}
	_, text := ann.Get(one)
	values := url.Values{"verdict": {"Approve"}, "comment": {"go on"}}
	for _, field := range regexp.MustCompile(`name="(form|seen)" value="([^"]+)"`).FindAllStringSubmatch(text, -1) {
		values.Set(field[1], field[2])
	}
	ours := map[string]string{"Origin": ann.Origin, "Sec-Fetch-Site": "same-origin"}
	if code, text := ann.Send(one, values, ours); code != http.StatusOK || !strings.Contains(text, "Approve") {
		t.Errorf("%d %s", code, text)
	}
	w.shows(ann, one, "allowed by ann", "go on")
	if code, text := ann.Send(one, values, ours); code != http.StatusConflict || !strings.Contains(text, "Nothing was decided.") {
		t.Errorf("the same form once more: %d %s", code, text)
	}
	w.eventually("the same call runs", func() bool {
		out, _ := w.command(call...)
		return strings.Contains(out, `"total": 700`) || strings.Contains(out, `"total":700`)
	})
	w.shows(ann, "approvals?show=ended", "Executed", "the call ran", name)
	w.shows(ann, one, "Executed", "Id of the call that ran")
}
