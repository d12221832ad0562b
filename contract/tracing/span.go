package tracing

import (
	"context"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Span is one span. The zero Span records nothing.
type Span struct {
	span trace.Span
	// active is nil for a Span that Of returned.
	active *Active
}

// Recording reports whether the span records anything. What is made only for a span should be made only then.
func (s Span) Recording() bool { return s.span != nil && s.span.IsRecording() }

// WantsArguments reports whether the span is to show the names in a call's arguments.
func (s Span) WantsArguments() bool { return s.active != nil && s.active.arguments && s.Recording() }

// Set adds attributes.
func (s Span) Set(attributes ...attribute.KeyValue) {
	if s.span != nil {
		s.span.SetAttributes(attributes...)
	}
}

// Rename changes the span's name.
func (s Span) Rename(name string) {
	if s.span != nil {
		s.span.SetName(name)
	}
}

// Fail marks the span as failed. kind must be one of a bounded set.
func (s Span) Fail(kind string) {
	if s.span != nil {
		s.span.SetAttributes(ErrorType.String(kind))
		s.span.SetStatus(codes.Error, "")
	}
}

// End ends the span.
func (s Span) End() {
	if s.span != nil {
		s.span.End()
	}
}

// Parent is what a request says of the trace that it is a part of: in its params._meta, and in its HTTP headers.
type Parent struct {
	Traceparent, Tracestate string
	Header                  http.Header
}

// Serve begins the span of a request. Its parent is the one in the metadata, and then the one of the headers is a link; else it
// is the one of the headers.
func (a *Active) Serve(ctx context.Context, name string, from Parent) (context.Context, Span) {
	meta, header := contextOf(from.Traceparent, from.Tracestate), headerContext(from.Header)
	options := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindServer)}
	switch {
	case meta.IsValid():
		ctx = trace.ContextWithRemoteSpanContext(ctx, meta)
		if header.IsValid() {
			options = append(options, trace.WithLinks(trace.Link{SpanContext: header}))
		}
	case header.IsValid():
		ctx = trace.ContextWithRemoteSpanContext(ctx, header)
	}
	ctx, span := a.tracer.Start(ctx, name, options...)
	if !span.IsRecording() {
		return ctx, Span{span: span}
	}
	return context.WithValue(ctx, activeKey{}, a), Span{span, a}
}

// activeKey is the key of the Active in the context of what it records.
type activeKey struct{}

// Child begins a span of a part of what the context is about. It is the zero Span, and the context is the same, if that is not
// recorded.
func Child(ctx context.Context, name string) (context.Context, Span) {
	return child(ctx, name, trace.SpanKindInternal)
}

// Ask begins a span of something that another program is asked, as Child does.
func Ask(ctx context.Context, name string) (context.Context, Span) {
	return child(ctx, name, trace.SpanKindClient)
}

func child(ctx context.Context, name string, kind trace.SpanKind) (context.Context, Span) {
	if !Recorded(ctx) {
		return ctx, Span{}
	}
	a, _ := ctx.Value(activeKey{}).(*Active)
	if a == nil {
		return ctx, Span{}
	}
	ctx, span := a.tracer.Start(ctx, name, trace.WithSpanKind(kind))
	return ctx, Span{span, a}
}

// Recorded reports whether what the context is about is recorded.
func Recorded(ctx context.Context) bool { return trace.SpanFromContext(ctx).IsRecording() }

// Of is the span that the context is about.
func Of(ctx context.Context) Span { return Span{span: trace.SpanFromContext(ctx)} }

// ID is the id of the trace that the context is about, in hexadecimal; "" if it is of none.
func ID(ctx context.Context) string {
	if c := trace.SpanContextFromContext(ctx); c.IsValid() {
		return c.TraceID().String()
	}
	return ""
}

// Waited adds an event to the context's span: that something was waited for.
func Waited(ctx context.Context, event string, since time.Time) {
	if span := trace.SpanFromContext(ctx); span.IsRecording() {
		span.AddEvent(event, trace.WithAttributes(Seconds.Float64(time.Since(since).Seconds())))
	}
}

// Happened adds an event to the context's span.
func Happened(ctx context.Context, event string) {
	if span := trace.SpanFromContext(ctx); span.IsRecording() {
		span.AddEvent(event)
	}
}

// maxText is the most bytes of a statement's text.
const maxText = 8 << 10

// Statement adds the text of an SQL statement to the context's span, if the settings ask for it. It must hold no values.
func Statement(ctx context.Context, sql []byte) {
	if WantsStatements(ctx) {
		trace.SpanFromContext(ctx).SetAttributes(DBText.String(string(sql[:min(len(sql), maxText)])))
	}
}

// WantsStatements reports whether Statement does anything.
func WantsStatements(ctx context.Context) bool {
	if !Recorded(ctx) {
		return false
	}
	a, _ := ctx.Value(activeKey{}).(*Active)
	return a != nil && a.statements
}

// Alone returns a context whose span gets neither children nor statements: for what is told as one.
func Alone(ctx context.Context) context.Context {
	if !Recorded(ctx) {
		return ctx
	}
	return context.WithValue(ctx, activeKey{}, (*Active)(nil))
}

// Carry adds the headers that carry the context's trace on to another program; none if it is of no trace.
func Carry(ctx context.Context, header http.Header) {
	if trace.SpanContextFromContext(ctx).IsValid() {
		propagation.TraceContext{}.Inject(ctx, propagation.HeaderCarrier(header))
	}
}

// Given is the trace that a request says that it is part of: the trace's id in hexadecimal, and the traceparent; both "" if it says
// none that is valid. That of the metadata counts more than that of the headers.
func (p Parent) Given() (id, traceparent string) {
	c := contextOf(p.Traceparent, "")
	if !c.IsValid() {
		c = headerContext(p.Header)
	}
	if !c.IsValid() {
		return "", ""
	}
	header := http.Header{}
	propagation.TraceContext{}.Inject(trace.ContextWithSpanContext(context.Background(), c), propagation.HeaderCarrier(header))
	return c.TraceID().String(), header.Get(Traceparent)
}

// The headers of W3C Trace Context, and the members of params._meta.
const (
	Traceparent = "traceparent"
	Tracestate  = "tracestate"
)

func headerContext(header http.Header) trace.SpanContext {
	traceparent := header.Get(Traceparent)
	if traceparent == "" {
		return trace.SpanContext{}
	}
	return contextOf(traceparent, header.Get(Tracestate))
}

// contextOf reads a traceparent and its tracestate. A tracestate that is not valid is left out.
func contextOf(traceparent, tracestate string) trace.SpanContext {
	if traceparent == "" {
		return trace.SpanContext{}
	}
	ctx := propagation.TraceContext{}.Extract(context.Background(), pair{traceparent, tracestate})
	return trace.SpanContextFromContext(ctx)
}

// pair carries a trace in two texts.
type pair struct{ traceparent, tracestate string }

// Get implements propagation.TextMapCarrier.
func (p pair) Get(key string) string {
	switch key {
	case Traceparent:
		return p.traceparent
	case Tracestate:
		return p.tracestate
	}
	return ""
}

// Set implements propagation.TextMapCarrier; nothing is set in what was received.
func (pair) Set(string, string) {}

// Keys implements propagation.TextMapCarrier.
func (pair) Keys() []string { return []string{Traceparent, Tracestate} }

// GivenKey is the key of what knows the traceparent that came with a request.
type GivenKey struct{}

// Given knows the traceparent that came with a request.
type Given interface {
	// Traceparent is the traceparent, if it is valid; else "".
	Traceparent() string
}

// GivenParent is the traceparent that came with the request of the context, whether it is traced here or not; "" if none came.
func GivenParent(ctx context.Context) string {
	if given, ok := ctx.Value(GivenKey{}).(Given); ok {
		return given.Traceparent()
	}
	return ""
}
