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

// transaction is a transaction on a connection. It begins with its first statement.
type transaction struct {
	exchange
	pooled *conn
	begun  bool
	// queue are the statements that were not sent yet, sent is how often some were. delivered reports whether the latest of
	// them may have reached the server.
	queue     queue
	sent      int
	delivered bool
	depth     int
}

// Transact implements database.DB.
func (d *db) Transact(ctx context.Context, do func(database.Tx) error) error {
	if d.settings.ReadOnly {
		return &database.Error{Code: database.Refused, Reason: reasonError, Message: "the database is used for reading only"}
	}
	pooled, err := d.acquire(ctx)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		pooled.Release()
		return dial.Cancelled(err)
	}
	t := &transaction{exchange: exchange{db: d, open: true}}
	t.use(pooled)
	finished := false
	defer func() {
		if !finished {
			t.rollback(ctx) // do panicked
		}
		t.queue.drop(0)
		if t.pooled != nil {
			t.pooled.Release() // if it is still in a transaction, the pool closes it instead of taking it back
		}
	}()
	err = do(t)
	finished = true
	if err == nil {
		return t.commit(ctx)
	}
	t.rollback(ctx)
	return err
}

func (t *transaction) use(pooled *conn) {
	t.pooled, t.conn = pooled, pooled.PgConn()
	t.session = sessionOf(t.conn)
}

// reconnect takes another connection instead of one that was lost.
func (t *transaction) reconnect(ctx context.Context) error {
	t.pooled.Release()
	t.pooled = nil
	pooled, err := t.db.acquire(ctx)
	if err == nil {
		t.use(pooled)
	}
	return err
}

// The statements that begin a transaction.
var (
	begin       = []byte("BEGIN")
	lockTimeout = []byte("SELECT set_config('lock_timeout', $1, true)")
	beginnings  = [][]byte{begin, lockTimeout}
)

// sendBegin begins a transaction with the settings that it needs, and returns how many results that has. A wait for
// another's lock ends before the statement timeout, so that the two can be told apart.
func (t *transaction) sendBegin(ctx context.Context, batch *pgconn.Batch) int {
	send(batch, t.known(begin), begin, nil)
	before := 1 + t.sendTransactionSettings(ctx, batch)
	if timeout := t.db.statementTimeout(); timeout > 0 {
		limit := strconv.AppendInt(nil, max(timeout.Milliseconds()/2, 1), 10)
		send(batch, t.known(lockTimeout), lockTimeout, [][]byte{limit})
		before++
	}
	return before
}

// commit ends the transaction, and sends what waits for that. A caller who goes away meanwhile does not cut it short, because
// nobody would know how it ended. COMMIT never goes with BEGIN: what goes with that can be sent again.
func (t *transaction) commit(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		t.rollback(ctx)
		return dial.Cancelled(err)
	}
	if !t.begun {
		if _, err := t.flush(ctx); err != nil || !t.begun {
			t.rollback(ctx)
			return err
		}
	}
	if t.conn.IsClosed() {
		return &database.Error{
			Code: database.Unreachable, Reason: contract.ReasonUnreachable, Message: "the connection to the database broke off; nothing was changed",
		}
	}
	if t.conn.TxStatus() == 'E' {
		t.rollback(ctx)
		return &database.Error{Code: database.Failed, Reason: reasonError, Message: "a statement of the transaction had failed; nothing was changed"}
	}
	t.queue.command("COMMIT")
	t.session.unconfirmed = false
	// The rows that waited for it are short. If COMMIT itself waits, for a standby or a slow disk, their caller is not kept waiting
	// longer for each of them.
	s, err := t.sendWithin(context.WithoutCancel(ctx), 1)
	switch {
	case err == nil && t.session.unconfirmed:
		return unconfirmed()
	case err == nil:
		return nil
	}
	if t.db.mayHaveTaken(err) {
		t.leave(ctx)
		return t.uncertain(err)
	}
	if answered(err) || !t.delivered || s.c != nil && endedByServer(err) {
		t.leave(ctx) // a row that waited was refused
		return t.explain(ctx, s, err)
	}
	return t.uncertain(err)
}

func (t *transaction) uncertain(err error) *database.Error {
	return &database.Error{
		Code: database.Uncertain, Reason: contract.ReasonUnreachable, Cause: err, Whole: !t.db.foreign.Load(),
		Message: "the connection to the database broke off while the change was being committed; it may or may not have been made",
	}
}

// unconfirmed is the error of a commit that waited for a standby until somebody had the server stop: we do, if it takes too long.
func unconfirmed() *database.Error {
	return &database.Error{
		Code: database.Unconfirmed, Reason: reasonError,
		Message: "the change was committed, but no standby has confirmed it; a failover may lose it",
	}
}

// rollback undoes the transaction, if it has begun. If that fails, the connection is closed, which undoes it too.
func (t *transaction) rollback(ctx context.Context) {
	if t.begun {
		_ = t.cleanUp(ctx, "ROLLBACK")
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

// Savepoint implements database.Tx. What do leaves to be sent later is sent before it ends, so that its errors are do's.
func (t *transaction) Savepoint(ctx context.Context, do func() error) error {
	if t.queue.owes() {
		if _, err := t.flush(ctx); err != nil {
			return err
		}
	}
	t.depth++
	defer func() { t.depth-- }()
	name := "mcp_" + strconv.Itoa(t.depth)
	queued, sent := len(t.queue), t.sent
	t.queue.command("SAVEPOINT " + name)
	failure := do()
	if failure == nil {
		owes := t.queue.owes()
		t.queue.command("RELEASE SAVEPOINT " + name)
		if !owes {
			return nil
		}
		if _, failure = t.flush(ctx); failure == nil {
			return nil
		}
	}
	if t.sent == sent {
		t.queue.drop(queued) // the server knows nothing of it
		return failure
	}
	t.queue.drop(0)
	if !t.begun {
		return failure
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
		_, err := t.flush(ctx)
		return err
	}
	unknown := false
	err := t.Savepoint(ctx, func() error {
		t.queue.command("SET CONSTRAINTS ALL IMMEDIATE")
		defer t.queue.drop(0)
		s, err := t.send(ctx)
		if s == nil || err == nil {
			return err
		}
		unknown = unsupported(err)
		return t.explain(ctx, s, err)
	})
	if unknown {
		t.db.undeferred.Store(true)
		return nil
	}
	return err
}
