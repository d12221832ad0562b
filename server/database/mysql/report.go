package mysql

import (
	"context"
	"database/sql/driver"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract/tracing"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// Report implements database.DB. The transaction only reads, and is rolled back.
func (d *db) Report(ctx context.Context, report *database.Report, out []byte) ([]byte, database.Reported, error) {
	c := calls.Get()
	defer c.release()
	extended, reported := out, database.Reported{}
	err := d.read(ctx, func(connection *conn) error {
		if err := c.SQL.BuildDeclared(connection.dialect(), report.Statement); err != nil {
			return err
		}
		tracing.Statement(ctx, c.SQL.Text)
		if err := c.bind(); err != nil {
			return err
		}
		if report.OnlyPrepare {
			return d.onlyPrepare(ctx, connection, c)
		}
		if err := d.exec(ctx, connection, "START TRANSACTION READ ONLY"); err != nil {
			return err
		}
		var err error
		extended, reported, err = d.readReport(ctx, connection, report, c, out)
		// If the rollback fails, the connection is closed, which ends the transaction too.
		if undo := d.exec(context.WithoutCancel(ctx), connection, "ROLLBACK"); undo != nil {
			connection.lost = true
		}
		return err
	})
	if err != nil {
		return out, database.Reported{}, err
	}
	return extended, reported, nil
}

func (d *db) readReport(ctx context.Context, connection *conn, report *database.Report, c *call, out []byte) ([]byte, database.Reported, error) {
	restore, err := d.allow(ctx, connection, report.Stream)
	if err != nil {
		return out, database.Reported{}, err
	}
	defer restore()
	limited, cancel := d.limitFor(ctx, report.Stream)
	defer cancel()
	extended, reported, err := c.ReadReport(values{}, report, describeReported, out, func(read func(driver.Rows) error) error {
		return connection.result(limited, c.SQL.Text, c.Args, read)
	})
	if err != nil {
		if isMissing(err) && (d.spread.Load() || isMissing(connection.onlyPrepare(limited, c.SQL.Text, len(c.Args)))) {
			return out, database.Reported{}, d.statementError(ctx, limited, err, nil) // what the query names is missing here, not on another server
		}
		return out, database.Reported{}, d.askedError(ctx, limited, connection, c.SQL.Text, err, nil)
	}
	return extended, reported, nil
}

// describeReported fills in what the driver's name of a result's type says. It does not tell a tinyint(1) from others, so
// that the booleans of a report are 0 and 1, nor how many bits a bit column has.
func describeReported(c *database.Column) {
	name := strings.ToLower(strings.TrimPrefix(c.NativeType, "UNSIGNED "))
	c.NativeType = name
	kind, known := kinds[name]
	switch {
	case name == "tinyint":
		c.Kind = database.Integer
	case name == "bit", name == "geometry":
		c.Kind = database.Bytes
	case known:
		c.Kind = kind
	default:
		c.Kind = database.Text
	}
}
