// Package onewrite sends an HTTP answer in one write. net/http sends one that is larger than its buffer of 4 KB in two: the
// full buffer, and then the rest. A write is among the dearest things of a request, and the client wakes up for each.
//
// Packages server, which listens by it, and mcp, which answers, import it.
package onewrite

import (
	"context"
	"net"

	"github.com/mcp-admin/mcp-admin-operator/server/objpool"
)

// Listener accepts connections that can join writes.
type Listener struct{ net.Listener }

// Accept implements net.Listener.
func (l Listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &Conn{Conn: c}, nil
}

// Conn is a connection that can join the first write of an answer with the second. One goroutine at a time writes to it.
type Conn struct {
	net.Conn
	// expected is how many bytes the body has of the answer that begins with the next write.
	expected int
	// held are the first bytes of what comes next, in the memory of piece; both are nil if nothing is held.
	held  []byte
	piece *piece
}

// piece has room for what net/http writes at once.
type piece [4 << 10]byte

var pieces objpool.Pool[piece]

// Expect says that an answer comes whose body has so many bytes.
func (c *Conn) Expect(body int) {
	if c != nil {
		c.expected = body
	}
}

// Write implements io.Writer. An answer has a head, too: so a write of fewer bytes than the body has is not the last.
func (c *Conn) Write(p []byte) (int, error) {
	more := len(p) < c.expected && len(p) <= len(piece{})
	c.expected = 0
	switch {
	case c.held != nil:
		return c.writeBehind(p)
	case more:
		c.piece = pieces.Get()
		c.held = c.piece[:copy(c.piece[:], p)]
		return len(p), nil
	}
	return c.Conn.Write(p)
}

// writeBehind writes what is held and then p.
func (c *Conn) writeBehind(p []byte) (int, error) {
	held := len(c.held)
	all := net.Buffers{c.held, p}
	written, err := all.WriteTo(c.Conn)
	clear(c.piece[:held])
	pieces.Put(c.piece)
	c.held, c.piece = nil, nil
	return max(int(written)-held, 0), err
}

// CloseWrite ends what is written, as net/http does if the client may still be sending.
func (c *Conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

type connKey struct{}

// Context returns the context of a connection's requests, as http.Server.ConnContext asks for it.
func Context(ctx context.Context, c net.Conn) context.Context {
	if ours, ok := c.(*Conn); ok {
		return context.WithValue(ctx, connKey{}, ours)
	}
	return ctx // TLS, which makes pieces of its own
}

// Of returns the connection of a request's context; nil if it joins no writes.
func Of(ctx context.Context) *Conn {
	c, _ := ctx.Value(connKey{}).(*Conn)
	return c
}
