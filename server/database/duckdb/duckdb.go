// Package duckdb answers plans from what DuckDB reads: a DuckDB database, a Parquet or CSV file, or a folder of such files. Nothing is
// ever written.
//
// DuckDB needs C. So the package knows no driver: it uses the one that is registered as "duckdb", which the programs of the module
// cmd/duckdb bring along. In all other programs a DuckDB database cannot be opened, and the error says so.
//
// One instance of DuckDB lies in the server's process. It gets a part of the container's memory (memory.go), reaches no file but those
// that are served, and loads no extension. A file that changes or is replaced, and one that comes or goes, is noticed at the next read,
// after a second at most: another instance is opened then.
//
// Package server's wiring imports it, and nothing else.
package duckdb

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// lookEvery is how often a read looks whether the files are the same, at most.
const lookEvery = time.Second

type db struct {
	settings database.Settings
	// closing is done once Close is called.
	closing   context.Context
	close     context.CancelFunc
	closeOnce sync.Once

	// seen is the version of the files at the last introspection; nil before the first.
	seen atomic.Pointer[version]

	mu sync.Mutex
	// current is the open instance; nil if there is none. It was looked at last at looked.
	current *instance
	looked  time.Time
	// whole are the compressed files that were found to be whole.
	whole wholeFiles
	// size is how many connections there may be.
	size int
	// ending are instances that were replaced, until their last call has ended.
	ending sync.WaitGroup
}

// Open returns the database that the settings lead to. It is opened when it is first asked.
func Open(settings database.Settings) database.DB {
	d := &db{settings: settings, size: settings.MaxConnections, whole: wholeFiles{}}
	d.closing, d.close = context.WithCancel(context.Background())
	return d
}

// acquire takes a connection to the files as they are now.
func (d *db) acquire(ctx context.Context) (*conn, error) {
	i, err := d.instance(ctx)
	if err != nil {
		return nil, err
	}
	c, failed := i.connections.Acquire(ctx)
	if failed != nil {
		return nil, d.openError(ctx, failed)
	}
	return c, nil
}

// instance returns the open instance, or opens one if there is none or if the files are others than those that it has open.
func (d *db) instance(ctx context.Context) (*instance, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closing.Err() != nil {
		return nil, cancelled(d.closing.Err())
	}
	if d.current != nil && time.Since(d.looked) < lookEvery {
		return d.current, nil
	}
	now, err := look(d.settings.DuckDBPath)
	if err != nil {
		return nil, d.unreachable(err)
	}
	if d.current != nil && d.current.version.holds(now) {
		d.looked = time.Now()
		return d.current, nil
	}
	opened, err := d.open(ctx, now)
	if err != nil {
		return nil, err
	}
	d.retire()
	d.current, d.looked = opened, time.Now()
	return opened, nil
}

// retire closes the open instance once its last call has ended. The caller holds the lock.
func (d *db) retire() {
	if old := d.current; old != nil {
		d.current = nil
		d.ending.Go(old.close)
	}
}

// limit bounds one statement, whose rows a stream may take; the context ends with Close as well.
func (d *db) limit(ctx context.Context, stream *database.Stream) (context.Context, context.CancelFunc) {
	timeout := stream.Time(time.Duration(d.settings.StatementTimeout))
	if timeout <= 0 {
		timeout = time.Hour
	}
	return database.WithLimit(ctx, d.closing, timeout)
}

// Transact implements database.DB: nothing is written.
func (*db) Transact(context.Context, func(database.Tx) error) error {
	return &database.Error{Code: database.Refused, Reason: contract.ReasonDatabaseError, Message: contract.DuckDBOnlyReads}
}

// Writers implements database.DB.
func (*db) Writers() int { return 1 }

// Resize implements database.Resizable.
func (d *db) Resize(connections int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.size = connections
	if d.current != nil {
		d.current.connections.Resize(connections)
	}
}

// Ping implements database.DB.
func (d *db) Ping(ctx context.Context) error {
	c, err := d.acquire(ctx)
	if err != nil {
		return err
	}
	defer c.release()
	return nil
}

// Unchanged implements database.Watched.
func (d *db) Unchanged(context.Context) (bool, error) {
	seen := d.seen.Load()
	if seen == nil {
		return false, nil
	}
	now, err := look(d.settings.DuckDBPath)
	return err == nil && seen.holds(now), err
}

// Close implements database.DB.
func (d *db) Close() {
	d.closeOnce.Do(func() {
		d.close()
		d.mu.Lock()
		d.retire()
		d.mu.Unlock()
		d.ending.Wait()
	})
}

// name is the database's name: the file's or folder's, without what says of which kind it is.
func (d *db) name() string { return tableName(filepath.Base(d.settings.DuckDBPath)) }

// tableName is the name of a file without its kind.
func tableName(file string) string {
	for _, suffix := range []string{".gz", ".zst"} {
		file = strings.TrimSuffix(file, suffix)
	}
	return strings.TrimSuffix(file, filepath.Ext(file))
}
