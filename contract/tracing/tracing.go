// Package tracing makes OpenTelemetry's spans of what server and manager do, and sends them to a collector. Nothing is made while
// it is off: then no function of it allocates. A span never holds the value of a row or of an argument.
//
// All of server and controllers may import it; of the project it imports nothing.
package tracing

import (
	"context"
	"log/slog"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// The protocols of OTLP, as contract names them.
const (
	ProtocolGRPC = "GRPC"
	ProtocolHTTP = "HTTP"
)

// Settings say where spans go, and what they hold.
type Settings struct {
	// URL is the collector's address, http or https. With HTTP the spans go to /v1/traces below it, which it may end with.
	URL string
	// Protocol is ProtocolGRPC or ProtocolHTTP.
	Protocol string
	// RatePerMillion is how many of a million traces are recorded that begin here; what has a parent follows it.
	RatePerMillion int
	// Headers go with each request to the collector. They are secret, and in no log.
	Headers map[string]string
	// Arguments has spans show the names that a call's arguments hold, and Statements the text of SQL statements.
	Arguments, Statements bool
	// Service, Namespace, Instance and Version describe the program, Endpoint the endpoint that it serves: namespace/name, or "".
	Service, Namespace, Instance, Version, Endpoint string
}

// Tracer begins spans. Its settings may change while it is used. A nil Tracer is off.
type Tracer struct {
	log     *slog.Logger
	dropped func(reason string, spans int)
	sink    Sink[Active]
}

// New returns a Tracer that is off. dropped is told of spans that do not reach the collector: reason is DroppedFull or
// DroppedFailed.
func New(log *slog.Logger, dropped func(reason string, spans int)) *Tracer {
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(error) {})) // Failures tells of what fails
	return &Tracer{log: log, dropped: dropped}
}

// Active is a Tracer that is on.
type Active struct {
	tracer                trace.Tracer
	provider              *sdktrace.TracerProvider
	arguments, statements bool
}

// Active returns nil if the tracer is off.
func (t *Tracer) Active() *Active {
	if t == nil {
		return nil
	}
	return t.sink.Active()
}

// Configure changes the settings; nil turns tracing off. What was recorded before is still sent to where it belongs.
func (t *Tracer) Configure(s *Settings) { t.sink.Configure(s, t.open, end) }

// Close sends what was recorded, and turns tracing off.
func (t *Tracer) Close() {
	t.Configure(nil)
	t.sink.Wait()
}

// open returns what records by settings; nil if it cannot be made.
func (t *Tracer) open(s *Settings) *Active {
	a, err := t.activate(s)
	if err != nil {
		t.log.Error("Traces cannot be sent", "problem", err.Error())
		return nil
	}
	return a
}

func end(ctx context.Context, a *Active) {
	_ = a.provider.Shutdown(ctx) // Failures tells of what fails
}

// activate makes what records and sends spans.
func (t *Tracer) activate(s *Settings) (*Active, error) {
	exporter, err := newExporter(s)
	if err != nil {
		return nil, err
	}
	options := []sdktrace.TracerProviderOption{
		sdktrace.WithSpanProcessor(newQueue(exporter, t.log, t.dropped, s)),
		sdktrace.WithResource(s.Resource()),
	}
	if s.RatePerMillion >= 0 {
		options = append(options, sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(float64(s.RatePerMillion)/1e6))))
	}
	provider := sdktrace.NewTracerProvider(options...)
	return &Active{tracer: provider.Tracer(scope), provider: provider, arguments: s.Arguments, statements: s.Statements}, nil
}

// Resource describes the program; OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES count more.
func (s *Settings) Resource() *resource.Resource {
	var attributes []attribute.KeyValue
	for _, a := range []struct {
		key   attribute.Key
		value string
	}{{ServiceName, s.Service}, {ServiceSpace, s.Namespace}, {ServiceInstance, s.Instance}, {ServiceVersion, s.Version}} {
		if a.value != "" {
			attributes = append(attributes, a.key.String(a.value))
		}
	}
	if s.Endpoint != "" {
		attributes = append(attributes, Endpoint.String(s.Endpoint))
	}
	own := resource.NewSchemaless(attributes...)
	given, err := resource.New(context.Background(), resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return own
	}
	merged, err := resource.Merge(own, given)
	if err != nil {
		return own
	}
	return merged
}
