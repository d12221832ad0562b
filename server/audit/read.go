package audit

import (
	"context"
	"time"
)

// Read describes a call that read. Its line holds ids, and no other value of a row; and no value that the call compared rows with.
type Read struct {
	// Token, Subject, Tool, Model, Operation and MadeUp mean the same as in Record.
	Token, Subject, Tool, Model, Operation string
	MadeUp                                 bool
	// Call is the id of the transact that the call is a step of; "" for any other.
	Call string
	// Question has the call's arguments, as the function Question returns them.
	Question string
	// Shown tells which rows the answer has.
	Shown
	// Bytes is the size of the answer, Took how long it took to make.
	Bytes int
	Took  time.Duration
	// Outcome is "ok", or the error's code.
	Outcome string
}

// Caller is where a call came from.
type Caller struct {
	// Address is the IP address of the connection: a proxy's if there is one before the server.
	Address string
	// Client is the name and version that the client gives itself; nobody checks them.
	Client string
	// Request is the id of the request, as the client sent it.
	Request string
	// Trace is the id of the trace that the request is a part of (W3C Trace Context); "" if it is of none.
	Trace string
	// Traceparent is the traceparent that came with the request; "" if none came, or the server has a span of its own.
	Traceparent string
}

// Origin tells where calls come from, for the lines that need it.
type Origin interface{ Caller() *Caller }

// Caller is an Origin: itself.
func (c *Caller) Caller() *Caller { return c }

// OriginKey is the key of a context's Origin.
type OriginKey struct{}

// WithOrigin returns a context of calls that come from there.
func WithOrigin(ctx context.Context, from Origin) context.Context {
	return context.WithValue(ctx, OriginKey{}, from)
}

// tell adds the members about the caller; none if it is nil.
func (c *Caller) tell(m *members) {
	if c == nil {
		return
	}
	m.given("address", c.Address)
	m.given("client", c.Client)
	m.given("request", c.Request)
	m.given("trace", c.Trace)
}

// WriteRead writes a line about a call that read. An error says that it could not be written to all outputs.
func (l *Log) WriteRead(ctx context.Context, r *Read) error {
	if l == nil {
		return nil
	}
	return l.write(ctx, r)
}

// tell implements entry.
func (r *Read) tell(m *members, from *Caller) {
	m.text("token", r.Token)
	m.given("subject", r.Subject)
	m.text("tool", cut(r.Tool))
	m.text("model", cut(r.Model))
	m.text("operation", cut(r.Operation))
	m.texts("fields", r.Fields)
	m.number("rows", r.Rows)
	if r.IDs != nil {
		m.texts("ids", r.IDs)
	}
	m.given("rows_of", r.Of)
	m.text("asked", r.Question)
	m.number("bytes", r.Bytes)
	m.seconds("seconds", r.Took)
	m.text("outcome", r.Outcome)
	m.given("call", r.Call)
	from.tell(m)
}
