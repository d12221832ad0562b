package otlp

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/log"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcp-admin/mcp-admin-operator/contract/tracing"
	"github.com/mcp-admin/mcp-admin-operator/server/audit"
)

// eventName is the name of the event that each record is.
const eventName = "mcp_admin.audit"

// Receive implements audit.Receiver: it queues a line.
func (s *Sender) Receive(ctx context.Context, l *audit.Line) {
	to := s.sink.Active()
	if to == nil {
		return
	}
	var r log.Record
	r.SetEventName(eventName)
	r.SetTimestamp(l.At)
	r.SetObservedTimestamp(l.At)
	r.SetSeverity(log.SeverityInfo)
	r.SetSeverityText("INFO")
	if l.Refused() {
		r.SetSeverity(log.SeverityWarn)
		r.SetSeverityText("WARN")
	}
	r.SetBody(attribute.StringValue(string(l.Text)))
	for _, a := range []struct {
		key   attribute.Key
		value string
	}{
		{tracing.Token, l.Token}, {tracing.Caller, l.Subject}, {tracing.Model, l.Model}, {tracing.ToolName, l.Tool}, {tracing.Operation, l.Operation},
		{tracing.Outcome, l.Outcome}, {tracing.Call, l.Call},
	} {
		add(&r, a.key, a.value)
	}
	if from := l.From; from != nil {
		add(&r, tracing.ClientAddress, from.Address)
		add(&r, tracing.RequestID, from.Request)
		if !trace.SpanContextFromContext(ctx).IsValid() && from.Traceparent != "" {
			ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{tracing.Traceparent: from.Traceparent})
		}
	}
	to.logger.Emit(ctx, r)
}

// add adds an attribute that has a value.
func add(r *log.Record, key attribute.Key, value string) {
	if value != "" {
		r.AddAttributes(key.String(value))
	}
}
