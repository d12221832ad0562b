// Package otlp sends audit lines to a collector of OpenTelemetry, as log records of OTLP. A call never waits for it: what does not fit
// into its queue, or is not taken by the collector, is dropped and counted.
package otlp

import (
	"context"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploggrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp"
	"go.opentelemetry.io/otel/log"
	sdklog "go.opentelemetry.io/otel/sdk/log"

	"github.com/mcp-admin/mcp-admin-operator/contract/tracing"
)

// What bounds the memory of lines that wait, and the time that a collector has.
const (
	maxWaiting      = 2048
	maxWaitingBytes = 4 << 20
	maxBatch        = 512
	exportTimeout   = 10 * time.Second
)

// Sender sends audit lines (audit.Receiver). Its settings may change while it is used.
type Sender struct {
	log     *slog.Logger
	dropped func(reason string, lines int)
	sink    tracing.Sink[active]
}

// NewSender returns a Sender that is off. dropped is told of lines that do not reach the collector: reason is
// tracing.DroppedFull or tracing.DroppedFailed.
func NewSender(log *slog.Logger, dropped func(reason string, lines int)) *Sender {
	return &Sender{log: log, dropped: dropped}
}

// active is a Sender that is on.
type active struct {
	logger   log.Logger
	provider *sdklog.LoggerProvider
	queue    *queue
}

// Configure changes the settings; nil turns sending off. Lines that wait are still sent to where they belong. Settings about spans
// have no effect.
func (s *Sender) Configure(settings *tracing.Settings) { s.sink.Configure(settings, s.open, end) }

// Close sends what waits, and turns sending off.
func (s *Sender) Close() {
	s.Configure(nil)
	s.sink.Wait()
}

// open returns what sends by settings; nil if it cannot be made.
func (s *Sender) open(settings *tracing.Settings) *active {
	a, err := s.activate(settings)
	if err != nil {
		s.log.Error("Audit lines cannot be sent to the collector", "problem", settings.Problem(err))
		return nil
	}
	return a
}

func end(ctx context.Context, a *active) {
	_ = a.provider.Shutdown(ctx) // tracing.Failures tells of what fails
	a.queue.dropRest()
}

// activate makes what queues and sends lines.
func (s *Sender) activate(settings *tracing.Settings) (*active, error) {
	to, err := newExporter(settings)
	if err != nil {
		return nil, err
	}
	q := newQueue(to, s.log, s.dropped, settings)
	provider := sdklog.NewLoggerProvider(sdklog.WithProcessor(q), sdklog.WithResource(settings.Resource()))
	return &active{logger: provider.Logger(scope), provider: provider, queue: q}, nil
}

// scope is the name of the instrumentation scope.
const scope = "github.com/mcp-admin/mcp-admin-operator/server/audit"

// newExporter returns what sends records. It connects when it first sends some.
func newExporter(s *tracing.Settings) (sdklog.Exporter, error) {
	ctx := context.Background()
	if s.Protocol == tracing.ProtocolGRPC {
		options := []otlploggrpc.Option{otlploggrpc.WithTimeout(exportTimeout), otlploggrpc.WithEndpointURL(s.URL)}
		if len(s.Headers) > 0 {
			options = append(options, otlploggrpc.WithHeaders(s.GRPCHeaders()))
		}
		return otlploggrpc.New(ctx, options...)
	}
	options := []otlploghttp.Option{otlploghttp.WithTimeout(exportTimeout), otlploghttp.WithEndpointURL(s.PathURL("/v1/logs"))}
	if len(s.Headers) > 0 {
		options = append(options, otlploghttp.WithHeaders(s.Headers))
	}
	return otlploghttp.New(ctx, options...)
}
