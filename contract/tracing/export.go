package tracing

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// What bounds the memory of spans that wait, and the time that a collector has.
const (
	maxWaiting    = 2048
	maxBatch      = 512
	exportTimeout = 10 * time.Second
)

// newExporter returns what sends spans. It connects when it first sends some. What Settings leave open, the environment says.
func newExporter(s *Settings) (sdktrace.SpanExporter, error) {
	ctx := context.Background()
	if s.Protocol == ProtocolGRPC {
		options := []otlptracegrpc.Option{otlptracegrpc.WithTimeout(exportTimeout)}
		if s.URL != "" {
			options = append(options, otlptracegrpc.WithEndpointURL(s.URL))
		}
		if len(s.Headers) > 0 {
			options = append(options, otlptracegrpc.WithHeaders(s.GRPCHeaders()))
		}
		return otlptrace.New(ctx, otlptracegrpc.NewClient(options...))
	}
	options := []otlptracehttp.Option{otlptracehttp.WithTimeout(exportTimeout)}
	if s.URL != "" {
		options = append(options, otlptracehttp.WithEndpointURL(s.PathURL("/v1/traces")))
	}
	if len(s.Headers) > 0 {
		options = append(options, otlptracehttp.WithHeaders(s.Headers))
	}
	return otlptrace.New(ctx, otlptracehttp.NewClient(options...))
}

// PathURL is the collector's address with the path of a signal, such as /v1/traces, which the address may have already.
func (s *Settings) PathURL(path string) string {
	return strings.TrimSuffix(strings.TrimSuffix(s.URL, "/"), path) + path
}

// GRPCHeaders are the headers as gRPC takes them.
func (s *Settings) GRPCHeaders() map[string]string {
	lower := make(map[string]string, len(s.Headers))
	for name, value := range s.Headers {
		lower[strings.ToLower(name)] = value
	}
	return lower
}

// A queue holds the spans that wait for the collector: at most maxWaiting. It counts them itself, because the SDK's processor
// does not tell what it drops; of those that the queue lets in it drops none.
type queue struct {
	sdktrace.SpanProcessor
	waiting *atomic.Int64
	dropped func(string, int)
}

func newQueue(to sdktrace.SpanExporter, log *slog.Logger, dropped func(string, int), settings *Settings) *queue {
	if dropped == nil {
		dropped = func(string, int) {}
	}
	q := &queue{waiting: &atomic.Int64{}, dropped: dropped}
	q.SpanProcessor = sdktrace.NewBatchSpanProcessor(&exporter{
		SpanExporter: to, queue: q,
		failures: NewFailures(log, settings, dropped, "Spans could not be sent to the collector; calls are answered all the same", "spans"),
	},
		sdktrace.WithMaxQueueSize(maxWaiting), sdktrace.WithMaxExportBatchSize(maxBatch), sdktrace.WithExportTimeout(exportTimeout))
	return q
}

// OnEnd implements sdktrace.SpanProcessor.
func (q *queue) OnEnd(s sdktrace.ReadOnlySpan) {
	if !s.SpanContext().IsSampled() {
		return
	}
	if q.waiting.Add(1) > maxWaiting {
		q.waiting.Add(-1)
		q.dropped(DroppedFull, 1)
		return
	}
	q.SpanProcessor.OnEnd(s)
}

// exporter notes what it could not send.
type exporter struct {
	sdktrace.SpanExporter
	queue    *queue
	failures *Failures
}

// ExportSpans implements sdktrace.SpanExporter. Its error goes no further: it may have what the collector said.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := e.SpanExporter.ExportSpans(ctx, spans)
	e.queue.waiting.Add(-int64(len(spans)))
	if err != nil {
		e.failures.Note(len(spans), err)
	}
	return nil
}
