package sqlite

import (
	"context"
	"database/sql/driver"

	"github.com/mcp-admin/mcp-admin-operator/contract/tracing"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// Report implements database.DB. The connections that read cannot write.
func (d *db) Report(ctx context.Context, report *database.Report, out []byte) ([]byte, database.Reported, error) {
	c := calls.Get()
	defer c.release()
	if err := c.SQL.BuildDeclared(dialect, report.Statement); err != nil {
		return out, database.Reported{}, err
	}
	c.SQL.Text = report.Prepared(c.SQL.Text)
	tracing.Statement(ctx, c.SQL.Text)
	if err := c.bind(toCompare); err != nil {
		return out, database.Reported{}, err
	}
	connection, err := d.acquire(ctx)
	if err != nil {
		return out, database.Reported{}, err
	}
	defer d.readers.Release(connection)
	limited, cancel := d.limitFor(ctx, report.Stream)
	defer cancel()
	extended, reported, err := c.ReadReport(values{}, report, describeType, out, func(read func(driver.Rows) error) error {
		s, done, err := connection.prepare(limited, c.SQL.Text)
		if err != nil {
			return err
		}
		defer done()
		rows, err := s.QueryContext(limited, c.Args)
		if err != nil {
			return err
		}
		return read(rows)
	})
	if err != nil {
		if e := untaken(err); e != nil && report.OnlyPrepare {
			return out, database.Reported{}, e
		}
		return out, database.Reported{}, d.statementError(ctx, limited, err)
	}
	return extended, reported, nil
}
