package duckdb

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract/tracing"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
)

// Report implements database.DB. The query becomes a subquery, so it can be nothing but a query: a COPY would write files. It is first
// asked for its columns, since the statement that reads the rows says how each of them is written.
func (d *db) Report(ctx context.Context, report *database.Report, out []byte) ([]byte, database.Reported, error) {
	c := calls.Get()
	defer c.release()
	if err := c.SQL.BuildDeclared(sqltext.DuckDB, report.Statement); err != nil {
		return out, database.Reported{}, err
	}
	c.bind()
	var reported database.Reported
	var extended []byte
	err := d.again(ctx, func(connection *conn) (err error) {
		if extended, reported, err = d.report(ctx, connection, c, report, out); err != nil {
			return d.explained(ctx, connection, c, nil, err)
		}
		return nil
	})
	if err != nil {
		return out, database.Reported{}, err
	}
	return extended, reported, nil
}

// report runs a report whose statement is built.
func (d *db) report(ctx context.Context, connection *conn, c *call, report *database.Report, out []byte) ([]byte, database.Reported, error) {
	tracing.Statement(ctx, c.SQL.Text)
	limited, cancel := d.limit(ctx, report.Stream)
	defer cancel()
	query := "(" + string(c.SQL.Text) + "\n) AS report"
	columns, err := connection.columns(limited, "SELECT * FROM "+query+" LIMIT 0", c.Args)
	if err != nil {
		if fault := untaken(err); fault != nil && ctx.Err() == nil && d.knows(connection.of) {
			if !report.OnlyPrepare {
				fault.Code = database.Unfit
			}
			return out, database.Reported{}, fault
		}
		return out, database.Reported{}, d.statementError(ctx, limited, err)
	}
	if report.OnlyPrepare {
		return out, database.Reported{}, nil
	}
	plan := report.Plan(columns)
	c.Row.Prepare(values{}, plan.Output, plan.MaxValue, plan.Form)
	extended, page, err := c.ReadPage(plan, out, func(row func([]driver.Value) bool) error {
		return connection.query(limited, reading(columns, query, report), c.Args, row)
	})
	if err != nil {
		return out, database.Reported{}, d.statementError(ctx, limited, err)
	}
	return extended, database.Reported{Page: page, Columns: plan.ColumnNames()}, nil
}

// knows reports whether the schema was read of the files that an instance has open.
func (d *db) knows(i *instance) bool {
	seen := d.seen.Load()
	return seen == nil || seen.same(i.version)
}

// reading is the statement that reads the rows of a query with columns.
func reading(columns []*database.Column, query string, report *database.Report) string {
	shown, names := make([]string, len(columns)), make([]string, len(columns))
	for i, c := range columns {
		names[i] = fmt.Sprintf("c%d", i)
		shown[i] = names[i] + sqltext.DuckDBShown(c)
	}
	return fmt.Sprintf("SELECT %s FROM %s(%s) LIMIT %d OFFSET %d", strings.Join(shown, ", "), query, strings.Join(names, ", "), max(report.Limit, 0)+1, max(report.Offset, 0))
}

// columns are the columns of a query. A name that comes twice has a number from DuckDB.
func (c *conn) columns(ctx context.Context, query string, args []driver.NamedValue) ([]*database.Column, error) {
	rows, err := c.rows(ctx, query, args)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	typed, _ := rows.(driver.RowsColumnTypeDatabaseTypeName)
	var columns []*database.Column
	for i, name := range rows.Columns() {
		column := &database.Column{Name: name}
		if typed != nil {
			column.NativeType = typed.ColumnTypeDatabaseTypeName(i)
		}
		describe(column)
		columns = append(columns, column)
	}
	return columns, nil
}
