// Package sqlite answers plans from a SQLite file, by modernc.org/sqlite's driver: pure Go, so that the program stays
// one static file. It holds a small pool of connections that only read, each with the statements it has prepared.
//
// A file that does not exist is made, and filled once from a folder of SQL files; one that exists is never touched.
//
// Package server's wiring imports it, and nothing else.
package sqlite

import (
	"context"
	"database/sql/driver"
	"net/url"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"modernc.org/sqlite"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
)

// busyTimeout is how long a statement waits for a lock of another process, where its own time is not over before.
const busyTimeout = 5 * time.Second

// engine opens connections. It is a driver of its own, so that what it registers reaches nobody else's.
var engine = sync.OnceValue(func() *sqlite.Driver {
	d := new(sqlite.Driver)
	d.MustRegisterDeterministicScalarFunction(sqltext.SQLiteFold, 1,
		func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
			if text, ok := args[0].(string); ok {
				return sqltext.Fold(text), nil
			}
			return args[0], nil
		})
	return d
})

type db struct {
	settings database.Settings
	pool     pool
	// closing is done once Close is called.
	closing   context.Context
	close     context.CancelFunc
	closeOnce sync.Once

	mu sync.Mutex
	// filling is the making of a new file that is under way; filled is whether there is a file.
	filling *filling
	filled  bool
}

// Open returns the database that the settings lead to. It opens the file, or makes it, when it is first asked.
func Open(settings database.Settings) database.DB {
	d := &db{settings: settings}
	d.closing, d.close = context.WithCancel(context.Background())
	d.pool.slots = make(chan struct{}, max(settings.MaxConnections, 1))
	d.pool.open = func() (*conn, error) { return openConn(readerURI(settings)) }
	return d
}

// readerURI names the file for a connection that only reads.
func readerURI(settings database.Settings) string {
	mode := "rw" // never rwc: a file that vanished must not come back empty
	if settings.ReadOnly {
		mode = "ro"
	}
	return fileURI(settings.SQLitePath, url.Values{
		"mode": {mode}, "_busy_timeout": {strconv.FormatInt(busyTimeout.Milliseconds(), 10)}, "_query_only": {"1"},
	})
}

func fileURI(path string, parameters url.Values) string {
	u := url.URL{Scheme: "file", Path: path, RawQuery: parameters.Encode(), OmitHost: true}
	return u.String()
}

// limit bounds one statement; the context ends with Close as well.
func (d *db) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	timeout := time.Duration(d.settings.StatementTimeout)
	if timeout <= 0 {
		timeout = time.Hour
	}
	limited, cancel := context.WithTimeout(ctx, timeout)
	stop := context.AfterFunc(d.closing, cancel)
	return limited, func() {
		stop()
		cancel()
	}
}

// acquire takes a connection from the pool, making the file first where there is none.
func (d *db) acquire(ctx context.Context) (*conn, error) {
	if err := d.ensureFile(ctx); err != nil {
		return nil, err
	}
	c, err := d.pool.acquire(ctx, d.closing)
	if err != nil {
		return nil, d.openError(ctx, err)
	}
	return c, nil
}

// Ping implements database.DB.
func (d *db) Ping(ctx context.Context) error {
	c, err := d.acquire(ctx)
	if err != nil {
		return err
	}
	defer d.pool.release(c)
	limited, cancel := d.limit(ctx)
	defer cancel()
	// It reads the file's header, which SELECT 1 would not.
	if err := c.each(limited, "PRAGMA schema_version", nil, func([]driver.Value) {}); err != nil {
		return d.statementError(ctx, limited, err)
	}
	return nil
}

// Close implements database.DB.
func (d *db) Close() { d.closeOnce.Do(d.shutDown) }

func (d *db) shutDown() {
	d.close()
	d.mu.Lock()
	under := d.filling
	d.mu.Unlock()
	if under != nil {
		<-under.done
	}
	d.pool.close()
}

func (d *db) name() string { return filepath.Base(d.settings.SQLitePath) }
