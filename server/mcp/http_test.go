package mcp_test

import (
	"net/http"
	"strings"
	"testing"
)

const (
	unauthorized = `{"error":"Invalid or missing authentication token"}`
	listTools    = `{"method":"tools/list"}`
)

func header(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h[pairs[i]] = append(h[pairs[i]], pairs[i+1])
	}
	return h
}

func without(name string) http.Header { return http.Header{name: nil} }

// The rows are from docs/design/http.md, "Requests and answers".
func TestHTTP(t *testing.T) {
	e := newEndpoint(t, config())
	big := `{"method":"tools/list","padding":"` + strings.Repeat("x", 1<<16) + `"}`
	for _, c := range []struct {
		name string
		request
		status int
		// body is the whole body; a body that ends with … is a beginning.
		body string
		// header are headers that the answer must have.
		header http.Header
	}{
		{"the endpoint", request{body: listTools}, 200, `{"tools":[{"name":"find_models"…`, header("Content-Type", "application/json")},
		{"the endpoint without its last slash", request{path: "/mcp", body: listTools}, 200, `{"tools":[…`, nil},
		{"GET", request{method: "GET"}, 405, `{"error":"Method not allowed"}`, header("Allow", "POST")},
		{"DELETE", request{method: "DELETE"}, 405, `{"error":"Method not allowed"}`, header("Allow", "POST")},
		{"HEAD", request{method: "HEAD"}, 405, `…`, header("Allow", "POST")},
		{"a preflight, where no origin is allowed", request{method: "OPTIONS", header: header("Origin", "https://elsewhere.example.com", "Access-Control-Request-Method", "POST")},
			405, `{"error":"Method not allowed"}`, header("Allow", "POST")},
		{"method before token", request{method: "GET", header: without("Authorization")}, 405, `{"error":"Method not allowed"}`, nil},

		{"a foreign origin", request{body: listTools, header: header("Origin", "https://evil.example.com")}, 403, `{"error":"Origin not allowed"}`, nil},
		{"its own origin", request{body: listTools, header: header("Origin", "https://books.example.com")}, 200, `{"tools":[…`, nil},
		{"its own origin, with the port", request{body: listTools, header: header("Origin", "https://books.example.com:443")}, 200, `{"tools":[…`, nil},
		{"its own origin by another scheme", request{body: listTools, header: header("Origin", "http://books.example.com")}, 403, `{"error":"Origin not allowed"}`, nil},
		{"an origin that the Host header repeats", request{body: listTools, header: header("Origin", "http://example.com")}, 403, `{"error":"Origin not allowed"}`, nil},
		{"the opaque origin", request{body: listTools, header: header("Origin", "null")}, 403, `{"error":"Origin not allowed"}`, nil},
		{"two origins", request{body: listTools, header: header("Origin", "https://books.example.com", "Origin", "https://books.example.com")}, 403, `{"error":"Origin not allowed"}`, nil},
		{"origin before token", request{header: header("Origin", "https://evil.example.com", "Authorization", "no")}, 403, `{"error":"Origin not allowed"}`, nil},

		{"no token", request{body: listTools, header: without("Authorization")}, 401, unauthorized, header("Www-Authenticate", "Bearer")},
		{"a malformed token", request{body: listTools, header: header("Authorization", readerToken)}, 401, unauthorized, header("Www-Authenticate", "Bearer")},
		{"another scheme", request{body: listTools, header: header("Authorization", "Basic "+readerToken)}, 401, unauthorized, header("Www-Authenticate", "Bearer")},
		{"an unknown token", request{body: listTools, header: header("Authorization", "Bearer x"+readerToken)}, 401, unauthorized, header("Www-Authenticate", "Bearer")},
		{"an expired token", request{body: listTools, header: header("Authorization", "Bearer "+expiredToken)}, 401, unauthorized, header("Www-Authenticate", "Bearer")},
		{"a token given twice", request{body: listTools, header: header("Authorization", "Bearer "+readerToken, "Authorization", "Bearer "+readerToken)}, 401, unauthorized, nil},
		{"the scheme in capitals", request{body: listTools, header: header("Authorization", "BEARER "+readerToken)}, 200, `{"tools":[…`, nil},
		{"token before type", request{body: "x", header: header("Authorization", "Bearer x", "Content-Type", "text/plain")}, 401, unauthorized, nil},

		{"a body that is too large", request{body: big}, 413, `{"error":"The body is too large"}`, header("Connection", "close")},
		{"size before type", request{body: big, header: header("Content-Type", "text/plain")}, 413, `{"error":"The body is too large"}`, nil},
		{"another type", request{body: listTools, header: header("Content-Type", "text/plain")}, 415, `{"error":"Content-Type must be application/json"}`, nil},
		{"no type", request{body: listTools, header: without("Content-Type")}, 200, `{"tools":[…`, nil},
		{"a type with a parameter", request{body: listTools, header: header("Content-Type", "Application/JSON; charset=utf-8")}, 200, `{"tools":[…`, nil},
		{"any Accept", request{body: listTools, header: header("Accept", "text/html")}, 200, `{"tools":[…`, nil},

		{"no body", request{}, 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,…`, nil},
		{"a body that is not JSON", request{body: "hello"}, 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,…`, nil},
		{"bad UTF-8", request{body: "{\"method\":\"\xff\"}"}, 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,…`, nil},
		{"a member twice", request{body: `{"id":1,"method":"ping","id":2}`}, 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,…`, nil},
		{"too deep", request{body: strings.Repeat("[", 65) + strings.Repeat("]", 65)}, 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,…`, nil},
		{"JSON that is no request", request{body: `"tools/list"`}, 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,…`, nil},

		{"health", request{method: "GET", path: "/mcp/health/", header: without("Authorization")}, 200, `{"status":"ok","service":"mcp-admin-server"}`, header("Content-Type", "application/json")},
		{"health without its last slash", request{method: "GET", path: "/mcp/health"}, 200, `{"status":"ok","service":"mcp-admin-server"}`, nil},
		{"health by POST", request{path: "/mcp/health/"}, 405, `{"error":"Method not allowed"}`, header("Allow", "GET")},
		{"well-known", request{method: "GET", path: "/.well-known/oauth-protected-resource"}, 404, `{"error":"Not found"}`, nil},
		{"well-known below the endpoint", request{method: "GET", path: "/.well-known/oauth-protected-resource/mcp"}, 404, `{"error":"Not found"}`, nil},
		{"another path", request{path: "/other", body: listTools}, 404, `{"error":"Not found"}`, nil},
		{"the admin port's pages", request{method: "GET", path: "/metrics"}, 404, `{"error":"Not found"}`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			response := e.do(c.request)
			if response.StatusCode != c.status {
				t.Errorf("status %d, want %d", response.StatusCode, c.status)
			}
			body := text(response)
			if beginning, ok := strings.CutSuffix(c.body, "…"); ok && !strings.HasPrefix(body, beginning) || !ok && body != c.body {
				t.Errorf("body %s, want %s", body, c.body)
			}
			for name, values := range c.header {
				if got := response.Header[name]; len(got) != 1 || got[0] != values[0] {
					t.Errorf("%s is %q, want %q", name, got, values)
				}
			}
			if got := response.Header.Get("Cache-Control"); got != "no-store" {
				t.Errorf("Cache-Control is %q", got)
			}
			for name := range response.Header {
				if strings.HasPrefix(name, "Access-Control-") {
					t.Errorf("there is a header %s", name)
				}
			}
		})
	}
}

func TestBodyOfUnknownLength(t *testing.T) {
	e := newEndpoint(t, config())
	for name, c := range map[string]struct{ padding, status int }{
		"small":                {0, 200},
		"larger than one read": {20_000, 200},
		"as large as it may":   {1<<16 - len(listTools), 200},
		"one byte too large":   {1<<16 - len(listTools) + 1, 413},
	} {
		t.Run(name, func(t *testing.T) {
			if got := e.do(request{chunked: true, body: strings.Repeat(" ", c.padding) + listTools}).StatusCode; got != c.status {
				t.Errorf("status %d, want %d", got, c.status)
			}
		})
	}
}

func TestBasePath(t *testing.T) {
	c := config()
	c.Endpoint.BasePath = "/tools/admin"
	e := newEndpoint(t, c)
	for path, want := range map[string]int{
		"/tools/admin/mcp/": 200, "/tools/admin/mcp": 200, "/mcp/": 404, "/tools/admin/": 404, "/tools/adminmcp/": 404,
	} {
		if got := e.do(request{path: path, body: listTools}).StatusCode; got != want {
			t.Errorf("%s: status %d, want %d", path, got, want)
		}
	}
	for _, path := range []string{"/tools/admin/mcp/health/", "/tools/admin/mcp/health", "/mcp/health"} {
		if got := e.do(request{method: "GET", path: path}).StatusCode; got != 200 {
			t.Errorf("%s: status %d", path, got)
		}
	}
}

func TestWithoutConfigTheEndpointIsClosed(t *testing.T) {
	e := newEndpoint(t, config())
	e.change(nil)
	response := e.do(request{body: listTools})
	if body := text(response); response.StatusCode != 503 || response.Header.Get("Retry-After") == "" || !strings.HasPrefix(body, `{"error":`) {
		t.Errorf("%d %s", response.StatusCode, body)
	}
	e.change(config())
	if got := e.do(request{body: listTools}).StatusCode; got != 200 {
		t.Errorf("opened again: status %d", got)
	}
}

func TestRevokedTokenIsRefusedByTheNextSnapshot(t *testing.T) {
	e := newEndpoint(t, config())
	c := config()
	c.Tokens = c.Tokens[:2]
	e.change(c)
	if status, body := e.post(listTools); status != 401 || body != unauthorized {
		t.Errorf("%d %s", status, body)
	}
}
