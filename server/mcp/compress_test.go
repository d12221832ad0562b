package mcp_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
)

func TestLargeAnswersAreCompressedForThoseWhoTakeIt(t *testing.T) {
	e := newEndpoint(t, config())
	plain := text(e.do(request{body: listTools}))
	if len(plain) < 2<<10 {
		t.Fatalf("the answer has %d bytes", len(plain))
	}
	for _, c := range []struct {
		accept []string
		want   bool
	}{
		{nil, false}, {[]string{""}, false}, {[]string{"gzip"}, true}, {[]string{"GZIP"}, true}, {[]string{"br, gzip"}, true}, {[]string{"br", "gzip"}, true},
		{[]string{"gzip;q=0"}, false}, {[]string{"gzip; q=0.000"}, false}, {[]string{"gzip ; Q=0.5"}, true}, {[]string{"*"}, true}, {[]string{"*;q=0"}, false},
		{[]string{"*;q=0, gzip"}, true}, {[]string{"gzip;q=0, *"}, false}, {[]string{"identity"}, false}, {[]string{"deflate, br"}, false},
		{[]string{"gzip;q=x"}, false}, {[]string{"gzipped"}, false}, {[]string{"x-gzip"}, true},
	} {
		response := e.do(request{body: listTools, header: http.Header{"Accept-Encoding": c.accept}})
		if got := response.Header.Get("Vary"); got != "Accept-Encoding" {
			t.Errorf("%q: Vary is %q", c.accept, got)
		}
		if got := response.Header.Get("Content-Encoding") == "gzip"; got != c.want {
			t.Errorf("%q: compressed is %t", c.accept, got)
			continue
		}
		body := text(response)
		if c.want {
			if len(body) >= len(plain)/2 || response.ContentLength != int64(len(body)) {
				t.Errorf("%q: %d bytes of %d, and a length of %d", c.accept, len(body), len(plain), response.ContentLength)
			}
			body = unzipped(t, body)
		}
		if body != plain {
			t.Errorf("%q: %s", c.accept, body)
		}
	}
	small := e.do(request{body: `{"method":"tools/call","name":"list_author","arguments":{}}`, header: http.Header{"Accept-Encoding": {"gzip"}}})
	if small.Header.Get("Content-Encoding") != "" || small.Header.Get("Vary") != "" {
		t.Errorf("a small answer has %v", small.Header)
	}
}

func unzipped(t *testing.T, body string) string {
	t.Helper()
	reader, err := gzip.NewReader(strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return ""
	}
	all, err := io.ReadAll(reader)
	if err != nil {
		t.Error(err)
	}
	return string(all)
}

// Writers and buffers go from one request to the next, and no answer has anything of another's.
func TestCompressedAnswersAreTheRequestsOwn(t *testing.T) {
	e := newEndpoint(t, config())
	want := map[string]string{}
	bodies := []string{listTools, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":"two","method":"tools/list"}`}
	for _, body := range bodies {
		want[body] = text(e.do(request{body: body}))
	}
	var all sync.WaitGroup
	for i := range 60 {
		all.Go(func() {
			body := bodies[i%len(bodies)]
			response := e.do(request{body: body, header: http.Header{"Accept-Encoding": {"gzip"}}})
			for response.StatusCode == http.StatusServiceUnavailable {
				response = e.do(request{body: body, header: http.Header{"Accept-Encoding": {"gzip"}}})
			}
			if got := unzipped(t, text(response)); got != want[body] {
				t.Errorf("%s: %s", body, got)
			}
		})
	}
	all.Wait()
}

func TestACompressedAnswerVariesByOriginToo(t *testing.T) {
	c := config()
	c.Endpoint.AllowedOrigins = []string{"https://console.example.com"}
	e := newEndpoint(t, c)
	for range 3 {
		response := e.do(request{body: listTools, header: http.Header{"Accept-Encoding": {"gzip"}}})
		if got := strings.Join(response.Header.Values("Vary"), ", "); got != "Origin, Accept-Encoding" {
			t.Errorf("Vary is %q", got)
		}
	}
}
