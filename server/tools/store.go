package tools

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// store is the database, or a transaction that the call is a part of.
type store interface {
	reader
	// transact runs do in a transaction. If that is the call's own, all of it may run again because others got in its way,
	// but not for longer than within.
	transact(ctx context.Context, within time.Duration, do func(database.Tx) error) error
}

// ownTransactions is the store of a call by itself: what it writes is a transaction of its own.
type ownTransactions struct{ database.DB }

func (s ownTransactions) transact(ctx context.Context, within time.Duration, do func(database.Tx) error) error {
	return database.Transact(ctx, s.DB, within, do)
}

// openTransaction is the store of a call that is part of another one's transaction: it sees what was done in it before,
// and whoever opened it commits it or undoes it all.
type openTransaction struct{ database.Tx }

func (s openTransaction) transact(_ context.Context, _ time.Duration, do func(database.Tx) error) error {
	return do(s.Tx)
}

// part returns a new call of the same token that runs in the open transaction, as a part of this call: what it changes is
// recorded under this call's id. The caller runs it (run), and must return its error, so that the transaction is undone.
func (c *call) part(tx database.Tx, op *operation, model string) *call {
	p := *c
	p.request = request{ctx: c.ctx, token: c.token, op: op, catalog: c.catalog, settings: c.settings, id: c.id, recorded: c.recorded,
		model: model, generic: model == "" && !op.Global, isPart: true}
	p.db = openTransaction{Tx: tx}
	p.stale = p.db // it must see what the transaction did
	return &p
}

// newCallID returns an id for a call: 80 random bits.
func newCallID() string { return rand.Text()[:16] }

// recordedAs is the call's id as its answer tells it: by it, the journal knows what the call changed. It is "" if the
// journal has nothing of the call, or if the call is a part of another, whose answer has it.
func (req *request) recordedAs() string {
	if req.isPart || req.dryRun || !*req.recorded {
		return ""
	}
	return req.id
}

// lock makes a plan lock the rows that it reads if the call is to, and the token may change or delete them: who may only
// read keeps nobody from writing. Rows that are read together with others of theirs are not locked: the others would be, too.
func (c *call) lock(plan *database.Select) {
	mayChange := c.scope.Has(access.Change) || c.scope.Has(access.Delete)
	plan.Lock = c.locks && mayChange && len(plan.Joins) == 0 && lockable(c.scope.Model().Table)
}
