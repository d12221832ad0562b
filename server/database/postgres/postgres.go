// Package postgres answers plans from a PostgreSQL database, by pgx's connections.
//
// It speaks the extended protocol in text format, below pgx's own value handling. What the server writes is copied into
// the answer without decoding, and a page and its count come back in one round trip. Statements that come again are
// prepared, except behind a pooler that hands each transaction to another server connection (PgBouncer). There a
// session keeps nothing, so statements are unnamed and settings go with each transaction.
//
// Package server's wiring imports it, and nothing else.
package postgres

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/connpool"
	"github.com/mcp-admin/mcp-admin-operator/server/database/dial"
)

// The times that bound a call beside the statement timeout.
const (
	// cancelTime is how long the server has to stop a statement whose caller went away. Then the connection is closed.
	cancelTime = time.Second
	// lifetime is how long a connection is used, if another can be made, and lifetimeSpread how much longer at most: not
	// all end at once. It lets a server that took over get its share of connections.
	lifetime       = time.Hour
	lifetimeSpread = 10 * time.Minute
)

type db struct {
	settings database.Settings
	pool     *connpool.Pool[*conn]
	gate     dial.Gate
	// generation counts how often the open connections turned out not to be good any more. Connections of an earlier one
	// are not used again.
	generation atomic.Int64
	// unnamed is set once a prepared statement was missing: then there is a pooler that nothing else revealed.
	unnamed atomic.Bool
	// unexplained is set once the database turned out not to know EXPLAIN (FORMAT JSON), undeferred once it turned out
	// not to know SET CONSTRAINTS.
	unexplained, undeferred atomic.Bool
	// unadvised is set once the database turned out not to have advisory locks, unplaced once it turned out not to have ctid, and
	// placed once it was asked for that.
	unadvised, unplaced, placed atomic.Bool
	// foreign is set if the database has foreign tables.
	foreign atomic.Bool
	// sessions are the open connections, so that Close can end their work.
	sessions sync.Map
	// servers are the servers that connections have led to.
	servers sync.Map
	// closing is done once Close is called.
	closing context.Context
	close   context.CancelFunc
	// known is the last result of the introspection; nil before the first. seen is the fingerprint of the catalogue before it; ""
	// if it says nothing.
	known atomic.Pointer[known]
	seen  atomic.Pointer[string]
}

// Open returns the database that the settings lead to. It connects when it is first asked.
func Open(settings database.Settings) database.DB {
	d := &db{settings: settings}
	d.closing, d.close = context.WithCancel(context.Background())
	d.pool = connpool.New(d.closing, settings.MaxConnections, database.AcquireTimeout, settings.Use, d.connect)
	return d
}

func (d *db) statementTimeout() time.Duration { return time.Duration(d.settings.StatementTimeout) }

// timeoutSetting is the statement timeout in the server's form: whole milliseconds, 0 for none.
func (d *db) timeoutSetting() string {
	return milliseconds(d.statementTimeout())
}

func milliseconds(timeout time.Duration) string {
	if timeout <= 0 {
		return "0"
	}
	return strconv.FormatInt(max(timeout.Milliseconds(), 1), 10)
}

// acquire takes a connection from the pool, and waits for one no longer than database.AcquireTimeout.
func (d *db) acquire(ctx context.Context) (*conn, error) {
	c, err := d.pool.Acquire(ctx)
	switch {
	case err == nil:
		return c, nil
	case ctx.Err() != nil, d.closing.Err() != nil:
		return nil, dial.Cancelled(err)
	case errors.Is(err, connpool.ErrBusy):
		return nil, &database.Error{
			Code: database.Busy, Reason: reasonError, Cause: err,
			Message: "all " + strconv.Itoa(d.pool.Size()) + " database connections of this server are in use; try again",
		}
	}
	return nil, connectError(err)
}

// Resize implements database.Resizable.
func (d *db) Resize(connections int) { d.pool.Resize(connections) }

// Retire implements database.Retirable.
func (d *db) Retire() { d.pool.Retire() }

// Writers implements database.DB.
func (d *db) Writers() int { return d.pool.Size() }

// Ping implements database.DB.
func (d *db) Ping(ctx context.Context) error {
	conn, err := d.acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	conn.guard(1)
	if err := conn.Ping(ctx); err != nil {
		return d.statementError(ctx, err)
	}
	return nil
}

// Close implements database.DB.
func (d *db) Close() {
	if d.closing.Err() != nil {
		return
	}
	d.close()
	// A deadline in the past ends a call that is under way; the pool then waits only for its clean-up.
	d.sessions.Range(func(c, _ any) bool {
		_ = c.(*pgconn.PgConn).Conn().SetDeadline(time.Unix(1, 0)) // it fails only if the connection is already closed
		return true
	})
	d.pool.Close()
}
