package webhook_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/webhook"
)

var now = time.Unix(1_790_000_000, 0)

// secret stands for whatever must be in no error.
const secret = "open-sesame"

func client() *webhook.Client {
	return webhook.New(webhook.Options{AllowLoopback: true, Now: func() time.Time { return now }})
}

// serve runs a service and returns its URL.
func serve(t *testing.T, handle http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	return server.URL
}

func TestRequestIsSignedAndCarriesItsHeaders(t *testing.T) {
	var got *http.Request
	var body []byte
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
	})
	_, err := client().Post(context.Background(), &webhook.Request{
		URL: url + "/refund?x=1", SigningKey: "key", Body: []byte(`{"ids":[1]}`),
		Headers: map[string]string{"Authorization": "Bearer " + secret, "content-type": "text/plain", webhook.SignatureHeader: "forged"},
	})
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha256.New, []byte("key"))
	mac.Write([]byte(`1790000000.{"ids":[1]}`))
	for name, want := range map[string]string{
		"Authorization": "Bearer " + secret, "Content-Type": "application/json",
		webhook.SignatureHeader: "t=1790000000,v1=" + hex.EncodeToString(mac.Sum(nil)),
	} {
		if values := got.Header.Values(name); len(values) != 1 || values[0] != want {
			t.Errorf("%s is %q, want %q", name, values, want)
		}
	}
	if got.Method != http.MethodPost || got.URL.RequestURI() != "/refund?x=1" || string(body) != `{"ids":[1]}` {
		t.Errorf("%s %s %s", got.Method, got.URL, body)
	}
}

func TestWithoutAKeyThereIsNoSignature(t *testing.T) {
	var got http.Header
	url := serve(t, func(_ http.ResponseWriter, r *http.Request) { got = r.Header })
	request := &webhook.Request{URL: url, Headers: map[string]string{webhook.SignatureHeader: "t=1,v1=forged"}}
	if _, err := client().Post(context.Background(), request); err != nil {
		t.Fatal(err)
	}
	if values := got.Values(webhook.SignatureHeader); len(values) != 0 {
		t.Errorf("the signature is %q", values)
	}
}

func TestAnswersHaveAForm(t *testing.T) {
	for _, c := range []struct {
		contentType string
		want        webhook.Form
	}{
		{"application/json", webhook.JSON},
		{"Application/JSON; charset=utf-8", webhook.JSON},
		{"text/html; charset=utf-8", webhook.HTML},
		{"application/xhtml+xml", webhook.HTML},
		{"text/plain", webhook.Text},
		{"text/htmlx", webhook.Text},
		{"no type at all;;;", webhook.Text},
	} {
		t.Run(c.contentType, func(t *testing.T) {
			url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.contentType)
				_, _ = io.WriteString(w, "the body")
			})
			answer, err := client().Post(context.Background(), &webhook.Request{URL: url})
			if err != nil || answer.Form != c.want || string(answer.Body) != "the body" {
				t.Errorf("%+v, %v", answer, err)
			}
		})
	}
}

// failure posts and returns the failure, which must hold nothing of the request.
func failure(t *testing.T, c *webhook.Client, r *webhook.Request) *webhook.Error {
	t.Helper()
	r.Headers = map[string]string{"Authorization": secret}
	answer, err := c.Post(context.Background(), r)
	var failed *webhook.Error
	if !errors.As(err, &failed) {
		t.Fatalf("answered %+v, %v", answer, err)
	}
	for _, never := range []string{secret, "http:", "127.0.0.1", "localhost", "quoted"} {
		if strings.Contains(err.Error(), never) {
			t.Errorf("the message %q tells %q", err, never)
		}
	}
	return failed
}

func TestOnlyAStatusOf2xxIsAnAnswer(t *testing.T) {
	for status, want := range map[int]string{
		200: "", 204: "", 299: "", 301: "answered 301", 307: "answered 307", 400: "answered 400", 401: "answered 401", 503: "answered 503",
	} {
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(status)
			if status != 204 {
				_, _ = io.WriteString(w, "quoted")
			}
		})
		if want == "" {
			if _, err := client().Post(context.Background(), &webhook.Request{URL: url}); err != nil {
				t.Errorf("%d: %v", status, err)
			}
			continue
		}
		if got := failure(t, client(), &webhook.Request{URL: url}); got.Message != want || !got.Sent {
			t.Errorf("%d: %+v", status, got)
		}
	}
}

func TestNothingIsSentTwice(t *testing.T) {
	var calls atomic.Int64
	target := serve(t, func(http.ResponseWriter, *http.Request) { calls.Add(100) })
	for name, handle := range map[string]http.HandlerFunc{
		"a redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, target, http.StatusTemporaryRedirect)
		},
		"a broken connection": func(w http.ResponseWriter, _ *http.Request) { hangUp(w) },
		"an error":            func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) },
	} {
		calls.Store(0)
		url := serve(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			calls.Add(1)
			handle(w, r)
		})
		request := &webhook.Request{URL: url, Body: []byte("{}")}
		if got := failure(t, client(), request); !got.Sent {
			t.Errorf("%s: %+v", name, got)
		}
		if got := calls.Load(); got != 1 {
			t.Errorf("%s: %d calls", name, got)
		}
	}
}

// A connection is used once: one that is kept may be closed when the next request is sent, which would go out again.
func TestConnectionsServeOneRequest(t *testing.T) {
	var connections atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	c := client()
	for range 3 {
		if _, err := c.Post(context.Background(), &webhook.Request{URL: server.URL}); err != nil {
			t.Fatal(err)
		}
	}
	if got := connections.Load(); got != 3 {
		t.Errorf("%d connections for 3 requests", got)
	}
}

func hangUp(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_ = conn.Close()
	}
}

func TestAnswersAreBounded(t *testing.T) {
	for _, c := range []struct {
		name string
		size int
		want string
	}{
		{"as large as may be", webhook.MaxAnswer, ""},
		{"larger by a byte", webhook.MaxAnswer + 1, "answered more than 64 KiB"},
		{"without an end", 1 << 40, "answered more than 64 KiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			url := serve(t, func(w http.ResponseWriter, r *http.Request) {
				piece := []byte(strings.Repeat("x", 1024))
				for sent := 0; sent < c.size && r.Context().Err() == nil; sent += len(piece) {
					if _, err := w.Write(piece[:min(len(piece), c.size-sent)]); err != nil {
						return
					}
				}
			})
			if c.want != "" {
				if got := failure(t, client(), &webhook.Request{URL: url}); got.Message != c.want || !got.Sent {
					t.Errorf("%+v", got)
				}
				return
			}
			answer, err := client().Post(context.Background(), &webhook.Request{URL: url})
			if err != nil || len(answer.Body) != c.size {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestSlowServicesAreGivenUp(t *testing.T) {
	for name, handle := range map[string]http.HandlerFunc{
		"no headers": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"a body that does not end": func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "x")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		},
	} {
		url := serve(t, handle)
		got := failure(t, client(), &webhook.Request{URL: url, Timeout: 50 * time.Millisecond})
		if got.Message != "did not answer within 50ms" || !got.Sent {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestAddressesThatMayNotBeCalled(t *testing.T) {
	refused := webhook.New(webhook.Options{})
	var calls atomic.Int64
	url := serve(t, func(http.ResponseWriter, *http.Request) { calls.Add(1) })
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(url, "http://"))
	for _, host := range []string{
		"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "[::]", "0.1.2.3", "127.8.8.8",
		"169.254.169.254", "[::ffff:169.254.169.254]", "[64:ff9b::a9fe:a9fe]", "[::127.0.0.1]", "[fd00:ec2::254]", "[fe80::1]",
		"100.100.100.200", "168.63.129.16", "224.0.0.1", "[ff02::1]", "255.255.255.255",
		"2130706433", "0x7f.1", "017700000001",
	} {
		t.Run(host, func(t *testing.T) {
			got := failure(t, refused, &webhook.Request{URL: "http://" + host + ":" + port + "/", Timeout: time.Minute})
			if got.Sent {
				t.Errorf("%+v", got)
			}
		})
	}
	if calls.Load() != 0 {
		t.Error("the machine itself was called")
	}
	got := failure(t, refused, &webhook.Request{URL: url})
	if got.Message != "has an address that may not be called" {
		t.Errorf("%+v", got)
	}
	// With loopback allowed, as tests need it, the others are refused all the same.
	got = failure(t, client(), &webhook.Request{URL: "http://169.254.169.254/", Timeout: time.Minute})
	if got.Message != "has an address that may not be called" {
		t.Errorf("%+v", got)
	}
}

func TestProxiesOfTheEnvironmentAreNotAsked(t *testing.T) {
	var calls atomic.Int64
	proxy := serve(t, func(http.ResponseWriter, *http.Request) { calls.Add(1) })
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"} {
		t.Setenv(name, proxy)
	}
	got := failure(t, client(), &webhook.Request{URL: "http://service.invalid/", Timeout: time.Minute})
	if got.Sent || calls.Load() != 0 {
		t.Error("the proxy was asked")
	}
}

func TestWhatCannotBeCalled(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := listener.Addr().String()
	_ = listener.Close()
	tls := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	tls.Config.ErrorLog = log.New(io.Discard, "", 0) // the test is about the handshake that fails
	tls.StartTLS()
	defer tls.Close()
	for _, c := range []struct{ name, url, message string }{
		{"nobody listens", "http://" + closed, "refused the connection"},
		{"a certificate of nobody's", tls.URL, "has a certificate that is not trusted"},
		{"no such name", "http://service.invalid/", "has a host whose name cannot be resolved"},
		{"another scheme", "file:///etc/passwd", "has no URL that can be called"},
		{"no scheme", "service", "has no URL that can be called"},
		{"no host", "https:///x", "has no URL that can be called"},
		{"a password in it", "http://user:" + secret + "@127.0.0.1/", "has no URL that can be called"},
		{"no URL", "http://[" + secret, "has no URL that can be called"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := failure(t, client(), &webhook.Request{URL: c.url, Timeout: time.Minute}); got.Message != c.message || got.Sent {
				t.Errorf("%+v", got)
			}
		})
	}
}
