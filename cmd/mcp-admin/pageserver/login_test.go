package pageserver

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// refuses checks that a way back from the provider lets nobody in.
func refuses(t *testing.T, what string, b *browser, a *answer, want string) {
	t.Helper()
	if b.cookie(sessionCookie) != "" || a.header.Get("Refresh") != "" {
		t.Errorf("%s lets in", what)
	}
	a.wants(t, what, http.StatusForbidden, want, "Log in again")
}

// comeBack begins a login, and returns the way back from the provider without going it.
func comeBack(t *testing.T, b *browser) *url.URL {
	t.Helper()
	to := b.get("/login").header.Get("Location")
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, to, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	c := *b.http
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	answer, err := c.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	back, err := url.Parse(answer.Header.Get("Location"))
	if err != nil || back.Path != callbackPath {
		t.Fatalf("the provider leads to %v: %v", back, err)
	}
	return back
}

// A login counts in the browser that began it, once, and with what the provider said.
func (w *world) testLogins(t *testing.T, r *replica) {
	w.client.LogIn("1", map[string]any{"name": "rita", "groups": []string{"readers"}})
	const notBegun = "This login was not begun in this browser, or took too long."
	with := func(change func(url.Values)) func(*browser, *url.URL) *answer {
		return func(b *browser, back *url.URL) *answer {
			values := back.Query()
			change(values)
			return b.get(callbackPath + "?" + values.Encode())
		}
	}
	for what, c := range map[string]struct {
		come func(*browser, *url.URL) *answer
		want string
	}{
		"another state":  {with(func(v url.Values) { v.Set("state", rand.Text()) }), notBegun},
		"no state":       {with(func(v url.Values) { v.Del("state") }), notBegun},
		"another issuer": {with(func(v url.Values) { v.Set("iss", "https://evil.example") }), "The answer is another identity provider"},
		"no issuer":      {with(func(v url.Values) { v.Del("iss") }), "The answer is another identity provider"},
		"another code":   {with(func(v url.Values) { v.Set("code", rand.Text()) }), "gives no token for this login"},
		"no code":        {with(func(v url.Values) { v.Del("code") }), "gives no token for this login"},
		"a refusal":      {with(func(v url.Values) { v.Set("error", "access_denied"); v.Set("error_description", "<b>no</b>") }), "access_denied"},
		"another browser": {func(b *browser, back *url.URL) *answer {
			b.jar, b.http.Jar = nil, nil
			*b = *r.open()
			return b.get(back.RequestURI())
		}, notBegun},
		"a login that is late": {func(b *browser, back *url.URL) *answer {
			text := b.cookie(loginCookie)
			w.later.Store(int64(loginTime + time.Second))
			defer w.later.Store(0)
			return b.ask(http.MethodGet, back.RequestURI(), nil, false, map[string]string{"Cookie": loginCookie + "=" + text})
		}, notBegun},
		"a session for the login's cookie": {func(b *browser, back *url.URL) *answer {
			b.set(loginCookie, r.as("rita").cookie(sessionCookie))
			return b.get(back.RequestURI())
		}, notBegun},
		"the code of another login": {func(b *browser, back *url.URL) *answer {
			other := comeBack(t, r.open()).Query()
			return with(func(v url.Values) { v.Set("code", other.Get("code")) })(b, back)
		}, "gives no token for this login"}, // the verifier is another one
	} {
		b := r.open()
		a := c.come(b, comeBack(t, b))
		refuses(t, what, b, a, c.want)
		if strings.Contains(a.text, "<b>no</b>") {
			t.Error("the provider's text is not shown as text")
		}
	}
	b := r.open()
	back := comeBack(t, b)
	text := b.cookie(loginCookie)
	if a := b.get(back.RequestURI()); a.code != http.StatusOK || b.cookie(loginCookie) != "" {
		t.Errorf("%d %s", a.code, a.text)
	}
	again := r.open()
	again.set(loginCookie, text)
	refuses(t, "the same answer once more", again, again.get(back.RequestURI()), "gives no token for this login")
}

// changed is a token of the issuer with other claims.
func (w *world) changed(more map[string]any) func(map[string]any, string) string {
	return func(claims map[string]any, _ string) string {
		maps.Copy(claims, more)
		maps.DeleteFunc(claims, func(_ string, value any) bool { return value == nil })
		return w.issuer.Sign(claims)
	}
}

// An ID token counts if the issuer signed it, for this page and this login, and its time is not over.
func (w *world) testForgedTokens(t *testing.T, r *replica) {
	other := harness.NewIssuer(t)
	now := time.Now()
	encode := func(value any) string {
		text, err := json.Marshal(value)
		if err != nil {
			t.Error(err)
		}
		return base64.RawURLEncoding.EncodeToString(text)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signedBy := func(key any, algorithm jose.SignatureAlgorithm) func(map[string]any, string) string {
		return func(claims map[string]any, _ string) string {
			signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: jose.JSONWebKey{Key: key, KeyID: "first"}}, nil)
			if err != nil {
				t.Error(err)
				return ""
			}
			text, err := jwt.Signed(signer).Claims(claims).Serialize()
			if err != nil {
				t.Error(err)
			}
			return text
		}
	}
	for what, c := range map[string]struct {
		forge func(map[string]any, string) string
		want  string
	}{
		"no signature": {func(claims map[string]any, _ string) string {
			return encode(map[string]any{"alg": "none"}) + "." + encode(claims) + "."
		}, "(algorithm)"},
		"the signature left out": {func(_ map[string]any, token string) string { return token[:strings.LastIndex(token, ".")+1] }, "not one for this page"},
		"claims changed after the signature": {func(claims map[string]any, token string) string {
			parts := strings.Split(token, ".")
			claims["name"] = "ann"
			return parts[0] + "." + encode(claims) + "." + parts[2]
		}, "(signature)"},
		"another key under the same id":           {signedBy(key, jose.ES256), "(signature)"},
		"the client's secret as key":              {signedBy([]byte(strings.Repeat("the-clients-secret", 2)), jose.HS256), "(algorithm)"},
		"another issuer's":                        {func(claims map[string]any, _ string) string { return other.Sign(claims) }, "(signature)"},
		"another issuer":                          {w.changed(map[string]any{"iss": "https://evil.example"}), "(unknown_issuer)"},
		"another audience":                        {w.changed(map[string]any{"aud": "other"}), "(audience)"},
		"no audience":                             {w.changed(map[string]any{"aud": nil}), "(audience)"},
		"several audiences, none told to have it": {w.changed(map[string]any{"aud": []string{"page", "other"}}), "(azp)"},
		"given to another client":                 {w.changed(map[string]any{"aud": []string{"page", "other"}, "azp": "other"}), "(azp)"},
		"expired":                                 {w.changed(map[string]any{"exp": now.Add(-time.Hour).Unix()}), "(jwt_expired)"},
		"expired within the skew":                 {w.changed(map[string]any{"exp": now.Add(-time.Second).Unix()}), "(jwt_expired)"},
		"without an end":                          {w.changed(map[string]any{"exp": nil}), "(malformed)"},
		"not yet valid":                           {w.changed(map[string]any{"nbf": now.Add(time.Hour).Unix()}), "(not_yet_valid)"},
		"another nonce":                           {w.changed(map[string]any{"nonce": rand.Text()}), "(nonce)"},
		"no nonce":                                {w.changed(map[string]any{"nonce": nil}), "(nonce)"},
		"no subject":                              {w.changed(map[string]any{"sub": nil}), "(subject)"},
		"no token":                                {func(map[string]any, string) string { return "" }, "gives no token for this login"},
		"rubbish":                                 {func(map[string]any, string) string { return "rubbish" }, "(malformed)"},
	} {
		w.client.LogIn("1", map[string]any{"name": "rita", "groups": []string{"readers"}})
		w.client.Forge(c.forge)
		b := r.open()
		refuses(t, what, b, b.enter("/"), c.want)
	}
	w.client.LogIn("1", map[string]any{"name": "rita"})
	w.client.Forge(w.changed(map[string]any{"aud": []string{"page", "other"}, "azp": "page"}))
	if b := r.open(); b.enter("/").header.Get("Refresh") == "" {
		t.Error("a token for several audiences, given to the page, is refused")
	}
}

// Nobody is one of Kubernetes' own users, or in one of its groups, and no name means another one in a header.
func (w *world) testNames(t *testing.T, _ *replica) {
	bare := w.run(func(o *Options) { o.Naming.usernamePrefix, o.Naming.groupsPrefix = noPrefix, "" })
	for _, c := range []struct {
		claims map[string]any
		want   string
	}{
		{map[string]any{"name": "rita", "groups": []string{"readers", "system:masters"}}, "The group &#34;system:masters&#34; is one of Kubernetes&#39; own"},
		{map[string]any{"name": "rita", "groups": "system:masters"}, "system:masters"},
		{map[string]any{"name": "system:admin"}, "The user name &#34;system:admin&#34; is one of Kubernetes&#39; own"},
		{map[string]any{"name": "system:serviceaccount:kube-system:x"}, "is one of Kubernetes&#39; own"},
		{map[string]any{"name": " ann"}, "has characters that no name has"},
		{map[string]any{"name": "ann\r\nImpersonate-Group: system:masters"}, "has characters that no name has"},
		{map[string]any{"name": "ann", "groups": []string{" system:masters"}}, "has characters that no name has"},
		{map[string]any{"name": "ann", "groups": []string{""}}, "is empty"},
		{map[string]any{"name": ""}, "does not say your name"},
		{map[string]any{"name": []string{"ann"}}, "does not say your name"},
		{map[string]any{"name": "ann", "groups": []any{"a", 1}}, "something else than texts"},
		{map[string]any{"name": "ann", "groups": map[string]any{"a": 1}}, "neither a text nor a list"},
	} {
		w.client.LogIn("1", c.claims)
		b := bare.open()
		refuses(t, fmt.Sprint(c.claims), b, b.enter("/"), c.want)
	}
	prefixed := w.run(nil)
	prefixed.as("rita", "system:masters").get("/").wants(t, "with a prefix it is a group as any other", http.StatusForbidden, "of oidc:system:masters")
	many := make([]string, 200)
	for i := range many {
		many[i] = fmt.Sprintf("group-%030d", i)
	}
	w.client.LogIn("1", map[string]any{"name": "rita", "groups": many})
	b := prefixed.open()
	refuses(t, "too many groups", b, b.enter("/"), "Your 200 groups are too many for a cookie")
	mail := w.run(func(o *Options) { o.Naming.usernameClaim, o.Naming.usernamePrefix = "email", "" })
	w.client.LogIn("1", map[string]any{"email": "ann@example.com", "email_verified": false})
	b = mail.open()
	refuses(t, "an address that is not verified", b, b.enter("/"), "is not verified")
	w.client.LogIn("1", map[string]any{"email": "ann@example.com", "email_verified": true})
	b = mail.open()
	b.enter("/")
	b.get("/").wants(t, "an address needs no prefix", http.StatusForbidden, "as ann@example.com")
	subject := w.run(func(o *Options) { o.Naming.usernameClaim, o.Naming.usernamePrefix = "sub", "" })
	w.client.LogIn("1", nil)
	b = subject.open()
	b.enter("/")
	b.get("/").wants(t, "a subject has the issuer's URL before it", http.StatusForbidden, "as "+w.issuer.Settings("x").URL+"#1")
}

// Replicas with the same key are one page.
func (w *world) testReplicas(t *testing.T, r *replica) {
	second := w.run(nil)
	b := r.as("rita", "readers")
	b.at = second
	b.get("/").wants(t, "the second replica", http.StatusOK, "as oidc:rita", `href="/e/shop/shop"`)
	half := r.open()
	back := comeBack(t, half)
	half.at = second
	if a := half.get(back.RequestURI()); a.code != http.StatusOK || half.cookie(sessionCookie) == "" {
		t.Errorf("a login that another replica began: %d %s", a.code, a.text)
	}
	half.at = r
	half.get("/").wants(t, "the first replica", http.StatusOK, "as oidc:rita")
}

// The page can be for some users, and pass on some groups.
func (w *world) testFewAreLetIn(t *testing.T, r *replica) {
	before := r.as("rita", "readers", "others")
	few := w.run(func(o *Options) { o.Naming.users, o.Naming.groups = []string{"oidc:rita"}, []string{"oidc:readers"} })
	w.client.LogIn("1", map[string]any{"name": "ann"})
	b := few.open()
	refuses(t, "another user", b, b.enter("/"), "is not one of those whom this page is for")
	a := few.as("rita", "readers", "others").get("/")
	a.wants(t, "one of them", http.StatusOK, "as oidc:rita, of oidc:readers<")
	if before.at = few; before.get("/").code != http.StatusFound {
		t.Error("a session from before has a group that does not count any more")
	}
}

// A login leads to a path of this page, whatever the link.
func (w *world) testTargets(t *testing.T, r *replica) {
	w.client.LogIn("1", map[string]any{"name": "rita"})
	for _, to := range []string{"https://evil.example/", "//evil.example/", "/\\evil.example", "\\\\evil.example", "/%2fevil.example", "javascript:alert(1)", "e/shop/shop", "/a;url=//evil.example",
		"/" + strings.Repeat("x", maxTarget), "/\r\nSet-Cookie: x=y", "https:/evil", "///evil.example", ""} {
		b := r.open()
		if got := b.enter("/login?" + url.Values{"to": {to}}.Encode()).header.Get("Refresh"); got != "0;url=/" {
			t.Errorf("%q leads to %q", to, got)
		}
	}
}

// Clients tell their secret as the provider takes it, or have none.
func (w *world) testClients(t *testing.T, r *replica) {
	usual := w.client
	defer func() { w.client = w.issuer.AddClient(usual) }()
	w.client = w.issuer.AddClient(&harness.Client{ID: "page", Secret: "the-clients-secret", InForm: true})
	w.run(nil).as("rita", "readers")
	w.client = w.issuer.AddClient(&harness.Client{ID: "page", InForm: true})
	w.run(func(o *Options) { o.ClientSecretFile = "" }).as("rita", "readers")
	b := r.open() // with a secret that the provider does not know
	w.client.Redirects = []string{"https://" + host + callbackPath}
	refuses(t, "a wrong secret", b, b.enter("/"), "gives no token for this login")
	lost := w.run(func(o *Options) { o.ClientSecretFile += ".lost" })
	if a := lost.open().get("/login"); a.code != http.StatusBadGateway {
		t.Errorf("without the secret: %d", a.code)
	}
	away := w.run(func(o *Options) { o.Naming.issuer += "/away" })
	a := away.open().get("/login?to=%2Fproblems")
	a.wants(t, "a provider that cannot be asked", http.StatusBadGateway, "The identity provider cannot be asked at the moment.", "/login?to=%2Fproblems")
}

// Without the right to impersonate, each screen says that the page lacks it, and shows nothing.
func (w *world) testAccountWithoutRight(t *testing.T, _ *replica) {
	config := *w.account
	config.BearerToken = ""
	b := w.run(func(o *Options) { o.Config = &config }).as("ann")
	a := b.get("/")
	if a.wants(t, "without the right", http.StatusForbidden, "This page may not ask as you.", "Its ServiceAccount needs the right"); strings.Contains(a.text, "shop/shop") {
		t.Error("an endpoint is shown")
	}
}

// No token, code, secret or cookie is in the log.
func (w *world) testLog(t *testing.T, r *replica) {
	b := r.as("rita", "readers")
	text := w.log.String()
	secrets := append(w.client.Given(), "the-clients-secret", b.cookie(sessionCookie), strings.Repeat("k", 32))
	secrets = slices.DeleteFunc(secrets, func(secret string) bool { return secret == "" }) // one of the forgeries
	if len(secrets) < 50 {
		t.Fatalf("the test knows %d secrets", len(secrets))
	}
	for _, secret := range secrets {
		if strings.Contains(text, secret) {
			t.Errorf("the log has %q", secret)
		}
	}
	for _, want := range []string{`"msg":"A person logged in","person":"oidc:rita"`, `"msg":"A login was refused"`, `"msg":"A person logged out","person":"oidc:rita"`} {
		if !strings.Contains(text, want) {
			t.Errorf("the log lacks %s", want)
		}
	}
}
