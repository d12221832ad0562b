package telemetry

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Form is the form of a request's body (docs/design/http.md, "Forms"), as a label.
type Form string

// The forms. FormNone is that of a request which was answered before its body was understood.
const (
	FormNone    Form = "none"
	FormSimple  Form = "simple"
	FormJSONRPC Form = "jsonrpc"
)

// OutcomeOK is the outcome of a tool call that was no error; the others are the tool errors' codes
// (docs/design/tools.md, "Error codes").
const OutcomeOK = "ok"

// Metrics are the server's metrics in a registry of their own. Safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry
	// requests, durations and calls are found by their labels' values.
	requests  *children[requestLabels, prometheus.Counter]
	durations *children[string, prometheus.Observer]
	calls     *children[callLabels, prometheus.Counter]
	limited   prometheus.Counter
	callers   *prometheus.CounterVec
	inFlight  prometheus.Gauge
	revision  prometheus.Gauge
	refused   prometheus.Gauge
	database  prometheus.Gauge
}

// The labels of what is counted.
type (
	requestLabels struct{ form, method, status string }
	callLabels    struct{ operation, outcome string }
)

// NewMetrics returns metrics that have counted nothing yet.
func NewMetrics() *Metrics {
	requests := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "mcp_admin_requests_total",
		Help: "Requests to the endpoint that were answered, by the body's form, the method it names and the class of the HTTP status.",
	}, []string{"form", "method", "status"})
	durations := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "mcp_admin_request_duration_seconds",
		Help:    "Time from a request's headers to the end of its answer, by the method it names.",
		Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
	}, []string{"method"})
	calls := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "mcp_admin_tool_calls_total",
		Help: "Tool calls, by the operation in the tool's name and the outcome: ok, or the error's code.",
	}, []string{"operation", "outcome"})
	m := &Metrics{
		registry:  prometheus.NewRegistry(),
		requests:  newChildren(func(l requestLabels) prometheus.Counter { return requests.WithLabelValues(l.form, l.method, l.status) }),
		durations: newChildren(func(method string) prometheus.Observer { return durations.WithLabelValues(method) }),
		calls:     newChildren(func(l callLabels) prometheus.Counter { return calls.WithLabelValues(l.operation, l.outcome) }),
		limited: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "mcp_admin_rate_limited_total",
			Help: "Calls that were refused because their token called more often than it may.",
		}),
		callers: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "mcp_admin_server_callers_refused_total",
			Help: "Requests whose caller was not let in, by the reason.",
		}, []string{"reason"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "mcp_admin_requests_in_flight",
			Help: "Authenticated requests that are being answered.",
		}),
		revision: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "mcp_admin_config_revision",
			Help: "Revision of the Config that is answered from; 0 where there is none.",
		}),
		refused: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "mcp_admin_config_refused",
			Help: "1 while a part of the Config is refused.",
		}),
		database: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "mcp_admin_database_up",
			Help: "1 while the newest attempt to reach the database succeeded.",
		}),
	}
	m.registry.MustRegister(requests, durations, calls, m.limited, m.callers, m.inFlight, m.revision, m.refused, m.database,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// NextExpiry shows the time at which the next token expires, as next tells it for a time; there is no sample while next
// returns the zero time. It is called once, before the metrics are served.
func (m *Metrics) NextExpiry(next func(now time.Time) time.Time) {
	m.registry.MustRegister(expiry{next})
}

// expiry is the collector of NextExpiry.
type expiry struct{ next func(time.Time) time.Time }

var expiryDesc = prometheus.NewDesc("mcp_admin_next_token_expiry_timestamp_seconds",
	"When the next of the tokens in force expires, in Unix time; absent if none does.", nil, nil)

// Describe implements prometheus.Collector.
func (expiry) Describe(to chan<- *prometheus.Desc) { to <- expiryDesc }

// Collect implements prometheus.Collector.
func (e expiry) Collect(to chan<- prometheus.Metric) {
	if at := e.next(time.Now()); !at.IsZero() {
		to <- prometheus.MustNewConstMetric(expiryDesc, prometheus.GaugeValue, float64(at.UnixMilli())/1000)
	}
}

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

// ToolCall counts a call of a tool. operation must be one of a bounded set.
func (m *Metrics) ToolCall(operation, outcome string) {
	m.calls.of(callLabels{operation, outcome}).Inc()
}

// RateLimited counts a call that was refused because its token called more often than it may.
func (m *Metrics) RateLimited() { m.limited.Inc() }

// CallerRefused counts a request whose caller was not let in. reason must be one of a bounded set.
func (m *Metrics) CallerRefused(reason string) { m.callers.WithLabelValues(reason).Inc() }

// InFlight adds to the number of requests that are being answered.
func (m *Metrics) InFlight(delta int) { m.inFlight.Add(float64(delta)) }

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
