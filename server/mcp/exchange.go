package mcp

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract/excerpt"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/share"
	"github.com/mcp-admin/mcp-admin-operator/server/telemetry"
	"github.com/mcp-admin/mcp-admin-operator/server/tools"
)

// An exchange is one authenticated request on its way to its answer. Exchanges and their buffers are used again, so
// nothing of one may be kept after the answer was sent.
type exchange struct {
	handler  *Handler
	ctx      context.Context
	endpoint Endpoint
	header   http.Header
	token    *access.Token
	protocol protocol
	// inBatch reports whether the message is part of a batch.
	inBatch bool

	arriving arrival
	in       []byte
	scanner  scanner
	body     body
	// out is the answer's body, which lies in buffer; nil before there is an answer.
	out    []byte
	buffer *[]byte
	// holder is the token's name in the budgets; reading, place and sending are what the request holds of them.
	holder                  string
	reading, place, sending int64
	// retryAfter is how long the token must wait if the status is 429.
	retryAfter time.Duration

	// form and method are labels for metrics and the log, of bounded sets.
	form   telemetry.Form
	method string
}

// The largest buffers that are kept for the next request. An exchange lives as long as its request, however slowly that
// comes, so what stays with it is small. The buffers of answers are taken only while there is one: they have room for the
// tools of some hundred models, which clients ask for again and again.
const (
	keptBody    = 64 << 10
	keptMembers = 2 << 10
	keptAnswer  = 1 << 20
)

var (
	exchanges = sync.Pool{New: func() any { return &exchange{} }}
	buffers   = sync.Pool{New: func() any { return new([]byte) }}
)

// takeBuffer gives the exchange room for its answer.
func (x *exchange) takeBuffer() {
	x.buffer = buffers.Get().(*[]byte)
	x.out = (*x.buffer)[:0]
}

// release gives the exchange, and all that it holds, back. What it pointed to is let go.
func (x *exchange) release() {
	x.handler.budgets.leave(x)
	if x.buffer != nil {
		if cap(x.out) <= keptAnswer {
			*x.buffer = x.out
			buffers.Put(x.buffer)
		}
		x.out, x.buffer = nil, nil
	}
	x.handler, x.ctx, x.endpoint, x.header, x.token, x.holder = nil, nil, nil, nil, nil, ""
	exchanges.Put(x)
}

// dropBody lets go of the body and of what points into it.
func (x *exchange) dropBody() {
	x.arriving, x.scanner.data = arrival{}, nil
	clear(x.body.messages)
	if cap(x.in) > keptBody {
		x.in = nil
	}
	if cap(x.scanner.members) > keptMembers {
		x.scanner.members = nil
	}
}

// callTool runs one tool, and counts and logs its outcome.
func (x *exchange) callTool(name string, arguments []byte) tools.Result {
	result := x.callWithinRate(name, arguments)
	outcome := telemetry.OutcomeOK
	if result.IsError {
		outcome = string(result.Code)
	}
	x.handler.options.Metrics.ToolCall(tools.Label(name), outcome)
	x.note("tool", name, result)
	return result
}

// callWithinRate runs one tool if the token does not call too often.
func (x *exchange) callWithinRate(name string, arguments []byte) tools.Result {
	if x.limited() {
		if wait := x.overRate(name, tools.Cost(name, arguments)); wait > 0 {
			return tools.RateLimited(wait)
		}
	}
	return x.endpoint.Call(share.WithName(x.ctx, x.holder), x.token, name, arguments)
}

// readmit looks at the token again, and at what the endpoint has become; false if the token may act no more.
func (x *exchange) readmit() bool {
	endpoint, open := x.handler.options.Endpoint()
	if !open {
		return false
	}
	x.endpoint = endpoint
	x.token = endpoint.Authenticate(authorization(x.header), x.handler.options.Now())
	return x.token != nil
}

// readFrom reads a resource, and logs its outcome.
func (x *exchange) readFrom(uri string) tools.Result {
	result := x.endpoint.ReadResource(share.WithName(x.ctx, x.holder), x.token, uri)
	x.note("resource", uri, result)
	return result
}

// note logs a call that failed in the database, unless its client went away.
func (x *exchange) note(kind, name string, result tools.Result) {
	if result.Cause == nil || x.ctx.Err() != nil {
		return
	}
	options := &x.handler.options
	level := slog.LevelWarn
	if result.Code == tools.CodeInvalidArgument {
		level = slog.LevelDebug // it is the caller's own doing, who is told
	}
	options.Log.Log(x.ctx, level, "A call failed", kind, quoted(name), "token", x.token.Name(), "code", string(result.Code), "error", result.Cause)
	if result.SchemaChanged || result.DatabaseAway {
		options.DatabaseTrouble()
	}
}

// quoted returns a name that a request sent, short enough for an error message.
func quoted(name string) string {
	return excerpt.Of(name, 100)
}
