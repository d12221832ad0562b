package mysql

import (
	"context"
	"database/sql/driver"
	"strconv"

	"github.com/mcp-admin/mcp-admin-operator/contract/tracing"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/dial"
)

// Transact implements database.DB.
func (d *db) Transact(ctx context.Context, do func(database.Tx) error) error {
	if d.settings.ReadOnly {
		return &database.Error{Code: database.Refused, Reason: reasonError, Message: "the database is used for reading only"}
	}
	for again := false; ; again = true {
		c, err := d.acquire(ctx)
		if err != nil {
			return err
		}
		if err = d.begin(ctx, c); err == nil {
			return d.transact(ctx, c, do)
		}
		lost := c.lost && !c.interrupted
		c.lost = true
		d.pool.Release(c)
		if again || !lost || ctx.Err() != nil || d.closing.Err() != nil {
			return err
		}
	}
}

// transact runs do in the transaction that has begun on a connection, ends it, and gives the connection back.
func (d *db) transact(ctx context.Context, c *conn, do func(database.Tx) error) error {
	t := &transaction{db: d, conn: c}
	ended := false
	defer func() {
		// If do panicked, the connection is closed, and the server rolls back.
		c.lost = c.lost || !ended
		d.pool.Release(c)
	}()
	err := do(t)
	if err == nil {
		err = t.failed // do should have returned it
	}
	if err == nil && ctx.Err() != nil {
		err = dial.Cancelled(ctx.Err())
	}
	if err == nil {
		err = d.isWhole(ctx, c)
	}
	lasting := context.WithoutCancel(ctx)
	if err != nil {
		// The rollback is made even if the caller has gone. If it fails, the connection is closed, and the server rolls
		// back.
		ended = !c.lost && d.exec(lasting, c, "ROLLBACK") == nil && d.end(lasting, c) == nil
		return err
	}
	// From here on a caller who goes away does not stop the commit: its result is always known.
	if err := d.exec(lasting, c, "COMMIT"); err != nil {
		if d.spread.Load() && !c.lost {
			return d.partlyCommitted(lasting, c, err)
		}
		if c.lost && !c.readOnly { // a read-only server says that it did not commit
			return d.uncertain(err)
		}
		return err
	}
	ended = d.end(lasting, c) == nil
	return nil
}

func (d *db) uncertain(cause error) error {
	return &database.Error{
		Code: database.Uncertain, Reason: reasonError, Cause: cause, Whole: !d.divisible.Load(),
		Message: "the connection to the database broke while the change was being committed; look whether it was",
	}
}

// exec runs a statement without values.
func (d *db) exec(ctx context.Context, c *conn, sql string) error {
	limited, cancel := d.limit(ctx)
	defer cancel()
	if err := c.exec(limited, sql); err != nil {
		return d.statementError(ctx, limited, err, nil)
	}
	return nil
}

// transaction implements database.Tx.
type transaction struct {
	db   *db
	conn *conn
	// failed is the error after which nothing is done any more. Savepoint clears it once the failed part is undone.
	// ended reports whether the server itself has ended the transaction: there is no savepoint to go back to, and the
	// server would commit each further statement at once.
	failed error
	ended  bool
	depth  int
}

// fail notes an error after which no statement may follow, and returns it.
func (t *transaction) fail(err error) error {
	if err != nil && t.failed == nil {
		t.failed = err
	}
	return err
}

// Select implements database.Tx.
func (t *transaction) Select(ctx context.Context, plan *database.Select, out []byte) ([]byte, database.Page, error) {
	if t.failed != nil {
		return out, nothing, t.failed
	}
	c := calls.Get()
	defer c.release()
	extended, page, err := t.db.run(ctx, t.conn, plan, c, out)
	return extended, page, t.watch(err)
}

// Insert implements database.Tx.
func (t *transaction) Insert(ctx context.Context, plan *database.Insert, out []byte) ([]byte, error) {
	c := calls.Get()
	defer c.release()
	if err := c.SQL.BuildInsert(t.conn.dialect(), plan); err != nil {
		return out, t.fail(err)
	}
	c.Row.Prepare(values{}, plan.Returning, plan.MaxValue, database.RowObjects)
	table := plan.Into.Table()
	if c.SQL.Returns {
		return t.returned(ctx, c, table, plan.Meets != nil, out)
	}
	result, err := t.write(ctx, c, table)
	if err != nil || len(plan.Returning) == 0 {
		return out, err
	}
	counted, err := result.LastInsertId()
	if err != nil {
		return out, t.fail(database.AsError(err))
	}
	known, err := c.SQL.BuildInserted(t.conn.dialect(), plan, counted)
	if err != nil {
		return out, t.fail(err)
	}
	if !known {
		return append(out, "{}"...), nil
	}
	return t.returned(ctx, c, table, false, out)
}

// returned runs a statement that returns one row, and appends it. With meets, the row's last value says whether it meets the
// condition of the write.
func (t *transaction) returned(ctx context.Context, c *call, table *database.Table, meets bool, out []byte) ([]byte, error) {
	if t.failed != nil {
		return out, t.failed
	}
	if err := c.bind(); err != nil {
		return out, t.fail(err)
	}
	tracing.Statement(ctx, c.SQL.Text)
	limited, cancel := t.db.limit(ctx)
	defer cancel()
	extended := out
	err := t.conn.query(limited, c.SQL.Text, c.Args, func(values []driver.Value) bool {
		extended = c.Returned(extended, values, meets)
		return true
	})
	if err != nil {
		return out, t.watch(t.db.askedError(ctx, limited, t.conn, c.SQL.Text, err, table))
	}
	return extended, nil
}

// Update implements database.Tx.
func (t *transaction) Update(ctx context.Context, plan *database.Update) (int64, error) {
	return t.affect(ctx, plan.In.Table(), func(c *call) error { return c.SQL.BuildUpdate(t.conn.dialect(), plan) })
}

// InsertLater implements database.Tx. The protocol takes one statement at a time.
func (t *transaction) InsertLater(ctx context.Context, plan *database.Insert) error {
	_, err := t.Insert(ctx, plan, nil)
	return err
}

// Run implements database.Tx. No update returns rows.
func (t *transaction) Run(ctx context.Context, batch *database.Batch) error {
	return database.RunEach(ctx, t, batch, func(ctx context.Context, plan *database.Update) ([]byte, int64, error) {
		matched, err := t.Update(ctx, plan)
		return nil, matched, err
	})
}

// Delete implements database.Tx.
func (t *transaction) Delete(ctx context.Context, plan *database.Delete) (int64, error) {
	return t.affect(ctx, plan.From.Table(), func(c *call) error { return c.SQL.BuildDelete(t.conn.dialect(), plan) })
}

// Execute implements database.Tx.
func (t *transaction) Execute(ctx context.Context, statement *database.Declared) (int64, error) {
	return t.affect(ctx, nil, func(c *call) error { return c.SQL.BuildDeclared(t.conn.dialect(), statement) })
}

// affect builds and runs a statement, and returns how many rows it is about.
func (t *transaction) affect(ctx context.Context, table *database.Table, build func(*call) error) (int64, error) {
	c := calls.Get()
	defer c.release()
	if err := build(c); err != nil {
		return 0, t.fail(err)
	}
	result, err := t.write(ctx, c, table)
	if err != nil {
		return 0, err
	}
	rows, err := result.RowsAffected()
	if err != nil {
		return 0, t.fail(database.AsError(err))
	}
	return rows, nil
}

// write runs a statement that was built.
func (t *transaction) write(ctx context.Context, c *call, table *database.Table) (driver.Result, error) {
	if t.failed != nil {
		return nil, t.failed
	}
	if err := c.bind(); err != nil {
		return nil, t.fail(err)
	}
	tracing.Statement(ctx, c.SQL.Text)
	limited, cancel := t.db.limit(ctx)
	defer cancel()
	result, err := t.conn.write(limited, c.SQL.Text, c.Args)
	if err != nil {
		return nil, t.watch(t.db.askedError(ctx, limited, t.conn, c.SQL.Text, err, table))
	}
	return result, nil
}

// watch notes an error of a statement. After a deadlock the server has rolled back the whole transaction. After a wait
// for a lock it may have done so (innodb_rollback_on_timeout), and a gateway has if it allows one shard alone. A connection that is lost
// has no transaction at all.
func (t *transaction) watch(err error) error {
	if err == nil {
		return nil
	}
	e := database.AsError(err)
	t.ended = t.ended || t.conn.lost || e.Code == database.Locked || e.Ended
	return t.fail(err)
}

// Savepoint implements database.Tx.
func (t *transaction) Savepoint(ctx context.Context, do func() error) error {
	if t.failed != nil {
		return t.failed
	}
	t.depth++
	defer func() { t.depth-- }()
	name := "s" + strconv.Itoa(t.depth)
	if err := t.divide(ctx, name); err != nil {
		return err
	}
	err := do()
	if err == nil {
		err = t.failed // do should have returned it
	}
	if err == nil {
		return t.exec(ctx, "RELEASE SAVEPOINT "+name)
	}
	if t.ended {
		return err
	}
	t.failed = nil
	if undo := t.exec(context.WithoutCancel(ctx), "ROLLBACK TO SAVEPOINT "+name); undo != nil {
		t.ended = true
	}
	return err
}

// divide begins a part that can be undone alone. A server refuses that as soon as a table of the transaction has a storage engine
// without savepoints (Spider), if only to be read; what was done so far stays as it is.
func (t *transaction) divide(ctx context.Context, name string) error {
	limited, cancel := t.db.limit(ctx)
	defer cancel()
	err := t.conn.exec(limited, "SAVEPOINT "+name)
	switch number(err) {
	case errNotImplemented, errNotSupported:
		return &database.Error{
			Code: database.Undivided, Reason: reasonError, Cause: wordless(err),
			Message: "this call reads a table that has no savepoints, so the database cannot undo a part of it by itself; nothing was changed; make one change in each call",
		}
	}
	if err != nil {
		return t.watch(t.db.statementError(ctx, limited, err, nil))
	}
	return nil
}

func (t *transaction) exec(ctx context.Context, sql string) error {
	return t.watch(t.db.exec(ctx, t.conn, sql))
}

// CheckConstraints implements database.Tx. Neither MySQL nor MariaDB defers constraints.
func (t *transaction) CheckConstraints(context.Context) error { return t.failed }
