package postgres

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/mcp-admin/mcp-admin-operator/contract/tracing"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
	"github.com/mcp-admin/mcp-admin-operator/server/objpool"
)

// call is the memory of one statement, kept for the next.
type call struct {
	sql    sqltext.Statement
	params params
	rows   rows
	// queued is the statement of a transaction that has the call.
	queued statement
}

var calls objpool.Pool[call]

func (c *call) release() {
	c.sql.Reset()
	c.params.reset()
	c.rows.reset()
	c.queued = statement{}
	calls.Put(c)
}

// prepare builds all that a plan needs.
func (c *call) prepare(plan *database.Select) error {
	if err := c.sql.Build(sqltext.PostgreSQL, plan); err != nil {
		return err
	}
	c.rows.writer.Prepare(&cells{}, plan.Output, plan.MaxValue, plan.Form)
	return c.params.encode(c.sql.Args)
}

// Select implements database.DB.
func (d *db) Select(ctx context.Context, plan *database.Select, out []byte) ([]byte, database.Page, error) {
	c := calls.Get()
	defer c.release()
	if plan.Total == database.TotalAuto && len(database.Session(ctx)) > 0 {
		capped := *plan
		capped.Total = database.TotalCapped // who calls decides which rows there are: the planner's estimate may tell of others
		plan = &capped
	}
	if err := c.prepare(plan); err != nil {
		return out, database.Page{}, err
	}
	tracing.Statement(ctx, c.sql.Select)
	for again := false; ; again = true {
		extended, page, err := d.try(ctx, plan, c, out)
		if err == nil {
			return extended, page, nil
		}
		// A read can be repeated if the connection was already dead, or lacked something that it should have.
		var retry *retryable
		if !errors.As(err, &retry) {
			return out, database.Page{}, err
		}
		if again {
			return out, database.Page{}, d.statementError(ctx, retry.cause)
		}
	}
}

// retryable reports whether another connection may not have the failure.
type retryable struct{ cause error }

func (r *retryable) Error() string { return r.cause.Error() }

func (d *db) try(ctx context.Context, plan *database.Select, c *call, out []byte) ([]byte, database.Page, error) {
	pooled, err := d.acquire(ctx)
	if err != nil {
		return nil, database.Page{}, err
	}
	defer pooled.Release()
	pooled.guardStream(3, plan.Stream)
	x := exchange{db: d, conn: pooled.PgConn(), session: sessionOf(pooled.PgConn()), comment: d.comment(ctx)}
	out, page, whole, err := x.read(ctx, plan, c, out)
	x.leave(ctx)
	if whole && timedOut(err) && ctx.Err() == nil {
		switch {
		case page.Total >= 0:
			err = nil // the page told it
		case plan.Total == database.TotalAuto:
			page.Total, page.Precision = x.estimate(ctx, c)
			err = ctx.Err()
		}
	}
	if err == nil {
		return out, page, nil
	}
	if preparedLost(err) {
		d.unnamed.Store(true)
		return nil, database.Page{}, &retryable{err}
	}
	if d.died(ctx, pooled) {
		return nil, database.Page{}, &retryable{err}
	}
	return nil, database.Page{}, d.readError(ctx, c, err)
}

// leave ends a failed transaction. Otherwise the pool would throw the connection away, as it does if this fails.
func (x exchange) leave(ctx context.Context) {
	if x.conn.TxStatus() == 'E' {
		_, _ = x.conn.Exec(ctx, "ROLLBACK").ReadAll()
	}
}

// died reports whether the connection is gone although nobody ended the call. It may have been dead when it was taken,
// and others of the pool with it.
func (d *db) died(ctx context.Context, c *conn) bool {
	if ctx.Err() != nil || c.givenUp() || d.closing.Err() != nil || !c.IsClosed() {
		return false
	}
	d.reset()
	return true
}

// readError says why a read failed.
func (d *db) readError(ctx context.Context, c *call, err error) *database.Error {
	failure := database.AsError(err)
	if failure.Code == database.Failed {
		failure = d.statementError(ctx, err)
		var answer *pgconn.PgError
		if errors.As(err, &answer) {
			c.blame(failure, answer)
		}
	}
	if failure.Code == database.Changed {
		// Other connections may hold statements that were prepared for the tables as they were.
		d.reset()
	}
	return failure
}

// exchange is one round trip on a connection, within an open transaction or by itself.
type exchange struct {
	db      *db
	conn    *pgconn.PgConn
	session *session
	// open reports whether it is within a transaction that others begin and end.
	open bool
	// comment follows the text of each statement of a caller; nil is none.
	comment []byte
}

// unnamed reports whether statements must not be prepared.
func (x exchange) unnamed() bool { return x.session.pooled || x.db.unnamed.Load() }

// prepares reports whether statements are prepared. One that has a comment is new each time.
func (x exchange) prepares() bool { return !x.unnamed() && x.comment == nil }

// comment is what a caller's statements are to have behind their text; nil if they are to have none.
func (d *db) comment(ctx context.Context) []byte {
	if !d.settings.TraceComments {
		return nil
	}
	return database.Comment(ctx)
}

// commented is the text of a statement with the comment.
func (x exchange) commented(sql []byte) []byte {
	if x.comment == nil {
		return sql
	}
	return slices.Concat(sql, x.comment)
}

// known is a statement that was prepared before; nil if it was not.
func (x exchange) known(sql []byte) *pgconn.StatementDescription {
	if x.unnamed() {
		return nil
	}
	return x.session.statements[string(sql)]
}

// read sends everything at once and reads the answers. If whole is true, the page is complete, and an error is about
// the count alone.
func (x exchange) read(ctx context.Context, plan *database.Select, c *call, out []byte) (_ []byte, page database.Page, whole bool, err error) {
	page.Total = -1
	var rows, total, limit *pgconn.StatementDescription
	counted := plan.Total != database.TotalNone
	limited := plan.Total == database.TotalAuto && !x.open
	if x.prepares() {
		if err = x.session.makeRoom(ctx, x.conn, 3); err != nil {
			return nil, page, false, err
		}
		if rows, err = x.session.prepare(ctx, x.conn, c.sql.Select); err == nil && counted {
			total, err = x.session.prepare(ctx, x.conn, c.sql.Count)
		}
		if err == nil && limited {
			limit, err = x.session.prepare(ctx, x.conn, budget)
		}
		if err != nil {
			return nil, page, false, err
		}
	}
	if !counted && plan.Stream == nil && (x.open || !x.unnamed() && !x.db.settings.ReadOnly && len(database.Session(ctx)) == 0) {
		out, page, err = x.readAlone(ctx, rows, plan, c, out)
		return out, page, false, err
	}

	var batch pgconn.Batch
	before := x.begin(ctx, &batch) + x.db.sendTime(&batch, plan.Stream)
	send(&batch, rows, x.commented(c.sql.Select), c.params.values)
	if limited {
		send(&batch, limit, budget, [][]byte{x.db.budgetSetting()})
	}
	if counted {
		send(&batch, total, x.commented(c.sql.Count), c.params.values[:c.sql.CountArgs])
	}
	x.end(&batch)
	results := x.conn.ExecBatch(ctx, &batch)
	skip(results, before)
	if results.NextResult() {
		out, page, err = c.rows.read(results.ResultReader(), plan, out)
		if _, closeErr := results.ResultReader().Close(); closeErr != nil {
			err = closeErr
		}
		whole = err == nil
	}
	if whole && limited {
		skip(results, 1)
	}
	if whole && counted && results.NextResult() {
		for reader := results.ResultReader(); reader.NextRow(); {
			page.Total, err = strconv.ParseInt(string(reader.Values()[0]), 10, 64)
		}
	}
	if closeErr := results.Close(); err == nil {
		err = closeErr
	}
	settleTotal(plan, &page)
	return out, page, whole, err
}

// readAlone is read for a single statement, as most calls are.
func (x exchange) readAlone(ctx context.Context, prepared *pgconn.StatementDescription, plan *database.Select, c *call, out []byte) ([]byte, database.Page, error) {
	var reader *pgconn.ResultReader
	if prepared != nil {
		reader = x.conn.ExecStatement(ctx, prepared, c.params.values, nil, nil)
	} else {
		reader = x.conn.ExecParams(ctx, string(x.commented(c.sql.Select)), c.params.values, nil, nil, nil)
	}
	out, page, err := c.rows.read(reader, plan, out)
	if _, closeErr := reader.Close(); closeErr != nil {
		err = closeErr
	}
	return out, page, err
}

// begin puts the statements that go first into a batch, and returns how many results they have.
func (x exchange) begin(ctx context.Context, batch *pgconn.Batch) int {
	before := 0
	if x.open {
		return 0
	}
	if x.db.settings.ReadOnly {
		batch.ExecParams("BEGIN READ ONLY", nil, nil, nil, nil)
		before++
	}
	// Without BEGIN, everything before one Sync is one transaction, so these settings end with it as well.
	return before + x.sendTransactionSettings(ctx, batch)
}

func (x exchange) end(batch *pgconn.Batch) {
	if x.db.settings.ReadOnly && !x.open {
		batch.ExecParams("COMMIT", nil, nil, nil, nil)
	}
}

// sendTime gives the statements of one transaction the time of a stream, and returns how many results that has.
func (d *db) sendTime(batch *pgconn.Batch, stream *database.Stream) int {
	if !stream.Lengthens() {
		return 0
	}
	batch.ExecParams("SELECT set_config('statement_timeout', $1, true)", [][]byte{[]byte(milliseconds(stream.Within))}, nil, nil, nil)
	return 1
}

// sendSettings applies the session's settings to one transaction.
func (d *db) sendSettings(batch *pgconn.Batch) {
	batch.ExecParams("SELECT "+sessionSettings, [][]byte{[]byte("t"), []byte(d.timeoutSetting())}, []uint32{boolOID, textOID}, nil, nil)
}

func send(batch *pgconn.Batch, prepared *pgconn.StatementDescription, sql []byte, values [][]byte) {
	if prepared != nil {
		batch.ExecStatement(prepared, values, nil, nil)
		return
	}
	batch.ExecParams(string(sql), values, nil, nil, nil)
}

// skip skips results that tell nothing. Close reports their errors.
func skip(results *pgconn.MultiResultReader, n int) {
	for ; n > 0 && results.NextResult(); n-- {
		if _, err := results.ResultReader().Close(); err != nil {
			return
		}
	}
}
