package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"
	"sync"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
)

// call is the memory of one Select, kept for the next.
type call struct {
	sql  sqltext.Statement
	args []driver.NamedValue
	row  row
}

var calls = sync.Pool{New: func() any { return new(call) }}

func (c *call) release() {
	c.sql.Reset()
	clear(c.args)
	c.row.reset()
	calls.Put(c)
}

// Select implements database.DB. The rows are only counted where the page itself does not tell how many match.
func (d *db) Select(ctx context.Context, plan *database.Select, out []byte) ([]byte, database.Page, error) {
	page := database.Page{Total: -1}
	c := calls.Get().(*call)
	defer c.release()
	if err := c.sql.Build(sqltext.SQLite, plan); err != nil {
		return out, page, err
	}
	if err := c.bind(); err != nil {
		return out, page, database.AsError(err)
	}
	c.row.prepare(plan.Output)

	connection, err := d.acquire(ctx)
	if err != nil {
		return out, page, err
	}
	defer d.pool.release(connection)
	extended := out
	err = d.statement(ctx, connection, c.sql.Select, c.args, func(values []driver.Value) {
		if page.Count > 0 {
			extended = append(extended, ',')
		}
		extended = c.row.append(extended, values)
		page.Count++
	})
	if err != nil {
		return out, database.Page{Total: -1}, err
	}
	switch {
	case !plan.Total:
	case page.Count < plan.Limit && (plan.Offset == 0 || page.Count > 0):
		page.Total = int64(max(plan.Offset, 0) + page.Count)
	default:
		err = d.statement(ctx, connection, c.sql.Count, c.args[:c.sql.CountArgs], func(values []driver.Value) {
			page.Total, _ = values[0].(int64)
		})
		if err != nil {
			return out, database.Page{Total: -1}, err
		}
	}
	return extended, page, nil
}

func (d *db) statement(ctx context.Context, c *conn, sql []byte, args []driver.NamedValue, row func([]driver.Value)) error {
	limited, cancel := d.limit(ctx)
	defer cancel()
	if err := c.query(limited, sql, args, row); err != nil {
		return d.statementError(ctx, limited, err)
	}
	return nil
}

// bind turns the statement's values into the driver's.
func (c *call) bind() error {
	c.args = c.args[:0]
	for i, arg := range c.sql.Args {
		value := arg.Value
		switch v := value.(type) {
		case nil, string, int64, float64, []byte:
		case bool:
			value = int64(0)
			if v {
				value = int64(1)
			}
		default:
			return fmt.Errorf("a value of type %T cannot be bound", value)
		}
		c.args = append(c.args, driver.NamedValue{Ordinal: i + 1, Value: value})
	}
	return nil
}
