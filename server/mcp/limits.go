package mcp

import (
	"net/http"
	"strconv"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/audit"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// overRate charges n calls to the caller's bucket and returns how long to wait if it is short. what is the method or
// tool that was asked for. Only the first of several refusals in a row goes to the audit: otherwise a client that calls
// too often would fill the log.
func (x *exchange) overRate(what string, n int) (wait time.Duration) {
	rate, pods := x.endpoint.TokenRate()
	if rate == 0 {
		return 0
	}
	h := x.handler
	wait, first := h.rates.Take(x.token.Caller(), rate, n, h.options.Now())
	if wait > 0 {
		h.options.Metrics.RateLimited()
		x.moves = pods > 1
	}
	if first {
		_ = h.options.Audit.Write(x.ctx, &audit.Record{Token: x.token.Name(), Subject: x.token.Subject(), Tool: what, MadeUp: true, Outcome: string(call.CodeRateLimited)})
	}
	return wait
}

// limited reports whether there is a rate at all.
func (x *exchange) limited() bool {
	rate, _ := x.endpoint.TokenRate()
	return rate > 0
}

// refuseRate appends the error of a request whose token calls too often; id is nil in the simple form.
func (x *exchange) refuseRate(id []byte, wait time.Duration) (status int) {
	x.retryAfter, x.answered.Error = wait, string(call.CodeRateLimited)
	message := call.RateLimited(wait).Message
	if id == nil {
		x.out = appendPlainError(x.out, message)
		return http.StatusTooManyRequests
	}
	data := strconv.AppendInt([]byte(`{"retry_after_ms":`), call.RetryAfterMilliseconds(wait), 10)
	x.appendError(id, codeRefused, message, append(data, '}'))
	return http.StatusTooManyRequests
}

// sendElsewhere has the client make another connection, which may come to another pod, if this pod's share of the rate is used up.
func (x *exchange) sendElsewhere(a *answer) {
	if x.moves {
		a.header("Connection", "close")
	}
}

// retryAfterHeader is a wait in whole seconds, rounded up.
func retryAfterHeader(wait time.Duration) string {
	return strconv.FormatInt(int64((wait+time.Second-1)/time.Second), 10)
}
