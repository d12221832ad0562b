package mcp

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
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
	// inBatch is whether the message at hand is one of several.
	inBatch bool

	in      []byte
	scanner scanner
	body    body
	// out is the answer's body.
	out []byte
	// retryAfter is how long the token must wait where the status is 429.
	retryAfter time.Duration

	// form and method are labels for metrics and the log, of bounded sets.
	form   telemetry.Form
	method string
}

// keptBuffer is the largest buffer, in bytes, that is kept for the next request: room for the tools of some hundred
// models, which clients ask for again and again.
const keptBuffer = 1 << 20

var exchanges = sync.Pool{New: func() any { return &exchange{} }}

// release gives the exchange back. What it pointed to is let go.
func (x *exchange) release() {
	x.handler, x.ctx, x.endpoint, x.header, x.token, x.scanner.data = nil, nil, nil, nil, nil, nil
	clear(x.body.messages)
	if cap(x.in) > keptBuffer || cap(x.out) > keptBuffer || cap(x.scanner.members) > keptBuffer/32 {
		return
	}
	exchanges.Put(x)
}

// callTool runs one tool, and tells those who count and log what became of it.
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

// callWithinRate runs one tool where the token does not call too often.
func (x *exchange) callWithinRate(name string, arguments []byte) tools.Result {
	if x.limited() {
		if wait := x.overRate(name, tools.Cost(name, arguments)); wait > 0 {
			return tools.RateLimited(wait)
		}
	}
	return x.endpoint.Call(x.ctx, x.token, name, arguments)
}

// readmit looks at the token again, and at what the endpoint has become; false where the token may act no more.
func (x *exchange) readmit() bool {
	endpoint, open := x.handler.options.Endpoint()
	if !open {
		return false
	}
	x.endpoint = endpoint
	x.token = endpoint.Authenticate(authorization(x.header), x.handler.options.Now())
	return x.token != nil
}

// readFrom reads a resource, and tells those who log what became of it.
func (x *exchange) readFrom(uri string) tools.Result {
	result := x.endpoint.ReadResource(x.ctx, x.token, uri)
	x.note("resource", uri, result)
	return result
}

// note tells of a call that the database failed, unless because its client went away.
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
	const most = 100
	if len(name) <= most {
		return name
	}
	name = name[:most]
	for !utf8.ValidString(name) {
		name = name[:len(name)-1]
	}
	return strings.TrimSpace(name) + "…"
}
