package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"strconv"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/mcp-admin/mcp-admin-operator/contract/tracing"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/connpool"
)

// Transact implements database.DB. SQLite has one writer at a time. A transaction takes that place when it begins, so
// that it never loses it halfway to another. It waits for the place no longer than busyTimeout and the statement
// timeout. do must not call Transact.
func (d *db) Transact(ctx context.Context, do func(database.Tx) error) error {
	if d.settings.ReadOnly {
		return &database.Error{Code: database.Refused, Reason: reasonError, Message: "the database is open for reading only"}
	}
	if err := d.ensureFile(ctx); err != nil {
		return err
	}
	c, err := d.writer.Acquire(ctx)
	switch {
	case errors.Is(err, connpool.ErrBusy):
		return locked(err)
	case err != nil:
		return d.openError(ctx, err)
	}
	// Waiting for a lock ends with the caller, and with Close.
	whole, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(d.closing, cancel)()
	begun, err := c.raw.(driver.ConnBeginTx).BeginTx(whole, driver.TxOptions{})
	if err != nil {
		d.end(c)
		return d.writeError(whole, whole, err, intent{})
	}
	t, committed := &tx{db: d, conn: c}, false
	defer func() {
		if t.failure = errEnded; committed {
			d.writer.Release(c)
		} else {
			d.end(c)
		}
	}()
	if err := do(t); err != nil {
		return err
	}
	if t.failure != nil {
		return t.failure // do hid the error; half of its work must not be kept
	}
	if err := begun.Commit(); err != nil {
		if resultCode(err) == sqlite3.SQLITE_IOERR && whole.Err() == nil {
			return &database.Error{
				Code: database.Uncertain, Reason: reasonError, Cause: err, Whole: true,
				Message: "the file's volume reported an error while the transaction was being committed",
			}
		}
		return d.writeError(whole, whole, err, intent{})
	}
	committed = true
	return nil
}

// errEnded is the error of a Tx that is used after its function has returned.
var errEnded = &database.Error{Code: database.Failed, Reason: reasonError, Message: "the transaction has ended"}

// end gives the writer's connection back, and leaves no transaction open on it.
func (d *db) end(c *conn) {
	c.spoilt = c.leave() != nil
	d.writer.Release(c)
}

// leave rolls back the transaction of the connection, if there is one.
func (c *conn) leave() error {
	err := c.exec(context.Background(), "ROLLBACK")
	if resultCode(err) == sqlite3.SQLITE_ERROR {
		return nil // there is none: it was committed, or SQLite itself has rolled it back
	}
	return err
}

// tx is a transaction. After an error of a statement it can only be rolled back, unless Savepoint undoes the failed
// part. SQLite itself demands that for some errors; after the others half of the work must not be committed either.
type tx struct {
	db   *db
	conn *conn
	// failure is the error after which nothing is done any more.
	failure error
	// depth is the number of savepoints that are open.
	depth int
}

// fail keeps an error.
func (t *tx) fail(err error) error {
	if err != nil && t.failure == nil {
		t.failure = err
	}
	return err
}

// Select implements database.Tx. There is nothing to lock: while the transaction lasts nobody else writes.
func (t *tx) Select(ctx context.Context, plan *database.Select, out []byte) ([]byte, database.Page, error) {
	if t.failure != nil {
		return out, nothing, t.failure
	}
	c := calls.Get()
	defer c.release()
	if err := c.build(plan); err != nil {
		return out, nothing, t.fail(err)
	}
	out, page, err := t.db.run(ctx, t.conn, plan, c, out)
	return out, page, t.fail(err)
}

// Insert implements database.Tx.
func (t *tx) Insert(ctx context.Context, plan *database.Insert, out []byte) ([]byte, error) {
	out, err := t.insert(ctx, plan, out)
	return out, t.fail(err)
}

func (t *tx) insert(ctx context.Context, plan *database.Insert, out []byte) ([]byte, error) {
	c := calls.Get()
	defer c.release()
	if t.failure != nil {
		return out, t.failure
	}
	if err := c.SQL.BuildInsert(dialect, plan); err != nil {
		return out, err
	}
	doing := intent{table: plan.Into.Table()}
	if len(plan.Returning) == 0 {
		_, err := t.change(ctx, c, doing)
		return out, err
	}
	c.Row.Prepare(values{}, plan.Returning, plan.MaxValue, database.RowObjects)
	extended, _, err := t.returned(ctx, c, doing, plan.Meets != nil, out)
	return extended, err // unchanged if a trigger's RAISE(IGNORE) refused the row
}

// returned runs a statement that was built and appends the rows that it returns, joined by commas; n is how many. With meets,
// the last value of each says whether it meets the write's condition.
func (t *tx) returned(ctx context.Context, c *call, doing intent, meets bool, out []byte) (extended []byte, n int64, err error) {
	if err := c.bind(toStore); err != nil {
		return out, 0, err
	}
	tracing.Statement(ctx, c.SQL.Text)
	limited, cancel := t.db.limit(ctx)
	defer cancel()
	extended = out
	err = t.conn.query(limited, c.SQL.Text, c.Args, func(values []driver.Value) bool {
		if n++; n > 1 {
			extended = append(extended, ',')
		}
		extended = c.Returned(extended, values, meets)
		return true
	})
	if err != nil {
		return out, 0, t.db.writeError(ctx, limited, err, doing)
	}
	return extended, n, nil
}

// InsertLater implements database.Tx. A file has no round trips.
func (t *tx) InsertLater(ctx context.Context, plan *database.Insert) error {
	_, err := t.Insert(ctx, plan, nil)
	return err
}

// Run implements database.Tx.
func (t *tx) Run(ctx context.Context, batch *database.Batch) error {
	return database.RunEach(ctx, t, batch, func(ctx context.Context, plan *database.Update) ([]byte, int64, error) {
		if len(plan.Returning) == 0 {
			n, err := t.Update(ctx, plan)
			return nil, n, err
		}
		text, n, err := t.update(ctx, plan)
		return text, n, t.fail(err)
	})
}

// update runs an UPDATE that returns rows.
func (t *tx) update(ctx context.Context, plan *database.Update) ([]byte, int64, error) {
	if t.failure != nil {
		return nil, 0, t.failure
	}
	c := calls.Get()
	defer c.release()
	if err := c.SQL.BuildUpdate(dialect, plan); err != nil {
		return nil, 0, err
	}
	c.Row.Prepare(values{}, plan.Returning, plan.MaxValue, database.RowObjects)
	return t.returned(ctx, c, intent{table: plan.In.Table()}, plan.Meets != nil, nil)
}

// Update implements database.Tx.
func (t *tx) Update(ctx context.Context, plan *database.Update) (int64, error) {
	n, err := t.write(ctx, intent{table: plan.In.Table()}, plan.In, plan.Where, func(c *call) error {
		return c.SQL.BuildUpdate(dialect, plan)
	})
	return n, t.fail(err)
}

// Delete implements database.Tx.
func (t *tx) Delete(ctx context.Context, plan *database.Delete) (int64, error) {
	n, err := t.write(ctx, intent{table: plan.From.Table(), deletes: true}, plan.From, plan.Where, func(c *call) error {
		return c.SQL.BuildDelete(dialect, plan)
	})
	return n, t.fail(err)
}

// write runs an UPDATE or DELETE. If a view's triggers do the work, SQLite counts no rows. Then the matching rows are
// counted before, and nobody can change them in between.
func (t *tx) write(ctx context.Context, doing intent, source database.Source, where database.Condition, build func(*call) error) (int64, error) {
	if t.failure != nil {
		return 0, t.failure
	}
	c := calls.Get()
	defer c.release()
	if err := build(c); err != nil {
		return 0, err
	}
	if doing.table.Kind != database.View {
		return t.change(ctx, c, doing)
	}
	_, page, err := t.Select(ctx, &database.Select{From: source, Where: where, Total: database.TotalExact}, nil)
	if err == nil && page.Total > 0 {
		_, err = t.change(ctx, c, doing)
	}
	return page.Total, err
}

// Execute implements database.Tx.
func (t *tx) Execute(ctx context.Context, statement *database.Declared) (int64, error) {
	if t.failure != nil {
		return 0, t.failure
	}
	c := calls.Get()
	defer c.release()
	if err := c.SQL.BuildDeclared(dialect, statement); err != nil {
		return 0, t.fail(err)
	}
	n, err := t.change(ctx, c, intent{})
	return n, t.fail(err)
}

// change runs the statement that was built, and returns how many rows it changed itself.
func (t *tx) change(ctx context.Context, c *call, doing intent) (int64, error) {
	if err := c.bind(toStore); err != nil {
		return 0, err
	}
	tracing.Statement(ctx, c.SQL.Text)
	limited, cancel := t.db.limit(ctx)
	defer cancel()
	n, err := t.conn.change(limited, c.SQL.Text, c.Args)
	if err != nil {
		return 0, t.db.writeError(ctx, limited, err, doing)
	}
	return n, nil
}

// Savepoint implements database.Tx. Its own statements wait for nothing, so they run even if the call is cancelled.
func (t *tx) Savepoint(_ context.Context, do func() error) error {
	if t.failure != nil {
		return t.failure
	}
	t.depth++
	defer func() { t.depth-- }()
	name := "mcp_" + strconv.Itoa(t.depth)
	if err := t.conn.exec(context.Background(), "SAVEPOINT "+name); err != nil {
		return t.fail(t.db.codeError(err))
	}
	err := do()
	if err == nil {
		err = t.failure // do hid the error
	}
	if err == nil {
		if err := t.conn.exec(context.Background(), "RELEASE "+name); err != nil {
			return t.fail(t.db.codeError(err))
		}
		return nil
	}
	if undoErr := t.conn.exec(context.Background(), "ROLLBACK TO "+name+"; RELEASE "+name); undoErr != nil {
		_ = t.fail(err) // SQLite has rolled back the whole transaction
		return err
	}
	t.failure = nil
	return err
}

// CheckConstraints implements database.Tx. SQLite defers only foreign keys. It counts the foreign keys that are not met,
// and looks at that count at the commit.
func (t *tx) CheckConstraints(context.Context) error {
	if t.failure != nil {
		return t.failure
	}
	pending, _, err := t.conn.raw.(sqlite.DBStatus).Status(sqlite.DBStatusDeferredFKs, false)
	switch {
	case err != nil:
		return t.fail(t.db.codeError(err))
	case pending != 0:
		return t.fail(violated(database.Violation{Kind: database.ForeignKeyViolation}, nil))
	}
	return nil
}
