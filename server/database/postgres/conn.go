package postgres

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mcp-admin/mcp-admin-operator/server/database/dial"
)

// conn is one connection. It is used by one goroutine at a time.
type conn struct {
	*pgx.Conn
	db *db
	// generation is the database's when the connection was made; expires is when another should take its place.
	generation int64
	expires    time.Time
	limit      *guard
	// cancelled is set once the server was asked to end a statement. It does so when it gets round to it, and would end whatever
	// statement the connection has by then.
	cancelled atomic.Bool
}

// connect makes a connection as the settings say now, and prepares its session.
func (d *db) connect(ctx context.Context) (*conn, error) {
	if err := d.gate.Check(); err != nil {
		return nil, err
	}
	c := &conn{db: d, generation: d.generation.Load(), expires: time.Now().Add(lifetime + rand.N(lifetimeSpread))} //nolint:gosec // G404: nobody gains anything by guessing it
	config, err := d.connectConfig(func() { c.cancelled.Store(true) })
	if err != nil {
		return nil, err // the settings can be read again at no cost
	}
	if c.Conn, err = pgx.ConnectConfig(ctx, config); err == nil {
		c.limit = newGuard(c.PgConn())
		limited, cancel := context.WithTimeout(ctx, dial.Timeout)
		defer cancel()
		if err = d.prepareSession(limited, c.PgConn()); err == nil {
			d.gate.Succeeded()
			return c, nil
		}
		c.Close()
	}
	if ctx.Err() != nil {
		return nil, err
	}
	failure := connectError(err)
	d.gate.Failed(failure)
	return nil, failure
}

// reset has no open connection used again once it is given back.
func (d *db) reset() { d.generation.Add(1) }

// Release gives the connection back.
func (c *conn) Release() {
	c.unguard()
	c.db.pool.Release(c)
}

func (c *conn) current() bool { return c.generation == c.db.generation.Load() }

// Keep implements connpool.Conn. A connection that is still in a transaction, or in the middle of an answer, or was given up
// or cancelled, is closed.
func (c *conn) Keep() bool {
	p := c.PgConn()
	return !p.IsClosed() && !p.IsBusy() && p.TxStatus() == 'I' && c.current() && !c.givenUp() && !c.cancelled.Load()
}

// Aged implements connpool.Conn.
func (c *conn) Aged() bool { return time.Now().After(c.expires) }

// quiet is how long a connection may be idle before the server is asked for a sign of life.
const quiet = time.Second

// Alive implements connpool.Conn.
func (c *conn) Alive(ctx context.Context, idle time.Duration) bool {
	if !c.current() || c.IsClosed() {
		return false
	}
	if idle < quiet {
		return true
	}
	limited, cancel := context.WithTimeout(ctx, dial.Timeout)
	defer cancel()
	return c.Ping(limited) == nil
}

// closeTime is how long a goodbye to the server may take.
const closeTime = time.Second

// Close implements connpool.Conn.
func (c *conn) Close() {
	c.db.sessions.Delete(c.PgConn())
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	_ = c.Conn.Close(ctx)
}
