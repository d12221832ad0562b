package postgres

import (
	"context"
	"errors"
	"strconv"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
)

// call is the memory of one Select, kept for the next.
type call struct {
	sql    sqltext.Statement
	params params
	row    row
}

var calls = sync.Pool{New: func() any { return new(call) }}

func (c *call) release() {
	c.sql.Reset()
	c.params.reset()
	c.row.reset()
	calls.Put(c)
}

// Select implements database.DB.
func (d *db) Select(ctx context.Context, plan *database.Select, out []byte) ([]byte, database.Page, error) {
	c := calls.Get().(*call)
	defer c.release()
	if err := c.sql.Build(sqltext.PostgreSQL, plan); err != nil {
		return out, database.Page{}, err
	}
	if err := c.params.encode(c.sql.Args); err != nil {
		return out, database.Page{}, err
	}
	c.row.prepare(plan.Output)
	for again := false; ; again = true {
		extended, page, err := d.try(ctx, plan, c, out)
		if err == nil {
			return extended, page, nil
		}
		// A read can be asked again where the connection was dead already, or had not what it was thought to have.
		var retry *retryable
		if !errors.As(err, &retry) {
			return out, database.Page{}, err
		}
		if again {
			return out, database.Page{}, d.statementError(ctx, retry.cause)
		}
	}
}

// retryable is a failure that another connection may not have.
type retryable struct{ cause error }

func (r *retryable) Error() string { return r.cause.Error() }

func (d *db) try(ctx context.Context, plan *database.Select, c *call, out []byte) ([]byte, database.Page, error) {
	pooled, err := d.acquire(ctx)
	if err != nil {
		return nil, database.Page{}, err
	}
	defer pooled.Release()
	conn := pooled.Conn().PgConn()
	guarded, cancel := d.guard(ctx, 2)
	defer cancel()

	out, page, err := d.run(guarded, conn, plan, c, out)
	if conn.TxStatus() == 'E' {
		// The pool would throw the connection away otherwise; where this fails, it may.
		_, _ = conn.Exec(guarded, "ROLLBACK").ReadAll()
	}
	if err == nil {
		return out, page, nil
	}
	if preparedLost(err) {
		d.unnamed.Store(true)
		return nil, database.Page{}, &retryable{err}
	}
	if ctx.Err() == nil && guarded.Err() == nil && !d.closed.Load() && conn.IsClosed() {
		return nil, database.Page{}, &retryable{err}
	}
	failure := database.AsError(err)
	if failure.Code == database.Failed {
		failure = d.statementError(ctx, err)
	}
	if failure.Code == database.Changed {
		// Other connections hold statements that were prepared for the tables as they were.
		d.pool.Reset()
	}
	return nil, database.Page{}, failure
}

// run sends everything at once and reads the answers.
func (d *db) run(ctx context.Context, conn *pgconn.PgConn, plan *database.Select, c *call, out []byte) ([]byte, database.Page, error) {
	page := database.Page{Total: -1}
	s := sessionOf(conn)
	var rows, total *pgconn.StatementDescription
	unnamed := s.pooled || d.unnamed.Load()
	if !unnamed {
		err := s.makeRoom(ctx, conn)
		if err != nil {
			return nil, page, err
		}
		if rows, err = s.prepare(ctx, conn, c.sql.Select); err != nil {
			return nil, page, err
		}
		if plan.Total {
			if total, err = s.prepare(ctx, conn, c.sql.Count); err != nil {
				return nil, page, err
			}
		}
	}
	if !unnamed && !plan.Total && !d.settings.ReadOnly {
		return c.readAlone(ctx, conn, rows, out)
	}

	var batch pgconn.Batch
	before := 0
	if d.settings.ReadOnly {
		batch.ExecParams("BEGIN READ ONLY", nil, nil, nil, nil)
		before++
	}
	if unnamed {
		// Without BEGIN, all that goes before one Sync is one transaction, so these settings end with it as well.
		batch.ExecParams("SELECT "+sessionSettings, [][]byte{[]byte("t"), []byte(d.timeoutSetting())}, []uint32{boolOID, textOID}, nil, nil)
		before++
	}
	send(&batch, rows, c.sql.Select, c.params.values)
	if plan.Total {
		send(&batch, total, c.sql.Count, c.params.values[:c.sql.CountArgs])
	}
	if d.settings.ReadOnly {
		batch.ExecParams("COMMIT", nil, nil, nil, nil)
	}
	results := conn.ExecBatch(ctx, &batch)
	for ; before > 0 && results.NextResult(); before-- {
		if _, err := results.ResultReader().Close(); err != nil {
			break // Close tells of it
		}
	}
	var err error
	if results.NextResult() {
		out, page.Count, err = c.row.read(results.ResultReader(), out)
	}
	if err == nil && plan.Total && results.NextResult() {
		for reader := results.ResultReader(); reader.NextRow(); {
			page.Total, err = strconv.ParseInt(string(reader.Values()[0]), 10, 64)
		}
	}
	if closeErr := results.Close(); closeErr != nil {
		err = closeErr
	}
	return out, page, err
}

// readAlone is run for the one statement that most calls are.
func (c *call) readAlone(ctx context.Context, conn *pgconn.PgConn, prepared *pgconn.StatementDescription, out []byte) ([]byte, database.Page, error) {
	var reader *pgconn.ResultReader
	if prepared != nil {
		reader = conn.ExecStatement(ctx, prepared, c.params.values, nil, nil)
	} else {
		reader = conn.ExecParams(ctx, string(c.sql.Select), c.params.values, nil, nil, nil)
	}
	out, count, err := c.row.read(reader, out)
	if _, closeErr := reader.Close(); closeErr != nil {
		err = closeErr
	}
	return out, database.Page{Count: count, Total: -1}, err
}

func send(batch *pgconn.Batch, prepared *pgconn.StatementDescription, sql []byte, values [][]byte) {
	if prepared != nil {
		batch.ExecStatement(prepared, values, nil, nil)
		return
	}
	batch.ExecParams(string(sql), values, nil, nil, nil)
}
