package mcp

import (
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/identity"
)

// refusalPause is the shortest time between two lines about refused callers.
const refusalPause = 10 * time.Second

// refusals tells the operator in the log why callers are refused: one line in ten seconds, with the number of refusals
// without a line. Callers are never told, and each refusal takes the same time: the cause is looked up after it, in a
// goroutine of its own.
type refusals struct {
	next   atomic.Int64 // Unix nanoseconds
	untold atomic.Int64
}

// tell notes a refusal. A request without any text is none: clients that log in begin so.
func (r *refusals) tell(log *slog.Logger, endpoint Endpoint, shown access.Bearer, reason identity.Refusal, now time.Time) {
	if shown.Text == "" {
		return
	}
	next := r.next.Load()
	if now.UnixNano() < next || !r.next.CompareAndSwap(next, now.Add(refusalPause).UnixNano()) {
		r.untold.Add(1)
		return
	}
	untold := r.untold.Swap(0)
	go func() {
		cause := endpoint.WhyRefused(shown, now)
		if reason != noToken {
			cause.Reason = string(reason)
		}
		log.Warn("A caller is refused", "cause", cause.Reason, "token", cause.Token, "token_id", cause.PublicID, "more_refused", untold)
	}()
}
