package mysql

import (
	"context"
	"database/sql/driver"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract/tracing"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/connpool"
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

// Select implements database.DB. The rows are counted only if the page itself does not tell how many match. The count
// is a separate statement, and may see what was committed after the page was read.
func (d *db) Select(ctx context.Context, plan *database.Select, out []byte) ([]byte, database.Page, error) {
	c := calls.Get()
	defer c.release()
	extended, page := out, nothing
	err := d.read(ctx, func(connection *conn) (err error) {
		extended, page, err = d.run(ctx, connection, plan, c, out)
		return err
	})
	if err != nil {
		return out, nothing, err
	}
	return extended, page, nil
}

// run answers a plan on a connection.
func (d *db) run(ctx context.Context, connection *conn, plan *database.Select, c *call, out []byte) ([]byte, database.Page, error) {
	if err := c.SQL.Build(connection.dialect(), plan); err != nil {
		return out, nothing, err
	}
	if err := c.bind(); err != nil {
		return out, nothing, err
	}
	tracing.Statement(ctx, c.SQL.Select)
	c.Row.Prepare(values{}, plan.Output, plan.MaxValue, plan.Form)
	extended, page, err := d.readPage(ctx, connection, plan, c, out)
	if err != nil {
		return out, nothing, err
	}
	if page.NeedsNoCount(plan) {
		return extended, page, nil
	}
	if err := d.count(ctx, connection, plan, c, &page); err != nil {
		return out, nothing, err
	}
	return extended, page, nil
}

// readPage appends the rows of a page.
func (d *db) readPage(ctx context.Context, connection *conn, plan *database.Select, c *call, out []byte) ([]byte, database.Page, error) {
	restore, err := d.allow(ctx, connection, plan.Stream)
	if err != nil {
		return out, nothing, err
	}
	defer restore()
	limited, cancel := d.limitFor(ctx, plan.Stream)
	defer cancel()
	extended, page, err := c.ReadPage(plan, out, func(row func([]driver.Value) bool) error {
		return connection.query(limited, c.SQL.Select, c.Args[c.SQL.SelectFrom:], row)
	})
	if err != nil {
		return out, nothing, d.askedError(ctx, limited, connection, c.SQL.Select, err, nil)
	}
	return extended, page, nil
}

// count counts the matching rows in the way that the plan asks for.
func (d *db) count(ctx context.Context, connection *conn, plan *database.Select, c *call, page *database.Page) error {
	limited, cancel := d.limit(ctx)
	defer cancel()
	sql := c.SQL.Count
	if plan.Total == database.TotalAuto {
		sql = d.withinBudget(connection, sql)
	}
	err := connection.query(limited, sql, c.Args[:c.SQL.CountArgs], func(values []driver.Value) bool {
		page.Total, _ = values[0].(int64)
		return true
	})
	if plan.Total == database.TotalAuto && outOfBudget(err) && limited.Err() == nil {
		if err = d.estimate(limited, connection, plan, c, page); isLacking(err) {
			err = nil // the total remains unknown
		}
	}
	if err != nil {
		return d.askedError(ctx, limited, connection, sql, err, nil)
	}
	if plan.Total == database.TotalCapped && page.Total > plan.Cap() {
		page.Total, page.Precision = plan.Cap(), database.TotalIsAtLeast
	}
	return nil
}

// withinBudget makes the server itself end a count in time, so that the connection can be used again.
func (d *db) withinBudget(connection *conn, sql []byte) []byte {
	budget := d.settings.CountingTime()
	if connection.mariaDB {
		return fmt.Appendf(nil, "SET STATEMENT max_statement_time = %.3f FOR %s", max(budget.Seconds(), 0.001), sql)
	}
	return fmt.Appendf(nil, "SELECT /*+ MAX_EXECUTION_TIME(%d) */ %s", max(budget.Milliseconds(), 1), strings.TrimPrefix(string(sql), "SELECT "))
}

// outOfBudget reports whether the server ended a count. If MySQL counts all rows of a table, it says only that it was interrupted.
func outOfBudget(err error) bool {
	switch number(err) {
	case errStatementTimeout, errQueryTimeout, errInterrupted:
		return true
	}
	return false
}

// explained is the least number of columns of an EXPLAIN. If it has fewer (TiDB), it is a different table.
const explained = 10

// estimate asks the planner how many rows of the plan's own table it expects.
func (d *db) estimate(ctx context.Context, connection *conn, plan *database.Select, c *call, page *database.Page) error {
	// MySQL always tells which part of the rows is expected to remain; MariaDB does if it is asked.
	explain := "EXPLAIN FORMAT = TRADITIONAL "
	if connection.mariaDB {
		explain = "EXPLAIN EXTENDED "
	}
	sql := explain + c.SQL.Matching()
	var rows, product float64 = -1, -1
	err := connection.query(ctx, []byte(sql), c.Args[:c.SQL.CountArgs], func(v []driver.Value) bool {
		if len(v) < explained {
			return false
		}
		// The last columns are rows, filtered and Extra.
		expected := float(v[len(v)-3]) * float(v[len(v)-2]) / 100
		if text(v[2]) == "t0" {
			rows = expected
		}
		product = max(product, 1) * expected
		return true
	})
	if rows < 0 {
		rows = product // the tables of a view stand in its place, joined
	}
	if rows >= 0 {
		page.Precision, page.Total = database.TotalIsEstimated, int64(math.Round(rows))
		page.Total = max(page.Total, int64(max(plan.Offset, 0)+page.Count))
	}
	return err
}

// Estimate implements database.Estimator.
func (d *db) Estimate(ctx context.Context, plan *database.Select) (int64, error) {
	c, page, counted := calls.Get(), nothing, *plan
	defer c.release()
	counted.Total = database.TotalExact
	err := d.read(ctx, func(connection *conn) error {
		if err := c.SQL.Build(connection.dialect(), &counted); err != nil {
			return err
		}
		if err := c.bind(); err != nil {
			return err
		}
		limited, cancel := d.limit(ctx)
		defer cancel()
		if err := d.estimate(limited, connection, &counted, c, &page); err != nil && !isLacking(err) {
			return d.statementError(ctx, limited, err, nil)
		}
		return nil
	})
	return page.Total, err
}

// bind turns the statement's values into the driver's.
func (c *call) bind() error {
	c.Args = c.Args[:0]
	for i, arg := range c.SQL.Args {
		value := arg.Value
		switch v := value.(type) {
		case nil, int64, uint64, float64:
		case string:
			if arg.Kind.IsMoment() {
				value = strings.TrimSuffix(strings.Replace(v, "T", " ", 1), "Z") // the session is in UTC
			}
		case []byte:
			switch {
			case arg.Kind == database.JSON:
				value = string(v) // the server accepts no bytes for JSON
			case v == nil:
				value = []byte{} // the driver takes a nil slice for NULL
			}
		case bool:
			value = int64(0)
			if v {
				value = int64(1)
			}
		default:
			return database.AsError(fmt.Errorf("a value of type %T cannot be bound", value))
		}
		c.Args = append(c.Args, driver.NamedValue{Ordinal: c.SQL.Ordinal(i), Value: value})
	}
	return nil
}

func float(value driver.Value) float64 {
	switch v := value.(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	case []byte:
		f, _ := strconv.ParseFloat(string(v), 64) // a text that is not a number says nothing about rows
		return f
	}
	return 0
}
