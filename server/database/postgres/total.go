package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// budget bounds the statement after it in the same transaction, the count, because a page must not wait for it.
var budget = []byte("SELECT set_config('statement_timeout', $1, true)")

// budgetSetting is how long a count may take, in the server's form.
func (d *db) budgetSetting() []byte {
	return strconv.AppendInt(nil, max(d.settings.CountingTime().Milliseconds(), 1), 10)
}

// settleTotal takes the total from the page if the page tells it, and sets the precision of a counted one.
func settleTotal(plan *database.Select, page *database.Page) {
	if plan.Total == database.TotalNone {
		return
	}
	if total, ok := page.Shows(plan); ok {
		page.Total = total
	} else if plan.Total == database.TotalCapped && page.Total > plan.Cap() {
		page.Total, page.Precision = plan.Cap(), database.TotalIsAtLeast
	}
}

// timedOut reports whether the server stopped a statement that took too long.
func timedOut(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && answer.Code == "57014"
}

// estimate asks the planner how many rows match the plan that c was prepared for. If the database cannot explain plans
// in this way, the total stays unknown and the page is still returned.
func (x exchange) estimate(ctx context.Context, c *call) (int64, database.Precision) {
	if x.db.unexplained.Load() {
		return -1, database.TotalIsExact
	}
	var plans []struct {
		Plan struct {
			Rows float64 `json:"Plan Rows"`
		}
	}
	text, err := x.explain(ctx, c)
	if err != nil || json.Unmarshal(text, &plans) != nil || len(plans) != 1 {
		x.leave(ctx)
		x.db.unexplained.Store(err == nil || unsupported(err))
		return -1, database.TotalIsExact
	}
	return int64(plans[0].Plan.Rows), database.TotalIsEstimated
}

// Estimate implements database.Estimator.
func (d *db) Estimate(ctx context.Context, plan *database.Select) (int64, error) {
	c := calls.Get()
	defer c.release()
	counted := *plan
	counted.Total = database.TotalExact
	if err := c.prepare(&counted); err != nil {
		return -1, err
	}
	pooled, err := d.acquire(ctx)
	if err != nil {
		return -1, err
	}
	defer pooled.Release()
	pooled.guard(1)
	x := exchange{db: d, conn: pooled.PgConn(), session: sessionOf(pooled.PgConn())}
	total, _ := x.estimate(ctx, c)
	if err := ctx.Err(); err != nil {
		return -1, d.statementError(ctx, err)
	}
	return total, nil
}

func (x exchange) explain(ctx context.Context, c *call) (text []byte, err error) {
	var batch pgconn.Batch
	before := x.begin(ctx, &batch)
	batch.ExecParams("EXPLAIN (FORMAT JSON) "+c.sql.Matching(), c.params.values[:c.sql.CountArgs], nil, nil, nil)
	x.end(&batch)
	results := x.conn.ExecBatch(ctx, &batch)
	skip(results, before)
	if results.NextResult() {
		for reader := results.ResultReader(); reader.NextRow(); {
			text = append(text, reader.Values()[0]...)
		}
	}
	return text, results.Close()
}

// unsupported reports whether the server does not know a statement: it speaks PostgreSQL's protocol, but is another
// product. An error with a context comes from a function or trigger, and does not count.
func unsupported(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && (answer.Code == "0A000" || answer.Code == "42601") && answer.Where == ""
}
