package mcp

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract/excerpt"
	"github.com/mcp-admin/mcp-admin-operator/contract/tracing"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/audit"
	"github.com/mcp-admin/mcp-admin-operator/server/telemetry"
	"github.com/mcp-admin/mcp-admin-operator/server/tools"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// An exchange is one authenticated request on its way to its answer. Exchanges and their buffers are used again, so
// nothing may keep a part of one after the answer was sent.
type exchange struct {
	handler  *Handler
	ctx      context.Context
	endpoint Endpoint
	header   http.Header
	// address is where the request came from: host:port.
	address string
	// asked is the message that is being answered; nil before there is one.
	asked *message
	// shown is the bearer token that the request shows, and token the MCPToken that was found for it.
	shown    access.Bearer
	token    access.Token
	protocol protocol
	// view is the view that the URL asks for in lists.
	view tools.View
	// inBatch reports whether the message is part of a batch.
	inBatch bool

	arriving arrival
	in       []byte
	scanner  scanner
	body     body
	// out is the answer's body, in the memory of buffer; nil before there is an answer.
	out    []byte
	buffer *[]byte
	// shared is a list that many answers share, and listAt where it belongs in out; empty if the answer has none.
	shared tools.List
	listAt int
	// compressed is set if out is compressed by gzip; varies if it could be, for a client that takes it.
	compressed, varies bool
	// holder names the caller in the budgets; the others are the request's shares of them.
	holder                             string
	reading, place, sending, exporting int64
	// retryAfter is how long the token must wait if the status is 429.
	retryAfter time.Duration
	// moves reports whether this pod's share of the token's rate is used up, and other pods have theirs.
	moves bool

	// span is that of the message; it records nothing if traces are off. waited is how long the request waited for a place, and
	// failure the code of the JSON-RPC error that answers the message; 0 is none. Both are kept only while traces are on.
	span    tracing.Span
	waited  time.Duration
	failure int

	// form and method are labels for metrics and the log. Each has a limited number of values.
	form   telemetry.Form
	method string
	// answered is what metrics tell of the message that is being answered.
	answered telemetry.Operation
}

// The largest buffers that are kept for the next request. An exchange lives as long as its request, even a slow one, so
// it keeps little. A buffer for an answer is taken only while there is an answer. It has room for the tools of some
// hundred models, which clients ask for again and again.
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

// giveBuffer gives back a buffer, with the memory that it has grown to.
func giveBuffer(buffer *[]byte, grown []byte) {
	if cap(grown) <= keptAnswer {
		*buffer = grown
		buffers.Put(buffer)
	}
}

// release gives back the exchange and all that it holds, and clears what it pointed to.
func (x *exchange) release() {
	x.handler.budgets.leave(x)
	if x.buffer != nil {
		giveBuffer(x.buffer, x.out)
		x.out, x.buffer = nil, nil
	}
	x.compressed, x.varies, x.shared, x.listAt = false, false, tools.List{}, 0
	x.handler, x.ctx, x.endpoint, x.header, x.address, x.asked, x.holder, x.view = nil, nil, nil, nil, "", nil, "", tools.View{}
	x.shown, x.token, x.waited, x.failure = access.Bearer{}, access.Token{}, 0, 0
	exchanges.Put(x)
}

// dropBody clears the body and everything that points into it.
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

// callTool runs one tool, and notes and logs its outcome. elicited is what the caller's person said; nil if the client cannot ask.
func (x *exchange) callTool(name string, arguments []byte, elicited *call.Elicited) call.Result {
	start := x.handler.options.Now()
	result := x.callWithinRate(name, arguments, elicited)
	x.noteCall(name, arguments, &result, start)
	return result
}

// noteCall notes and logs the outcome of one tool.
func (x *exchange) noteCall(name string, arguments []byte, result *call.Result, start time.Time) {
	x.answered.Tool = call.Label(name)
	x.noteResult(result)
	if x.span.Recording() {
		x.describeResult(result)
		if x.span.WantsArguments() {
			x.span.Set(tracing.ToolArguments.String(audit.Question(arguments)))
		}
	}
	x.note("tool", name, *result)
	x.logCall(name, result, start)
}

// callWithinRate runs one tool if the token's rate allows it.
func (x *exchange) callWithinRate(name string, arguments []byte, elicited *call.Elicited) call.Result {
	if x.limited() {
		if wait := x.overRate(name, call.Cost(name, arguments)); wait > 0 {
			return call.RateLimited(wait)
		}
	}
	if elicited != nil {
		return x.endpoint.CallElicited(x.onBehalf(), x.token, name, arguments, elicited)
	}
	return x.endpoint.Call(x.onBehalf(), x.token, name, arguments)
}

// readFrom reads a resource, and logs its outcome.
func (x *exchange) readFrom(uri string) call.Result {
	result := x.endpoint.ReadResource(x.onBehalf(), x.token, uri)
	x.noteResult(&result)
	if x.span.Recording() {
		x.span.Set(tracing.Bytes.Int(len(result.Text)))
		if result.IsError {
			x.span.Set(tracing.Outcome.String(string(result.Code)))
		}
	}
	x.note("resource", uri, result)
	return result
}

// note logs a call that failed in the database, unless its client went away.
func (x *exchange) note(kind, name string, result call.Result) {
	if result.Cause == nil || x.ctx.Err() != nil {
		return
	}
	options := &x.handler.options
	level := slog.LevelWarn
	if result.Code == call.CodeInvalidArgument {
		level = slog.LevelDebug // the caller caused it, and gets the message
	}
	options.Log.Log(x.ctx, level, "A call failed", kind, quoted(name), "token", x.token.Caller(), "code", string(result.Code), "error", result.Cause)
	if result.SchemaChanged || result.DatabaseAway {
		options.DatabaseTrouble()
	}
}

// quoted returns a name that a request sent, short enough for an error message.
func quoted(name string) string {
	return excerpt.Of(name, 100)
}
