package telemetry_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/telemetry"
)

// scrape is what the metrics show, line by line.
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

func TestNamesThatCallersMakeUpAddNoSeries(t *testing.T) {
	m := telemetry.NewMetrics()
	for i := range 1000 {
		m.ToolCall(fmt.Sprintf("drop%d_book", i), "not_found")
		m.ToolCall(fmt.Sprintf("list_table%d", i), telemetry.OutcomeOK)
		m.Request(telemetry.FormSimple, "", 600+i, 0)
	}
	text := scrape(t, m)
	for _, want := range []string{
		`mcp_admin_tool_calls_total{operation="list",outcome="ok"} 1000`,
		`mcp_admin_tool_calls_total{operation="other",outcome="not_found"} 1000`,
		`mcp_admin_requests_total{form="simple",method="none",status="other"} 1000`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("there is no %s", want)
		}
	}
	if n := strings.Count(text, "\nmcp_admin_tool_calls_total{"); n != 2 {
		t.Errorf("%d series of tool calls", n)
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
