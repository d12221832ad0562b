package postgres

import (
	"context"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
)

// Insert implements database.Tx.
func (t *transaction) Insert(ctx context.Context, plan *database.Insert, out []byte) ([]byte, error) {
	c := calls.Get()
	defer c.release()
	if err := c.sql.BuildInsert(sqltext.PostgreSQL, plan); err != nil {
		return out, err
	}
	if !c.sql.Returns {
		added, err := t.run(ctx, c, plan.Into.Table())
		if err != nil || added == 0 {
			return out, err
		}
		return append(out, "{}"...), nil
	}
	if err := c.params.encode(c.sql.Args); err != nil {
		return out, err
	}
	c.rows.writer.Prepare(cells{}, plan.Returning, 0, database.RowObjects)
	guarded, cancel := t.db.guard(ctx, 1)
	defer cancel()
	reader, err := t.start(guarded, c)
	if err != nil {
		return out, t.db.writeError(ctx, err, c, plan.Into.Table())
	}
	read := database.Select{Output: plan.Returning, Limit: 1}
	extended, _, err := c.rows.read(reader, &read, out)
	if _, closeErr := reader.Close(); closeErr != nil {
		err = closeErr
	}
	if err != nil {
		return out, t.db.writeError(ctx, err, c, plan.Into.Table())
	}
	return extended, nil
}

// Update implements database.Tx.
func (t *transaction) Update(ctx context.Context, plan *database.Update) (int64, error) {
	c := calls.Get()
	defer c.release()
	if err := c.sql.BuildUpdate(sqltext.PostgreSQL, plan); err != nil {
		return 0, err
	}
	return t.run(ctx, c, plan.In.Table())
}

// Delete implements database.Tx.
func (t *transaction) Delete(ctx context.Context, plan *database.Delete) (int64, error) {
	c := calls.Get()
	defer c.release()
	if err := c.sql.BuildDelete(sqltext.PostgreSQL, plan); err != nil {
		return 0, err
	}
	return t.run(ctx, c, plan.From.Table())
}

// Execute implements database.Tx.
func (t *transaction) Execute(ctx context.Context, statement *database.Declared) (int64, error) {
	c := calls.Get()
	defer c.release()
	if err := c.sql.BuildDeclared(sqltext.PostgreSQL, statement); err != nil {
		return 0, err
	}
	return t.run(ctx, c, nil)
}

// run runs the statement that was built in c and returns how many rows it is about. It ignores any rows that the
// statement returns.
func (t *transaction) run(ctx context.Context, c *call, table *database.Table) (int64, error) {
	if err := c.params.encode(c.sql.Args); err != nil {
		return 0, err
	}
	guarded, cancel := t.db.guard(ctx, 1)
	defer cancel()
	reader, err := t.start(guarded, c)
	if err != nil {
		return 0, t.db.writeError(ctx, err, c, table)
	}
	tag, err := reader.Close()
	if err != nil {
		return 0, t.db.writeError(ctx, err, c, table)
	}
	return tag.RowsAffected(), nil
}

// start sends the statement that was built in c, prepared if it has come before.
func (t *transaction) start(ctx context.Context, c *call) (*pgconn.ResultReader, error) {
	if !t.unnamed() {
		if err := t.session.makeRoom(ctx, t.conn); err != nil {
			return nil, err
		}
		prepared, err := t.session.prepare(ctx, t.conn, c.sql.Text)
		if err != nil {
			return nil, err
		}
		if prepared != nil {
			return t.conn.ExecStatement(ctx, prepared, c.params.values, nil, nil), nil
		}
	}
	return t.conn.ExecParams(ctx, string(c.sql.Text), c.params.values, nil, nil, nil), nil
}
