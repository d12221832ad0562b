// Package mysql answers plans from a MySQL 8 or MariaDB (10.5 or later) database, by go-sql-driver's driver.
//
// It uses the driver's own interfaces, below database/sql: a pool of connections, each with the statements that it has
// prepared, and values that go from the wire into the answer. A statement whose caller went away is killed on the server
// by a second connection.
//
// The tests run on either: on the server that MCP_TEST_MARIADB leads to.
//
// Package server's wiring imports it, and nothing else.
package mysql

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/connpool"
	"github.com/mcp-admin/mcp-admin-operator/server/database/dial"
)

// The times that bound a call beside the statement timeout.
const (
	// guardTime is how much longer than its timeout a statement may take before we kill it. It matters if the server
	// itself sets no bound: MySQL bounds reads only.
	guardTime = 250 * time.Millisecond
	// killTime is how long the server has to stop a statement; then the connection is cut.
	killTime = time.Second
	// lifetime is how long a connection is used, if another can be made. It lets a server that took over get its share of
	// connections.
	lifetime = time.Hour
)

type db struct {
	settings database.Settings
	pool     *connpool.Pool[*conn]
	gate     dial.Gate
	// schema is the last result of Introspect. The names in the server's messages are looked up in it.
	schema atomic.Pointer[database.Schema]
	// generation counts how often the server turned out to be read-only. Connections of an earlier generation are not
	// used again.
	generation atomic.Int64
	// lacking are the names of settings that the server does not know.
	lacking sync.Map
	// told are the names that schemas have in the server's messages, with the names by which they are asked for.
	told atomic.Pointer[map[string]string]
	// gateway reports whether the server is a gateway to others. spread reports whether rows of a table lie on several shards, and
	// divisible whether a part of a transaction may be committed then, and the rest not.
	gateway, spread, divisible atomic.Bool
	// servers are the servers that connections have led to.
	servers sync.Map
	// closing is done once Close is called.
	closing   context.Context
	close     context.CancelFunc
	closeOnce sync.Once
}

// Open returns the database that the settings lead to. It connects when it is first asked.
func Open(settings database.Settings) database.DB {
	d := &db{settings: settings}
	d.closing, d.close = context.WithCancel(context.Background())
	d.pool = connpool.New(d.closing, settings.MaxConnections, database.AcquireTimeout, settings.Use, d.connect)
	return d
}

func (d *db) statementTimeout() time.Duration { return time.Duration(d.settings.StatementTimeout) }

// limit bounds one statement; the context ends with Close as well.
func (d *db) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	return d.limitAll(ctx, 1)
}

// limitFor is limit for a statement whose rows a stream takes; it may be nil.
func (d *db) limitFor(ctx context.Context, stream *database.Stream) (context.Context, context.CancelFunc) {
	if !stream.Lengthens() {
		return d.limit(ctx)
	}
	return d.limitTo(ctx, stream.Within+guardTime)
}

// limitAll is limit for several statements together.
func (d *db) limitAll(ctx context.Context, statements int) (context.Context, context.CancelFunc) {
	timeout := time.Hour
	if d.statementTimeout() > 0 {
		timeout = time.Duration(statements)*d.statementTimeout() + guardTime
	}
	return d.limitTo(ctx, timeout)
}

func (d *db) limitTo(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	return database.WithLimit(ctx, d.closing, timeout)
}

// acquire takes a connection from the pool, and waits for one no longer than database.AcquireTimeout.
func (d *db) acquire(ctx context.Context) (*conn, error) {
	c, err := d.pool.Acquire(ctx)
	if err != nil {
		return nil, d.acquireError(ctx, err)
	}
	return c, nil
}

// Resize implements database.Resizable.
func (d *db) Resize(connections int) { d.pool.Resize(connections) }

// Retire implements database.Retirable.
func (d *db) Retire() { d.pool.Retire() }

// Writers implements database.DB.
func (d *db) Writers() int { return d.pool.Size() }

// Ping implements database.DB.
func (d *db) Ping(ctx context.Context) error {
	return d.read(ctx, func(c *conn) error { return d.exec(ctx, c, "DO 0") })
}

// read calls do with a connection. If that connection turns out to have been dead, it calls do once more with another.
func (d *db) read(ctx context.Context, do func(*conn) error) error {
	for again := false; ; again = true {
		lost, err := d.readOnce(ctx, do)
		if err == nil || again || !lost || ctx.Err() != nil || d.closing.Err() != nil {
			return err
		}
	}
}

// readOnce calls do with a connection, and reports whether that turned out to have been dead.
func (d *db) readOnce(ctx context.Context, do func(*conn) error) (lost bool, err error) {
	c, err := d.acquire(ctx)
	if err != nil {
		return false, err
	}
	done := false
	defer func() {
		c.lost = c.lost || !done // do panicked, perhaps in the middle of an answer
		d.pool.Release(c)
	}()
	err = do(c)
	done = true
	return c.lost && !c.interrupted, err
}

// Close implements database.DB.
func (d *db) Close() {
	d.closeOnce.Do(func() {
		d.close()
		d.pool.Close()
	})
}
