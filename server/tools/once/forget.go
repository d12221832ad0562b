package once

import (
	"context"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// forget removes answers that are too old, in small pieces, beside the call that it follows: once a minute at most.
func forget(c *call.Call) {
	last := c.Forgotten.Load()
	if now := time.Now(); now.Unix()-last < int64(call.ForgetEvery/time.Second) || !c.Forgotten.CompareAndSwap(last, now.Unix()) {
		return
	}
	table, token, db, keys := c.Catalog.Idempotency(), c.Token, c.DB, c.Kept
	at := table.Column("at")
	before, err := call.MomentIn(at, time.Now().Add(-call.KeptFor))
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Ctx), call.ForgetWithin)
	go func() {
		defer cancel()
		for removed := int64(call.ForgetAtOnce); removed == call.ForgetAtOnce; keys.Count(call.KeyForgotten, int(removed)) {
			removed = removePiece(ctx, db, token.Unscoped(table), database.Compare{Column: at, Op: database.Less, Value: before})
		}
	}()
}

// removePiece removes some of the rows that meet a condition, and returns how many; 0 if that failed: the next call tries again.
func removePiece(ctx context.Context, db call.Store, from database.Source, where database.Condition) (removed int64) {
	id := from.Table().Column("id")
	plan := &database.Select{From: from, Where: where, Limit: call.ForgetAtOnce, Order: []database.Order{{Column: id}},
		Output: []database.Output{{Name: "id", Columns: []*database.Column{id}}}}
	rows, _, err := call.ReadAll[struct{ ID string }](ctx, db, plan)
	if err != nil || len(rows) == 0 {
		return 0
	}
	in := database.In{Column: id}
	for _, r := range rows {
		in.Values = append(in.Values, r.ID)
	}
	err = db.Transact(ctx, call.ForgetWithin, func(tx database.Tx) (err error) {
		removed, err = tx.Delete(ctx, &database.Delete{From: from, Where: in})
		return err
	})
	if err != nil {
		return 0
	}
	return removed
}
