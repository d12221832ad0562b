package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"net"
	"strconv"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database/connpool"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
)

// maxStatements bounds the statements that one connection keeps prepared: the server has room for 16,382 on all its
// connections together (max_prepared_stmt_count).
const maxStatements = 128

// maxKept is the longest text, in bytes, of a statement that is kept prepared. Lists of values make longer ones, and
// these seldom come again.
const maxKept = 8 << 10

// conn is one connection with its prepared statements. It is used by one goroutine at a time.
type conn struct {
	raw driver.Conn
	// network is the connection below raw. Another goroutine can close it, but not raw.
	network net.Conn
	// host is the one host that the connection leads to.
	host contract.Connection
	born time.Time
	// id is the connection's number on its server. server tells that server from others behind the same address.
	id      uint64
	server  string
	mariaDB bool
	// clustered reports whether the server is a node of a Galera cluster.
	clustered bool
	// version is the server's own version text, database the database that the connection uses.
	version, database string

	statements map[string]driver.Stmt
	values     []driver.Value
	// isStale reports whether the connection was opened before the server turned out to be read-only: the address may
	// lead to another server by now. stale marks all open connections of the database as stale.
	isStale func() bool
	stale   func()
	// spread reports whether rows of a table lie on several servers behind this one.
	spread func() bool
	// lost reports whether the connection cannot be used any more, interrupted whether the reason is a statement that
	// was given up.
	lost, interrupted bool
	// readOnly reports whether the server said that it takes no writes.
	readOnly bool
	// kill stops the statement that is running, through another connection.
	kill func(ctx context.Context, c *conn) error
}

// dialect is the SQL that the server speaks.
func (c *conn) dialect() sqltext.Dialect {
	if c.mariaDB {
		return sqltext.MariaDB
	}
	if c.spread() {
		return sqltext.MySQLShards
	}
	return sqltext.MySQL
}

// Keep implements connpool.Conn.
func (c *conn) Keep() bool { return !c.lost && !c.isStale() }

// Aged implements connpool.Conn.
func (c *conn) Aged() bool { return time.Since(c.born) > lifetime }

// Alive implements connpool.Conn: it reads what has arrived, and does not wait.
func (c *conn) Alive(context.Context, time.Duration) bool {
	return !c.isStale() && c.raw.(driver.SessionResetter).ResetSession(context.Background()) == nil
}

// Close implements connpool.Conn.
func (c *conn) Close() {
	if c.lost {
		_ = c.network.Close() // first, so that raw waits for no goodbye
	}
	_ = c.raw.Close()
}

func (c *conn) forget() {
	for _, s := range c.statements {
		_ = s.Close()
	}
	clear(c.statements)
}

// watch kills the statement that runs on the connection if the context ends first. The caller calls stop once nothing
// runs any more. A connection on which something was killed is lost, because the server may apply the order to the next
// statement.
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
		_ = c.network.Close() // a reader of it gets an error
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
	if errors.As(err, &answer) {
		unwrap(answer)
	}
	switch {
	case err == nil:
	case !errors.As(err, &answer):
		c.lost = true // it broke, or reader and server no longer agree on what was read
	case answer.Number == errShutdown, answer.Number == errKilledMariaDB, answer.Number == errKilledMySQL, answer.Number == errIdleTooLong:
		c.lost = true // the server closes it after this error
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
		s, done, err := c.prepare(sql, len(args))
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

// query runs a prepared statement and calls row for each of its rows until it returns false. The values are valid until
// the next row.
func (c *conn) query(ctx context.Context, sql []byte, args []driver.NamedValue, row func([]driver.Value) bool) error {
	return c.result(ctx, sql, args, func(rows driver.Rows) error { return connpool.EachRow(rows, &c.values, row) })
}

// result runs a prepared statement and gives its result to read, which closes it.
func (c *conn) result(ctx context.Context, sql []byte, args []driver.NamedValue, read func(driver.Rows) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	defer c.watch(ctx)()
	for again := false; ; again = true {
		s, done, err := c.prepare(sql, len(args))
		if err != nil {
			return c.failed(err)
		}
		rows, err := s.(driver.StmtQueryContext).QueryContext(context.Background(), args)
		if err == nil {
			err = read(rows)
		}
		done()
		if again || !mustPrepareAgain(err) {
			return c.failed(err)
		}
		c.forget()
	}
}

// prepare returns a statement with so many values, and a function to call after its use.
func (c *conn) prepare(sql []byte, values int) (s driver.Stmt, done func(), err error) {
	if s := c.statements[string(sql)]; s != nil {
		return s, func() {}, nil
	}
	text := string(sql)
	if s, err = c.raw.Prepare(text); err != nil {
		return nil, nil, err
	}
	if s.NumInput() != values { // a gateway says so of a statement with values that it has no plan for
		_ = s.Close()
		return nil, nil, &mysql.MySQLError{Number: errNotSupported}
	}
	if len(text) > maxKept {
		return s, func() { _ = s.Close() }, nil // its result is known by then
	}
	if len(c.statements) >= maxStatements {
		c.forget()
	}
	c.statements[text] = s
	return s, func() {}, nil
}

// mustPrepareAgain reports whether the server dropped a prepared statement because the tables changed too often.
func mustPrepareAgain(err error) bool { return number(err) == errNeedReprepare }

// texts runs a query of the server's own tables and calls row for each of its rows, as texts; NULL is "".
func (c *conn) texts(ctx context.Context, sql string, args []string, row func(v []string)) error {
	named := make([]driver.NamedValue, len(args))
	for i, arg := range args {
		named[i] = driver.NamedValue{Ordinal: i + 1, Value: arg}
	}
	return c.query(ctx, []byte(sql), named, eachText(row))
}

// unprepared is texts for a statement that a gateway does not prepare.
func (c *conn) unprepared(ctx context.Context, sql string, row func(v []string)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	defer c.watch(ctx)()
	rows, err := c.raw.(driver.QueryerContext).QueryContext(context.Background(), sql, nil)
	if err == nil {
		err = connpool.EachRow(rows, &c.values, eachText(row))
	}
	return c.failed(err)
}

// eachText gives the values of rows to row, as texts.
func eachText(row func(v []string)) func([]driver.Value) bool {
	var all []string
	return func(values []driver.Value) bool {
		all = all[:0]
		for _, value := range values {
			all = append(all, text(value))
		}
		row(all)
		return true
	}
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
