package mcp

import (
	"strconv"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract/tracing"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// waitWorthTelling is the shortest wait for a place that a span tells of.
const waitWorthTelling = time.Millisecond

// traced answers a request within a span of its own, if traces are on. name is the method that the request names.
func (x *exchange) traced(m *message, name string, answer func(x *exchange, m *message, name string) int) (status int) {
	active := x.handler.options.Tracer.Active()
	if active == nil {
		return answer(x, m, name)
	}
	method := methodOther
	if known := methods[name]; known != nil {
		method = known.label
	}
	outer := x.ctx
	x.ctx, x.span = active.Serve(outer, method, x.parent(m))
	defer func() {
		x.span.End()
		x.ctx, x.span, x.failure = outer, tracing.Span{}, 0
	}()
	if x.span.Recording() {
		x.describeRequest(m, method)
	}
	status = answer(x, m, name)
	if x.failure != 0 && x.span.Recording() {
		code := strconv.Itoa(x.failure)
		x.span.Set(tracing.RPCStatus.String(code))
		x.span.Fail(code)
	}
	return status
}

// parent is the trace that a message, or its HTTP request, says that it is part of.
func (x *exchange) parent(m *message) tracing.Parent {
	p := tracing.Parent{Header: x.header}
	if m != nil && isString(m.inside.meta.traceparent) {
		p.Traceparent = stringValue(m.inside.meta.traceparent)
		if isString(m.inside.meta.tracestate) {
			p.Tracestate = stringValue(m.inside.meta.tracestate)
		}
	}
	return p
}

// describeRequest says in the span what was asked by whom.
func (x *exchange) describeRequest(m *message, method string) {
	x.span.Set(tracing.MCPMethod.String(method), tracing.Transport.String("tcp"), tracing.NetworkProtocol.String("http"))
	if x.protocol.requested != "" {
		x.span.Set(tracing.MCPProtocol.String(quoted(x.protocol.requested)))
	}
	if m != nil && m.id != nil {
		x.span.Set(tracing.RequestID.String(quoted(m.idText())))
	}
	x.describeCaller()
	if x.waited >= waitWorthTelling {
		tracing.Waited(x.ctx, tracing.WaitedForPlace, time.Now().Add(-x.waited))
		x.waited = 0
	}
}

// describeCaller says who called.
func (x *exchange) describeCaller() {
	x.span.Set(tracing.Endpoint.String(x.endpoint.Settings().Namespace+"/"+x.endpoint.Settings().Name), tracing.Token.String(x.token.Name()))
	if x.token.Subject() != "" {
		x.span.Set(tracing.Caller.String(x.token.Caller()))
	}
	x.span.Set(tracing.ClientAddress.String(hostOf(x.address)))
}

// describeResult says what came of a call, without a value of it. What was called package tools says.
func (x *exchange) describeResult(result *call.Result) {
	x.span.Set(tracing.Bytes.Int(len(result.Text)))
	if result.IsError {
		x.span.Set(tracing.Outcome.String(string(result.Code)))
		x.span.Fail(tracing.ToolError)
		return
	}
	if result.Rows > 0 {
		x.span.Set(tracing.Rows.Int(result.Rows))
	}
}

// serveExport sends a file within a span of its own, if traces are on.
func (h *Handler) serveExport(f *exportFile, x *exchange) {
	active := h.options.Tracer.Active()
	if active == nil {
		h.sendExport(f, x)
		return
	}
	x.ctx, x.span = active.Serve(x.ctx, methodExport, x.parent(nil))
	defer func() {
		if x.span.Recording() {
			x.span.Set(tracing.HTTPStatus.Int(f.answer.status))
		}
		x.span.End()
		x.span = tracing.Span{}
	}()
	if x.span.Recording() {
		x.span.Set(tracing.HTTPMethod.String("GET"), tracing.HTTPRoute.String(exportsPath+"{link}"), tracing.Operation.String(call.Label(f.link.Operation)))
		x.describeCaller()
	}
	h.sendExport(f, x)
}
