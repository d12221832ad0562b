package postgres

import (
	"context"
	"math"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// guardTime is how much longer than its statements a call may take before it is given up. It matters only if the server
// does not even report that a statement took too long.
const guardTime = 2 * time.Second

// guard gives up what a connection waits for, if the server has stopped answering. The connection keeps its timer: a context
// with a deadline for each call would cost each call 2 µs.
type guard struct {
	conn  *pgconn.PgConn
	timer *time.Timer
	armed bool
	// over is set once the connection was given up. It is not used again.
	over atomic.Bool
}

func newGuard(conn *pgconn.PgConn) *guard {
	g := &guard{conn: conn}
	g.timer = time.AfterFunc(math.MaxInt64, g.giveUp)
	g.timer.Stop()
	return g
}

// giveUp asks the server to stop, and waits no longer for it than cancelTime.
func (g *guard) giveUp() {
	g.over.Store(true)
	_ = g.conn.Conn().SetDeadline(time.Now().Add(cancelTime)) // it fails only if the connection is already closed
	ctx, cancel := context.WithTimeout(context.Background(), cancelTime)
	defer cancel()
	_ = g.conn.CancelRequest(ctx) // the deadline ends the call in any case
}

// guard bounds what follows, so many statements, until unguard or Release.
func (c *conn) guard(statements int) { c.guardStream(statements, nil) }

// guardStream is guard for statements whose rows a stream takes; it may be nil.
func (c *conn) guardStream(statements int, stream *database.Stream) {
	if timeout := stream.Time(c.db.statementTimeout()); timeout > 0 {
		c.limit.armed = true
		c.limit.timer.Reset(time.Duration(statements)*timeout + guardTime)
	}
}

func (c *conn) unguard() {
	if c.limit.armed && !c.limit.timer.Stop() {
		c.limit.over.Store(true) // giveUp begins at this moment
	}
	c.limit.armed = false
}

// givenUp reports whether the server took too long.
func (c *conn) givenUp() bool { return c.limit.over.Load() }
