package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"sync"
	"time"
)

// maxStatements bounds the statements that one connection keeps prepared.
const maxStatements = 256

// maxKept is the longest text, in bytes, of a statement that is kept prepared. Lists of values make longer ones, each
// unlike the one before; what SQLite makes of them is many times their size.
const maxKept = 8 << 10

// errBusy is a pool's answer where no connection became free in time.
var errBusy = errors.New("no connection became free in time")

// pool holds connections that are idle, newest first, and counts those in use.
type pool struct {
	open func() (*conn, error)
	// patience is how long acquire waits.
	patience time.Duration
	// slots has one element for each connection in use.
	slots chan struct{}
	mu    sync.Mutex
	idle  []*conn
}

// acquire returns a connection, waiting for one as long as the pool's patience lasts, and not beyond closing.
// Those that wait are served in the order in which they came.
func (p *pool) acquire(ctx, closing context.Context) (*conn, error) {
	if closing.Err() != nil {
		return nil, closing.Err()
	}
	select {
	case p.slots <- struct{}{}:
	default:
		patience := time.NewTimer(p.patience)
		defer patience.Stop()
		select {
		case p.slots <- struct{}{}:
		case <-patience.C:
			return nil, errBusy
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-closing.Done():
			return nil, closing.Err()
		}
	}
	p.mu.Lock()
	if last := len(p.idle) - 1; last >= 0 {
		c := p.idle[last]
		p.idle = p.idle[:last]
		p.mu.Unlock()
		return c, nil
	}
	p.mu.Unlock()
	c, err := p.open()
	if err != nil {
		<-p.slots
	}
	return c, err
}

func (p *pool) release(c *conn) {
	p.mu.Lock()
	p.idle = append(p.idle, c)
	p.mu.Unlock()
	<-p.slots
}

// discard closes a connection that is in use and cannot be used again.
func (p *pool) discard(c *conn) {
	c.close()
	<-p.slots
}

// close waits for the connections in use and closes all. It leaves no slot to acquire.
func (p *pool) close() {
	for range cap(p.slots) {
		p.slots <- struct{}{}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.idle {
		c.close()
	}
	p.idle = nil
}

// conn is one connection with its prepared statements. It is used by one goroutine at a time.
type conn struct {
	raw        driver.Conn
	statements map[string]driver.StmtQueryContext
	values     []driver.Value
}

func openConn(uri string) (*conn, error) {
	raw, err := engine().Open(uri)
	if err != nil {
		return nil, err
	}
	return &conn{raw: raw, statements: map[string]driver.StmtQueryContext{}}, nil
}

// close closes what is left of the connection; there is nobody to whom an error would matter.
func (c *conn) close() {
	c.forget()
	_ = c.raw.Close()
}

func (c *conn) forget() {
	for _, s := range c.statements {
		_ = s.(driver.Stmt).Close()
	}
	clear(c.statements)
}

// prepare returns a statement, and what is to be done with it after its use.
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
		return s, func() { _ = prepared.Close() }, nil // what its use came to is known by then
	}
	if len(c.statements) >= maxStatements {
		c.forget()
	}
	c.statements[text] = s
	return s, func() {}, nil
}

// query runs a prepared statement and calls row for each of its rows, whose values are good until the next, as long as it
// returns true.
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
	defer func() {
		if closeErr := rows.Close(); err == nil {
			err = closeErr
		}
	}()
	width := len(rows.Columns())
	if cap(c.values) < width {
		c.values = make([]driver.Value, width)
	}
	values := c.values[:width]
	defer clear(values)
	for {
		switch err := rows.Next(values); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if !row(values) {
			return nil
		}
	}
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

// change runs a prepared statement, whatever rows it returns, and tells how many it has changed.
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
