package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
)

// budget bounds the statements behind it in the same transaction: the count, which a page is not to wait for.
var budget = []byte("SELECT set_config('statement_timeout', $1, true)")

// budgetSetting is how long a count may take, as the server takes it: database.TotalBudget, or the statement timeout
// where that is shorter.
func (d *db) budgetSetting() []byte {
	limit := database.TotalBudget
	if timeout := d.statementTimeout(); timeout > 0 {
		limit = min(limit, timeout)
	}
	return strconv.AppendInt(nil, max(limit.Milliseconds(), 1), 10)
}

// settleTotal takes the total from the page where that tells it, and says how a counted one is to be taken.
func settleTotal(plan *database.Select, page *database.Page) {
	if plan.Total == database.TotalNone {
		return
	}
	if total, ok := page.Shows(plan); ok {
		page.Total = total
	} else if plan.Total == database.TotalCapped && page.Total > database.TotalCap {
		page.Total, page.Precision = database.TotalCap, database.TotalIsAtLeast
	}
}

// timedOut is whether the server stopped a statement that took too long.
func timedOut(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && answer.Code == "57014"
}

// estimate asks the planner how many rows match the plan that c was made ready for.
func (x exchange) estimate(ctx context.Context, plan *database.Select, c *call) (int64, error) {
	var batch pgconn.Batch
	before := x.begin(&batch)
	batch.ExecParams("EXPLAIN (FORMAT JSON) "+c.sql.Matching(sqltext.PostgreSQL, plan), c.params.values[:c.sql.CountArgs], nil, nil, nil)
	x.end(&batch)
	results := x.conn.ExecBatch(ctx, &batch)
	skip(results, before)
	var text []byte
	if results.NextResult() {
		for reader := results.ResultReader(); reader.NextRow(); {
			text = append(text, reader.Values()[0]...)
		}
	}
	if err := results.Close(); err != nil {
		return -1, err
	}
	var plans []struct {
		Plan struct {
			Rows float64 `json:"Plan Rows"`
		}
	}
	if err := json.Unmarshal(text, &plans); err != nil || len(plans) != 1 {
		return -1, &database.Error{Code: database.Failed, Reason: reasonError, Message: "the database's estimate was not understood", Cause: err}
	}
	return int64(plans[0].Plan.Rows), nil
}
