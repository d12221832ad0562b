package telemetry

import (
	"net/http"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/mcp-admin/mcp-admin-operator/contract/metric"
	"github.com/mcp-admin/mcp-admin-operator/contract/tracing"
	"github.com/mcp-admin/mcp-admin-operator/contract/version"
)

// Form is the form of a request's body (docs/design/http.md, "Forms"), as a label.
type Form string

// The forms of requests. A request that was answered before its body was understood has FormNone.
const (
	FormNone    Form = "none"
	FormSimple  Form = "simple"
	FormJSONRPC Form = "jsonrpc"
)

// Shortage is what the server, or a token's share of it, was short of when a request was refused.
type Shortage string

// The shortages. They are also the names of the places and budgets (Reading).
const (
	ShortOfRequests Shortage = "requests"
	ShortOfExports  Shortage = "exports"
	ShortOfBodies   Shortage = "bodies"
	ShortOfAnswers  Shortage = "answers"
)

var shortages = []Shortage{ShortOfRequests, ShortOfExports, ShortOfBodies, ShortOfAnswers}

// Metrics are the server's metrics in a registry of their own. Safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry
	// requests and durations are found by their labels' values.
	requests   *children[requestLabels, prometheus.Counter]
	durations  *children[string, prometheus.Observer]
	operations *operations
	limited    prometheus.Counter
	auditLost  *prometheus.CounterVec
	notified   *prometheus.CounterVec
	busy       map[Shortage]prometheus.Counter
	callers    *prometheus.CounterVec
	revision   prometheus.Gauge
	refused    prometheus.Gauge
	database   prometheus.Gauge
	databases  databaseMetrics
}

// requestLabels are the labels of requests.
type requestLabels struct{ form, method, status string }

// requestBuckets are the boundaries of the times of requests.
var requestBuckets = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}

// NewMetrics returns metrics that have counted nothing yet. Package metric says what each means.
func NewMetrics() *Metrics {
	requests := prometheus.NewCounterVec(metric.CounterOpts("mcp_admin_requests_total"), []string{"form", "method", "status"})
	durations := prometheus.NewHistogramVec(metric.HistogramOpts("mcp_admin_request_duration_seconds", requestBuckets...), []string{"method"})
	busy := prometheus.NewCounterVec(metric.CounterOpts("mcp_admin_requests_busy_total"), []string{"cause"})
	m := &Metrics{
		registry:   prometheus.NewRegistry(),
		requests:   newChildren(func(l requestLabels) prometheus.Counter { return requests.WithLabelValues(l.form, l.method, l.status) }),
		durations:  newChildren(func(method string) prometheus.Observer { return durations.WithLabelValues(method) }),
		operations: newOperations(),
		limited:    prometheus.NewCounter(metric.CounterOpts("mcp_admin_rate_limited_total")),
		auditLost:  prometheus.NewCounterVec(metric.CounterOpts("mcp_admin_audit_lines_lost_total"), []string{"reason"}),
		notified:   prometheus.NewCounterVec(metric.CounterOpts("mcp_admin_approval_events_total"), []string{"outcome"}),
		busy:       map[Shortage]prometheus.Counter{},
		callers:    prometheus.NewCounterVec(metric.CounterOpts("mcp_admin_server_callers_refused_total"), []string{"reason"}),
		revision:   prometheus.NewGauge(metric.GaugeOpts("mcp_admin_config_revision")),
		refused:    prometheus.NewGauge(metric.GaugeOpts("mcp_admin_config_refused")),
		database:   prometheus.NewGauge(metric.GaugeOpts("mcp_admin_database_up")),
	}
	for _, reason := range []string{LostUnwritten, tracing.DroppedFull, tracing.DroppedFailed} {
		m.auditLost.WithLabelValues(reason) // counted from 0, so that the first loss is an increase
	}
	for _, outcome := range []string{eventSent, eventLost} {
		m.notified.WithLabelValues(outcome)
	}
	for _, cause := range shortages {
		m.busy[cause] = busy.WithLabelValues(string(cause))
	}
	m.registry.MustRegister(requests, durations, busy, m.operations.durations, m.operations.rows, m.operations.bytes, m.limited, m.auditLost, m.notified,
		m.callers, m.revision, m.refused, m.database, metric.Build(version.String(), version.Revision(), runtime.Version()),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.databases = newDatabaseMetrics(m.registry)
	return m
}

// Describe sends what the registry has, whether it has values yet or not. It implements prometheus.Collector with Collect.
func (m *Metrics) Describe(to chan<- *prometheus.Desc) { m.registry.Describe(to) }

// Collect sends the present values.
func (m *Metrics) Collect(to chan<- prometheus.Metric) { m.registry.Collect(to) }

// Handler serves the metrics in Prometheus' formats.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// statusClasses are the values of the label status.
var statusClasses = [...]string{"other", "1xx", "2xx", "3xx", "4xx", "5xx"}

// Request counts a request that was answered. method must be one of a bounded set; "" stands for none.
func (m *Metrics) Request(form Form, method string, status int, took time.Duration) {
	class := statusClasses[0]
	if i := status / 100; i < len(statusClasses) {
		class = statusClasses[i]
	}
	if method == "" {
		method = "none"
	}
	m.requests.of(requestLabels{string(form), method, class}).Inc()
	m.durations.of(method).Observe(took.Seconds())
}

// RateLimited counts a call that was refused because its token called more often than it may.
func (m *Metrics) RateLimited() { m.limited.Inc() }

// CallerRefused counts a request whose caller was not let in. reason must be one of a bounded set.
func (m *Metrics) CallerRefused(reason string) { m.callers.WithLabelValues(reason).Inc() }

// Busy counts a request that was refused because something was short.
func (m *Metrics) Busy(short Shortage) { m.busy[short].Inc() }

// AuditLost counts lines of the audit that an output did not get, for a reason: LostUnwritten, or one of package otlp.
func (m *Metrics) AuditLost(reason string, lines int) {
	m.auditLost.WithLabelValues(reason).Add(float64(lines))
}

// LostUnwritten is why a line is lost that standard output or a file did not take.
const LostUnwritten = "write_failed"

// The outcomes of events about calls that wait.
const (
	eventSent = "sent"
	eventLost = "lost"
)

// Notified counts an event about a call that waits: whether its webhook took it in the end.
func (m *Metrics) Notified(sent bool) {
	outcome := eventLost
	if sent {
		outcome = eventSent
	}
	m.notified.WithLabelValues(outcome).Inc()
}

// Config tells which revision is answered from (0: none), and whether a newer one was refused.
func (m *Metrics) Config(revision int64, refused bool) {
	m.revision.Set(float64(revision))
	m.refused.Set(truth(refused))
}

// Database tells whether the newest attempt to reach the database succeeded.
func (m *Metrics) Database(up bool) { m.database.Set(truth(up)) }

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
