package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/mcp-admin/mcp-admin-operator/contract/metric"
	"github.com/mcp-admin/mcp-admin-operator/contract/tracing"
)

// databaseLabels are the labels of times of the database.
type databaseLabels struct{ operation, outcome string }

// databaseMetrics are the metrics of what is asked of the database, and of traces.
type databaseMetrics struct {
	times   *children[databaseLabels, prometheus.Observer]
	dropped *children[string, prometheus.Counter]
}

// databaseBuckets are the boundaries of OpenTelemetry's db.client.operation.duration.
var databaseBuckets = []float64{.001, .005, .01, .05, .1, .5, 1, 5, 10}

func newDatabaseMetrics(registry prometheus.Registerer) databaseMetrics {
	times := prometheus.NewHistogramVec(metric.HistogramOpts("mcp_admin_database_operation_duration_seconds", databaseBuckets...), []string{"operation", "outcome"})
	dropped := prometheus.NewCounterVec(metric.CounterOpts("mcp_admin_trace_spans_dropped_total"), []string{"reason"})
	registry.MustRegister(times, dropped)
	for _, reason := range []string{tracing.DroppedFull, tracing.DroppedFailed} {
		dropped.WithLabelValues(reason) // a counter that begins at 0 lets increase() see its first step
	}
	return databaseMetrics{
		times:   newChildren(func(l databaseLabels) prometheus.Observer { return times.WithLabelValues(l.operation, l.outcome) }),
		dropped: newChildren(func(reason string) prometheus.Counter { return dropped.WithLabelValues(reason) }),
	}
}

// OutcomeOK is the outcome of an operation of the database that was no error.
const OutcomeOK = "ok"

// DatabaseOperation counts an operation of the database. Both labels must be of bounded sets; the outcome is OutcomeOK or
// the class of an error.
func (m *Metrics) DatabaseOperation(operation, outcome string, took time.Duration) {
	m.databases.times.of(databaseLabels{operation, outcome}).Observe(took.Seconds())
}

// SpansDropped counts spans that did not reach the collector.
func (m *Metrics) SpansDropped(reason string, spans int) {
	m.databases.dropped.of(reason).Add(float64(spans))
}
