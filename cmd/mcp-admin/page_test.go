package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/page/pagetest"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

var pageLink = regexp.MustCompile(`http://\S+/open/\S+`)

// openPage starts "mcp-admin ui" as a person, and opens its page.
func (w *world) openPage(t *testing.T, args ...string) *pagetest.Browser {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	var out harness.Log
	ended := make(chan error, 1)
	go func() { ended <- w.commandTo(ctx, &out, append([]string{"ui"}, args...)...) }()
	t.Cleanup(sync.OnceFunc(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("ui ends with %v", err)
		}
	}))
	w.eventually("the link", func() bool { return pageLink.MatchString(out.String()) })
	return pagetest.Open(t, pageLink.FindString(out.String()))
}

// shows waits until a screen shows some texts.
func (w *world) shows(b *pagetest.Browser, path string, wants ...string) {
	w.t.Helper()
	w.eventually(path+" shows "+strings.Join(wants, ", "), func() bool {
		code, text := b.Get(path)
		w.printed = text
		for _, want := range wants {
			if code != http.StatusOK || !strings.Contains(text, want) {
				return false
			}
		}
		return true
	})
}

func (w *world) testPage(t *testing.T) {
	b := w.openPage(t, "-n", "shop")
	w.shows(b, "", "/e/shop/shop", "Ready", "as admin")
	w.shows(b, "e/shop/shop", "Objects in order, then Config in order, then Pods in order, then Database in order, then Calls broken", "no token of ServiceAccounts can be checked", "shop-0", "mcp-admin status shop -n shop")
	w.shows(b, "e/shop/shop/who", `data-cell="v-c-- own-region"`, "mcp-admin matrix shop -n shop")
	w.shows(b, "e/shop/shop/who/shop/agent/order", "rows in which region is the token&#39;s attribute region", "region = token.region", "group clerks", "MCPModelExposure shop/order</bdi>, generation 1")
	w.shows(b, "e/shop/shop/who-reads?of=order.region", "is <strong>shown</strong>", "shop/agent", "mcp-admin who order.region -e shop -n shop")
	w.shows(b, "e/shop/shop/models/order", "own-region", "Served", "kubectl get mcpmodelexposure order -n shop -o yaml")
	w.testPageAgrees(t, b)
	w.testPageActs(t, b)
	w.shows(b, "problems", "no token of ServiceAccounts can be checked", "mcp-admin doctor -A")

	if code, text := b.Get("e/shop/shpo"); code != http.StatusNotFound || !strings.Contains(text, "the nearest is &#34;shop&#34;") {
		t.Errorf("%d %s", code, text)
	}
}

// What the page says of each right is what the command prints.
func (w *world) testPageAgrees(t *testing.T, b *pagetest.Browser) {
	printed := w.expect(t, false, nil, "matrix", "shop", "-n", "shop", "-o", "json")
	if _, text := b.Get("e/shop/shop/matrix.json"); text != printed {
		t.Errorf("the page's JSON is\n%s\ninstead of\n%s", text, printed)
	}
	table := w.expect(t, false, nil, "matrix", "shop", "-n", "shop", "--csv")
	if _, text := b.Get("e/shop/shop/matrix.csv"); text != table {
		t.Errorf("the page's CSV is\n%s\ninstead of\n%s", text, table)
	}
}

func (w *world) testPageActs(t *testing.T, b *pagetest.Browser) {
	token := &v1alpha1.MCPToken{ObjectMeta: objectMeta("lost")}
	token.Spec.EndpointRef.Name, token.Spec.Groups = "shop", []string{"clerks"}
	token.Spec.Attributes = map[string]v1alpha1.AttributeValue{"region": "south"}
	w.create(token)
	w.readyToken("lost")
	const revoke = "e/shop/shop/acts/revoke?token=shop/lost"
	w.shows(b, revoke, "sets spec.active to false", "mcp-admin revoke lost -n shop")

	// Nobody but the page itself sends its forms.
	for what, headers := range map[string]map[string]string{
		"another site": {"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"}, "another port": {"Origin": "http://127.0.0.1:1", "Sec-Fetch-Site": "same-site"}, "nobody": {},
		"a page of ours without the form's secret": {"Origin": b.Origin, "Sec-Fetch-Site": "same-origin"},
	} {
		if code, _ := b.Send("e/shop/shop/acts/revoke", url.Values{"token": {"shop/lost"}}, headers); code != http.StatusForbidden {
			t.Errorf("%s may send a form: %d", what, code)
		}
	}
	var now v1alpha1.MCPToken
	w.check(w.k8s.Get(t.Context(), client.ObjectKeyFromObject(token), &now))
	if !now.Spec.EffectiveActive() {
		t.Fatal("a form of somebody else revoked a token")
	}

	if code, text := b.Submit(revoke); code != http.StatusOK || !strings.Contains(text, "what happened") {
		t.Errorf("%d %s", code, text)
	}
	w.shows(b, "e/shop/shop/acts/revoke/done?token=shop/lost", "Done: every pod refuses it.")
	w.expect(t, true, []string{"MCPToken lost is not active"}, "call", "lost", "-n", "shop")
	w.shows(b, revoke, "it is revoked already")
	b.Submit("e/shop/shop/acts/activate?token=lost")
	w.shows(b, "e/shop/shop/acts/activate/done?token=lost", "Done: every pod lets it in.")
	b.Submit("e/shop/shop/acts/rotate?token=lost")
	w.shows(b, "e/shop/shop/acts/rotate/done?token=lost", "Done: the Secret has a new text.")
	b.Submit("e/shop/shop/acts/revoke?group=clerks")
	w.shows(b, "e/shop/shop/acts/revoke/done?group=clerks", "Done: 2 of 2; of each, every pod refuses it.")
	b.Submit("e/shop/shop/acts/activate?token=agent")
	w.shows(b, "e/shop/shop/acts/activate/done?token=agent", "Done: every pod lets it in.")
	b.Submit("e/shop/shop/acts/pause")
	w.shows(b, "e/shop/shop/acts/pause/done", "Done: it is paused.")
	b.Submit("e/shop/shop/acts/resume")
	w.shows(b, "e/shop/shop/acts/resume/done", "Done: the pause has ended.")
	b.Submit("e/shop/shop/acts/reconcile")
	w.shows(b, "e/shop/shop/acts/reconcile/done", "Done: the manager has looked.")
	var events corev1.EventList
	w.check(w.k8s.List(t.Context(), &events, client.InNamespace("shop")))
	told := map[string]int{}
	for i := range events.Items {
		if e := &events.Items[i]; e.Source.Component == "mcp-admin" && strings.Contains(e.Message, "By admin,") {
			told[e.Reason]++
		}
	}
	if want := `{"Activated":2,"Paused":1,"ReconcileRequested":1,"Resumed":1,"Revoked":3,"RotationRequested":1}`; jsonOf(told) != want {
		t.Errorf("the events tell %s, want %s", jsonOf(told), want)
	}
	w.check(w.k8s.Delete(context.Background(), token))
	w.readyToken("agent")
}

func jsonOf(value any) string {
	text, _ := json.Marshal(value) // a map of numbers always can be
	return string(text)
}

// Somebody without rights sees what is missing, and what may be seen.
func (w *world) testPageWithoutRights(t *testing.T) {
	none := w.openPage(t, "-n", "shop", "--as", "nobody")
	for path, want := range map[string]string{
		"":                                       "You may not list mcpendpoints in namespace shop.",
		"e/shop/shop":                            "You may not get mcpendpoints in namespace shop.",
		"e/shop/shop/who":                        "You may not get mcpendpoints in namespace shop.",
		"e/shop/shop/models":                     "You may not get mcpendpoints in namespace shop.",
		"e/shop/shop/acts":                       "You may not get mcpendpoints in namespace shop.",
		"e/shop/shop/acts/revoke?token=agent":    "You may not get mcptokens in namespace shop.",
		"e/shop/shop/acts/revoke?group=clerks":   "You may not list mcptokens in namespace shop.",
		"e/shop/shop/matrix.csv":                 "You may not get mcpendpoints in namespace shop.",
		"e/shop/shop/acts/pause/done":            "You may not get mcpendpoints in namespace shop.",
		"e/shop/shop/who/shop/agent/order":       "You may not get mcpendpoints in namespace shop.",
		"e/shop/shop/who-reads?of=order.region":  "You may not get mcpendpoints in namespace shop.",
		"e/shop/shop/models/order":               "You may not get mcpendpoints in namespace shop.",
		"e/shop/shop/acts/reconcile?token=x%00y": "You may not get mcpendpoints in namespace shop.",
		"e/shop/shop/acts/activate?token=agent":  "You may not get mcptokens in namespace shop.",
		"e/other/other":                          "You may not get mcpendpoints in namespace other.",
	} {
		if code, text := none.Get(path); code != http.StatusForbidden || !strings.Contains(text, want) || !strings.Contains(text, "kubectl auth can-i") {
			t.Errorf("%s: %d, without %q\n%s", path, code, want, text)
		}
	}
	w.create(&rbacv1.Role{ObjectMeta: objectMeta("readers"), Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{"mcpadmin.dev"}, Resources: []string{"mcpendpoints", "mcptokens", "mcpmodelexposures"}, Verbs: []string{"get", "list"}},
	}}, &rbacv1.RoleBinding{ObjectMeta: objectMeta("readers"), RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "readers"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, Name: "reader", APIGroup: rbacv1.GroupName}}})
	reader := w.openPage(t, "-n", "shop", "--as", "reader")
	w.shows(reader, "", "/e/shop/shop", "other namespaces than shop: You may not list mcpendpoints in all namespaces.")
	w.shows(reader, "e/shop/shop", "Pods not looked at", "pods: you may not list pods in namespace shop")
	w.shows(reader, "e/shop/shop/who", `data-cell="v-c-- own-region"`)
	w.shows(reader, "e/shop/shop/acts/revoke?token=agent", "You may not patch mcptokens in namespace shop.")
	if _, text := reader.Get("e/shop/shop/acts/revoke?token=agent"); strings.Contains(text, `<form method="post">`) {
		t.Error("somebody is offered what is refused")
	}
	w.shows(reader, "problems", "no token of ServiceAccounts can be checked", "pods: you may not list pods in namespace shop", "mcp-admin doctor -n shop")
}
