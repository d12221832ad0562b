package mcp_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/identity"
	"github.com/mcp-admin/mcp-admin-operator/server/mcp"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// verifier knows the callers of some texts.
type verifier struct {
	callers map[string]*identity.Caller
	asked   int
}

func (v *verifier) Verify(_ context.Context, text string, sum [32]byte, _ time.Time) (*identity.Caller, identity.Refusal) {
	v.asked++
	if sum != sha256.Sum256([]byte(text)) {
		return nil, identity.Malformed
	}
	if caller := v.callers[text]; caller != nil {
		return caller, identity.Accepted
	}
	return nil, identity.Signature
}

func (v *verifier) Recheck(claims map[string]any, _ time.Time) (*identity.Caller, identity.Refusal) {
	for _, caller := range v.callers {
		if caller.Subject == claims["sub"] {
			return caller, identity.Accepted
		}
	}
	return nil, identity.UnknownIssuer
}

// annToken has the form of a JWT; benToken too, but no MCPToken is for its caller.
const (
	annToken = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.signature"
	benToken = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJiZW4ifQ.signature"
)

// withCallers is a Config with a token for ann, who logs in at corp.
func withCallers() *contract.Config {
	c := config()
	c.Endpoint.Authentication.Issuers = []contract.Issuer{
		{Name: "ci", URL: "https://ci.example.com", Algorithms: []string{"RS256"}, SubjectClaim: "sub", Scopes: []string{"unlisted"}},
		{Name: "corp", URL: "https://login.example.com/realms/corp", Algorithms: []string{"ES256"}, SubjectClaim: "sub", Listed: true, Scopes: []string{"openid", "email"}},
		{Name: "guests", URL: "https://guests.example.com", Algorithms: []string{"ES256"}, SubjectClaim: "sub", Listed: true, Scopes: []string{"openid"}},
	}
	c.Tokens = append(c.Tokens, contract.Token{
		Namespace: "shop", Name: "staff", Rules: []contract.Rule{{Models: []string{"*"}, Verbs: []string{"view"}}},
		Identity: &contract.Identity{Issuer: "corp", Subject: "ann"},
	})
	return c
}

// letIn returns the endpoint's handler with a verifier that knows ann and ben, for whom there is no token.
func letIn(e *endpoint) (*mcp.Handler, *verifier) {
	v := &verifier{callers: map[string]*identity.Caller{
		annToken: {Issuer: "corp", Subject: "ann"}, benToken: {Issuer: "corp", Subject: "ben"},
	}}
	options := e.options
	options.Verifier = v
	return mcp.NewHandler(options), v
}

func (e *endpoint) withVerifier() (*endpoint, *verifier) {
	var v *verifier
	e.Handler, v = letIn(e)
	return e, v
}

func TestACallerIsLetInByWhoTheyAre(t *testing.T) {
	e, v := newEndpoint(t, withCallers()).withVerifier()
	for _, tc := range []struct {
		name, token string
		want, asked int
	}{
		{"a text", readerToken, 200, 0},
		{"a caller", annToken, 200, 2}, // before the body is read, and after
		{"a caller nobody has a token for", benToken, 401, 1},
		{"one who is not known", strings.Replace(annToken, "signature", "forged", 1), 401, 1},
		{"no JWT", strings.Repeat("x", 50), 401, 0},
		{"nothing", "", 401, 0},
	} {
		v.asked = 0
		response := e.do(request{body: listTools, header: header("Authorization", "Bearer "+tc.token)})
		if response.StatusCode != tc.want || v.asked != tc.asked {
			t.Errorf("%s: status %d after %d checks, want %d after %d", tc.name, response.StatusCode, v.asked, tc.want, tc.asked)
		}
	}
	// Nothing is checked if no token is for anybody, and nobody is let in without a verifier.
	e.change(config())
	if response := e.do(request{body: listTools, header: header("Authorization", "Bearer "+annToken)}); response.StatusCode != 401 || v.asked != 0 {
		t.Errorf("status %d after %d checks, though no token is for a caller", response.StatusCode, v.asked)
	}
	without := newEndpoint(t, withCallers())
	if response := without.do(request{body: listTools, header: header("Authorization", "Bearer "+annToken)}); response.StatusCode != 401 {
		t.Errorf("status %d without a verifier", response.StatusCode)
	}
}

// A caller is judged as a token is: again once the body is there, by who they are and what tokens there are then.
func TestACallerIsJudgedAgainOnceTheBodyIsThere(t *testing.T) {
	for _, tc := range []struct {
		name string
		then func(*endpoint, *verifier)
		want int
	}{
		{"nothing changed", func(*endpoint, *verifier) {}, 200},
		{"the MCPToken was deleted", func(e *endpoint, _ *verifier) { e.change(config()) }, 401},
		{"their own token ended", func(_ *endpoint, v *verifier) { delete(v.callers, annToken) }, 401},
		{"the endpoint was closed", func(e *endpoint, _ *verifier) { e.change(nil) }, 503},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e, v := newEndpoint(t, withCallers()).withVerifier()
			r := httptest.NewRequest(http.MethodPost, "/mcp/", &whileRead{strings.NewReader(listTools), func() { tc.then(e, v) }})
			r.Header.Set("Authorization", "Bearer "+annToken)
			w := httptest.NewRecorder()
			e.ServeHTTP(w, r)
			if w.Code != tc.want {
				t.Errorf("%d %s, want %d", w.Code, w.Body, tc.want)
			}
		})
	}
}

const metadataOfBooks = `{"resource":"https://books.example.com/mcp/",` +
	`"authorization_servers":["https://login.example.com/realms/corp","https://guests.example.com"],` +
	`"bearer_methods_supported":["header"],"scopes_supported":["openid","email"],"resource_name":"books"}`

func TestClientsFindWhereTheirPeopleLogIn(t *testing.T) {
	e := newEndpoint(t, withCallers())
	below := func(base string) *contract.Config {
		c := withCallers()
		c.Endpoint.URL, c.Endpoint.BasePath = "https://books.example.com"+base+"/mcp/", base
		return c
	}
	unlisted := withCallers()
	unlisted.Endpoint.Authentication.Issuers = unlisted.Endpoint.Authentication.Issuers[:1]
	const at = "https://books.example.com/.well-known/oauth-protected-resource"
	for _, tc := range []struct {
		name, path, challenge string
		config                *contract.Config
		found                 bool
	}{
		{"the path of the URL", "/.well-known/oauth-protected-resource/mcp/", at + "/mcp/", withCallers(), true},
		{"without the last slash", "/.well-known/oauth-protected-resource/mcp", at + "/mcp/", withCallers(), true},
		{"no path", "/.well-known/oauth-protected-resource", at + "/mcp/", withCallers(), false},
		{"another path", "/.well-known/oauth-protected-resource/mcp/health", at + "/mcp/", withCallers(), false},
		{"another document", "/.well-known/oauth-authorization-server/mcp/", at + "/mcp/", withCallers(), false},
		{"below a base path", "/.well-known/oauth-protected-resource/a/b/mcp/", at + "/a/b/mcp/", below("/a/b"), true},
		{"beside a base path", "/.well-known/oauth-protected-resource/mcp/", at + "/a/b/mcp/", below("/a/b"), false},
		{"nobody logs in", "/.well-known/oauth-protected-resource/mcp/", "", config(), false},
		{"jobs alone log in", "/.well-known/oauth-protected-resource/mcp/", "", unlisted, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e.change(tc.config)
			response := e.do(request{method: http.MethodGet, path: tc.path, header: without("Authorization")})
			want := strings.Replace(metadataOfBooks, "https://books.example.com/mcp/", tc.config.Endpoint.URL, 1)
			if tc.found && (response.StatusCode != 200 || text(response) != want || response.Header.Get("Content-Type") != "application/json") {
				t.Errorf("%s: %d %v", tc.path, response.StatusCode, response.Header)
			}
			if !tc.found && response.StatusCode != 404 {
				t.Errorf("%s: %d", tc.path, response.StatusCode)
			}
			challenge := "Bearer"
			if tc.challenge != "" {
				challenge += fmt.Sprintf(" resource_metadata=%q", tc.challenge)
			}
			refused := e.do(request{path: tc.config.Endpoint.BasePath + "/mcp/", body: listTools, header: without("Authorization")})
			if got := refused.Header["Www-Authenticate"]; refused.StatusCode != 401 || len(got) != 1 || got[0] != challenge || text(refused) != unauthorized {
				t.Errorf("the 401 says %q, want %q", got, challenge)
			}
		})
	}
	e.change(nil)
	if response := e.do(request{method: http.MethodGet, path: "/.well-known/oauth-protected-resource/mcp/"}); response.StatusCode != 404 {
		t.Errorf("without a Config: %d", response.StatusCode)
	}
}

// Pages of every origin may read the metadata: they are public, and a page asks for them before its person logs in.
func TestEveryPageMayReadTheMetadata(t *testing.T) {
	e := newEndpoint(t, withCallers())
	const path = "/.well-known/oauth-protected-resource/mcp/"
	foreign := header("Origin", "https://elsewhere.example.org")
	get := e.do(request{method: http.MethodGet, path: path, header: foreign})
	if get.StatusCode != 200 || get.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("%d %v", get.StatusCode, get.Header)
	}
	foreign.Set("Access-Control-Request-Method", "GET")
	foreign.Set("Access-Control-Request-Headers", "mcp-protocol-version")
	preflight := e.do(request{method: http.MethodOptions, path: path, header: foreign})
	if preflight.StatusCode != 204 || preflight.Header.Get("Access-Control-Allow-Origin") != "*" ||
		preflight.Header.Get("Access-Control-Allow-Methods") != "GET" || preflight.Header.Get("Access-Control-Allow-Headers") != "*" {
		t.Errorf("%d %v", preflight.StatusCode, preflight.Header)
	}
	if post := e.do(request{method: http.MethodPost, path: path}); post.StatusCode != 405 || post.Header.Get("Allow") != "GET" {
		t.Errorf("%d %v", post.StatusCode, post.Header)
	}
}

// benchmarkCaller is a benchmark of a request with what an identity provider issued, which was seen before.
func benchmarkCaller(b *testing.B, body string) {
	b.Helper()
	corp := harness.NewIssuer(b)
	c := withCallers()
	c.Endpoint.Authentication.Issuers = []contract.Issuer{corp.Settings("corp")}
	e := newEndpoint(b, c)
	v := identity.NewVerifier(identity.Options{Log: e.options.Log})
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { v.Run(ctx); close(ended) }()
	b.Cleanup(func() { stop(); <-ended })
	v.Configure(c.Endpoint.Authentication, false)
	e.options.Verifier = v
	benchmarkAs(b, mcp.NewHandler(e.options), corp.Token("ann", map[string]any{"email": "ann@example.com", "groups": []string{"staff", "clerks"}}), body)
}

func BenchmarkGetOfACaller(b *testing.B) {
	benchmarkCaller(b, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_book","arguments":{"id":2}}}`)
}

func BenchmarkPingOfACaller(b *testing.B) {
	benchmarkCaller(b, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
}
