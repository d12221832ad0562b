package mcp_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// console is an origin that the tests' endpoint allows.
const console = "https://console.example.com"

// newBrowserEndpoint allows the console, hosts directly below tools.example.com, an app, and a page on this machine.
func newBrowserEndpoint(t *testing.T) *endpoint {
	c := config()
	c.Endpoint.AllowedOrigins = []string{console, "https://*.tools.example.com", "http://localhost:5173", "http://[::1]:5173", "app://local"}
	c.Endpoint.Limits.MaxBodyBytes = 1 << 10
	return newEndpoint(t, c)
}

func TestWhichOriginsAreAllowed(t *testing.T) {
	e := newBrowserEndpoint(t)
	for _, c := range []struct {
		name, origin string
		allowed      bool
	}{
		{"an exact one", console, true},
		{"an exact one with its scheme's port", console + ":443", true},
		{"an exact one in capitals", "HTTPS://Console.Example.COM", true},
		{"another port", console + ":8443", false},
		{"another scheme", "http://console.example.com", false},
		{"a host below an exact one", "https://a.console.example.com", false},
		{"a host that begins like it", "https://console.example.com.evil.example", false},
		{"a host that ends like it", "https://evilconsole.example.com", false},
		{"one label below a pattern", "https://a.tools.example.com", true},
		{"two labels below a pattern", "https://a.b.tools.example.com", false},
		{"the pattern's own parent", "https://tools.example.com", false},
		{"an empty label below a pattern", "https://.tools.example.com", false},
		{"a pattern by another scheme", "http://a.tools.example.com", false},
		{"a pattern with another port", "https://a.tools.example.com:8443", false},
		{"this machine", "http://localhost:5173", true},
		{"this machine, another port", "http://localhost:5174", false},
		{"an IPv6 address", "http://[::1]:5173", true},
		{"an app's own scheme", "app://local", true},
		{"the opaque origin", "null", false},
		{"none at all", "", false},
		{"a path after it", console + "/", false},
		{"a user before it", "https://me@console.example.com", false},
		{"a query after it", console + "?x", false},
		{"what is no URL", "https://%zz", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			response := e.do(request{body: listTools, header: header("Origin", c.origin)})
			status, allow := 403, []string(nil)
			if c.allowed {
				status, allow = 200, []string{c.origin}
			}
			if response.StatusCode != status {
				t.Errorf("status %d, want %d", response.StatusCode, status)
			}
			if got := response.Header["Access-Control-Allow-Origin"]; len(got) != len(allow) || len(got) == 1 && got[0] != allow[0] {
				t.Errorf("Access-Control-Allow-Origin is %q, want %q", got, allow)
			}
			if got := text(response); !c.allowed && got != `{"error":"Origin not allowed"}` {
				t.Errorf("body %s", got)
			}
		})
	}
}

func TestPreflight(t *testing.T) {
	e := newBrowserEndpoint(t)
	for _, c := range []struct {
		name   string
		header http.Header
		status int
	}{
		{"of an allowed origin", header("Origin", console, "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization,content-type,mcp-protocol-version"), 204},
		{"of an allowed origin, for another method", header("Origin", console, "Access-Control-Request-Method", "DELETE"), 204},
		{"of a foreign origin", header("Origin", "https://evil.example.com", "Access-Control-Request-Method", "POST"), 405},
		{"of the endpoint's own, which needs none", header("Origin", "https://books.example.com", "Access-Control-Request-Method", "POST"), 405},
		{"without an origin", header("Access-Control-Request-Method", "POST"), 405},
		{"that is none: it asks for no method", header("Origin", console), 405},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.header["Authorization"] = nil // browsers do not send it
			for _, path := range []string{"/mcp/", "/mcp"} {
				response := e.do(request{method: "OPTIONS", path: path, header: c.header})
				if response.StatusCode != c.status || response.Header.Get("Vary") != "Origin" {
					t.Errorf("%s: status %d, Vary %q", path, response.StatusCode, response.Header.Get("Vary"))
				}
				got := response.Header
				if c.status == 405 {
					if got.Get("Allow") != "POST" || text(response) != `{"error":"Method not allowed"}` || got["Access-Control-Allow-Methods"] != nil {
						t.Errorf("%s: %v", path, got)
					}
					continue
				}
				if text(response) != "" || got.Get("Access-Control-Allow-Origin") != console || got.Get("Access-Control-Allow-Methods") != "POST" ||
					got.Get("Access-Control-Max-Age") == "" || got["Access-Control-Allow-Credentials"] != nil {
					t.Errorf("%s: %v", path, got)
				}
				allowed := strings.Split(got.Get("Access-Control-Allow-Headers"), ", ")
				for _, name := range []string{"Authorization", "Content-Type", "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name", "Mcp-Session-Id"} {
					if !contains(allowed, name) {
						t.Errorf("%s: %s is not allowed", path, name)
					}
				}
			}
		})
	}
}

// Every answer to an allowed origin has the CORS headers (docs/design/http.md, "Origins and CORS").
func TestAllowedOriginMayReadEveryAnswer(t *testing.T) {
	e := newBrowserEndpoint(t)
	for _, c := range []struct {
		name string
		request
		status int
	}{
		{"200", request{body: listTools}, 200},
		{"202", request{body: `{"jsonrpc":"2.0","method":"notifications/initialized"}`}, 202},
		{"400", request{body: "{"}, 400},
		{"401", request{header: header("Authorization", "Bearer x")}, 401},
		{"404", request{path: "/other"}, 404},
		{"404 below .well-known", request{method: "GET", path: "/.well-known/oauth-protected-resource"}, 404},
		{"405", request{method: "GET"}, 405},
		{"413", request{body: strings.Repeat(" ", 2000)}, 413},
		{"415", request{header: header("Content-Type", "text/plain")}, 415},
		{"health", request{method: "GET", path: "/mcp/health"}, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.header == nil {
				c.header = http.Header{}
			}
			c.header["Origin"] = []string{console}
			checkReadable(t, e.do(c.request), c.status)
		})
	}
	t.Run("500", func(t *testing.T) {
		c := config()
		c.Endpoint.AllowedOrigins = []string{console}
		e := newEndpointOver(t, c, bookTable{func(context.Context) error { panic("a fault") }})
		checkReadable(t, e.do(request{body: listBooks, header: header("Origin", console)}), 500)
	})
	t.Run("503", func(t *testing.T) {
		c := config()
		c.Endpoint.AllowedOrigins = []string{console}
		c.Endpoint.Limits.MaxConcurrentRequests = 1
		entered, leave, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
		e := newEndpointOver(t, c, bookTable{func(context.Context) error { close(entered); <-leave; return nil }})
		go func() { e.post(listBooks); close(done) }()
		<-entered
		checkReadable(t, e.do(request{body: listTools, header: header("Origin", console)}), 503)
		close(leave)
		<-done
	})
}

func checkReadable(t *testing.T, response *http.Response, status int) {
	t.Helper()
	if response.StatusCode != status {
		t.Errorf("status %d, want %d", response.StatusCode, status)
	}
	for name, want := range map[string]string{"Access-Control-Allow-Origin": console, "Vary": "Origin", "Cache-Control": "no-store"} {
		if got := response.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	exposed := strings.Split(response.Header.Get("Access-Control-Expose-Headers"), ", ")
	for _, name := range []string{"WWW-Authenticate", "Retry-After", "MCP-Protocol-Version"} {
		if !contains(exposed, name) {
			t.Errorf("%s is not exposed", name)
		}
	}
}

func TestNewOriginsAreInForceWithTheNextConfig(t *testing.T) {
	e := newBrowserEndpoint(t)
	ask := func(origin string) int {
		return e.do(request{body: listTools, header: header("Origin", origin)}).StatusCode
	}
	if got := ask(console); got != 200 {
		t.Fatalf("status %d", got)
	}
	c := config()
	c.Endpoint.AllowedOrigins = []string{"https://other.example.com"}
	e.change(c)
	if was, is := ask(console), ask("https://other.example.com"); was != 403 || is != 200 {
		t.Errorf("the origin from before: %d; the new one: %d", was, is)
	}
}

// Over a real socket a 204 has neither a body nor a length.
func TestPreflightOverASocket(t *testing.T) {
	server := httptest.NewServer(newBrowserEndpoint(t))
	defer server.Close()
	r, _ := http.NewRequest(http.MethodOptions, server.URL+"/mcp/", http.NoBody)
	r.Header = header("Origin", console, "Access-Control-Request-Method", "POST")
	response, err := (&http.Client{Timeout: time.Minute}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != 204 || response.Header["Content-Length"] != nil || response.Header["Content-Type"] != nil || text(response) != "" {
		t.Errorf("%d %v", response.StatusCode, response.Header)
	}
}

func contains(list []string, name string) bool {
	for _, item := range list {
		if strings.EqualFold(item, name) {
			return true
		}
	}
	return false
}
