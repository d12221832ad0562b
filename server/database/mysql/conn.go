package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"net"
	"strconv"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"

	"github.com/mcp-admin/mcp-admin-operator/server/database/connpool"
)

// maxStatements bounds the statements that one connection keeps prepared: the server has room for 16,382 of all its
// connections together (max_prepared_stmt_count).
const maxStatements = 128

// maxKept is the longest text, in bytes, of a statement that is kept prepared. Lists of values make longer ones, each
// unlike the one before.
const maxKept = 8 << 10

// conn is one connection with its prepared statements. It is used by one goroutine at a time.
type conn struct {
	raw driver.Conn
	// network is what raw speaks through. It can be closed from elsewhere, which raw cannot.
	network net.Conn
	born    time.Time
	// id is the connection's number on its server, and server tells that server from others behind the same address.
	id      uint64
	server  string
	mariaDB bool
	// clustered reports whether the server is a node of a Galera cluster.
	clustered bool
	// version is the server's own words, database the one that the connection is in.
	version, database string

	statements map[string]driver.Stmt
	values     []driver.Value
	// isStale reports whether the connection was opened before the server turned out to be read-only: the address may lead
	// to another server by now. stale says so of all the database's connections.
	isStale func() bool
	stale   func()
	// lost reports whether the connection is of no use any more, interrupted whether it is because a statement was given up.
	lost, interrupted bool
	// readOnly reports whether the server said that it takes no writes.
	readOnly bool
	// kill stops the statement that is running, by another connection.
	kill func(ctx context.Context, c *conn) error
}

// dialect is the SQL that the server speaks.
func (c *conn) dialect() sqltext.Dialect {
	if c.mariaDB {
		return sqltext.MariaDB
	}
	return sqltext.MySQL
}

// Keep implements connpool.Conn.
func (c *conn) Keep() bool { return !c.lost && !c.isStale() && time.Since(c.born) <= lifetime }

// Alive implements connpool.Conn: it reads what has arrived and waits for nothing.
func (c *conn) Alive() bool {
	return !c.isStale() && c.raw.(driver.SessionResetter).ResetSession(context.Background()) == nil
}

// Close implements connpool.Conn.
func (c *conn) Close() {
	if c.lost {
		_ = c.network.Close() // first, so that no goodbye is waited for
	}
	_ = c.raw.Close()
}

func (c *conn) forget() {
	for _, s := range c.statements {
		_ = s.Close()
	}
	clear(c.statements)
}

// watch has what runs on the connection killed when the context ends first. What it returns is to be called once
// nothing runs any more; a connection on which something was killed is lost, as the server may take the order to be
// about the next statement.
func (c *conn) watch(ctx context.Context) (stop func()) {
	finished := make(chan struct{})
	cancel := context.AfterFunc(ctx, func() {
		limited, cancel := context.WithTimeout(context.Background(), killTime)
		defer cancel()
		if err := c.kill(limited, c); err == nil {
			select {
			case <-finished:
				return
			case <-limited.Done():
			}
		}
		_ = c.network.Close() // whoever reads from it learns of it
	})
	return func() {
		if !cancel() {
			c.lost, c.interrupted = true, true
			close(finished)
		}
	}
}

// failed notes what an error says of the connection, and returns it.
func (c *conn) failed(err error) error {
	var answer *mysql.MySQLError
	switch {
	case err == nil:
	case !errors.As(err, &answer):
		c.lost = true // it broke, or somebody lost count of what was read
	case answer.Number == errShutdown, answer.Number == errKilledMariaDB, answer.Number == errKilledMySQL, answer.Number == errIdleTooLong:
		c.lost = true // the server closes it behind these words
	case isReadOnly(answer):
		c.lost, c.readOnly = true, true
		c.stale()
	}
	return err
}

// exec runs one statement without values.
func (c *conn) exec(ctx context.Context, sql string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	defer c.watch(ctx)()
	_, err := c.raw.(driver.ExecerContext).ExecContext(context.Background(), sql, nil)
	return c.failed(err)
}

// write runs a prepared statement that returns no rows.
func (c *conn) write(ctx context.Context, sql []byte, args []driver.NamedValue) (driver.Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	defer c.watch(ctx)()
	for again := false; ; again = true {
		s, done, err := c.prepare(sql)
		if err != nil {
			return nil, c.failed(err)
		}
		result, err := s.(driver.StmtExecContext).ExecContext(context.Background(), args)
		done()
		if again || !mustPrepareAgain(err) {
			return result, c.failed(err)
		}
		c.forget()
	}
}

// query runs a prepared statement and calls row for each of its rows, whose values are good until the next; no more
// once it returns false.
func (c *conn) query(ctx context.Context, sql []byte, args []driver.NamedValue, row func([]driver.Value) bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	defer c.watch(ctx)()
	for again := false; ; again = true {
		s, done, err := c.prepare(sql)
		if err != nil {
			return c.failed(err)
		}
		rows, err := s.(driver.StmtQueryContext).QueryContext(context.Background(), args)
		if err == nil {
			err = connpool.EachRow(rows, &c.values, row)
		}
		done()
		if again || !mustPrepareAgain(err) {
			return c.failed(err)
		}
		c.forget()
	}
}

// prepare returns a statement, and what is to be done with it after its use.
func (c *conn) prepare(sql []byte) (s driver.Stmt, done func(), err error) {
	if s := c.statements[string(sql)]; s != nil {
		return s, func() {}, nil
	}
	text := string(sql)
	if s, err = c.raw.Prepare(text); err != nil {
		return nil, nil, err
	}
	if len(text) > maxKept {
		return s, func() { _ = s.Close() }, nil // what its use came to is known by then
	}
	if len(c.statements) >= maxStatements {
		c.forget()
	}
	c.statements[text] = s
	return s, func() {}, nil
}

// mustPrepareAgain reports whether the tables changed so often that the server gave a prepared statement up.
func mustPrepareAgain(err error) bool { return number(err) == errNeedReprepare }

// texts runs a statement of the server's own tables and calls row for each of its rows, as texts; NULL is "".
func (c *conn) texts(ctx context.Context, sql string, args []string, row func(v []string)) error {
	named := make([]driver.NamedValue, len(args))
	for i, arg := range args {
		named[i] = driver.NamedValue{Ordinal: i + 1, Value: arg}
	}
	var all []string
	return c.query(ctx, []byte(sql), named, func(values []driver.Value) bool {
		all = all[:0]
		for _, value := range values {
			all = append(all, text(value))
		}
		row(all)
		return true
	})
}

func text(value driver.Value) string {
	switch v := value.(type) {
	case []byte:
		return string(v)
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	}
	return ""
}
