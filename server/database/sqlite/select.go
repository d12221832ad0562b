package sqlite

import (
	"context"
	"database/sql/driver"

	"github.com/mcp-admin/mcp-admin-operator/contract/tracing"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/connpool"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
	"github.com/mcp-admin/mcp-admin-operator/server/objpool"
)

// dialect is the dialect of this package's statements.
var dialect = sqltext.SQLite

// call is the memory of one statement, kept for the next.
type call struct{ connpool.Call }

var calls objpool.Pool[call]

func (c *call) release() {
	c.Reset()
	calls.Put(c)
}

// build makes a call ready for a plan.
func (c *call) build(plan *database.Select) error {
	if err := c.SQL.Build(dialect, plan); err != nil {
		return err
	}
	c.Row.Prepare(values{}, plan.Output, plan.MaxValue, plan.Form)
	return c.bind(toCompare)
}

// nothing is the page of a Select that failed.
var nothing = database.Page{Total: -1}

// Select implements database.DB. The rows are counted only if the page itself does not tell how many match. The count
// is a separate statement, and may see what was committed after the page was read.
func (d *db) Select(ctx context.Context, plan *database.Select, out []byte) ([]byte, database.Page, error) {
	c := calls.Get()
	defer c.release()
	if err := c.build(plan); err != nil {
		return out, nothing, err
	}
	connection, err := d.acquire(ctx)
	if err != nil {
		return out, nothing, err
	}
	defer d.readers.Release(connection)
	return d.run(ctx, connection, plan, c, out)
}

// run answers a plan that was built.
func (d *db) run(ctx context.Context, connection *conn, plan *database.Select, c *call, out []byte) ([]byte, database.Page, error) {
	tracing.Statement(ctx, c.SQL.Select)
	extended, page, err := c.ReadPage(plan, out, func(row func([]driver.Value) bool) error {
		return d.statementFor(ctx, plan.Stream, connection, c.SQL.Select, c.Args[c.SQL.SelectFrom:], row)
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

// count counts the matching rows in the way that the plan asks for. SQLite has no estimate. If an exact count takes too
// long, it tries a capped one. If that takes too long as well, it returns what the page itself shows.
func (d *db) count(ctx context.Context, connection *conn, plan *database.Select, c *call, page database.Page) (int64, database.Precision, error) {
	if plan.Total != database.TotalAuto {
		return d.countOnce(ctx, connection, plan, c)
	}
	total, precision, late, err := d.countSoon(ctx, connection, plan, c)
	if !late {
		return total, precision, err
	}
	capped := *plan
	capped.Total = database.TotalCapped
	if err := c.build(&capped); err != nil {
		return -1, 0, err
	}
	if total, precision, late, err = d.countSoon(ctx, connection, &capped, c); !late {
		return total, precision, err
	}
	return page.AtLeast(plan), database.TotalIsAtLeast, nil
}

// countSoon counts for no longer than its budget, and reports whether that was too short.
func (d *db) countSoon(ctx context.Context, connection *conn, plan *database.Select, c *call) (total int64, precision database.Precision, late bool, err error) {
	soon, cancel := context.WithTimeout(ctx, d.settings.CountingTime())
	defer cancel()
	total, precision, err = d.countOnce(soon, connection, plan, c)
	return total, precision, err != nil && soon.Err() != nil && ctx.Err() == nil && d.closing.Err() == nil, err
}

func (d *db) countOnce(ctx context.Context, connection *conn, plan *database.Select, c *call) (total int64, precision database.Precision, err error) {
	err = d.statement(ctx, connection, c.SQL.Count, c.Args[:c.SQL.CountArgs], func(values []driver.Value) bool {
		total, _ = values[0].(int64)
		return true
	})
	if plan.Total == database.TotalCapped && total > plan.Cap() {
		total, precision = plan.Cap(), database.TotalIsAtLeast
	}
	return total, precision, err
}

// statement runs a statement that reads, for no longer than the statement timeout.
func (d *db) statement(ctx context.Context, c *conn, sql []byte, args []driver.NamedValue, row func([]driver.Value) bool) error {
	return d.statementFor(ctx, nil, c, sql, args, row)
}

// statementFor is statement for rows that a stream takes; it may be nil.
func (d *db) statementFor(ctx context.Context, stream *database.Stream, c *conn, sql []byte, args []driver.NamedValue, row func([]driver.Value) bool) error {
	limited, cancel := d.limitFor(ctx, stream)
	defer cancel()
	if err := c.query(limited, sql, args, row); err != nil {
		return d.statementError(ctx, limited, err)
	}
	return nil
}
