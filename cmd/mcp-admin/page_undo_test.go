package main

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/page/pagetest"
)

// newestCall is the path of the newest call of a tool.
func (w *world) newestCall(b *pagetest.Browser, tool string) string {
	w.t.Helper()
	_, text := b.Get("e/shop/shop/activity?model=" + tool)
	at := regexp.MustCompile(`e/shop/shop/activity/\d+`).FindString(text)
	if at == "" {
		w.t.Fatalf("there is no call of %s:\n%s", tool, text)
	}
	return at
}

// A person can take a call back if they may read the token's Secret and connect to a pod. The page tells everybody else which right is missing.
func (w *world) testPageUndo(t *testing.T) {
	b := w.openPage(t, "-n", "shop")
	total := func(want string) {
		t.Helper()
		w.expect(t, false, []string{`"total": ` + want}, "call", "agent", "get_order", "id=3", "-n", "shop")
	}
	w.expect(t, false, nil, "call", "agent", "update_order", "id=3", "data.total=40", "-n", "shop")
	w.expect(t, false, nil, "call", "agent", "update_order", "id=3", "data.total=41", "-n", "shop")
	w.shows(b, "e/shop/shop/activity", "update_order")
	change := w.newestCall(b, "update_order")
	w.shows(b, change, "See what it would do", "mcp-admin call agent undo call=")
	w.shows(b, change+"/undo", `<th scope="row"><bdi>total</bdi></th><td><bdi>41</bdi></td><td><bdi>40</bdi></td>`, `<form method="post">`)
	total("41")
	for what, headers := range map[string]map[string]string{
		"another site": {"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"}, "a page of ours without the form's secret": {"Origin": b.Origin, "Sec-Fetch-Site": "same-origin"},
	} {
		if code, _ := b.Send(change+"/undo", url.Values{}, headers); code != http.StatusForbidden {
			t.Errorf("%s may send a form: %d", what, code)
		}
	}
	w.testPageUndoWithoutRights(t, change)
	total("41")
	code, text := b.Submit(change + "/undo")
	if code != http.StatusOK || !strings.Contains(text, "Done: the rows are as they were before.") {
		t.Errorf("%d %s", code, text)
	}
	total("40")
	undoing := regexp.MustCompile(`href="[^"]*/(e/shop/shop/activity/\d+)">the call that did it`).FindStringSubmatch(text)[1]
	w.shows(b, undoing, "undo by", "Take it back", "The rows stand in its steps.")
	w.shows(b, change, "Taken back at ", undoing)
	w.shows(b, change+"/undo", "<strong><bdi>conflict</bdi></strong>", "was taken back already")
	var events corev1.EventList
	w.check(w.k8s.List(t.Context(), &events, client.InNamespace("shop")))
	told := 0
	for i := range events.Items {
		if e := &events.Items[i]; e.Reason == "CallTakenBack" && e.InvolvedObject.Kind == "MCPToken" && e.InvolvedObject.Name == "agent" && strings.HasPrefix(e.Message, "By admin, through the page of mcp-admin: call ") {
			told++
		}
	}
	if told != 1 {
		t.Errorf("%d events tell of it", told)
	}
	w.testPageUndoOfTheRevoked(t, b, undoing, change)
}

// The page of somebody who may read logs, and then the Secret, and then connect to pods.
func (w *world) testPageUndoWithoutRights(t *testing.T, change string) {
	role := &rbacv1.Role{ObjectMeta: objectMeta("on-call"), Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{"mcpadmin.dev"}, Resources: []string{"mcpendpoints", "mcptokens", "mcpmodelexposures"}, Verbs: []string{"get", "list"}},
		{APIGroups: []string{""}, Resources: []string{"pods", "pods/log"}, Verbs: []string{"get", "list"}},
	}}
	w.create(role, &rbacv1.RoleBinding{ObjectMeta: objectMeta("on-call"), RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "on-call"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, Name: "on-call", APIGroup: rbacv1.GroupName}}})
	b := w.openPage(t, "-n", "shop", "--as", "on-call")
	form := regexp.MustCompile(`name="form" value="([^"]+)"`)
	lacks := func(right, command string) {
		t.Helper()
		for _, path := range []string{change, change + "/undo"} {
			w.shows(b, path, right, command, "mcp-admin call agent undo call=")
			if _, text := b.Get(path); strings.Contains(text, "See what it would do") || strings.Contains(text, `<form method="post">`) {
				t.Errorf("%s offers what is refused", path)
			}
		}
		_, text := b.Get("e/shop/shop/acts/revoke?token=agent") // this one has no form for the person, either
		if form.MatchString(text) {
			t.Error("the form's secret is there")
		}
	}
	lacks("You may not get secrets in namespace shop.", "kubectl auth can-i get secrets/agent -n shop")
	role.Rules = append(role.Rules, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{"agent"}, Verbs: []string{"get"}})
	w.check(w.k8s.Update(t.Context(), role))
	lacks("You may not create pods/portforward in namespace shop.", "kubectl auth can-i create pods --subresource=portforward -n shop")
	role.Rules = append(role.Rules, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods/portforward"}, Verbs: []string{"create"}})
	w.check(w.k8s.Update(t.Context(), role))
	w.shows(b, change+"/undo", `<td><bdi>41</bdi></td><td><bdi>40</bdi></td>`, `<form method="post">`)
	w.check(w.k8s.Delete(t.Context(), role))
	_, text := w.lost(b, change+"/undo")
	if !strings.Contains(text, "You may not") {
		t.Error(text)
	}
}

// lost waits until a screen is refused.
func (w *world) lost(b *pagetest.Browser, path string) (code int, text string) {
	w.t.Helper()
	w.eventually(path+" is refused", func() bool {
		code, text = b.Get(path)
		w.printed = text
		return code == http.StatusForbidden
	})
	return code, text
}

// A token that was revoked takes nothing back: the page says so, and leads to what lets it in again.
func (w *world) testPageUndoOfTheRevoked(t *testing.T, b *pagetest.Browser, undoing, change string) {
	b.Submit("e/shop/shop/acts/revoke?token=agent")
	w.shows(b, "e/shop/shop/acts/revoke/done?token=agent", "Done: every pod refuses it.")
	for _, path := range []string{undoing, change + "/undo"} {
		w.shows(b, path, "MCPToken shop/agent is not active, and only with it the call can be taken back.", "acts/activate?token=shop%2fagent")
		if _, text := b.Get(path); strings.Contains(text, "See what it would do") || strings.Contains(text, `<form method="post">`) {
			t.Errorf("%s offers what cannot be done", path)
		}
	}
	b.Submit("e/shop/shop/acts/activate?token=agent")
	w.shows(b, "e/shop/shop/acts/activate/done?token=agent", "Done: every pod lets it in.")
	w.readyToken("agent")
}
