package duckdb

import (
	"context"
	"database/sql/driver"
	"strconv"

	"github.com/mcp-admin/mcp-admin-operator/contract/tracing"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/connpool"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
	"github.com/mcp-admin/mcp-admin-operator/server/objpool"
)

// call is the memory of one statement, kept for the next.
type call struct{ connpool.Call }

var calls objpool.Pool[call]

func (c *call) release() {
	c.Reset()
	calls.Put(c)
}

// nothing is the page of a Select that failed.
var nothing = database.Page{Total: -1}

// build makes a call ready for a plan.
func (c *call) build(plan *database.Select) error {
	if err := c.SQL.Build(sqltext.DuckDB, plan); err != nil {
		return err
	}
	c.Row.Prepare(values{}, plan.Output, plan.MaxValue, plan.Form)
	c.bind()
	return nil
}

// bind turns the statement's values into the driver's. A number beyond int64 is cast from its text.
func (c *call) bind() {
	c.Args = c.Args[:0]
	for i, arg := range c.SQL.Args {
		value := driver.Value(arg.Value)
		switch v := arg.Value.(type) {
		case uint64:
			value = strconv.FormatUint(v, 10)
		case []byte:
			if arg.Kind == database.JSON {
				value = string(v)
			} else if v == nil {
				value = []byte{}
			}
		}
		c.Args = append(c.Args, driver.NamedValue{Ordinal: c.SQL.Ordinal(i), Value: value})
	}
}

// Select implements database.DB.
func (d *db) Select(ctx context.Context, plan *database.Select, out []byte) ([]byte, database.Page, error) {
	c := calls.Get()
	defer c.release()
	if err := c.build(plan); err != nil {
		return out, nothing, err
	}
	var page database.Page
	var extended []byte
	err := d.again(ctx, func(connection *conn) (err error) {
		if extended, page, err = d.selectOn(ctx, connection, plan, c, out); err == nil {
			return nil
		}
		return d.explained(ctx, connection, c, plan.From.Base(), err)
	})
	if err != nil {
		return out, nothing, err
	}
	return extended, page, nil
}

// mostAttempts bounds how often a statement runs if each time the files were replaced meanwhile.
const mostAttempts = 3

// again takes a connection and does something with it; once more if the files are others by then: DuckDB opens a file again by its name
// whenever it reads, and may have read what is half written.
func (d *db) again(ctx context.Context, do func(*conn) error) error {
	for attempt := 1; ; attempt++ {
		connection, err := d.acquire(ctx)
		if err != nil {
			return err
		}
		of := connection.of
		err = do(connection)
		connection.release()
		if err == nil && of.version.isAsItWas() || err != nil && !mayComeOfFiles(err) || !d.isReplaced(of) {
			return err
		}
		if attempt == mostAttempts {
			return &database.Error{Code: database.Unready, Reason: reasonError, Message: filesChange, Cause: err}
		}
	}
}

// selectOn runs a plan. The rows are counted only if the page itself does not tell how many match.
func (d *db) selectOn(ctx context.Context, connection *conn, plan *database.Select, c *call, out []byte) ([]byte, database.Page, error) {
	tracing.Statement(ctx, c.SQL.Select)
	extended, page, err := c.ReadPage(plan, out, func(row func([]driver.Value) bool) error {
		return d.statement(ctx, plan.Stream, connection, string(c.SQL.Select), c.Args[c.SQL.SelectFrom:], row)
	})
	if err != nil {
		return out, nothing, err
	}
	if page.NeedsNoCount(plan) {
		return extended, page, nil
	}
	if page.Total, page.Precision, err = d.count(ctx, connection, plan, c, page); err != nil {
		return out, nothing, err
	}
	return extended, page, nil
}

// count counts the matching rows in the way that the plan asks for. If an exact count takes too long, it tells what the page itself
// shows: DuckDB has no estimate, and a count up to a bound would take as long.
func (d *db) count(ctx context.Context, connection *conn, plan *database.Select, c *call, page database.Page) (total int64, precision database.Precision, err error) {
	counting, cancel := ctx, context.CancelFunc(func() {})
	if plan.Total == database.TotalAuto {
		counting, cancel = context.WithTimeout(ctx, d.settings.CountingTime())
	}
	defer cancel()
	err = d.statement(counting, nil, connection, string(c.SQL.Count), c.Args[:c.SQL.CountArgs], func(values []driver.Value) bool {
		total, _ = values[0].(int64)
		return true
	})
	switch {
	case err != nil && counting.Err() != nil && ctx.Err() == nil && d.closing.Err() == nil:
		return page.AtLeast(plan), database.TotalIsAtLeast, nil
	case plan.Total == database.TotalCapped && total > plan.Cap():
		return plan.Cap(), database.TotalIsAtLeast, nil
	}
	return total, precision, err
}

// statement runs a statement that reads, for no longer than the statement timeout; a stream may take its rows.
func (d *db) statement(ctx context.Context, stream *database.Stream, c *conn, sql string, args []driver.NamedValue, row func([]driver.Value) bool) error {
	limited, cancel := d.limit(ctx, stream)
	defer cancel()
	if err := c.query(limited, sql, args, row); err != nil {
		return d.statementError(ctx, limited, err)
	}
	return nil
}
