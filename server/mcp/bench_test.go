package mcp_test

import (
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
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

// cost returns how many allocations a request makes, and of how many bytes, once the server is warm.
func cost(t *testing.T, body string) (allocations, bytes float64) {
	t.Helper()
	e := newEndpoint(t, config())
	reader := strings.NewReader(body)
	r := httptest.NewRequest(http.MethodPost, "/mcp/", reader)
	r.Header.Set("Authorization", "Bearer "+readerToken)
	r.Header.Set("Content-Type", "application/json")
	w := &sink{header: http.Header{}}
	const runs = 200
	var before, after runtime.MemStats
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection empties the pools
	allocations = testing.AllocsPerRun(runs, func() {
		reader.Reset(body)
		clear(w.header)
		e.ServeHTTP(w, r)
	})
	runtime.ReadMemStats(&before)
	for range runs {
		reader.Reset(body)
		clear(w.header)
		e.ServeHTTP(w, r)
	}
	runtime.ReadMemStats(&after)
	return allocations, float64(after.TotalAlloc-before.TotalAlloc) / runs
}

// The bounds are of the server's own part, without net/http's, over SQLite.
func TestReadsMakeLittleGarbage(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector empties pools at random")
	}
	for _, of := range []struct {
		name, body         string
		allocations, bytes float64
	}{
		{"get", getOne, 57, 3700},
		{"list", listTwo, 107, 6100},
		{"describe", describeOne, 70, 3800},
	} {
		allocations, bytes := cost(t, of.body)
		for range 4 { // what else runs in this process allocates, too
			again, bytesAgain := cost(t, of.body)
			allocations, bytes = min(allocations, again), min(bytes, bytesAgain)
		}
		t.Logf("%s: %v allocations, %.0f bytes", of.name, allocations, bytes)
		if allocations > of.allocations || bytes > of.bytes {
			t.Errorf("%s makes %v allocations of %.0f bytes; the bounds are %v and %v", of.name, allocations, bytes, of.allocations, of.bytes)
		}
	}
}

const (
	getOne  = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_book","arguments":{"id":2}}}`
	listTwo = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_book","arguments":{"limit":2}}}`

	describeOne = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"describe_book","arguments":{}}}`
)

func BenchmarkPing(b *testing.B) {
	benchmark(b, newEndpoint(b, config()), `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
}

func BenchmarkGet(b *testing.B) {
	benchmark(b, newEndpoint(b, config()), getOne)
}

func BenchmarkDescribe(b *testing.B) {
	benchmark(b, newEndpoint(b, config()), describeOne)
}

func BenchmarkList(b *testing.B) {
	benchmark(b, newEndpoint(b, config()), listTwo)
}
