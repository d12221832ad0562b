package duckdb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/connpool"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
)

// driverName is the name under which the driver is registered.
const driverName = "duckdb"

var errNoDriver = errors.New("this program was built without DuckDB, which needs C; use the programs mcp-admin-server-duckdb and mcp-admin-duckdb, " +
	"or the image of the server with DuckDB (make duckdb builds the programs)")

// theDriver is the driver; nil if the program has none.
var theDriver = sync.OnceValue(func() driver.DriverContext {
	if !slices.Contains(sql.Drivers(), driverName) {
		return nil
	}
	opened, err := sql.Open(driverName, "")
	if err != nil {
		return nil
	}
	defer opened.Close()
	found, _ := opened.Driver().(driver.DriverContext)
	return found
})

// The catalogs of an instance: attached is the database that is served, own the instance's own one in memory.
const (
	attached = "mcp_admin_file"
	own      = "memory"
)

// An instance is DuckDB with one version of the files.
type instance struct {
	version     *version
	connector   driver.Connector
	connections *connpool.Pool[*conn]
	// catalog is the one that has the tables.
	catalog string
	// notes are about what cannot be read.
	notes []database.Unserved

	mu sync.Mutex
	// unread are notes about tables whose rows cannot all be read, by the tables' names.
	unread map[string]database.Unserved
}

// openTimeout is how long it may take to open the files.
const openTimeout = 25 * time.Second

// open opens an instance. The caller holds the lock.
func (d *db) open(ctx context.Context, v *version) (*instance, error) {
	found := theDriver()
	if found == nil {
		return nil, d.unreachable(errNoDriver)
	}
	if v.database || v.single {
		if err := mayRead(v.files[0].path); err != nil {
			return nil, d.unreachable(err)
		}
	}
	limited, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	connector, err := found.OpenConnector("")
	if err != nil {
		return nil, d.openError(ctx, err)
	}
	i := &instance{version: v, connector: connector, catalog: own, notes: v.notes}
	if v.database {
		i.catalog = attached
	}
	if err := i.prepare(limited, d.whole); err != nil {
		i.closeConnector()
		if limited.Err() != nil {
			return nil, d.openError(ctx, err)
		}
		return nil, d.unreachable(opening(err))
	}
	i.connections = connpool.New(d.closing, d.settings.MaxConnections, database.AcquireTimeout, d.settings.Use, i.connect)
	if d.size != d.settings.MaxConnections {
		i.connections.Resize(d.size)
	}
	return i, nil
}

// prepare makes the tables known, and then takes from the instance what it needs no more: no statement opens another file, loads an
// extension or changes a setting after that. whole are the compressed files that are known to be whole.
func (i *instance) prepare(ctx context.Context, whole wholeFiles) error {
	raw, err := i.connector.Connect(ctx)
	if err != nil {
		return err
	}
	c := &conn{raw: raw}
	defer c.Close()
	for _, statement := range append([]string{
		"SET GLOBAL threads = " + strconv.Itoa(max(runtime.GOMAXPROCS(0), 1)),
		"SET GLOBAL memory_limit = '" + strconv.FormatInt(memory()>>10, 10) + "KiB'",
		"SET GLOBAL temp_directory = ''", // what has no room in memory is an error, and no file
		"SET GLOBAL autoinstall_known_extensions = false",
		"SET GLOBAL autoload_known_extensions = false",
		"SET GLOBAL allow_community_extensions = false",
		"SET GLOBAL allow_persistent_secrets = false",
		"SET GLOBAL TimeZone = 'UTC'",
		"SET GLOBAL default_null_order = 'nulls_last_on_asc_first_on_desc'",
	}, sqltext.DuckDBMacros...) {
		if err := c.execute(ctx, statement); err != nil {
			return err
		}
	}
	if i.version.database {
		if err := c.execute(ctx, "ATTACH "+literal(i.version.files[0].path)+" AS "+attached+" (TYPE duckdb, READ_ONLY)"); err != nil {
			return err
		}
	}
	for _, s := range i.version.sources {
		view := "CREATE VIEW " + identifier(s.table) + " AS SELECT * FROM " + s.reading()
		if note := i.version.unended(ctx, s, whole); note.Note != "" {
			view += refused
			i.notes = append(i.notes, note)
		}
		if err := c.execute(ctx, view); err != nil {
			if ctx.Err() != nil {
				return err
			}
			if i.version.single {
				return err
			}
			i.notes = append(i.notes, notServed("", "file or folder", filepath.Base(s.path), opening(err).Error()))
		}
	}
	return i.lock(ctx, c)
}

// lock closes the instance's doors.
func (i *instance) lock(ctx context.Context, c *conn) error {
	var paths []string
	for _, s := range i.version.sources {
		paths = append(paths, s.files...)
	}
	for _, statement := range []string{
		"SET GLOBAL allowed_paths = " + literals(paths),
		"SET GLOBAL enable_external_access = false",
		"SET GLOBAL lock_configuration = true",
	} {
		if err := c.execute(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// connect makes a connection.
func (i *instance) connect(ctx context.Context) (*conn, error) {
	raw, err := i.connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	c := &conn{raw: raw, of: i}
	if err := c.execute(ctx, "USE "+i.catalog+".main"); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// close waits for the calls under way and ends the instance.
func (i *instance) close() {
	i.connections.Close()
	i.closeConnector()
}

func (i *instance) closeConnector() {
	if closer, ok := i.connector.(io.Closer); ok {
		_ = closer.Close() // it only reads
	}
}

// conn is one connection. It is used by one goroutine at a time.
type conn struct {
	raw    driver.Conn
	of     *instance
	values []driver.Value
}

// release gives the connection back.
func (c *conn) release() { c.of.connections.Release(c) }

// Keep implements connpool.Conn.
func (*conn) Keep() bool { return true }

// Aged implements connpool.Conn.
func (*conn) Aged() bool { return false }

// Alive implements connpool.Conn: the instance is in this process.
func (*conn) Alive(context.Context, time.Duration) bool { return true }

// Close implements connpool.Conn.
func (c *conn) Close() { _ = c.raw.Close() }

// execute runs a statement without values.
func (c *conn) execute(ctx context.Context, statement string) error {
	_, err := c.raw.(driver.ExecerContext).ExecContext(ctx, statement, nil)
	return err
}

// rows runs a statement that reads.
func (c *conn) rows(ctx context.Context, statement string, args []driver.NamedValue) (driver.Rows, error) {
	return c.raw.(driver.QueryerContext).QueryContext(ctx, statement, args)
}

// query runs a statement and calls row for each of its rows until it returns false. The values are valid until the next row.
func (c *conn) query(ctx context.Context, statement string, args []driver.NamedValue, row func([]driver.Value) bool) error {
	rows, err := c.rows(ctx, statement, args)
	if err != nil {
		return err
	}
	return connpool.EachRow(rows, &c.values, row)
}

// each is query for a text without values and all rows.
func (c *conn) each(ctx context.Context, statement string, row func([]driver.Value)) error {
	return c.query(ctx, statement, nil, func(values []driver.Value) bool {
		row(values)
		return true
	})
}
