package mcp_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A benchmark's own share of a request is kept small: one request and one writer, used again.
func benchmark(b *testing.B, e http.Handler, body string) {
	b.Helper()
	benchmarkAs(b, e, readerToken, body)
}

func benchmarkAs(b *testing.B, e http.Handler, token, body string) {
	b.Helper()
	reader := strings.NewReader(body)
	r := httptest.NewRequest(http.MethodPost, "/mcp/", reader)
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	w := &sink{header: http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		reader.Reset(body)
		clear(w.header)
		e.ServeHTTP(w, r)
	}
	if w.status != 200 {
		b.Fatalf("status %d", w.status)
	}
}

// sink is a writer that keeps nothing of a body but its size.
type sink struct {
	header       http.Header
	status, size int
}

func (s *sink) Header() http.Header    { return s.header }
func (s *sink) WriteHeader(status int) { s.status = status }
func (s *sink) Write(p []byte) (int, error) {
	s.size += len(p)
	return len(p), nil
}

func BenchmarkPing(b *testing.B) {
	benchmark(b, newEndpoint(b, config()), `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
}

func BenchmarkGet(b *testing.B) {
	benchmark(b, newEndpoint(b, config()), `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_book","arguments":{"id":2}}}`)
}

func BenchmarkList(b *testing.B) {
	benchmark(b, newEndpoint(b, config()), `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_book","arguments":{"limit":2}}}`)
}
