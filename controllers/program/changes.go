package program

import (
	"strconv"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract/tracing"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
)

// changes are the changes of a Config on their way from an object's event to every pod, as traces tell them. Nothing is noted
// while traces are off.
type changes struct {
	tracer *tracing.Tracer
	// next is the change that was not written yet; zero if there is none.
	next change
	// sent are the changes that some pod does not have, the oldest first.
	sent []change
}

// change is a change of one part of a Config.
type change struct {
	part     int
	revision int64
	// came is when the first of the objects' events came, compiled from and to when they were compiled last, written when the
	// part was.
	came, compiledFrom, compiledTo, written time.Time
}

// maxSent bounds the changes that wait for pods: those of an endpoint without pods are not worth more memory.
const maxSent = 64

// ChangeCame notes that an object has changed in a way that asks for another Config.
func (p *Program) ChangeCame(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := &p.changes; c.on() && c.next.came.IsZero() {
		c.next.came = now
	}
}

// on reports whether traces are on.
func (c *changes) on() bool { return c.tracer.Active() != nil }

// compiled notes when what has come was compiled, and whether some part has to be written for it.
func (c *changes) compiled(from, to time.Time, pending bool) {
	if !pending {
		c.next = change{}
		return
	}
	if c.next.came.IsZero() || c.next.came.After(from) {
		c.next.came = from
	}
	c.next.compiledFrom, c.next.compiledTo = from, to
}

// wrote notes that a part was written; more reports whether another one has to be.
func (c *changes) wrote(part int, revision int64, now time.Time, more bool) {
	if c.next.compiledTo.IsZero() {
		return // traces were off when it was compiled
	}
	sent := c.next
	sent.part, sent.revision, sent.written = part, revision, now
	c.sent = append(c.sent, sent)
	c.sent = c.sent[max(0, len(c.sent)-maxSent):]
	if !more {
		c.next = change{}
	}
}

// applied makes traces of the changes that every pod has, of so many pods.
func (c *changes) applied(endpoint string, has func(part int, revision int64) bool, pods int, now time.Time) {
	kept := c.sent[:0]
	for _, sent := range c.sent {
		if pods == 0 || !has(sent.part, sent.revision) {
			kept = append(kept, sent)
		} else if active := c.tracer.Active(); active != nil {
			active.Record(sent.past(endpoint, pods, now))
		}
	}
	clear(c.sent[len(kept):])
	c.sent = kept
}

// past is what a change was, from its first event to the last pod.
func (c change) past(endpoint string, pods int, now time.Time) tracing.Past {
	part := "main"
	if c.part != compile.MainPart {
		part = "tokens-" + strconv.Itoa(c.part)
	}
	whole := tracing.Past{
		Name: "change of a Config", From: c.came, To: now,
		Parts: []tracing.Past{
			{Name: "wait", From: c.came, To: c.compiledFrom},
			{Name: "compile", From: c.compiledFrom, To: c.compiledTo},
			{Name: "write", From: c.compiledTo, To: c.written},
			{Name: "pods", From: c.written, To: now},
		},
	}
	whole.Attributes = append(whole.Attributes, tracing.Endpoint.String(endpoint), tracing.Part.String(part),
		tracing.Revision.Int64(c.revision), tracing.Pods.Int(pods))
	return whole
}
