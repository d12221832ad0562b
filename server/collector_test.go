package server_test

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
)

// A tracesSink receives spans as a collector does, over gRPC and over HTTP.
type tracesSink struct {
	collector.UnimplementedTraceServiceServer
	t *testing.T

	mu       sync.Mutex
	spans    []*traces.Span
	resource string
	headers  string
	// more is closed, and made anew, when spans came.
	more chan struct{}
}

func newTracesSink(t *testing.T) *tracesSink { return &tracesSink{t: t, more: make(chan struct{})} }

// Export implements the gRPC service.
func (s *tracesSink) Export(ctx context.Context, request *collector.ExportTraceServiceRequest) (*collector.ExportTraceServiceResponse, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	s.take(request, fmt.Sprint(md))
	return &collector.ExportTraceServiceResponse{}, nil
}

func (s *tracesSink) take(request *collector.ExportTraceServiceRequest, headers string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.headers = headers
	for _, of := range request.ResourceSpans {
		s.resource = attributesOf(of.Resource.Attributes)
		for _, scope := range of.ScopeSpans {
			s.spans = append(s.spans, scope.Spans...)
		}
	}
	close(s.more)
	s.more = make(chan struct{})
}

// grpc starts the receiver and returns its address.
func (s *tracesSink) grpc() string {
	l := listen(s.t)
	g := grpc.NewServer()
	collector.RegisterTraceServiceServer(g, s)
	go func() { _ = g.Serve(l) }()
	s.t.Cleanup(g.Stop)
	return "http://" + l.Addr().String()
}

// http starts the receiver and returns its address.
func (s *tracesSink) http() string {
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body io.Reader = r.Body
		if r.Header.Get("Content-Encoding") == "gzip" {
			body, _ = gzip.NewReader(r.Body)
		}
		content, err := io.ReadAll(body)
		request := &collector.ExportTraceServiceRequest{}
		if err != nil || r.URL.Path != "/v1/traces" || proto.Unmarshal(content, request) != nil {
			s.t.Errorf("%s %s cannot be read: %v", r.Method, r.URL, err)
		}
		s.take(request, fmt.Sprint(r.Header))
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	s.t.Cleanup(h.Close)
	return h.URL
}

// until waits for a span of the name, and returns all that came so far.
func (s *tracesSink) until(name string) []*traces.Span {
	s.t.Helper()
	deadline := time.After(10 * time.Minute)
	for {
		s.mu.Lock()
		spans, more := slices.Clone(s.spans), s.more
		s.mu.Unlock()
		if slices.ContainsFunc(spans, func(x *traces.Span) bool { return x.Name == name }) {
			return spans
		}
		select {
		case <-more:
		case <-deadline:
			s.t.Fatalf("there is no span %q among %s", name, tree(spans))
		}
	}
}

// text is everything that was received, in one text.
func (s *tracesSink) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return tree(s.spans) + s.resource
}

// tree writes spans as a tree, each with its attributes and events, children below their parents.
func tree(spans []*traces.Span) string {
	var out strings.Builder
	known := map[string]bool{}
	for _, s := range spans {
		known[string(s.SpanId)] = true
	}
	var write func(parent string, depth int)
	write = func(parent string, depth int) {
		for _, s := range spans {
			if is := string(s.ParentSpanId); is != parent && (depth > 0 || known[is]) {
				continue
			}
			fmt.Fprintf(&out, "%s%s [%s]", strings.Repeat("  ", depth), s.Name, attributesOf(s.Attributes))
			for _, e := range s.Events {
				out.WriteString(" " + e.Name)
			}
			if s.Status.GetCode() == traces.Status_STATUS_CODE_ERROR {
				out.WriteString(" ERROR " + s.Status.Message)
			}
			out.WriteString("\n")
			write(string(s.SpanId), depth+1)
		}
	}
	write("", 0)
	return out.String()
}

func attributesOf(attributes []*common.KeyValue) string {
	var all []string
	for _, a := range attributes {
		value := a.Value.GetStringValue()
		if _, is := a.Value.Value.(*common.AnyValue_IntValue); is {
			value = fmt.Sprint(a.Value.GetIntValue())
		}
		all = append(all, a.Key+"="+value)
	}
	return strings.Join(all, " ")
}

// silent is a collector that takes connections, and never answers.
func silent(t *testing.T) string {
	l := listen(t)
	t.Cleanup(func() { l.Close() })
	go func() {
		var kept []net.Conn
		for {
			c, err := l.Accept()
			if err != nil {
				for _, c := range kept {
					c.Close()
				}
				return
			}
			kept = append(kept, c)
		}
	}()
	return "http://" + l.Addr().String()
}
