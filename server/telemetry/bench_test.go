package telemetry_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/telemetry"
)

// callOnce is all that the metrics count of a call of a tool.
func callOnce(m *telemetry.Metrics, op *telemetry.Operation) {
	m.Operation(op)
	m.Request(telemetry.FormJSONRPC, "tools/call", 200, op.Took)
}

func operation() *telemetry.Operation {
	return &telemetry.Operation{Method: "tools/call", Tool: "list", Model: "book", Rows: 20, Bytes: 4000, Took: 1500 * time.Microsecond}
}

func BenchmarkOneCall(b *testing.B) {
	m, op := telemetry.NewMetrics(), operation()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		op.Took = time.Duration(1+i%100) * 100 * time.Microsecond
		callOnce(m, op)
	}
}

func BenchmarkOneCallPerModel(b *testing.B) {
	m, op := telemetry.NewMetrics(), operation()
	models := make([]string, 650)
	for i := range models {
		models[i] = "model" + strconv.Itoa(i)
	}
	m.PerModel(models)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		op.Model = models[i%len(models)]
		callOnce(m, op)
	}
}
