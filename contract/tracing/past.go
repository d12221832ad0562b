package tracing

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// Past is something that is over.
type Past struct {
	Name       string
	From, To   time.Time
	Attributes []attribute.KeyValue
	// Parts are what it consisted of. Their own parts count, too.
	Parts []Past
}

// Record makes a trace of something that is over.
func (a *Active) Record(p Past) { a.record(context.Background(), p) }

func (a *Active) record(ctx context.Context, p Past) {
	ctx, span := a.tracer.Start(ctx, p.Name, trace.WithTimestamp(p.From), trace.WithAttributes(p.Attributes...))
	for _, part := range p.Parts {
		a.record(ctx, part)
	}
	span.End(trace.WithTimestamp(p.To))
}
