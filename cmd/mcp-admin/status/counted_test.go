package status

import (
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/doctor"
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
	m.AuditLost(telemetry.LostUnwritten, 3)
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	s := &Status{Pods: []Pod{{Name: "shop-0"}}}
	if err := s.AddMetrics(0, answer.Body.Bytes()); err != nil {
		t.Fatal(err)
	}
	want := Counted{
		Pods: 1, Calls: map[string]float64{"ok": 2, "not_found": 1, "unavailable": 1}, Refused: map[string]float64{"expired": 1},
		Requests: map[string]float64{"2xx": 1, "5xx": 1}, RateLimited: 1, DatabaseDown: []string{"shop-0"}, ConfigRefused: []string{"shop-0"},
		AuditLost: []doctor.Lost{{Pod: "shop-0", Lines: map[string]int{telemetry.LostUnwritten: 3}}},
	}
	if lost := s.Counted.AuditLost; len(lost) == 1 {
		if lost[0].Since.IsZero() {
			t.Error("it is not known since when lines were lost")
		}
		lost[0].Since = time.Time{}
	}
	if s.Counted.Database != nil || s.Counted.Replicas != nil {
		t.Errorf("a database that was not asked, and has no replicas, is told as %+v, %+v", s.Counted.Database, s.Counted.Replicas)
	}
	if !reflect.DeepEqual(*s.Counted, want) || s.Pods[0].Revision == nil || *s.Pods[0].Revision != 7 {
		t.Errorf("got  %+v\nwant %+v", *s.Counted, want)
	}
}

// What two pods tell of their database is put together: the mean, the bound that holds for most, and the largest lag.
func TestTheTimesOfTheDatabaseAndTheLagOfReplicas(t *testing.T) {
	m := telemetry.NewMetrics()
	for range 19 {
		m.DatabaseOperation("SELECT", "ok", 2*time.Millisecond)
	}
	m.DatabaseOperation("COMMIT", "ok", 62*time.Millisecond)
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	s := &Status{Pods: []Pod{{Name: "shop-0"}, {Name: "shop-1"}}}
	gauges := func(lag string) []byte {
		return append(slices.Clone(answer.Body.Bytes()), []byte("# TYPE mcp_admin_replicas_up gauge\nmcp_admin_replicas_up 1\n# TYPE mcp_admin_replica_lag_seconds gauge\nmcp_admin_replica_lag_seconds "+lag+"\n")...)
	}
	for pod, lag := range []string{"0.25", "1.5"} {
		if err := s.AddMetrics(pod, gauges(lag)); err != nil {
			t.Fatal(err)
		}
	}
	d, r := s.Counted.Database, s.Counted.Replicas
	if d.Operations != 40 || d.Mean < 0.0049 || d.Mean > 0.0051 || d.MostWithin != 0.005 || r.Reading != 2 || *r.Lag != 1.5 {
		t.Errorf("%+v %+v, lag %v", d, r, *r.Lag)
	}
	if told := slices.Concat(d.Told(), r.Told()); !slices.Equal(told, []string{"mean 5 ms", "95% within 5 ms", "replica lag 1.5 s"}) {
		t.Error(told)
	}
}
