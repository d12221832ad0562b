package sqlite

import (
	"context"
	"database/sql/driver"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/database/connpool"
)

// maxStatements bounds the statements that one connection keeps prepared.
const maxStatements = 256

// maxKept is the longest text, in bytes, of a statement that is kept prepared. Lists of values make longer ones, which
// seldom come again, and their prepared form is many times larger.
const maxKept = 8 << 10

// conn is one connection with its prepared statements. It is used by one goroutine at a time.
type conn struct {
	raw        driver.Conn
	statements map[string]driver.StmtQueryContext
	values     []driver.Value
	// spoilt reports whether the connection cannot be used again.
	spoilt bool
	// file is what the connection has open; nil for a file that is being made. writes is set if the connection writes.
	file   *file
	writes bool
}

// Keep implements connpool.Conn.
func (c *conn) Keep() bool { return !c.spoilt && !c.file.lost.Load() }

// Alive implements connpool.Conn: a file does not close connections, but somebody may have moved or replaced it.
func (c *conn) Alive(context.Context, time.Duration) bool {
	if c.writes {
		return c.file.look()
	}
	return c.file.isThere()
}

// Aged implements connpool.Conn: a file knows no other server.
func (*conn) Aged() bool { return false }

func openConn(uri string) (*conn, error) {
	raw, err := engine().Open(uri)
	if err != nil {
		return nil, err
	}
	return &conn{raw: raw, statements: map[string]driver.StmtQueryContext{}}, nil
}

// Close implements connpool.Conn.
func (c *conn) Close() {
	c.forget()
	_ = c.raw.Close()
	if c.file != nil {
		c.file.closed()
	}
}

func (c *conn) forget() {
	for _, s := range c.statements {
		_ = s.(driver.Stmt).Close()
	}
	clear(c.statements)
}

// prepare returns a statement, and a function to call after its use.
func (c *conn) prepare(ctx context.Context, sql []byte) (s driver.StmtQueryContext, done func(), err error) {
	if s := c.statements[string(sql)]; s != nil {
		return s, func() {}, nil
	}
	text := string(sql)
	prepared, err := c.raw.(driver.ConnPrepareContext).PrepareContext(ctx, text)
	if err != nil {
		return nil, nil, err
	}
	s = prepared.(driver.StmtQueryContext)
	if len(text) > maxKept {
		return s, func() { _ = prepared.Close() }, nil // its result is known by then
	}
	if len(c.statements) >= maxStatements {
		c.forget()
	}
	c.statements[text] = s
	return s, func() {}, nil
}

// query runs a prepared statement and calls row for each of its rows until it returns false. The values are valid until
// the next row.
func (c *conn) query(ctx context.Context, sql []byte, args []driver.NamedValue, row func([]driver.Value) bool) (err error) {
	s, done, err := c.prepare(ctx, sql)
	if err != nil {
		return err
	}
	defer done()
	rows, err := s.QueryContext(ctx, args)
	if err != nil {
		return err
	}
	return connpool.EachRow(rows, &c.values, row)
}

// each is query for a text, plain values and all rows.
func (c *conn) each(ctx context.Context, sql string, args []driver.Value, row func([]driver.Value)) error {
	named := make([]driver.NamedValue, len(args))
	for i, arg := range args {
		named[i] = driver.NamedValue{Ordinal: i + 1, Value: arg}
	}
	return c.query(ctx, []byte(sql), named, func(values []driver.Value) bool {
		row(values)
		return true
	})
}

// change runs a prepared statement, ignores its rows, and returns how many rows it changed.
func (c *conn) change(ctx context.Context, sql []byte, args []driver.NamedValue) (int64, error) {
	s, done, err := c.prepare(ctx, sql)
	if err != nil {
		return 0, err
	}
	defer done()
	result, err := s.(driver.StmtExecContext).ExecContext(ctx, args)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// exec runs a script of any number of statements.
func (c *conn) exec(ctx context.Context, script string) error {
	_, err := c.raw.(driver.ExecerContext).ExecContext(ctx, script, nil)
	return err
}
