package pageserver

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/test/apiserver"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// world is a real API server with an endpoint, a ServiceAccount that may impersonate and nothing else, and an issuer.
type world struct {
	t       testing.TB
	k8s     client.Client
	config  *rest.Config
	account *rest.Config
	issuer  *harness.Issuer
	client  *harness.Client
	log     harness.Log
	// later is how much later than it is the servers' clocks are.
	later atomic.Int64
}

func newWorld(t testing.TB) *world {
	log.SetLogger(logr.Discard())
	w := &world{t: t, issuer: harness.NewIssuer(t)}
	w.client = w.issuer.AddClient(&harness.Client{ID: "page", Secret: "the-clients-secret"})
	_, w.config = apiserver.Start(t, filepath.Join("..", "..", "..", "config", "crd", "bases"))
	if err := v1alpha1.AddToScheme(scheme.Scheme); err != nil {
		t.Fatal(err)
	}
	var err error
	if w.k8s, err = client.New(w.config, client.Options{}); err != nil {
		t.Fatal(err)
	}
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "shop", Name: name} }
	account := &corev1.ServiceAccount{ObjectMeta: meta("page")}
	e := &v1alpha1.MCPEndpoint{ObjectMeta: meta("shop")}
	e.Spec.Database.SQLite = &v1alpha1.SQLiteSpec{EmptyDir: &v1alpha1.SQLiteEmptyDir{}}
	token := &v1alpha1.MCPToken{ObjectMeta: meta("agent")}
	token.Spec.EndpointRef.Name = "shop"
	token.Spec.Permissions = []v1alpha1.PermissionRule{{Models: []string{"*"}, Verbs: []v1alpha1.Verb{"view"}}}
	kinds := []string{"mcpendpoints", "mcpmodelexposures", "mcptokens"}
	w.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}, account, e, token,
		role("page", rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"users", "groups"}, Verbs: []string{"impersonate"}}),
		bound("page", "page", rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: "shop", Name: "page"}),
		role("readers", rbacv1.PolicyRule{APIGroups: []string{"mcpadmin.dev"}, Resources: kinds, Verbs: []string{"get", "list"}}),
		bound("readers", "readers", rbacv1.Subject{Kind: rbacv1.GroupKind, APIGroup: rbacv1.GroupName, Name: "oidc:readers"}),
		role("operators", rbacv1.PolicyRule{APIGroups: []string{"mcpadmin.dev"}, Resources: kinds, Verbs: []string{"get", "list", "patch"}},
			rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"events"}, Verbs: []string{"create"}}),
		bound("operators", "operators", rbacv1.Subject{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "oidc:ann"}),
		&rbacv1.RoleBinding{ObjectMeta: meta("few"), RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "readers"},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "oidc:few"}}},
	)
	asked := &authenticationv1.TokenRequest{}
	if err := w.k8s.SubResource("token").Create(t.Context(), account, asked); err != nil {
		t.Fatal(err)
	}
	w.account = rest.AnonymousClientConfig(w.config)
	w.account.BearerToken = asked.Status.Token
	return w
}

func role(name string, rules ...rbacv1.PolicyRule) client.Object {
	return &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}
}

func bound(name, role string, subject rbacv1.Subject) client.Object {
	return &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: name}, Subjects: []rbacv1.Subject{subject},
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role}}
}

func (w *world) create(objects ...client.Object) {
	w.t.Helper()
	for _, o := range objects {
		if err := w.k8s.Create(w.t.Context(), o); err != nil {
			w.t.Fatal(err)
		}
	}
}

// replica is a Server of the page, at an address that all replicas share: only the connection says which one is asked.
type replica struct {
	world  *world
	server *httptest.Server
}

// host is what browsers know the page by.
const host = "mcp.example.com"

// run starts a replica. The change is made to the usual options.
func (w *world) run(change func(*Options)) *replica {
	w.t.Helper()
	issuer := w.issuer.Settings("page")
	o := Options{
		Host: host, Config: w.account, ClientID: "page", ClientSecretFile: filepath.Join(w.t.TempDir(), "secret"), Scopes: []string{"openid"}, Algorithms: issuer.Algorithms,
		Authorities: issuer.CertificateAuthority, SessionKey: bytes.Repeat([]byte("k"), 32), SessionTime: 30 * time.Minute,
		Naming: naming{issuer: issuer.URL, usernameClaim: "name", usernamePrefix: "oidc:", groupsClaim: "groups", groupsPrefix: "oidc:"},
		Log:    slog.New(slog.NewJSONHandler(&w.log, nil)),
		Now:    func() time.Time { return time.Now().Add(time.Duration(w.later.Load())) },
	}
	writeFile(w.t, o.ClientSecretFile, "the-clients-secret\n")
	if change != nil {
		change(&o)
	}
	if err := o.check(); err != nil {
		w.t.Fatal(err)
	}
	s, err := New(o)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { s.Run(ctx) })
	r := &replica{w, httptest.NewTLSServer(s)}
	w.t.Cleanup(func() {
		r.server.Close()
		stop()
		running.Wait()
	})
	w.client.Redirects = []string{s.origin + callbackPath}
	return r
}

// browser is one person's, with cookies.
type browser struct {
	t    testing.TB
	jar  http.CookieJar
	at   *replica
	http *http.Client
}

// open is a browser without cookies.
func (r *replica) open() *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		r.world.t.Fatal(err)
	}
	b := &browser{t: r.world.t, jar: jar, at: r}
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}}
	transport.DialContext = func(ctx context.Context, network, address string) (conn net.Conn, err error) {
		if strings.HasPrefix(address, host+":") {
			address = b.at.server.Listener.Addr().String()
		}
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	transport.DisableKeepAlives = true // each request goes to the replica of now
	b.http = &http.Client{Jar: jar, Transport: transport}
	return b
}

// answer is what came back, in the end.
type answer struct {
	code   int
	text   string
	header http.Header
	url    *url.URL
}

// ask sends a request, and follows redirections if it is to.
func (b *browser) ask(method, path string, form url.Values, follow bool, headers map[string]string) *answer {
	b.t.Helper()
	request, err := http.NewRequestWithContext(b.t.Context(), method, "https://"+host+path, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for name, value := range headers {
		if request.Header.Set(name, value); name == "Host" {
			request.Host = value
		}
	}
	c := *b.http
	if !follow {
		c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	got, err := c.Do(request)
	if err != nil {
		b.t.Fatal(err)
	}
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return &answer{got.StatusCode, string(body), got.Header, got.Request.URL}
}

// get asks for a page, without following.
func (b *browser) get(path string) *answer {
	b.t.Helper()
	return b.ask(http.MethodGet, path, nil, false, nil)
}

// enter asks for a page as somebody who is not logged in, and goes all the way. It returns the answer that lets in or refuses.
func (b *browser) enter(path string) *answer {
	b.t.Helper()
	return b.ask(http.MethodGet, path, nil, true, nil)
}

// as is a browser of a person who has logged in.
func (r *replica) as(name string, groups ...string) *browser {
	r.world.t.Helper()
	r.world.client.LogIn("subject-of-"+name, map[string]any{"name": name, "groups": groups})
	b := r.open()
	if a := b.enter("/"); a.code != http.StatusOK || a.header.Get("Refresh") != "0;url=/" {
		r.world.t.Fatalf("%s is not let in: %d %s %v", name, a.code, a.text, a.header)
	}
	return b
}

// cookie is the text of a cookie that the browser has; "" if it has none.
func (b *browser) cookie(name string) string {
	for _, c := range b.jar.Cookies(&url.URL{Scheme: "https", Host: host, Path: "/"}) {
		if c.Name == name {
			return c.Value
		}
	}
	return ""
}

// set gives the browser a cookie.
func (b *browser) set(name, value string) {
	b.jar.SetCookies(&url.URL{Scheme: "https", Host: host, Path: "/"}, []*http.Cookie{{Name: name, Value: value, Path: "/", Secure: true}})
}

var hidden = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)">`)

// form are the hidden fields of a page.
func (a *answer) form() url.Values {
	values := url.Values{}
	for _, field := range hidden.FindAllStringSubmatch(a.text, -1) {
		values.Set(field[1], field[2])
	}
	return values
}

// ours are the headers of a form that the page itself sent.
func ours(more map[string]string) map[string]string {
	all := map[string]string{"Origin": "https://" + host, "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "navigate"}
	maps.Copy(all, more)
	return all
}

// wants checks an answer.
func (a *answer) wants(t testing.TB, what string, code int, texts ...string) {
	t.Helper()
	missing := slices.DeleteFunc(texts, func(text string) bool { return strings.Contains(a.text, text) })
	if a.code != code || len(missing) > 0 {
		t.Errorf("%s: %d, want %d, without %q\n%s", what, a.code, code, missing, a.text)
	}
}
