package cluster

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// The manager's own metrics, besides controller-runtime's. docs/operations.md says how to ask and when to be alarmed.
var (
	ConfigWrites = promauto.With(metrics.Registry).NewCounterVec(prometheus.CounterOpts{
		Name: "mcp_admin_manager_config_writes_total",
		Help: "Writes of endpoints' Configs, by result: written, refused (somebody else wrote it, or has its name), too_large, failed.",
	}, []string{"result"})
	TokensIssued = promauto.With(metrics.Registry).NewCounterVec(prometheus.CounterOpts{
		Name: "mcp_admin_manager_tokens_issued_total",
		Help: "Tokens that were issued, by cause: new, reissued (the Secret was deleted or changed), rotated.",
	}, []string{"cause"})
	tokensRevoked = promauto.With(metrics.Registry).NewCounterVec(prometheus.CounterOpts{
		Name: "mcp_admin_manager_tokens_revoked_total",
		Help: "Tokens whose access was taken away, by cause: deleted, inactive.",
	}, []string{"cause"})
	stepSeconds = promauto.With(metrics.Registry).NewHistogramVec(prometheus.HistogramOpts{
		Name:    "mcp_admin_manager_step_duration_seconds",
		Help:    "How long a step of a reconcile took, by kind and step: compile, write_config, apply_workload, observe, issue, write_status.",
		Buckets: []float64{.0005, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10},
	}, []string{"kind", "step"})
	objectCount = promauto.With(metrics.Registry).NewGaugeVec(prometheus.GaugeOpts{
		Name: "mcp_admin_manager_objects",
		Help: "Objects by kind, and by status and reason of their condition Ready; the reason is None before the first status.",
	}, []string{"kind", "ready", "reason"})
	yieldedNamespaces = promauto.With(metrics.Registry).NewGaugeVec(prometheus.GaugeOpts{
		Name: "mcp_admin_manager_yielded_namespaces",
		Help: "Namespaces that another installation looks after, so that this one leaves them alone; all is the whole cluster.",
	}, []string{"namespace", "installation"})
	ConfigsOvertaken = promauto.With(metrics.Registry).NewCounter(prometheus.CounterOpts{
		Name: "mcp_admin_manager_configs_overtaken_total",
		Help: "Endpoints' Configs that were older than what their pods have had, as after etcd was restored from a backup.",
	})
	RolloutsWaiting = promauto.With(metrics.Registry).NewGauge(prometheus.GaugeOpts{
		Name: "mcp_admin_manager_rollouts_waiting",
		Help: "Endpoints whose servers a new manager replaces when it has replaced those of others.",
	})
	removalSeconds = promauto.With(metrics.Registry).NewHistogram(prometheus.HistogramOpts{
		Name:    "mcp_admin_manager_removal_duration_seconds",
		Help:    "How long it took from when the manager saw that access is taken away until every server pod refused it.",
		Buckets: []float64{.01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 30, 60},
	})
	_ = promauto.With(metrics.Registry).NewGaugeFunc(prometheus.GaugeOpts{
		Name: "mcp_admin_manager_removals_late",
		Help: "Removals of access that not every server pod has applied after 10 seconds.",
	}, func() float64 { return float64(PendingRemovals.late(time.Now())) })
)

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
