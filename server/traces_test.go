package server_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server"
	"github.com/mcp-admin/mcp-admin-operator/server/source"
)

const (
	agentsTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	agentsSpan  = "00f067aa0ba902b7"
	agentsPart  = "00-" + agentsTrace + "-" + agentsSpan + "-01"
	proxysTrace = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
)

// traced is a Config whose spans go to a collector, of a token that may do everything; change may be nil.
func traced(url, protocol string, change func(*contract.Tracing)) *contract.Config {
	c := config(1)
	c.Endpoint.Tracing = &contract.Tracing{Collector: contract.Collector{URL: url, Protocol: protocol}, RatePerMillion: 1_000_000}
	if change != nil {
		change(c.Endpoint.Tracing)
	}
	c.Tokens[0].Rules[0] = contract.Rule{Models: []string{"*"}, Verbs: []string{"*"}, Actions: []string{"*"}}
	return c
}

// call is a tools/call as an agent sends it, as a part of its trace.
func calling(tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":"call-7","method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{"traceparent":%q,"tracestate":"agent=1"}}}`,
		tool, arguments, agentsPart)
}

// An agent's trace goes on through the server, its statements and its webhooks; the proxy's is a link.
func TestATraceFromTheAgentToTheWebhook(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{contract.TracingGRPC, contract.TracingHTTP} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			sink := newTracesSink(t)
			url := sink.http
			if protocol == contract.TracingGRPC {
				url = sink.grpc
			}
			carried := make(chan http.Header, 1)
			hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { carried <- r.Header }))
			defer hook.Close()
			c := traced(url(), protocol, func(s *contract.Tracing) { s.Headers = true })
			c.Models[0].Actions = []contract.Action{{
				Name: "announce", Description: "tells", Requires: []string{"view"},
				Webhook: &contract.Webhook{URL: hook.URL + "/a-secret-path", Timeout: contract.Duration(time.Minute)},
			}}
			r := start(t, func(s *server.Server, _ *running) {
				s.LocalWebhooks = true
				s.Environment = podOf("books-mcp-7d9f-x2x4z")
			})
			r.apply(source.Update{Config: c, TracingHeaders: source.Secret{"X-Key": []byte("the-collectors-key\n")}})
			r.untilReady()
			request, err := http.NewRequest(http.MethodPost, r.endpoint+"/mcp/", strings.NewReader(calling("action_book", `{"action":"announce","ids":[1]}`)))
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Authorization", "Bearer "+token)
			request.Header.Set("Traceparent", "00-"+proxysTrace+"-"+agentsSpan+"-01")
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			answer, _ := io.ReadAll(response.Body)
			response.Body.Close()
			if response.StatusCode != 200 || strings.Contains(string(answer), "isError") {
				t.Fatalf("%d %s", response.StatusCode, answer)
			}
			r.stop() // what waits is sent before the end
			spans := sink.until("tools/call action_book")
			t.Logf("\n%s%s", tree(spans), sink.resource)
			want := regexp.MustCompile(`(?m)^tools/call action_book \[mcp.method.name=tools/call .*jsonrpc.request.id=call-7 .*mcp_admin.endpoint=shop/books mcp_admin.token=shop/agent .*mcp_admin.model=book .*gen_ai.tool.name=action_book.*\]
  SELECT book \[db.system.name=sqlite .*db.operation.name=SELECT .*db.collection.name=book\](?: mcp_admin.connected)?
  POST \[http.request.method=POST server.address=127.0.0.1 http.response.status_code=200\]
$`)
			if got := tree(spans); !want.MatchString(got) {
				t.Errorf("the tree is\n%s", got)
			}
			for _, s := range spans {
				if fmt.Sprintf("%x", s.TraceId) != agentsTrace {
					t.Errorf("%s is of the trace %x", s.Name, s.TraceId)
				}
				if strings.HasPrefix(s.Name, "tools/call") && (fmt.Sprintf("%x", s.ParentSpanId) != agentsSpan || len(s.Links) != 1 || fmt.Sprintf("%x", s.Links[0].TraceId) != proxysTrace) {
					t.Errorf("its parent is %x, its links %v", s.ParentSpanId, s.Links)
				}
			}
			if got := <-carried; !strings.HasPrefix(got.Get("Traceparent"), "00-"+agentsTrace+"-") || got.Get("Tracestate") != "agent=1" {
				t.Errorf("the webhook got %v", got)
			}
			if !strings.Contains(sink.resource, "service.name=books") || !strings.Contains(sink.resource, "service.instance.id=books-mcp-7d9f-x2x4z") {
				t.Errorf("the resource is %s", sink.resource)
			}
			if !strings.Contains(sink.headers, "the-collectors-key") {
				t.Errorf("the headers are %s", sink.headers)
			}
			if strings.Contains(sink.text(), "a-secret-path") {
				t.Error("the webhook's path is told")
			}
		})
	}
}

// podOf is the environment of a pod.
func podOf(name string) func(string) string {
	return func(variable string) string { return map[string]string{"POD_NAME": name}[variable] }
}

// Whatever is called, no value of a row or of an argument is in what the collector gets, even if it gets all that can be asked for.
func TestNoValueIsEverInATrace(t *testing.T) {
	t.Parallel()
	sink := newTracesSink(t)
	r := start(t, nil)
	r.apply(source.Update{Config: traced(sink.grpc(), contract.TracingGRPC, func(s *contract.Tracing) { s.Arguments, s.Statements = true, true })})
	r.untilReady()
	for _, body := range []string{
		calling("list_book", `{"search":"Solaris","filters":{"title__icontains":"hunter2"}}`),
		calling("create_book", `{"data":{"title":"hunter2 creates"}}`),
		calling("update_book", `{"id":1,"data":{"title":"hunter2 updates"}}`),
		calling("bulk_book", `{"operation":"create","items":[{"title":"hunter2 one"},{"title":"hunter2 two"}]}`),
		calling("delete_book", `{"id":"hunter2"}`),
		calling("list_hunter2", `{}`),
		calling("hunter2", `{}`),
		calling("list", `{"model":"nothing","filters":{"x":"hunter2"}}`),
		calling("transact", `{"steps":[{"tool":"create_book","arguments":{"data":{"title":"hunter2 step"}}},{"tool":"get_book","arguments":{"id":1}}]}`),
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"mcp://hunter2/2","_meta":{"traceparent":"` + agentsPart + `"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"hunter2"}`,
		`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"get_book","arguments":{"id":2}}}]`,
		`{"method":"tools/call","name":"list_book","arguments":{"filters":{"title":"hunter2"}}}`,
	} {
		if status, answer := r.post(body); status >= 500 {
			t.Errorf("%s: %d %s", body, status, answer)
		}
	}
	r.post(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	r.stop()
	sink.until("tools/list")
	got := sink.text()
	t.Log("\n" + got)
	for _, value := range []string{"hunter2", "Solaris", "Dispossessed", token} {
		if strings.Contains(got, value) {
			t.Errorf("%q is in it", value)
		}
	}
	for _, want := range []string{
		"tools/call transact", "  step create [mcp_admin.step=0", "  step get [mcp_admin.step=1", "    INSERT book", "  COMMIT", "ping [", "tools/call get_book",
		`gen_ai.tool.call.arguments={"data":{"title":"?"}}`, "db.query.text=SELECT ", "error.type=tool_error", "mcp_admin.outcome=not_found",
		"other [mcp.method.name=other", "rpc.response.status_code=-32601",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %q", want)
		}
	}
}

// A caller whose own part is not traced has no spans, and neither has anybody once the settings are gone.
func TestSamplingFollowsTheParent(t *testing.T) {
	t.Parallel()
	sink := newTracesSink(t)
	r := start(t, nil)
	never := traced(sink.http(), contract.TracingHTTP, func(s *contract.Tracing) { s.RatePerMillion = 0 })
	r.apply(source.Update{Config: never})
	r.untilReady()
	r.post(listBooks)
	r.post(strings.Replace(calling("get_book", `{"id":1}`), agentsPart, agentsPart[:len(agentsPart)-1]+"0", 1))
	r.post(calling("list_book", `{}`))
	off := config(2)
	r.apply(source.Update{Config: off}) // what was recorded is sent all the same
	spans := sink.until("tools/call list_book")
	r.post(calling("get_book", `{"id":1}`))
	r.stop()
	if got := tree(spans); strings.Count(got, "mcp.method.name=") != 1 {
		t.Errorf("there are\n%s", got)
	}
}

// OpenTelemetry's own variables count where the Config says nothing.
func TestTheEnvironmentSwitchesTracesOn(t *testing.T) {
	sink := newTracesSink(t)
	url := sink.http()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url) // the SDK reads it from the process
	t.Setenv("OTEL_SERVICE_NAME", "mine")
	r := start(t, nil)
	r.apply(source.Update{Config: config(1)})
	r.untilReady()
	r.post(listBooks)
	r.stop()
	sink.until("tools/call list_book")
	if !strings.Contains(sink.resource, "service.name=mine") {
		t.Errorf("the resource is %s", sink.resource)
	}
}

// lines are what a log wrote.
type lines struct {
	mu sync.Mutex
	bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Buffer.Write(p)
}

func (l *lines) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.String(), text)
}

// A collector that is away, silent or refusing costs no call; spans that wait are bounded, what is lost is counted, and the log has a
// line, which does not have the headers.
func TestACollectorInTroubleCostsNoCall(t *testing.T) {
	t.Parallel()
	closed := listen(t)
	closed.Close()
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "no such key: "+r.Header.Get("X-Key"), http.StatusForbidden)
	}))
	t.Cleanup(refusing.Close)
	for name, row := range map[string]struct {
		url, reason string
		told        bool
	}{
		"away":     {"http://" + closed.Addr().String(), "", false},
		"silent":   {silent(t), "queue_full", false},
		"refusing": {refusing.URL, "export_failed", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := &lines{}
			r := start(t, func(s *server.Server, _ *running) { s.Log = slog.New(slog.NewTextHandler(log, nil)) })
			r.apply(source.Update{
				Config:         traced(row.url, contract.TracingHTTP, func(s *contract.Tracing) { s.Headers = true }),
				TracingHeaders: source.Secret{"X-Key": []byte("the-collectors-key")},
			})
			r.untilReady()
			batch := "[" + strings.Repeat(calling("get_book", `{"id":1}`)+",", 49) + calling("get_book", `{"id":1}`) + "]"
			for range 50 { // 2500 calls of two spans each
				if status, answer := r.post(batch); status != 200 || strings.Count(answer, "The Dispossessed") != 50 {
					t.Fatalf("%d %s", status, answer)
				}
			}
			if row.reason != "" {
				for deadline := time.Now().Add(10 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
					_, metrics := r.get("/metrics")
					if strings.Contains(metrics, `mcp_admin_trace_spans_dropped_total{reason="`+row.reason+`"}`) {
						break
					}
					if time.Now().After(deadline) {
						t.Fatalf("nothing is counted in\n%s", metrics)
					}
				}
			}
			if got := log.count("Spans could not be sent"); row.told && got != 1 {
				t.Errorf("there are %d lines about it", got)
			}
			if log.count("the-collectors-key") != 0 {
				t.Error("the log has the headers")
			}
		})
	}
}

// The time of the database is measured, whether traces are on or not.
func TestTheTimeOfTheDatabaseIsMeasured(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	c := traced("", "", nil)
	c.Endpoint.Tracing = nil
	r.apply(source.Update{Config: c})
	r.untilReady()
	r.post(calling("create_book", `{"data":{"title":"x"}}`))
	r.post(calling("get_book", `{"id":1}`))
	r.post(calling("create_book", `{"data":{"book_id":1,"title":"x"}}`))
	_, metrics := r.get("/metrics")
	for _, want := range []string{
		`mcp_admin_database_operation_duration_seconds_count{operation="SELECT",outcome="ok"}`,
		`mcp_admin_database_operation_duration_seconds_count{operation="COMMIT",outcome="ok"} 1`,
		`mcp_admin_database_operation_duration_seconds_count{operation="ROLLBACK",outcome="ok"} 1`,
		`{operation="INSERT",outcome="violated"} 1`,
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("there is no %s", want)
		}
	}
}
