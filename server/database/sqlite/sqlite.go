// Package sqlite answers plans from a SQLite file, by modernc.org/sqlite's driver: pure Go, so that the program stays
// one static file. It holds a small pool of connections that only read, and one that writes, each with the statements it
// has prepared.
//
// The file keeps the journal mode that it has. With a write-ahead log (which a file made here has) readers and the writer
// never wait for each other. With a rollback journal readers wait while a transaction is being committed, or has changed
// more than fits its memory, and a commit waits until the reads that are under way have ended. Either way a read that
// begins after a transaction was committed sees what it wrote.
//
// Timestamps are written as SQLite's own functions write them, "2006-01-02 15:04:05[.999]" in UTC, and dates as
// "2006-01-02": nothing tells which form the file's other users have chosen. They are compared by what they mean, but
// sorted by what is stored.
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
	"sync/atomic"
	"time"

	"modernc.org/sqlite"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/connpool"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
)

// busyTimeout is how long a statement waits for a lock of another connection or process, unless its own time ends
// before.
const busyTimeout = 5 * time.Second

// engine opens connections. It is a separate driver, so that no other user of the package sees the functions registered
// here.
var engine = sync.OnceValue(func() *sqlite.Driver {
	d := new(sqlite.Driver)
	d.MustRegisterDeterministicScalarFunction(sqltext.SQLiteFold, 1,
		func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
			if text, ok := args[0].(string); ok {
				return sqltext.Fold(text), nil
			}
			return args[0], nil
		})
	registerNumbers(d)
	registerArithmetic(d)
	return d
})

type db struct {
	settings database.Settings
	file     *file
	// readers are connections that cannot write; writer is the connection that can.
	readers, writer *connpool.Pool[*conn]
	// closing is done once Close is called.
	closing   context.Context
	close     context.CancelFunc
	closeOnce sync.Once

	// seen is the file's version before the last introspection; nil if it says nothing.
	seen atomic.Pointer[version]

	mu sync.Mutex
	// filling is the making of a new file that is under way; filled reports whether there is a file.
	filling *filling
	filled  bool
}

// Open returns the database that the settings lead to. It opens the file, or makes it, when it is first asked.
func Open(settings database.Settings) database.DB {
	d := &db{settings: settings}
	d.closing, d.close = context.WithCancel(context.Background())
	d.file = &file{path: settings.SQLitePath}
	d.readers = connpool.New(d.closing, settings.MaxConnections, database.AcquireTimeout, settings.Use, d.file.opener(readerURI(settings), false))
	d.writer = connpool.New(d.closing, 1, lockTimeout(settings), settings.WriterUse, d.file.opener(writerURI(settings), true))
	d.file.drop = func() {
		d.readers.Drop()
		d.writer.Drop()
	}
	return d
}

// lockTimeout is how long a transaction waits for another to end: no longer than the statement timeout.
func lockTimeout(settings database.Settings) time.Duration {
	if timeout := time.Duration(settings.StatementTimeout); timeout > 0 {
		return min(timeout, busyTimeout)
	}
	return busyTimeout
}

// readerURI names the file for a connection that only reads.
func readerURI(settings database.Settings) string {
	mode := "rw" // never rwc: a file that vanished must not come back empty
	if settings.ReadOnly {
		mode = "ro"
	}
	return fileURI(settings.SQLitePath, url.Values{
		"mode": {mode}, "_busy_timeout": {strconv.FormatInt(busyTimeout.Milliseconds(), 10)}, "_query_only": {"1"},
		"_pragma": {"temp_store(" + temporaryStore() + ")"},
	})
}

// writerURI names the file for the connection that writes. Its SQL cannot damage the file itself.
func writerURI(settings database.Settings) string {
	return fileURI(settings.SQLitePath, url.Values{
		"mode": {"rw"}, "_busy_timeout": {strconv.FormatInt(lockTimeout(settings).Milliseconds(), 10)}, "_foreign_keys": {"1"},
		"_txlock": {"immediate"}, "_defensive": {"1"},
		"_pragma": {"temp_store(" + temporaryStore() + ")"},
	})
}

func fileURI(path string, parameters url.Values) string {
	u := url.URL{Scheme: "file", Path: path, RawQuery: parameters.Encode(), OmitHost: true}
	return u.String()
}

// limit bounds one statement; the context ends with Close as well.
func (d *db) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	return d.limitFor(ctx, nil)
}

// limitFor is limit for a statement whose rows a stream takes; it may be nil.
func (d *db) limitFor(ctx context.Context, stream *database.Stream) (context.Context, context.CancelFunc) {
	timeout := stream.Time(time.Duration(d.settings.StatementTimeout))
	if timeout <= 0 {
		timeout = time.Hour
	}
	return database.WithLimit(ctx, d.closing, timeout)
}

// acquire takes a connection that reads, making the file first if there is none.
func (d *db) acquire(ctx context.Context) (*conn, error) {
	if err := d.ensureFile(ctx); err != nil {
		return nil, err
	}
	c, err := d.readers.Acquire(ctx)
	if err != nil {
		return nil, d.openError(ctx, err)
	}
	return c, nil
}

// Writers implements database.DB: SQLite has one writer, however many connections there are.
func (d *db) Writers() int { return d.writer.Size() }

// Ping implements database.DB.
func (d *db) Ping(ctx context.Context) error {
	d.file.look()
	c, err := d.acquire(ctx)
	if err != nil {
		return err
	}
	defer d.readers.Release(c)
	limited, cancel := d.limit(ctx)
	defer cancel()
	// It reads the file's header, which SELECT 1 would not.
	if err := c.each(limited, "PRAGMA schema_version", nil, func([]driver.Value) {}); err != nil {
		return d.statementError(ctx, limited, err)
	}
	d.file.noteLog()
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
	d.writer.Close()
	d.readers.Close()
}

func (d *db) name() string { return filepath.Base(d.settings.SQLitePath) }
