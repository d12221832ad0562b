package telemetry_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/mcp-admin/mcp-admin-operator/server/telemetry"
)

// scrape returns the metrics, line by line.
func scrape(t *testing.T, m *telemetry.Metrics) string {
	t.Helper()
	recorder := httptest.NewRecorder()
	m.Handler().ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	text, err := io.ReadAll(recorder.Body)
	if err != nil || recorder.Code != http.StatusOK {
		t.Fatalf("%d, %v", recorder.Code, err)
	}
	return string(text)
}

func TestStatusesOutsideOfTheClassesAddNoSeries(t *testing.T) {
	m := telemetry.NewMetrics()
	for i := range 1000 {
		m.Request(telemetry.FormSimple, "", 600+i, 0)
	}
	text := scrape(t, m)
	for _, want := range []string{
		`mcp_admin_requests_total{form="simple",method="none",status="other"} 1000`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("there is no %s", want)
		}
	}
}

func TestCallsOverTheRateAreCounted(t *testing.T) {
	m := telemetry.NewMetrics()
	m.RateLimited()
	m.RateLimited()
	if text := scrape(t, m); !strings.Contains(text, "\nmcp_admin_rate_limited_total 2\n") {
		t.Error("they are not")
	}
}

func TestOperationsAreCountedByWhatIsBounded(t *testing.T) {
	m := telemetry.NewMetrics()
	m.PerModel([]string{"book"})
	for i := range 100 {
		m.Operation(&telemetry.Operation{Method: "tools/call", Tool: "list", Model: "nobodys" + strconv.Itoa(i), Error: "not_found", Took: time.Second})
	}
	m.Operation(&telemetry.Operation{Method: "tools/call", Tool: "list", Model: "book", Rows: 3, Bytes: 70, Took: 15 * time.Millisecond})
	m.Operation(&telemetry.Operation{Method: "ping", Took: time.Millisecond})
	text := scrape(t, m)
	for _, want := range []string{
		`mcp_server_operation_duration_seconds_count{error_type="not_found",mcp_method_name="tools/call",model="",operation="list"} 100`,
		`mcp_server_operation_duration_seconds_bucket{error_type="",mcp_method_name="tools/call",model="book",operation="list",le="0.01"} 0`,
		`mcp_server_operation_duration_seconds_bucket{error_type="",mcp_method_name="tools/call",model="book",operation="list",le="0.02"} 1`,
		`mcp_server_operation_duration_seconds_bucket{error_type="",mcp_method_name="tools/call",model="book",operation="list",le="300"} 1`,
		`mcp_server_operation_duration_seconds_count{error_type="",mcp_method_name="ping",model="",operation=""} 1`,
		`mcp_admin_rows_answered_total{mcp_method_name="tools/call",operation="list"} 3`,
		`mcp_admin_answer_bytes_total{mcp_method_name="tools/call",operation="list"} 70`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("there is no %s", want)
		}
	}
	if strings.Contains(text, "nobodys") {
		t.Error("what a caller sent is a label")
	}
}

func TestACountedCallCostsNoMemory(t *testing.T) {
	m, op := telemetry.NewMetrics(), operation()
	callOnce(m, op)
	if n := testing.AllocsPerRun(1000, func() { callOnce(m, op) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestHistogramsAreNativeWithFewBuckets(t *testing.T) {
	m, op := telemetry.NewMetrics(), operation()
	for i := range 10_000 {
		op.Took = time.Duration(1<<(i%40)) * time.Duration(i+1)
		callOnce(m, op)
	}
	families, err := prometheus.Gatherers{gather{m}}.Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, family := range families {
		for _, one := range family.GetMetric() {
			h := one.GetHistogram()
			if h == nil || !strings.HasPrefix(family.GetName(), "mcp_") {
				continue
			}
			found++
			if n := len(h.GetPositiveDelta()); n == 0 || n > 110 || len(h.GetBucket()) == 0 {
				t.Errorf("%s has %d native buckets, and %d classic ones", family.GetName(), n, len(h.GetBucket()))
			}
		}
	}
	if found != 2 {
		t.Errorf("%d histograms were found, want 2", found)
	}
}

// gather gathers a collector.
type gather struct{ prometheus.Collector }

func (g gather) Gather() ([]*dto.MetricFamily, error) {
	r := prometheus.NewRegistry()
	if err := r.Register(g.Collector); err != nil {
		return nil, err
	}
	return r.Gather()
}

func TestAuditLinesThatAreLostAndBusyRequestsAreCounted(t *testing.T) {
	m := telemetry.NewMetrics()
	m.AuditLost(telemetry.LostUnwritten, 1)
	m.Busy(telemetry.ShortOfAnswers)
	text := scrape(t, m)
	for _, want := range []string{
		`mcp_admin_audit_lines_lost_total{reason="write_failed"} 1`, `mcp_admin_audit_lines_lost_total{reason="queue_full"} 0`, `mcp_admin_requests_busy_total{cause="answers"} 1`, `mcp_admin_requests_busy_total{cause="exports"} 0`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("there is no %s", want)
		}
	}
	if !strings.Contains(text, `mcp_admin_build_info{goversion="go`) {
		t.Error("the build is not told")
	}
}
