package audit

import (
	"context"
	"log/slog"
	"time"
)

// Read describes a call that read. Its line holds ids, and no other value of a row; and no value that the call compared rows with.
type Read struct {
	// Token, Subject, Tool, Model and Operation mean the same as in Record.
	Token, Subject, Tool, Model, Operation string
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
}

type callerKey struct{}

// WithCaller returns a context of calls that came from there.
func WithCaller(ctx context.Context, c *Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// caller are the attributes of the caller of a context; none without one.
func caller(ctx context.Context) (attributes []slog.Attr) {
	c, _ := ctx.Value(callerKey{}).(*Caller)
	if c == nil {
		return nil
	}
	for _, a := range []struct{ name, value string }{{"address", c.Address}, {"client", c.Client}, {"request", c.Request}, {"trace", c.Trace}} {
		if a.value != "" {
			attributes = append(attributes, slog.String(a.name, cut(a.value)))
		}
	}
	return attributes
}

// WriteRead writes a line about a call that read.
func (l *Log) WriteRead(ctx context.Context, r *Read) {
	if l == nil {
		return
	}
	attributes := append(make([]slog.Attr, 0, 20), slog.String("token", r.Token))
	if r.Subject != "" {
		attributes = append(attributes, slog.String("subject", cut(r.Subject)))
	}
	attributes = append(attributes, slog.String("tool", cut(r.Tool)), slog.String("model", cut(r.Model)), slog.String("operation", cut(r.Operation)),
		slog.Any("fields", cutAll(r.Fields)), slog.Int("rows", r.Rows))
	if r.IDs != nil {
		attributes = append(attributes, slog.Any("ids", cutAll(r.IDs)))
	}
	attributes = append(attributes, slog.String("asked", r.Question), slog.Int("bytes", r.Bytes), slog.Float64("seconds", r.Took.Seconds()), slog.String("outcome", r.Outcome))
	if r.Call != "" {
		attributes = append(attributes, slog.String("call", r.Call))
	}
	l.to.LogAttrs(ctx, slog.LevelInfo, "audit", append(attributes, caller(ctx)...)...)
}
