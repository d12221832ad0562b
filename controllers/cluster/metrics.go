package cluster

import (
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus/promauto"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/mcp-admin/mcp-admin-operator/contract/metric"
	"github.com/mcp-admin/mcp-admin-operator/contract/version"
)

// The manager's own metrics, besides controller-runtime's. Package metric says what each means.
var (
	ConfigWrites  = promauto.With(metrics.Registry).NewCounterVec(metric.CounterOpts("mcp_admin_manager_config_writes_total"), []string{"result"})
	TokensIssued  = promauto.With(metrics.Registry).NewCounterVec(metric.CounterOpts("mcp_admin_manager_tokens_issued_total"), []string{"cause"})
	tokensRevoked = promauto.With(metrics.Registry).NewCounterVec(metric.CounterOpts("mcp_admin_manager_tokens_revoked_total"), []string{"cause"})
	stepSeconds   = promauto.With(metrics.Registry).NewHistogramVec(metric.HistogramOpts("mcp_admin_manager_step_duration_seconds",
		.0005, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10), []string{"kind", "step"})
	objectCount       = promauto.With(metrics.Registry).NewGaugeVec(metric.GaugeOpts("mcp_admin_manager_objects"), []string{"kind", "ready", "reason"})
	yieldedNamespaces = promauto.With(metrics.Registry).NewGaugeVec(metric.GaugeOpts("mcp_admin_manager_yielded_namespaces"), []string{"namespace", "installation"})
	ConfigsOvertaken  = promauto.With(metrics.Registry).NewCounter(metric.CounterOpts("mcp_admin_manager_configs_overtaken_total"))
	waitingApprovals  = promauto.With(metrics.Registry).NewGaugeVec(metric.GaugeOpts("mcp_admin_manager_approvals_waiting"), []string{"endpoint"})
	ApprovalOverrides = promauto.With(metrics.Registry).NewCounter(metric.CounterOpts("mcp_admin_manager_approval_overrides_total"))
	RolloutsWaiting   = promauto.With(metrics.Registry).NewGauge(metric.GaugeOpts("mcp_admin_manager_rollouts_waiting"))
	removalSeconds    = promauto.With(metrics.Registry).NewHistogram(metric.HistogramOpts("mcp_admin_manager_removal_duration_seconds",
		.01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 30, 60))
	_ = promauto.With(metrics.Registry).NewGaugeFunc(metric.GaugeOpts("mcp_admin_manager_removals_late"),
		func() float64 { return float64(PendingRemovals.late(time.Now())) })
)

func init() {
	metrics.Registry.MustRegister(metric.Build(version.String(), version.Revision(), runtime.Version()))
}

// The steps of a reconcile, as stepSeconds names them.
const (
	StepCompile       = "compile"
	StepWriteConfig   = "write_config"
	StepApplyWorkload = "apply_workload"
	StepObserve       = "observe"
	StepIssue         = "issue"
	stepWriteStatus   = "write_status"
)

// TimeStep measures a step until what it returns is called: defer TimeStep(kind, StepCompile)().
func TimeStep(kind, step string) (end func()) {
	began := time.Now()
	return func() { stepSeconds.WithLabelValues(kind, step).Observe(time.Since(began).Seconds()) }
}
