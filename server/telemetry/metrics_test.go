package telemetry_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

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
