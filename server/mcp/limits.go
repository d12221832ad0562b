package mcp

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/audit"
	"github.com/mcp-admin/mcp-admin-operator/server/tools"
)

// readersPerSlot is how many bodies may be read at once for each request that may be answered at once. One token may
// have a slot's worth of them, so that one that sends its bodies drop by drop is in nobody's way but its own.
const readersPerSlot = 4

// readers counts the bodies that are being read, by the token's name. Its zero value is ready; it is safe for concurrent
// use.
type readers struct {
	mu    sync.Mutex
	total int
	of    map[string]int
}

// enter counts one more body; false, and not counted, where slots allow no more, or the token has its share.
func (r *readers) enter(token string, slots int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.total >= readersPerSlot*slots || r.of[token] >= slots {
		return false
	}
	if r.of == nil {
		r.of = map[string]int{}
	}
	r.total++
	r.of[token]++
	return true
}

func (r *readers) leave(token string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.total--
	if r.of[token]--; r.of[token] == 0 {
		delete(r.of, token)
	}
}

// overRate takes n calls from what the token may do, and returns how long it must wait where they are not there. what is
// the method or tool that was asked for. The audit is told of the first refusal of a row of them, since a line for each
// would let whoever calls too often write the log.
func (x *exchange) overRate(what string, n int) (wait time.Duration) {
	if !x.limited() {
		return 0
	}
	h := x.handler
	wait, first := h.rates.Take(x.token.Name(), x.endpoint.Settings().Limits.RequestsPerSecondPerToken, n, h.options.Now())
	if wait > 0 {
		h.options.Metrics.RateLimited()
	}
	if first {
		h.options.Audit.Write(x.ctx, &audit.Record{Token: x.token.Name(), Tool: what, Outcome: string(tools.CodeRateLimited)})
	}
	return wait
}

// limited is whether there is a rate at all.
func (x *exchange) limited() bool { return x.endpoint.Settings().Limits.RequestsPerSecondPerToken > 0 }

// refuseRate appends the error of a request whose token calls too often; id is nil in the simple form.
func (x *exchange) refuseRate(id []byte, wait time.Duration) (status int) {
	x.retryAfter = wait
	message := tools.RateLimited(wait).Message
	if id == nil {
		x.out = appendPlainError(x.out, message)
		return http.StatusTooManyRequests
	}
	data := strconv.AppendInt([]byte(`{"retry_after_ms":`), tools.RetryAfterMilliseconds(wait), 10)
	x.out = appendError(x.out, id, codeRefused, message, append(data, '}'))
	return http.StatusTooManyRequests
}

// retryAfterHeader is a wait in whole seconds, of which the last one is not cut off.
func retryAfterHeader(wait time.Duration) string {
	return strconv.FormatInt(int64((wait+time.Second-1)/time.Second), 10)
}
