package mcp_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract/tracing"
	"github.com/mcp-admin/mcp-admin-operator/server/mcp"
)

// BenchmarkTraced is what a request costs while traces are off, on for others, and on for it. Spans go to a collector that takes them.
func BenchmarkTraced(b *testing.B) {
	sink := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	defer sink.Close()
	part := func(flags string) string {
		return strings.Replace(getOne, `"arguments"`, `"_meta":{"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-`+flags+`"},"arguments"`, 1)
	}
	for _, row := range []struct {
		name, body string
		on         bool
	}{
		{"Off", part("01"), false},
		{"UnsampledParent", part("00"), true},
		{"Sampled", part("01"), true},
	} {
		b.Run(row.name, func(b *testing.B) {
			e := newEndpoint(b, config())
			e.options.Tracer = tracing.New(slog.New(slog.DiscardHandler), nil)
			if row.on {
				e.options.Tracer.Configure(&tracing.Settings{URL: sink.URL, Protocol: tracing.ProtocolHTTP, RatePerMillion: 1_000_000, Service: "books"})
			}
			benchmark(b, mcp.NewHandler(e.options), row.body)
			e.options.Tracer.Close()
		})
	}
}
