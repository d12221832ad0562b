package telemetry

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/mcp-admin/mcp-admin-operator/contract/metric"
)

// Operation is a message of MCP that was answered, or the file of an export.
type Operation struct {
	// Method is the message's; one of a bounded set.
	Method string
	// Tool is the operation of the tool that was called; one of a bounded set. "" if it was none.
	Tool string
	// Model is the model that the tool was called for; "" if it was for none. It may be anything that a caller sends.
	Model string
	// Error is what kind of error the answer is; one of a bounded set. "" if it is none.
	Error string
	// Rows are the rows that the answer shows, or tells to have changed, Bytes is the size of the result.
	Rows, Bytes int
	// Took is how long it took until the answer was made.
	Took time.Duration
}

// operations are the series of what was answered.
type operations struct {
	durations *prometheus.HistogramVec
	rows      *prometheus.CounterVec
	bytes     *prometheus.CounterVec
	// byModel are the series of the models that have some of their own, and of all others under "". It is never changed, but
	// replaced; changing is held meanwhile.
	byModel  atomic.Pointer[map[string]*modelSeries]
	changing sync.Mutex
}

type (
	modelSeries     = children[operationLabels, operationSeries]
	operationLabels struct{ method, tool, err string }
	operationSeries struct {
		duration    prometheus.Observer
		rows, bytes prometheus.Counter
	}
)

// operationBuckets are the boundaries that the semantic conventions give the histogram.
var operationBuckets = []float64{.01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 30, 60, 120, 300}

func newOperations() *operations {
	byTool := []string{"mcp_method_name", "operation"}
	o := &operations{
		durations: prometheus.NewHistogramVec(metric.HistogramOpts("mcp_server_operation_duration_seconds", operationBuckets...),
			[]string{"mcp_method_name", "operation", "error_type", "model"}),
		rows:  prometheus.NewCounterVec(metric.CounterOpts("mcp_admin_rows_answered_total"), byTool),
		bytes: prometheus.NewCounterVec(metric.CounterOpts("mcp_admin_answer_bytes_total"), byTool),
	}
	o.byModel.Store(&map[string]*modelSeries{"": o.of("")})
	return o
}

// of returns the series of a model, which has none yet.
func (o *operations) of(model string) *modelSeries {
	return newChildren(func(l operationLabels) operationSeries {
		return operationSeries{
			duration: o.durations.WithLabelValues(l.method, l.tool, l.err, model),
			rows:     o.rows.WithLabelValues(l.method, l.tool), bytes: o.bytes.WithLabelValues(l.method, l.tool),
		}
	})
}

// setModels gives these models series of their own, and takes them from all others.
func (o *operations) setModels(models []string) {
	o.changing.Lock()
	defer o.changing.Unlock()
	before := *o.byModel.Load()
	next := map[string]*modelSeries{"": before[""]}
	for _, model := range models {
		if next[model] = before[model]; next[model] == nil {
			next[model] = o.of(model)
		}
	}
	o.byModel.Store(&next)
	for model := range before {
		if next[model] == nil {
			o.durations.DeletePartialMatch(prometheus.Labels{"model": model})
		}
	}
}

// count counts an operation.
func (o *operations) count(op *Operation) {
	models := *o.byModel.Load()
	series := models[op.Model]
	if series == nil {
		series = models[""]
	}
	s := series.of(operationLabels{op.Method, op.Tool, op.Error})
	s.duration.Observe(op.Took.Seconds())
	if op.Rows > 0 {
		s.rows.Add(float64(op.Rows))
	}
	if op.Bytes > 0 {
		s.bytes.Add(float64(op.Bytes))
	}
}

// Operation counts what was answered.
func (m *Metrics) Operation(op *Operation) { m.operations.count(op) }

// PerModel gives each of these models series of its own; calls for any other model, or for none, have one series together. nil
// takes all away.
func (m *Metrics) PerModel(models []string) { m.operations.setModels(models) }
