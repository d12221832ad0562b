package monitoring

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// span is a span as the Collector has it, with its attributes as text.
type span struct {
	trace, id, parent, name, service, instance string
	attributes                                 map[string]string
}

// record is a log record as the Collector has it, with its attributes as text.
type record struct {
	trace, span, body, service string
	attributes                 map[string]string
}

// collector is the receiver of the OpenTelemetry Collector for OTLP, in a process of its own.
type collector struct {
	t          *testing.T
	grpc, http string

	mu      sync.Mutex
	spans   []span
	records []record
	more    chan struct{}
}

// startCollector builds and starts the receiver.
func startCollector(t *testing.T) *collector {
	t.Helper()
	if os.Getenv("MCP_TEST_MONITORING") == "" {
		t.Skip("MCP_TEST_MONITORING is not set: make test-monitoring sets it, and builds the Collector's receiver")
	}
	program := filepath.Join(t.TempDir(), "collector")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".")
	build.Dir = "collector"
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	c := &collector{t: t, grpc: harness.FreeAddress(t), http: harness.FreeAddress(t), more: make(chan struct{})}
	process := exec.Command(program, c.grpc, c.http)
	process.Stderr = os.Stderr
	out, err := process.StdoutPipe()
	if err == nil {
		err = process.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 64<<20)
	if !lines.Scan() {
		t.Fatal("the receiver does not start")
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for lines.Scan() {
			c.take(lines.Bytes())
		}
	}()
	t.Cleanup(func() {
		_ = process.Process.Kill()
		<-ended
		_ = process.Wait()
	})
	return c
}

// attributes are attributes in OTLP's JSON.
type attributes []struct {
	Key   string
	Value map[string]any
}

func (all attributes) byKey() map[string]string {
	found := map[string]string{}
	for _, a := range all {
		for _, value := range a.Value {
			found[a.Key] = fmt.Sprint(value)
		}
	}
	return found
}

// take takes a request of OTLP in JSON.
func (c *collector) take(line []byte) {
	var request struct {
		ResourceSpans []struct {
			Resource   struct{ Attributes attributes }
			ScopeSpans []struct {
				Spans []struct {
					TraceID, SpanID, ParentSpanID, Name string
					Attributes                          attributes
				}
			}
		}
		ResourceLogs []struct {
			Resource  struct{ Attributes attributes }
			ScopeLogs []struct {
				LogRecords []struct {
					TraceID, SpanID string
					Body            struct{ StringValue string }
					Attributes      attributes
				}
			}
		}
	}
	if err := json.Unmarshal(line, &request); err != nil {
		c.t.Errorf("%v in %s", err, line)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, of := range request.ResourceSpans {
		resource := of.Resource.Attributes.byKey()
		for _, scope := range of.ScopeSpans {
			for _, s := range scope.Spans {
				c.spans = append(c.spans, span{
					s.TraceID, s.SpanID, s.ParentSpanID, s.Name, resource["service.name"], resource["service.instance.id"], s.Attributes.byKey(),
				})
				tally.spans.Add(1)
			}
		}
	}
	for _, of := range request.ResourceLogs {
		resource := of.Resource.Attributes.byKey()
		for _, scope := range of.ScopeLogs {
			for _, r := range scope.LogRecords {
				c.records = append(c.records, record{r.TraceID, r.SpanID, r.Body.StringValue, resource["service.name"], r.Attributes.byKey()})
			}
		}
	}
	close(c.more)
	c.more = make(chan struct{})
}

// until waits for a span, and returns all spans of its trace.
func (c *collector) until(what string, is func(span) bool) []span {
	c.t.Helper()
	for end := time.After(patience); ; {
		c.mu.Lock()
		more, trace, found := c.more, "", []span(nil)
		for _, s := range c.spans {
			if is(s) {
				trace = s.trace
			}
		}
		for _, s := range c.spans {
			if s.trace == trace {
				found = append(found, s)
			}
		}
		c.mu.Unlock()
		if trace != "" {
			return found
		}
		select {
		case <-more:
		case <-end:
			c.t.Fatalf("the Collector gets no span of %s", what)
		}
	}
}

// tree are the names of spans, each below its parent, in the order in which they ended.
func tree(spans []span, parent string) string {
	var text strings.Builder
	for _, s := range spans {
		if s.parent == parent {
			text.WriteString(s.name + "\n")
			for line := range strings.Lines(tree(spans, s.id)) {
				text.WriteString("  " + line)
			}
		}
	}
	return text.String()
}

const agentsSpan = "00f067aa0ba902b7"

// The Collector's receiver takes an agent's trace through the server, the database and a webhook, from each engine and by both protocols.
func TestTheCollectorGetsTheAgentsTrace(t *testing.T) {
	c := startCollector(t)
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "20") // milliseconds until spans are sent
	protocols := map[string]string{contract.TracingGRPC: c.grpc, contract.TracingHTTP: c.http}
	traces := 0
	for _, engine := range harness.Engines {
		for protocol, address := range protocols {
			t.Run(engine.Title+"/"+protocol, func(t *testing.T) {
				hooked := make(chan string, 1)
				hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { hooked <- r.Header.Get("Traceparent") }))
				defer hook.Close()
				database, _ := engine.Open(t, "CREATE TABLE book (book_id integer PRIMARY KEY, title varchar(50) NOT NULL); INSERT INTO book VALUES (1, 'Solaris')")
				agent, text := harness.Viewer()
				agent.Rules = []contract.Rule{{Models: []string{"*"}, Verbs: []string{"*"}, Actions: []string{"*"}}}
				model := contract.Model{Exposure: "book", Name: "book", Table: "book", Expose: true, Actions: []contract.Action{{
					Name: "announce", Description: "tells the press", Requires: []string{"view"},
					Webhook: &contract.Webhook{URL: hook.URL + "/path", Timeout: contract.Duration(time.Minute)},
				}}}
				e := harness.Serve(t, database, []contract.Model{model}, []contract.Token{agent}, func(c *contract.Config) {
					c.Endpoint.Tracing = &contract.Tracing{Collector: contract.Collector{URL: "http://" + address, Protocol: protocol}, RatePerMillion: 1_000_000, Arguments: true, Statements: true}
				})
				for n, call := range []struct{ tool, arguments, tree string }{
					{"get_book", `{"id":1}`, "tools/call get_book\n  SELECT book\n"},
					{"list_book", `{"filters":{"title__icontains":"Sol"}}`, "tools/call list_book\n  SELECT book\n"},
					{
						"transact", `{"steps":[{"tool":"create_book","arguments":{"data":{"book_id":7,"title":"Solaris 7"}}},{"tool":"get_book","arguments":{"id":7}}]}`,
						"tools/call transact\n  step create\n    INSERT book\n  step get\n    SELECT book\n  COMMIT\n",
					},
					{"update_book", `{"id":7,"data":{"title":"Solaris 8"}}`, "tools/call update_book\n(  (SELECT|UPDATE|BATCH) book\n)+  COMMIT\n"},
					{"action_book", `{"action":"announce","ids":[1]}`, "tools/call action_book\n  SELECT book\n  POST\n"},
				} {
					traces++ // a trace is of one call: spans of two would be one tree
					trace := fmt.Sprintf("%032x", traces)
					status, answer := e.Post(text, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{"traceparent":"00-%s-%s-01"}}}`,
						n, call.tool, call.arguments, trace, agentsSpan))
					if status != http.StatusOK || strings.Contains(answer, "isError") {
						t.Fatalf("%s: %d %s", call.tool, status, answer)
					}
					spans := c.until(call.tool, func(s span) bool { return s.trace == trace && s.name == "tools/call "+call.tool })
					if got := tree(spans, agentsSpan); !regexp.MustCompile("^" + call.tree + "$").MatchString(got) {
						t.Errorf("%s: got the tree\n%swant\n%s", call.tool, got, call.tree)
					}
					for _, s := range spans {
						if said := fmt.Sprint(s); strings.Contains(said, "Solaris") || strings.Contains(said, "/path") {
							t.Errorf("%s: a value or a secret is in %s", call.tool, said)
						}
						if s.attributes["db.operation.name"] == "SELECT" && !strings.Contains(s.attributes["db.query.text"], "book_id") {
							t.Errorf("%s: the statement's text is missing in %v", call.tool, s)
						}
					}
					if call.tool == "action_book" {
						if got := <-hooked; !strings.HasPrefix(got, "00-"+trace+"-") {
							t.Errorf("the webhook got %q, want the trace %s", got, trace)
						}
					}
				}
			})
		}
	}
}

// The Collector's receiver takes audit lines by both protocols: as text that is the line, with the trace that the agent began.
func TestTheCollectorGetsTheAuditLines(t *testing.T) {
	c := startCollector(t)
	t.Setenv("OTEL_BLRP_SCHEDULE_DELAY", "20") // milliseconds until lines are sent
	database, _ := harness.Engines[0].Open(t, "CREATE TABLE book (book_id integer PRIMARY KEY, title varchar(50) NOT NULL); INSERT INTO book VALUES (1, 'Solaris')")
	for protocol, address := range map[string]string{contract.TracingGRPC: c.grpc, contract.TracingHTTP: c.http} {
		agent, text := harness.Viewer()
		e := harness.Serve(t, database, []contract.Model{{Name: "book", Table: "book", Expose: true}}, []contract.Token{agent}, func(config *contract.Config) {
			config.Endpoint.Name = "books-" + strings.ToLower(protocol)
			config.Endpoint.AuditLines = contract.AuditLines{Reads: contract.AuditRows, OTLP: &contract.Collector{URL: "http://" + address, Protocol: protocol}}
		})
		trace := fmt.Sprintf("%032x", protocol)[:32]
		e.Post(text, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_book","arguments":{"id":1},"_meta":{"traceparent":"00-%s-%s-01"}}}`, trace, agentsSpan))
		var found record
		for end := time.After(patience); found.body == ""; {
			c.mu.Lock()
			more := c.more
			for _, r := range c.records {
				if r.service == e.Config().Endpoint.Name && strings.Contains(r.body, "get_book") {
					found = r
				}
			}
			c.mu.Unlock()
			if found.body != "" {
				break
			}
			select {
			case <-more:
			case <-end:
				t.Fatalf("%s: the Collector gets no line", protocol)
			}
		}
		if found.trace != trace || found.span != agentsSpan || found.attributes["mcp_admin.token"] != "test/viewer" || found.attributes["gen_ai.tool.name"] != "get_book" {
			t.Errorf("%s: got %+v", protocol, found)
		}
		if lines := e.Log.Lines(`"tool":"get_book"`); len(lines) != 1 || lines[0] != found.body {
			t.Errorf("%s: the Collector has %s, standard output %v", protocol, found.body, lines)
		}
	}
}
