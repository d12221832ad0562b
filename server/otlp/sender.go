// Package otlp sends audit lines to a collector of OpenTelemetry, as log records of OTLP. A call never waits for it: what does not fit
// into its queue, or is not taken by the collector, is dropped and counted.
package otlp

import (
	"context"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploggrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp"
	"go.opentelemetry.io/otel/log"
	sdklog "go.opentelemetry.io/otel/sdk/log"

	"github.com/mcp-admin/mcp-admin-operator/contract/tracing"
)

// Why lines are dropped: too many wait for the collector, or it did not take them.
const (
	DroppedFull   = "queue_full"
	DroppedFailed = "export_failed"
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
	active  atomic.Pointer[active]

	mu       sync.Mutex
	settings *tracing.Settings
	ending   sync.WaitGroup
}

// NewSender returns a Sender that is off. dropped is told of lines that do not reach the collector: reason is DroppedFull or
// DroppedFailed.
func NewSender(log *slog.Logger, dropped func(reason string, lines int)) *Sender {
	return &Sender{log: log, dropped: dropped}
}

// active is a Sender that is on.
type active struct {
	logger   log.Logger
	provider *sdklog.LoggerProvider
	queue    *queue
}

// endPatience is how long the last lines may take on their way to the collector.
const endPatience = 5 * time.Second

// Configure changes the settings; nil turns sending off. Lines that wait are still sent to where they belong. Settings about spans
// have no effect.
func (s *Sender) Configure(settings *tracing.Settings) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if settings != nil && s.settings != nil && reflect.DeepEqual(settings, s.settings) || settings == nil && s.settings == nil {
		return
	}
	s.settings = settings
	var next *active
	if settings != nil {
		var err error
		if next, err = s.activate(settings); err != nil {
			s.log.Error("Audit lines cannot be sent to the collector", "problem", settings.Problem(err))
		}
	}
	if old := s.active.Swap(next); old != nil {
		s.ending.Go(old.end)
	}
}

// Close sends what waits, and turns sending off.
func (s *Sender) Close() {
	s.Configure(nil)
	s.ending.Wait()
}

func (a *active) end() {
	ctx, cancel := context.WithTimeout(context.Background(), endPatience)
	defer cancel()
	_ = a.provider.Shutdown(ctx) // the queue tells of what fails
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
	options := []otlploghttp.Option{otlploghttp.WithTimeout(exportTimeout), otlploghttp.WithEndpointURL(strings.TrimSuffix(s.URL, "/") + "/v1/logs")}
	if len(s.Headers) > 0 {
		options = append(options, otlploghttp.WithHeaders(s.Headers))
	}
	return otlploghttp.New(ctx, options...)
}
