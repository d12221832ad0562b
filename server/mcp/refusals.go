package mcp

import (
	"context"
	"sync"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/audit"
	"github.com/mcp-admin/mcp-admin-operator/server/identity"
)

const (
	// maxRefused is how many refused callers may wait until their causes are looked up.
	maxRefused = 4096
	// linesPerSecond is how many lines a second there are about callers with a known MCPToken, and as many about others: who guesses
	// does not hide an agent whose token expired.
	linesPerSecond = 5
	// notLookedUp is the reason of a refusal whose cause was not looked up, as too many came at once.
	notLookedUp identity.Refusal = "not_looked_up"
)

// A refusedCaller is one that was not let in.
type refusedCaller struct {
	endpoint Endpoint
	shown    access.Bearer
	// caller is who the token of somebody else was issued to, if it is good, and reason why nobody was let in; reason is empty for a
	// text that nobody else could have issued.
	caller *identity.Caller
	reason identity.Refusal
	// address is that of the connection, host:port; client is what the client calls itself (User-Agent).
	address, client string
	at              time.Time
}

// refusals tells the operator why callers are refused: in the metrics, in audit lines, and for the report on the tokens' use. Callers are
// never told, and a refusal takes the same time whatever its cause: causes are looked up by a goroutine of its own, which lives as
// long as there are some.
type refusals struct {
	options *Options

	mu      sync.Mutex
	waiting []refusedCaller
	working bool

	// Only the goroutine uses these, and the one that tells the rest, while it holds telling.
	telling       sync.Mutex
	known, others lines
}

// note takes a refused caller.
func (r *refusals) note(c refusedCaller) {
	r.mu.Lock()
	full := len(r.waiting) == maxRefused
	if !full {
		r.waiting = append(r.waiting, c)
	}
	start := !r.working
	r.working = true
	r.mu.Unlock()
	if full {
		r.options.Metrics.CallerRefused(string(notLookedUp))
	}
	if start {
		go r.work()
	}
}

// work looks up the causes until none is waiting.
func (r *refusals) work() {
	var done []refusedCaller
	for {
		r.mu.Lock()
		batch := r.waiting
		if clear(done); len(batch) == 0 {
			r.working, r.waiting = false, nil
			r.mu.Unlock()
			return
		}
		r.waiting = done[:0]
		r.mu.Unlock()
		for i := range batch {
			r.tell(&batch[i])
		}
		done = batch
	}
}

// tell counts a refusal, and writes its line if it is its turn. A request without any text is counted alone: clients that log in begin so.
func (r *refusals) tell(c *refusedCaller) {
	cause := access.Cause{Reason: c.reason}
	if c.reason == "" || c.reason == access.NoToken {
		cause = c.endpoint.WhyRefused(c.shown, c.caller, c.at)
	}
	r.options.Metrics.CallerRefused(string(cause.Reason))
	if cause.Reason == access.Missing {
		return
	}
	address := hostOf(c.address)
	if cause.Genuine && r.options.RefusedUse != nil {
		r.options.RefusedUse(cause, address, c.at)
	}
	of := &r.others
	if cause.Token != "" {
		of = &r.known
	}
	line := refusalLine{
		Refused: audit.Refused{Cause: string(cause.Reason), Condition: cause.Condition, Token: cause.Token, PublicID: cause.PublicID},
		from:    audit.Caller{Address: address, Client: c.client},
	}
	if c.caller != nil {
		line.Subject, line.Issuer = c.caller.Subject, c.caller.Issuer
	}
	r.telling.Lock()
	defer r.telling.Unlock()
	r.write(of, &line, c.at)
}

// write writes a line if it is its turn. If not, it is told when its second is over, if no other line tells of it before. The caller holds
// telling.
func (r *refusals) write(of *lines, line *refusalLine, at time.Time) {
	if of.take(line, at) {
		// There is nothing to undo if it fails; the log counts what was lost.
		_ = r.options.Audit.WriteRefused(audit.WithOrigin(context.Background(), &line.from), &line.Refused)
	} else if !of.timed {
		of.timed = true
		time.AfterFunc(time.Second, func() { r.tellRest(of) })
	}
}

// tellRest writes a line about the newest refusal that has none, with how many more there are.
func (r *refusals) tellRest(of *lines) {
	r.telling.Lock()
	defer r.telling.Unlock()
	if of.timed = false; of.more > 0 {
		of.more--
		line := of.newest
		r.write(of, &line, r.options.Now())
	}
}

// lines allows some lines a second, and keeps what has none.
type lines struct {
	second int64
	told   int
	// more is how many refusals have no line, and newest the last of them.
	more   int
	newest refusalLine
	// timed reports whether the rest will be told.
	timed bool
}

// take reports whether a line may be written, and gives it the number of those before it that were not; if it may not, it is kept.
func (l *lines) take(line *refusalLine, at time.Time) bool {
	if second := at.Unix(); second != l.second {
		l.second, l.told = second, 0
	}
	if l.told == linesPerSecond {
		l.more++
		l.newest = *line
		return false
	}
	l.told++
	line.More, l.more = l.more, 0
	return true
}

// A refusalLine is a line about a caller that was not let in.
type refusalLine struct {
	audit.Refused
	from audit.Caller
}
