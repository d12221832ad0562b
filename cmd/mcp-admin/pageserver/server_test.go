package pageserver

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

func writeFile(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// The page in a cluster, over HTTPS, with a real API server and an issuer.
func TestThePageInACluster(t *testing.T) {
	w := newWorld(t)
	r := w.run(nil)
	for _, c := range []struct {
		name string
		test func(*testing.T, *replica)
	}{
		{"nobody", w.testNobody}, {"a reader", w.testReader}, {"somebody without rights", w.testWithoutRights}, {"few namespaces", w.testFewNamespaces},
		{"acts", w.testActs}, {"approvals", w.testApprovals}, {"logout", w.testLogout}, {"hosts", w.testHosts}, {"cookies", w.testCookies}, {"short tokens", w.testShortTokens}, {"logins", w.testLogins}, {"forged tokens", w.testForgedTokens},
		{"names", w.testNames}, {"replicas", w.testReplicas}, {"few are let in", w.testFewAreLetIn}, {"targets", w.testTargets}, {"clients", w.testClients},
		{"an account without the right", w.testAccountWithoutRight}, {"the log", w.testLog},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := w.t
			w.t = t
			defer func() { w.t = all }()
			c.test(t, r)
		})
	}
}

// Nobody sees anything without a login.
func (w *world) testNobody(t *testing.T, r *replica) {
	b := r.open()
	for _, path := range []string{"/", "/e/shop/shop", "/e/shop/shop/who", "/e/shop/shop/matrix.json", "/problems", "/nothing", "/open/x"} {
		a := b.get(path)
		if to := a.header.Get("Location"); a.code != http.StatusFound || to != "/login?"+(url.Values{"to": {path}}).Encode() || strings.Contains(a.text, "shop/shop\"") || len(a.header["Set-Cookie"]) > 0 {
			t.Errorf("%s: %d %s %s", path, a.code, a.text, to)
		}
		if a := b.ask(http.MethodGet, path, nil, false, map[string]string{"Sec-Fetch-Mode": "cors"}); a.code != http.StatusUnauthorized || strings.Contains(a.text, "shop") {
			t.Errorf("a script asks for %s: %d %s", path, a.code, a.text)
		}
		if a := b.ask(http.MethodPost, path, url.Values{"form": {""}}, false, ours(nil)); a.code != http.StatusUnauthorized || strings.Contains(a.text, "shop") {
			t.Errorf("a form is sent to %s: %d %s", path, a.code, a.text)
		}
	}
	b.get("/static/style.css").wants(t, "what is the same for everybody", http.StatusOK, "header")
	a := b.get("/login")
	to, err := url.Parse(a.header.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	asked := to.Query()
	if asked.Get("code_challenge_method") != "S256" || len(asked.Get("code_challenge")) != 43 || len(asked.Get("state")) < 20 || len(asked.Get("nonce")) < 20 ||
		asked.Get("redirect_uri") != "https://"+host+"/callback" || asked.Has("client_secret") {
		t.Errorf("the provider is asked %v", asked)
	}
	if c := a.header.Get("Set-Cookie"); !strings.HasPrefix(c, "__Host-mcp-admin-login=") || !strings.HasSuffix(c, "; Path=/; Max-Age=600; HttpOnly; Secure; SameSite=Lax") {
		t.Errorf("the login's cookie is %s", c)
	}
}

// Somebody with rights sees what they give, is told who they are, and gets where they wanted to go.
func (w *world) testReader(t *testing.T, r *replica) {
	w.client.LogIn("1", map[string]any{"name": "rita", "groups": []string{"readers", "others"}})
	b := r.open()
	a := b.enter("/e/shop/shop/who?q=a%26b")
	if to := a.header.Get("Refresh"); to != "0;url=/e/shop/shop/who?q=a%26b" {
		t.Errorf("the login leads to %q", to)
	}
	c := strings.Join(a.header["Set-Cookie"], "\n")
	if !strings.Contains(c, "__Host-mcp-admin-login=; Path=/; Max-Age=0;") || !strings.Contains(c, "; Path=/; Max-Age=1799; HttpOnly; Secure; SameSite=Strict") &&
		!strings.Contains(c, "; Path=/; Max-Age=1800; HttpOnly; Secure; SameSite=Strict") {
		t.Errorf("the cookies are %s", c)
	}
	a = b.get("/")
	a.wants(t, "the first screen", http.StatusOK, `href="/e/shop/shop"`, "as oidc:rita, of oidc:others, oidc:readers", "Log out")
	if h := a.header; h.Get("Cache-Control") != "no-store" || !strings.Contains(h.Get("Content-Security-Policy"), "frame-ancestors 'none'") || h.Get("Strict-Transport-Security") == "" {
		t.Errorf("the headers are %v", h)
	}
	b.get("/e/shop/shop/who").wants(t, "who can see what", http.StatusOK, "shop/agent")
	b.get("/e/shop/shop/matrix.json").wants(t, "a download", http.StatusOK, "agent")
	b.get("/e/shop/shop").wants(t, "health", http.StatusOK, "you may not list pods in namespace shop")
	b.get("/e/shop/shop/activity").wants(t, "logs", http.StatusForbidden, "You may not list pods in namespace shop.")
	b.get("/e/shop/shop/see-as?token=agent").wants(t, "a Secret", http.StatusForbidden, "You may not get secrets in namespace shop.", "kubectl auth can-i get secrets -n shop")
	a = b.get("/e/shop/shop/acts/revoke?token=agent")
	a.wants(t, "an act", http.StatusOK, "You may not patch mcptokens in namespace shop.")
	b.ask(http.MethodPost, "/e/shop/shop/acts/revoke", url.Values{"token": {"agent"}, "form": a.form()["form"]}, false, ours(nil)).
		wants(t, "the act, all the same", http.StatusForbidden, "You may not patch mcptokens in namespace shop.")
	b.get("/nothing").wants(t, "nothing", http.StatusNotFound, "There is no such page")
}

// Somebody without rights is told which one is missing, on each screen.
func (w *world) testWithoutRights(t *testing.T, r *replica) {
	b := r.as("nobody")
	for path, want := range map[string]string{
		"/": "You may not list mcpendpoints in all namespaces.", "/e/shop/shop": "You may not get mcpendpoints in namespace shop.",
		"/e/shop/shop/who": "You may not get mcpendpoints in namespace shop.", "/e/shop/shop/models": "You may not get mcpendpoints in namespace shop.",
		"/e/shop/shop/activity": "You may not get mcpendpoints in namespace shop.", "/e/shop/shop/see-as": "You may not get mcpendpoints in namespace shop.",
		"/e/shop/shop/acts": "You may not get mcpendpoints in namespace shop.", "/e/shop/shop/acts/revoke?token=agent": "You may not get mcptokens in namespace shop.",
		"/e/shop/shop/matrix.csv": "You may not get mcpendpoints in namespace shop.",
	} {
		b.get(path).wants(t, path, http.StatusForbidden, want, "kubectl auth can-i", "as oidc:nobody")
	}
}

// Who may not list all namespaces sees those that are named, as far as they may.
func (w *world) testFewNamespaces(t *testing.T, _ *replica) {
	r := w.run(func(o *Options) { o.Namespaces = []string{"default", "shop"} })
	b := r.as("few")
	b.get("/").wants(t, "few", http.StatusOK, `href="/e/shop/shop"`, "other namespaces than shop: You may not list mcpendpoints in all namespaces.")
	b.get("/problems").wants(t, "what is wrong", http.StatusOK)
	r.as("nobody").get("/").wants(t, "nobody", http.StatusForbidden, "You may not list mcpendpoints in namespace default.")
}

// What somebody does is theirs, and only their own page sends it.
func (w *world) testActs(t *testing.T, r *replica) {
	b, other := r.as("ann"), r.as("rita", "readers")
	const revoke = "/e/shop/shop/acts/revoke"
	a := b.get(revoke + "?token=agent")
	a.wants(t, "the plan", http.StatusOK, "sets spec.active to false", "mcp-admin revoke agent -n shop")
	form := url.Values{"token": {"agent"}, "group": {""}, "form": a.form()["form"]}
	foreign := url.Values{"token": {"agent"}, "form": other.get("/").form()["form"]}
	for what, c := range map[string]struct {
		form    url.Values
		headers map[string]string
	}{
		"another site":                        {form, map[string]string{"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}},
		"another host of the domain":          {form, map[string]string{"Origin": "https://evil.example.com", "Sec-Fetch-Site": "same-site"}},
		"the same host over HTTP":             {form, map[string]string{"Origin": "http://" + host}},
		"a frame without an origin":           {form, map[string]string{"Origin": "null"}},
		"no browser":                          {form, nil},
		"a page of ours, without the secret":  {url.Values{"token": {"agent"}}, ours(nil)},
		"a page of ours, with another's form": {foreign, ours(nil)},
	} {
		if a := b.ask(http.MethodPost, revoke, c.form, false, c.headers); a.code != http.StatusForbidden {
			t.Errorf("%s may send a form: %d", what, a.code)
		}
	}
	token := &v1alpha1.MCPToken{}
	active := func() bool {
		if err := w.k8s.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: "agent"}, token); err != nil {
			t.Fatal(err)
		}
		return token.Spec.EffectiveActive()
	}
	if !active() {
		t.Fatal("a form of somebody else revoked a token")
	}
	if a := b.ask(http.MethodPost, revoke, form, false, ours(nil)); a.code != http.StatusSeeOther || !strings.HasPrefix(a.header.Get("Location"), revoke+"/done?") {
		t.Errorf("%d %s %v", a.code, a.text, a.header)
	}
	if active() {
		t.Error("the token is active")
	}
	events := &corev1.EventList{}
	if err := w.k8s.List(t.Context(), events, client.InNamespace("shop")); err != nil {
		t.Fatal(err)
	}
	if len(events.Items) != 1 || events.Items[0].Message != "By oidc:ann, through the page of mcp-admin" || events.Items[0].InvolvedObject.Name != "agent" {
		t.Errorf("the events are %v", events.Items)
	}
}

func (w *world) testLogout(t *testing.T, r *replica) {
	b := r.as("rita", "readers")
	form := url.Values{"form": b.get("/").form()["form"]}
	for what, a := range map[string]*answer{
		"another site": b.ask(http.MethodPost, "/logout", form, false, map[string]string{"Origin": "https://evil.example"}),
		"no secret":    b.ask(http.MethodPost, "/logout", url.Values{"form": {"x"}}, false, ours(nil)),
		"a link":       b.get("/logout"),
	} {
		if a.code == http.StatusSeeOther || b.cookie(sessionCookie) == "" {
			t.Errorf("%s logs somebody out", what)
		}
	}
	a := b.ask(http.MethodPost, "/logout", form, true, ours(nil))
	a.wants(t, "logged out", http.StatusOK, "You are logged out of this page.", `href="/login"`)
	if b.cookie(sessionCookie) != "" || b.get("/").code != http.StatusFound {
		t.Error("the session goes on")
	}
}

// A name of somebody else's that leads here is refused, whatever the cookie.
func (w *world) testHosts(t *testing.T, r *replica) {
	b := r.as("rita", "readers")
	for _, name := range []string{"evil.example", host + ".evil.example", "127.0.0.1", host + ":8443", ""} {
		for _, path := range []string{"/", "/login", "/callback", "/static/style.css"} {
			a := b.ask(http.MethodGet, path, nil, false, map[string]string{"Host": name, "Cookie": sessionCookie + "=" + b.cookie(sessionCookie), "X-Forwarded-Host": host})
			if name != "" && (a.code != http.StatusMisdirectedRequest || len(a.header["Set-Cookie"]) > 0) {
				t.Errorf("%s%s: %d %s", name, path, a.code, a.text)
			}
		}
	}
	for _, name := range []string{strings.ToUpper(host), host + ":443"} {
		b.ask(http.MethodGet, "/", nil, false, map[string]string{"Host": name}).wants(t, name, http.StatusOK, "as oidc:rita")
	}
}

// A cookie that this page did not give to this purpose, or whose time is over, lets nobody in.
func (w *world) testCookies(t *testing.T, r *replica) {
	b := r.as("rita", "readers")
	good := b.cookie(sessionCookie)
	refused := func(what, text string) {
		t.Helper()
		b.set(sessionCookie, text)
		if a := b.get("/"); a.code != http.StatusFound || strings.Contains(a.text, "shop") {
			t.Errorf("%s lets in: %d %s", what, a.code, a.text)
		}
	}
	sealed, err := base64.RawURLEncoding.DecodeString(good)
	if err != nil {
		t.Fatal(err)
	}
	for i := range sealed {
		changed := bytes.Clone(sealed)
		changed[i] ^= 1
		refused("a changed byte", base64.RawURLEncoding.EncodeToString(changed))
	}
	plain, err := json.Marshal(session{person: person{Name: "oidc:ann"}, Form: "x", Expiry: time.Now().Add(time.Hour).Unix()})
	if err != nil {
		t.Fatal(err)
	}
	refused("nothing", "")
	refused("plain JSON", base64.RawURLEncoding.EncodeToString(plain))
	refused("a shorter one", good[:len(good)-4])
	refused("a longer one", good+"AAAA")
	login := r.open()
	login.get("/login")
	refused("the cookie of a login", login.cookie(loginCookie))
	for what, change := range map[string]func(*Options){
		"another key":    func(o *Options) { o.SessionKey = bytes.Repeat([]byte("x"), 32) },
		"another host":   func(o *Options) { o.Host = "other.example.com" },
		"another client": func(o *Options) { o.ClientID = "other" },
	} {
		s := w.run(change)
		b.set(sessionCookie, good)
		if b.at = s; b.ask(http.MethodGet, "/", nil, false, map[string]string{"Host": s.server.Config.Handler.(*Server).Host}).code != http.StatusFound {
			t.Errorf("a session is one of a page with %s", what)
		}
	}
	b.at = r
	w.run(nil) // for the next logins
	b.set(sessionCookie, good)
	b.get("/").wants(t, "the right one", http.StatusOK, "as oidc:rita")
	w.later.Store(int64(30*time.Minute + time.Second))
	defer w.later.Store(0)
	refused("one whose time is over", good)
}

// A session never outlasts the ID token.
func (w *world) testShortTokens(t *testing.T, r *replica) {
	w.client.LogIn("1", map[string]any{"name": "rita", "groups": "readers", "exp": time.Now().Add(5 * time.Minute).Unix()})
	b := r.open()
	b.enter("/")
	b.get("/").wants(t, "at first", http.StatusOK, "of oidc:readers")
	w.later.Store(int64(5*time.Minute + time.Second))
	defer w.later.Store(0)
	if a := b.ask(http.MethodGet, "/", nil, false, map[string]string{"Cookie": sessionCookie + "=" + b.cookie(sessionCookie)}); a.code != http.StatusFound {
		t.Errorf("after the token: %d", a.code)
	}
}
