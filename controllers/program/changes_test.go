package program

import (
	"compress/gzip"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract/tracing"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"
)

// tracedBy is a tracer, and what returns its spans: each with its parent's name and its seconds since a time. It closes the
// tracer.
func tracedBy(t *testing.T, since time.Time) (*tracing.Tracer, func() []string) {
	var mu sync.Mutex
	request := &collector.ExportTraceServiceRequest{}
	sink := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var body io.Reader = r.Body
		if r.Header.Get("Content-Encoding") == "gzip" {
			body, _ = gzip.NewReader(r.Body)
		}
		content, err := io.ReadAll(body)
		mu.Lock()
		defer mu.Unlock()
		if err == nil {
			err = proto.UnmarshalOptions{Merge: true}.Unmarshal(content, request)
		}
		if err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(sink.Close)
	tracer := tracing.New(slog.New(slog.DiscardHandler), nil)
	tracer.Configure(&tracing.Settings{URL: sink.URL, Protocol: tracing.ProtocolHTTP, RatePerMillion: 1_000_000})
	return tracer, func() (told []string) {
		tracer.Close()
		mu.Lock()
		defer mu.Unlock()
		names := map[string]string{}
		for round := range 2 {
			for _, resource := range request.ResourceSpans {
				for _, s := range resource.ScopeSpans[0].Spans {
					names[string(s.SpanId)] = s.Name
					if round == 0 {
						continue
					}
					second := func(nanos uint64) float64 { return time.Unix(0, int64(nanos)).Sub(since).Seconds() }
					told = append(told, strings.TrimSpace(fmt.Sprintf("%s/%s %.1f-%.1f", names[string(s.ParentSpanId)], s.Name, second(s.StartTimeUnixNano), second(s.EndTimeUnixNano))))
				}
			}
		}
		return told
	}
}

// A change has a trace from its event until every pod has it, and one that comes meanwhile a trace of its own.
func TestAChangeIsTracedToEveryPod(t *testing.T) {
	start := time.Now().Truncate(time.Second)
	at := func(tenths int) time.Time { return start.Add(time.Duration(tenths) * 100 * time.Millisecond) }
	tracer, spans := tracedBy(t, start)
	p, revoke := withToken(t, start)
	p.Observe(reporting(1, 1), start)
	p.changes.tracer = tracer

	p.ChangeCame(at(1))
	p.ChangeCame(at(2)) // the first counts
	revoke()
	p.CompiledIn(100*time.Millisecond, 0, at(4))
	next, ok := p.Next(nil)
	if !ok || next.Pending.Index == compile.MainPart {
		t.Fatalf("got the part %v, %v; want a token part", next.Pending, ok)
	}
	p.Wrote(next, at(5))
	p.Observe(reporting(1, next.Revision-1), at(6))
	p.ChangeCame(at(7)) // of something that asks for no other Config
	p.CompiledIn(0, 0, at(8))
	p.Observe(reporting(1, next.Revision), at(9))
	p.Observe(reporting(1, next.Revision), at(10))

	want := "change of a Config/wait 0.1-0.3, change of a Config/compile 0.3-0.4, change of a Config/write 0.4-0.5, change of a Config/pods 0.5-0.9, /change of a Config 0.1-0.9"
	if got := strings.Join(spans(), ", "); got != want {
		t.Errorf("got the spans\n%s\nwant\n%s", got, want)
	}
}
