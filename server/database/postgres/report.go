package postgres

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/mcp-admin/mcp-admin-operator/contract/tracing"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
)

// Report implements database.DB. A connection that was already dead is replaced once.
func (d *db) Report(ctx context.Context, report *database.Report, out []byte) ([]byte, database.Reported, error) {
	c := calls.Get()
	defer c.release()
	if err := c.sql.BuildDeclared(sqltext.PostgreSQL, report.Statement); err != nil {
		return out, database.Reported{}, err
	}
	if err := c.params.encode(c.sql.Args); err != nil {
		return out, database.Reported{}, err
	}
	c.sql.Text = report.Prepared(c.sql.Text)
	tracing.Statement(ctx, c.sql.Text)
	for again := false; ; again = true {
		extended, reported, err := d.tryReport(ctx, report, c, out)
		var retry *retryable
		switch {
		case err == nil:
			return extended, reported, nil
		case !errors.As(err, &retry):
			return out, database.Reported{}, err
		case again:
			return out, database.Reported{}, d.statementError(ctx, retry.cause)
		}
	}
}

func (d *db) tryReport(ctx context.Context, report *database.Report, c *call, out []byte) ([]byte, database.Reported, error) {
	pooled, err := d.acquire(ctx)
	if err != nil {
		return nil, database.Reported{}, err
	}
	defer pooled.Release()
	pooled.guardStream(2, report.Stream)
	x := exchange{db: d, conn: pooled.PgConn(), session: sessionOf(pooled.PgConn()), comment: d.comment(ctx)}
	out, reported, err := x.report(ctx, report, c, out)
	x.leave(ctx)
	switch {
	case err == nil:
		return out, reported, nil
	case report.OnlyPrepare && untaken(err) != nil:
		return nil, database.Reported{}, untaken(err)
	case d.died(ctx, pooled):
		return nil, database.Reported{}, &retryable{err}
	}
	return nil, database.Reported{}, d.readError(ctx, c, err)
}

// report sends a transaction that only reads, and undoes it: a setting that the query makes goes with it.
func (x exchange) report(ctx context.Context, report *database.Report, c *call, out []byte) ([]byte, database.Reported, error) {
	var batch pgconn.Batch
	batch.ExecParams("BEGIN READ ONLY", nil, nil, nil, nil)
	before := 1 + x.sendTransactionSettings(ctx, &batch) + x.db.sendTime(&batch, report.Stream)
	batch.ExecParams(string(x.commented(c.sql.Text)), c.params.values, nil, nil, nil)
	batch.ExecParams("ROLLBACK", nil, nil, nil, nil)
	results := x.conn.ExecBatch(ctx, &batch)
	skip(results, before)
	var reported database.Reported
	var err error
	if results.NextResult() {
		reader := results.ResultReader()
		plan := report.Plan(reportColumns(reader.FieldDescriptions()))
		c.rows.writer.Prepare(&cells{}, plan.Output, plan.MaxValue, plan.Form)
		reported.Columns = plan.ColumnNames()
		for range report.Offset {
			if !reader.NextRow() {
				break
			}
		}
		out, reported.Page, err = c.rows.read(reader, plan, out)
		if _, closeErr := reader.Close(); closeErr != nil {
			err = closeErr
		}
	}
	if closeErr := results.Close(); err == nil {
		err = closeErr
	}
	return out, reported, err
}

// sendTransactionSettings sends the settings of one transaction, and returns how many results they have.
func (x exchange) sendTransactionSettings(ctx context.Context, batch *pgconn.Batch) int {
	sent := 0
	if x.unnamed() {
		x.db.sendSettings(batch)
		sent++
	}
	return sent + sendCaller(ctx, batch)
}

// sendCaller sends the settings that say who calls, which end with the transaction, and returns how many results they
// have. Within a batch without BEGIN, everything before one Sync is one transaction.
func sendCaller(ctx context.Context, batch *pgconn.Batch) int {
	settings := database.Session(ctx)
	if len(settings) == 0 {
		return 0
	}
	var sql strings.Builder
	var values [][]byte
	for _, s := range settings {
		if len(values) == 0 {
			sql.WriteString("SELECT ")
		} else {
			sql.WriteString(", ")
		}
		n := len(values)
		sql.WriteString("set_config($" + strconv.Itoa(n+1) + ", $" + strconv.Itoa(n+2) + ", true)")
		values = append(values, []byte(s.Name), []byte(s.Value))
	}
	batch.ExecParams(sql.String(), values, nil, nil, nil)
	return 1
}

// types are PostgreSQL's own types by their number. A type that is not among them is shown as the server writes it.
var types = pgtype.NewMap()

// reportColumns describe the columns of a result by what the server says of them.
func reportColumns(fields []pgconn.FieldDescription) []*database.Column {
	columns := make([]*database.Column, len(fields))
	for i, f := range fields {
		c := &database.Column{Name: f.Name}
		if known, ok := types.TypeForOID(f.DataTypeOID); ok {
			described := columnType{name: known.Name, modifier: f.TypeModifier}
			if element, array := strings.CutPrefix(known.Name, "_"); array {
				described.category, described.elementName = "A", element
			}
			described.describe(c)
		} else {
			c.Kind = database.Other
		}
		columns[i] = c
	}
	return columns
}
