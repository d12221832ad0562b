package server_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	logs "go.opentelemetry.io/proto/otlp/logs/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server"
	"github.com/mcp-admin/mcp-admin-operator/server/audit"
	"github.com/mcp-admin/mcp-admin-operator/server/source"
)

// A logsSink receives log records as a collector does, over gRPC and over HTTP.
type logsSink struct {
	collector.UnimplementedLogsServiceServer
	t *testing.T

	mu       sync.Mutex
	records  []*logs.LogRecord
	resource string
	headers  string
	// more is closed, and made anew, when records came.
	more chan struct{}
}

func newLogsSink(t *testing.T) *logsSink { return &logsSink{t: t, more: make(chan struct{})} }

// Export implements the gRPC service.
func (s *logsSink) Export(ctx context.Context, request *collector.ExportLogsServiceRequest) (*collector.ExportLogsServiceResponse, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	s.take(request, fmt.Sprint(md))
	return &collector.ExportLogsServiceResponse{}, nil
}

func (s *logsSink) take(request *collector.ExportLogsServiceRequest, headers string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.headers = headers
	for _, of := range request.ResourceLogs {
		s.resource = attributesOf(of.Resource.Attributes)
		for _, scope := range of.ScopeLogs {
			s.records = append(s.records, scope.LogRecords...)
		}
	}
	close(s.more)
	s.more = make(chan struct{})
}

// start starts the receiver for a protocol and returns its address.
func (s *logsSink) start(protocol string) string {
	if protocol == contract.TracingGRPC {
		l := listen(s.t)
		g := grpc.NewServer()
		collector.RegisterLogsServiceServer(g, s)
		go func() { _ = g.Serve(l) }()
		s.t.Cleanup(g.Stop)
		return "http://" + l.Addr().String()
	}
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body io.Reader = r.Body
		if r.Header.Get("Content-Encoding") == "gzip" {
			body, _ = gzip.NewReader(r.Body)
		}
		content, err := io.ReadAll(body)
		request := &collector.ExportLogsServiceRequest{}
		if err != nil || r.URL.Path != "/otlp/v1/logs" || proto.Unmarshal(content, request) != nil {
			s.t.Errorf("%s %s cannot be read: %v", r.Method, r.URL, err)
		}
		s.take(request, fmt.Sprint(r.Header))
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	s.t.Cleanup(h.Close)
	return h.URL + "/otlp"
}

// until waits for a record whose line contains a text, and returns it.
func (s *logsSink) until(text string) *logs.LogRecord {
	s.t.Helper()
	deadline := time.After(10 * time.Minute)
	for {
		s.mu.Lock()
		records, more := slices.Clone(s.records), s.more
		s.mu.Unlock()
		for _, r := range records {
			if strings.Contains(r.Body.GetStringValue(), text) {
				return r
			}
		}
		select {
		case <-more:
		case <-deadline:
			s.t.Fatalf("there is no record with %s among %v", text, records)
		}
	}
}

// first is the line of the first record; "" if none came.
func (s *logsSink) first() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.records) == 0 {
		return ""
	}
	return s.records[0].Body.GetStringValue()
}

// Lines are records, with who, what, and the trace of the agent: the server's span if calls are traced.
func TestAuditLinesGoToACollector(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{contract.TracingGRPC, contract.TracingHTTP} {
		for _, spans := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, traces %t", protocol, spans), func(t *testing.T) {
				t.Parallel()
				sink, traces, out, log := newLogsSink(t), newTracesSink(t), &lines{}, &lines{}
				r := start(t, func(s *server.Server, _ *running) {
					s.Audit, s.Log = audit.NewLog(out), slog.New(slog.NewTextHandler(log, nil))
					s.Environment = podOf("books-mcp-7d9f-x2x4z")
				})
				c := traced(traces.grpc(), contract.TracingGRPC, nil)
				if !spans {
					c.Endpoint.Tracing = nil
				}
				c.Endpoint.AuditLines = contract.AuditLines{Reads: contract.AuditSummary, OTLP: &contract.Collector{URL: sink.start(protocol), Protocol: protocol, Headers: true}}
				r.apply(source.Update{Config: c, AuditHeaders: source.Secret{"X-Key": []byte("the-collectors-key\n")}})
				r.untilReady()
				if status, _ := r.do(http.MethodPost, r.endpoint+"/mcp/", "guess", "{}"); status != http.StatusUnauthorized {
					t.Fatal(status)
				}
				refused := sink.until(`"cause":"unknown"`)
				if status, answer := r.post(calling("get_book", `{"id":1}`)); status != http.StatusOK || strings.Contains(answer, "isError") {
					t.Fatalf("%d %s", status, answer)
				}
				if status, answer := r.post(calling("get_made_up", `{"id":1}`)); status != http.StatusOK || !strings.Contains(answer, "isError") {
					t.Fatalf("%d %s", status, answer)
				}
				r.stop() // a line waits once its call is answered, and what waits is sent before the end
				read := sink.until(`"tool":"get_book"`)
				for _, line := range []*logs.LogRecord{read, refused} {
					if text := line.Body.GetStringValue(); !json.Valid([]byte(text)) || out.count(text+"\n") != 1 {
						t.Errorf("the record %s is no line of the output", text)
					}
					if line.EventName != "mcp_admin.audit" || time.Since(time.Unix(0, int64(line.TimeUnixNano))).Abs() > time.Hour {
						t.Errorf("got %v", line)
					}
				}
				want := "mcp_admin.token=shop/agent mcp_admin.model=book gen_ai.tool.name=get_book mcp_admin.operation=get mcp_admin.outcome=ok client.address=127.0.0.1 jsonrpc.request.id=call-7"
				if got := attributesOf(read.Attributes); got != want || read.SeverityText != "INFO" || fmt.Sprintf("%x", read.TraceId) != agentsTrace {
					t.Errorf("got  %s %s of %x\nwant %s", read.SeverityText, got, read.TraceId, want)
				}
				madeUp := sink.until(`"tool":"get_made_up"`)
				if got := attributesOf(madeUp.Attributes); !strings.HasPrefix(got, "mcp_admin.token=shop/agent gen_ai.tool.name=get mcp_admin.operation=get ") || strings.Contains(got, "made_up") {
					t.Errorf("the attributes have a name that the caller made up: %s", got)
				}
				span := agentsSpan
				if spans {
					for _, s := range traces.until("tools/call get_book") {
						if s.Name == "tools/call get_book" {
							span = fmt.Sprintf("%x", s.SpanId)
						}
					}
				}
				if got := fmt.Sprintf("%x", read.SpanId); got != span {
					t.Errorf("the line is of the span %s, want %s", got, span)
				}
				if got := attributesOf(refused.Attributes); got != "mcp_admin.operation=authenticate mcp_admin.outcome=refused client.address=127.0.0.1" || refused.SeverityText != "WARN" || len(refused.TraceId) > 0 {
					t.Errorf("got %s %s of %x", refused.SeverityText, got, refused.TraceId)
				}
				if !strings.Contains(sink.resource, "service.name=books") || !strings.Contains(sink.resource, "service.instance.id=books-mcp-7d9f-x2x4z") || !strings.Contains(sink.headers, "the-collectors-key") {
					t.Errorf("the resource is %s, the headers are %s", sink.resource, sink.headers)
				}
				if log.count("the-collectors-key") != 0 {
					t.Error("the log has the key")
				}
			})
		}
	}
}

// The environment alone, which may be meant for traces, sends no audit anywhere; nor does a field whose Secret is missing.
func TestAuditLinesGoToNoCollectorThatNobodyAskedFor(t *testing.T) {
	t.Parallel()
	unwanted, wanted, log := newLogsSink(t), newLogsSink(t), &lines{}
	url := unwanted.start(contract.TracingHTTP)
	r := start(t, func(s *server.Server, _ *running) {
		s.Audit, s.Log = audit.NewLog(io.Discard), slog.New(slog.NewTextHandler(log, nil))
		s.Environment = func(name string) string {
			return map[string]string{"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": url + "/v1/logs", "OTEL_LOGS_EXPORTER": "otlp"}[name]
		}
	})
	audited := func(to *contract.Collector) *contract.Config {
		c := traced("", "", nil)
		c.Endpoint.Tracing, c.Endpoint.AuditLines = nil, contract.AuditLines{Reads: contract.AuditSummary, OTLP: to}
		return c
	}
	r.apply(source.Update{Config: audited(nil)})
	r.untilReady()
	r.post(calling("get_book", `{"id":1}`))
	c := audited(&contract.Collector{URL: wanted.start(contract.TracingGRPC), Protocol: contract.TracingGRPC, Headers: true})
	untilItWorks := func(update source.Update, works func() bool) {
		t.Helper()
		r.apply(update)
		for deadline := time.Now().Add(time.Minute); !works(); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("the update is not applied; the log has\n%s", log)
			}
		}
	}
	untilItWorks(source.Update{Config: c}, func() bool { return log.count("No audit lines are sent to the collector") == 1 })
	r.post(calling("list_book", `{}`))
	untilItWorks(source.Update{Config: c, AuditHeaders: source.Secret{"X-Key": []byte("k")}}, func() bool {
		r.post(calling("get_book", `{"id":2}`))
		return wanted.first() != ""
	})
	r.stop()
	r.done <- <-r.done
	if first := wanted.first(); !strings.Contains(first, `"tool":"get_book"`) || unwanted.first() != "" {
		t.Errorf("got %q first, and %q elsewhere", first, unwanted.first())
	}
}

// A collector that is silent or refuses costs no call, not even with Required; what it does not get is counted.
func TestNoCallWaitsForTheCollectorOfAuditLines(t *testing.T) {
	t.Parallel()
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "no such key: "+r.Header.Get("X-Key"), http.StatusForbidden)
	}))
	t.Cleanup(refusing.Close)
	for reason, url := range map[string]string{"queue_full": silent(t), "export_failed": refusing.URL} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			out, log := &lines{}, &lines{}
			r := start(t, func(s *server.Server, _ *running) {
				s.Audit, s.Log = audit.NewLog(out), slog.New(slog.NewTextHandler(log, nil))
			})
			c := traced("", "", nil)
			c.Endpoint.Tracing = nil
			c.Endpoint.AuditLines = contract.AuditLines{Reads: contract.AuditSummary, Required: true, OTLP: &contract.Collector{URL: url, Protocol: contract.TracingHTTP, Headers: true}}
			r.apply(source.Update{Config: c, AuditHeaders: source.Secret{"X-Key": []byte("the-collectors-key")}})
			r.untilReady()
			batch := "[" + strings.Repeat(calling("get_book", `{"id":1}`)+",", 49) + calling("get_book", `{"id":1}`) + "]"
			for range 60 { // 3000 lines: more than may wait, with those that are being sent
				if status, answer := r.post(batch); status != 200 || strings.Count(answer, "The Dispossessed") != 50 {
					t.Fatalf("%d %s", status, answer)
				}
			}
			if n := out.count(`"tool":"get_book"`); n != 3000 {
				t.Errorf("the output has %d lines, want 3000", n)
			}
			lost := regexp.MustCompile(`mcp_admin_audit_lines_lost_total\{reason="` + reason + `"\} [1-9]`)
			for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
				_, metrics := r.get("/metrics")
				if lost.MatchString(metrics) && strings.Contains(metrics, `mcp_admin_audit_lines_lost_total{reason="write_failed"} 0`) {
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("nothing is counted in\n%s", metrics)
				}
			}
			if n := log.count("Audit lines could not be sent"); reason == "export_failed" && n != 1 {
				t.Errorf("the log has %d lines about it", n)
			}
			if log.count("the-collectors-key") != 0 {
				t.Error("the log has the headers")
			}
		})
	}
}
