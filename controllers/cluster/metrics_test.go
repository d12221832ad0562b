package cluster

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

func TestTheMetricsAreNamedAsPrometheusAsks(t *testing.T) {
	TimeStep("MCPEndpoint", StepCompile)()
	objectCount.WithLabelValues("MCPToken", "True", "Ready").Set(1)
	waitingApprovals.WithLabelValues("shop/shop").Set(1)
	yieldedNamespaces.WithLabelValues("shop", "other").Set(1)
	ConfigWrites.WithLabelValues("written").Inc()
	TokensIssued.WithLabelValues("new").Inc()
	tokensRevoked.WithLabelValues("deleted").Inc()
	text := scraped()
	if n := strings.Count(text, "# TYPE mcp_admin_manager_"); n < 8 {
		t.Errorf("only %d metrics", n)
	}
	if problems, err := promlint.New(strings.NewReader(text)).Lint(); err != nil || len(problems) > 0 {
		t.Errorf("problems of the metrics: %v, %v", problems, err)
	}
}

// scraped are the manager's own metrics, from /metrics.
func scraped() string {
	answer := httptest.NewRecorder()
	promhttp.HandlerFor(metrics.Registry, promhttp.HandlerOpts{}).ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	var ours strings.Builder
	for line := range strings.Lines(answer.Body.String()) {
		if strings.Contains(line, "mcp_admin_manager_") {
			ours.WriteString(line)
		}
	}
	return ours.String()
}

func TestARemovalIsTimedUntilEveryPodHasIt(t *testing.T) {
	shop, crm := types.NamespacedName{Name: "shop"}, types.NamespacedName{Name: "crm"}
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	r := &removalTracker{seen: map[types.NamespacedName]map[string]time.Time{}}
	r.Saw(shop, "a", start)
	r.Saw(shop, "a", start.Add(time.Hour)) // only the first counts
	r.Saw(shop, "b", start.Add(9*time.Second))
	r.Saw(crm, "a", start)
	r.Saw(crm, "withdrawn", start)
	r.Withdraw(crm, "withdrawn")
	for after, want := range map[time.Duration]int{9 * time.Second: 0, 11 * time.Second: 2, 20 * time.Second: 3} {
		if got := r.late(start.Add(after)); got != want {
			t.Errorf("after %s %d are late, want %d", after, got, want)
		}
	}
	r.Done(shop, "a", start.Add(12*time.Second))
	if want := "mcp_admin_manager_removal_duration_seconds_sum 12\n"; !strings.Contains(scraped(), want) {
		t.Errorf("no %q in %s", want, scraped())
	}
	r.Done(shop, "unknown", start)
	r.Forget(crm)
	if got := r.late(start.Add(time.Hour)); got != 1 {
		t.Errorf("%d are left, want 1", got)
	}
}
