package mcp

import (
	"context"
	"net"

	"github.com/mcp-admin/mcp-admin-operator/contract/tracing"
	"github.com/mcp-admin/mcp-admin-operator/server/audit"
	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
	"github.com/mcp-admin/mcp-admin-operator/server/share"
)

// callContext is the context of what a caller asks for. It says on whose behalf that is, and, as long as the exchange lasts, where it came from.
type callContext struct {
	context.Context
	holder string
	from   *exchange
}

// onBehalf is the context of what the caller asks for.
func (x *exchange) onBehalf() context.Context { return &callContext{x.ctx, x.holder, x} }

// ShareName is the name by which connections and memory are shared out (share.Key).
func (c *callContext) ShareName() string { return c.holder }

// Value implements context.Context.
func (c *callContext) Value(key any) any {
	switch key.(type) {
	case share.Key:
		return c
	case audit.OriginKey, tracing.GivenKey:
		return c.from
	}
	return c.Context.Value(key)
}

// Caller is where the message came from, as far as it says so itself (audit.Origin).
func (x *exchange) Caller() *audit.Caller {
	c := &audit.Caller{Address: hostOf(x.address), Client: x.header.Get("User-Agent")}
	c.Trace = tracing.ID(x.ctx)
	if m := x.asked; m != nil {
		c.Request = m.idText()
		if info := clientOf(m.inside.meta.clientInfo); info != "" {
			c.Client = info
		}
	}
	if c.Trace == "" {
		c.Trace, c.Traceparent = x.parent(x.asked).Given()
	}
	return c
}

// Traceparent is the traceparent that came with the message (tracing.Given).
func (x *exchange) Traceparent() string {
	_, traceparent := x.parent(x.asked).Given()
	return traceparent
}

// hostOf is the IP address of host:port.
func hostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return address
}

// clientOf is the name and version of a clientInfo; "" if there is none.
func clientOf(info []byte) string {
	if !isObject(info) {
		return ""
	}
	text := func(name string) string {
		value, _ := jsontext.Member(info, name)
		text, _ := jsontext.ReadString(value)
		return text
	}
	name, version := text("name"), text("version")
	if name == "" || version == "" {
		return name
	}
	return name + " " + version
}
