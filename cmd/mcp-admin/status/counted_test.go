package status

import (
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/telemetry"
)

// The names are those of a server's own metrics: none of them may be renamed without this.
func TestWhatAServerCountedIsRead(t *testing.T) {
	m := telemetry.NewMetrics()
	for _, code := range []string{"", "", "not_found", "unavailable"} {
		m.Operation(&telemetry.Operation{Method: "tools/call", Tool: "list", Error: code, Took: time.Millisecond})
	}
	m.Operation(&telemetry.Operation{Method: "tools/list", Took: time.Millisecond})
	m.Request(telemetry.FormJSONRPC, "tools/call", http.StatusOK, time.Millisecond)
	m.Request(telemetry.FormJSONRPC, "tools/call", http.StatusServiceUnavailable, time.Millisecond)
	m.CallerRefused("expired")
	m.RateLimited()
	m.Config(7, true)
	m.Database(false)
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	s := &Status{Pods: []Pod{{Name: "shop-0"}}}
	if err := s.AddMetrics(0, answer.Body.Bytes()); err != nil {
		t.Fatal(err)
	}
	want := Counted{
		Pods: 1, Calls: map[string]float64{"ok": 2, "not_found": 1, "unavailable": 1}, Refused: map[string]float64{"expired": 1},
		Requests: map[string]float64{"2xx": 1, "5xx": 1}, RateLimited: 1, DatabaseDown: []string{"shop-0"}, ConfigRefused: []string{"shop-0"},
	}
	if !reflect.DeepEqual(*s.Counted, want) || s.Pods[0].Revision == nil || *s.Pods[0].Revision != 7 {
		t.Errorf("got  %+v\nwant %+v", *s.Counted, want)
	}
}
