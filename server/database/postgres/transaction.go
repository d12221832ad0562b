package postgres

import (
	"context"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/dial"
)

// transaction is an open transaction on a connection.
type transaction struct {
	exchange
	depth int
}

// Transact implements database.DB.
func (d *db) Transact(ctx context.Context, do func(database.Tx) error) error {
	if d.settings.ReadOnly {
		return &database.Error{Code: database.Refused, Reason: reasonError, Message: "the database is used for reading only"}
	}
	pooled, err := d.begin(ctx)
	if err != nil {
		return err
	}
	// If a connection is still in a transaction, the pool closes it instead of taking it back.
	defer pooled.Release()
	conn := pooled.PgConn()
	t := &transaction{exchange: exchange{db: d, conn: conn, session: sessionOf(conn), open: true}}
	finished := false
	defer func() {
		if !finished {
			_ = t.cleanUp(ctx, "ROLLBACK") // do panicked
		}
	}()
	err = do(t)
	finished = true
	if err == nil {
		return t.commit(ctx)
	}
	_ = t.cleanUp(ctx, "ROLLBACK") // if it fails, the connection is closed, which undoes the transaction too
	return err
}

// begin opens a transaction on a connection of the pool. A connection that was already dead is replaced once.
func (d *db) begin(ctx context.Context) (*conn, error) {
	for again := false; ; again = true {
		pooled, err := d.acquire(ctx)
		if err != nil {
			return nil, err
		}
		conn := pooled.PgConn()
		guarded, cancel := d.guard(ctx, 1)
		err = d.sendBegin(guarded, conn)
		if err == nil {
			cancel()
			return pooled, nil
		}
		died := d.died(ctx, guarded, conn)
		cancel()
		pooled.Release()
		if !died || again {
			return nil, d.statementError(ctx, err)
		}
	}
}

// sendBegin begins a transaction with the settings that it needs. A wait for another's lock ends before the statement
// timeout, so that the two can be told apart.
func (d *db) sendBegin(ctx context.Context, conn *pgconn.PgConn) error {
	var batch pgconn.Batch
	batch.ExecParams("BEGIN", nil, nil, nil, nil)
	if sessionOf(conn).pooled || d.unnamed.Load() {
		d.sendSettings(&batch)
	}
	sendCaller(ctx, &batch)
	if timeout := d.statementTimeout(); timeout > 0 {
		limit := strconv.AppendInt(nil, max(timeout.Milliseconds()/2, 1), 10)
		batch.ExecParams("SELECT set_config('lock_timeout', $1, true)", [][]byte{limit}, nil, nil, nil)
	}
	return conn.ExecBatch(ctx, &batch).Close()
}

// commit ends the transaction. A caller who goes away meanwhile does not cut it short, because nobody would know how it
// ended.
func (t *transaction) commit(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		_ = t.cleanUp(ctx, "ROLLBACK") // if it fails, the connection is closed
		return dial.Cancelled(err)
	}
	if t.conn.IsClosed() {
		return &database.Error{
			Code: database.Unreachable, Reason: contract.ReasonUnreachable, Message: "the connection to the database broke off; nothing was changed",
		}
	}
	if t.conn.TxStatus() == 'E' {
		_ = t.cleanUp(ctx, "ROLLBACK") // if it fails, the connection is closed
		return &database.Error{Code: database.Failed, Reason: reasonError, Message: "a statement of the transaction had failed; nothing was changed"}
	}
	guarded, cancel := t.db.guard(context.WithoutCancel(ctx), 1)
	defer cancel()
	_, err := t.conn.Exec(guarded, "COMMIT").ReadAll()
	if err == nil {
		return nil
	}
	if answered(err) {
		return t.db.writeError(ctx, err, nil, nil)
	}
	return &database.Error{
		Code: database.Uncertain, Reason: contract.ReasonUnreachable, Cause: err,
		Message: "the connection to the database broke off while the change was being committed; it may or may not have been made",
	}
}

// cleanUp runs a command that undoes something, even if the caller has gone.
func (t *transaction) cleanUp(ctx context.Context, command string) error {
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTime)
	defer cancel()
	_, err := t.conn.Exec(limited, command).ReadAll()
	return err
}

// cleanUpTime is how long the server has to undo the changes. Then the connection is closed, which undoes them as well.
const cleanUpTime = 5 * time.Second

// Savepoint implements database.Tx.
func (t *transaction) Savepoint(ctx context.Context, do func() error) error {
	t.depth++
	defer func() { t.depth-- }()
	name := "mcp_" + strconv.Itoa(t.depth)
	if err := t.command(ctx, "SAVEPOINT "+name); err != nil {
		return err
	}
	failure := do()
	if failure == nil {
		return t.command(ctx, "RELEASE SAVEPOINT "+name)
	}
	if err := t.cleanUp(ctx, "ROLLBACK TO SAVEPOINT "+name+"; RELEASE SAVEPOINT "+name); err != nil {
		// The changes could not be undone, so this transaction cannot go on.
		return t.db.writeError(ctx, err, nil, nil)
	}
	return failure
}

// CheckConstraints implements database.Tx. A database that does not know the command has no deferred constraints. The
// savepoint lets the transaction go on after that error.
func (t *transaction) CheckConstraints(ctx context.Context) error {
	if t.db.undeferred.Load() {
		return nil
	}
	unknown := false
	err := t.Savepoint(ctx, func() error {
		err := t.send(ctx, "SET CONSTRAINTS ALL IMMEDIATE")
		if err == nil {
			return nil
		}
		unknown = unsupported(err)
		return t.db.writeError(ctx, err, nil, nil)
	})
	if unknown {
		t.db.undeferred.Store(true)
		return nil
	}
	return err
}

func (t *transaction) command(ctx context.Context, sql string) error {
	if err := t.send(ctx, sql); err != nil {
		return t.db.writeError(ctx, err, nil, nil)
	}
	return nil
}

// send runs a command; an error is the server's own.
func (t *transaction) send(ctx context.Context, sql string) error {
	guarded, cancel := t.db.guard(ctx, 1)
	defer cancel()
	_, err := t.conn.Exec(guarded, sql).ReadAll()
	return err
}

// Select implements database.Tx. A count is always exact: a count that is cut off would end the transaction.
func (t *transaction) Select(ctx context.Context, plan *database.Select, out []byte) ([]byte, database.Page, error) {
	c := calls.Get()
	defer c.release()
	if err := c.prepare(plan); err != nil {
		return out, database.Page{}, err
	}
	guarded, cancel := t.db.guard(ctx, 2)
	defer cancel()
	extended, page, _, err := t.read(guarded, plan, c, out)
	if err != nil {
		failure := t.db.readError(ctx, c, err)
		if plan.Lock && failure.Code == database.Refused {
			failure.Message = "the database user may not read and lock the row: PostgreSQL asks for the rights to SELECT and to UPDATE for that, also before a deletion"
		}
		return out, database.Page{}, failure
	}
	return extended, page, nil
}
