package call

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// Store is the database, or a transaction that the call is a part of.
type Store interface {
	Reader
	// Transact runs do in a transaction. If that is the call's own, all of it may run again because others got in its way,
	// but not for longer than within.
	Transact(ctx context.Context, within time.Duration, do func(database.Tx) error) error
}

// OwnTransactions is the store of a call by itself: what it writes is a transaction of its own.
type OwnTransactions struct{ database.DB }

// Transact implements Store.
func (s OwnTransactions) Transact(ctx context.Context, within time.Duration, do func(database.Tx) error) error {
	return database.Transact(ctx, s.DB, within, do)
}

// OpenTransaction is the store of a call that is part of another one's transaction: it sees what was done in it before,
// and whoever opened it commits it or undoes it all.
type OpenTransaction struct{ database.Tx }

// Transact implements Store.
func (s OpenTransaction) Transact(_ context.Context, _ time.Duration, do func(database.Tx) error) error {
	return do(s.Tx)
}

// Part returns a new call of the same token that runs in the open transaction, as a part of this call: what it changes is
// recorded under this call's id. The caller runs it (run), and must return its error, so that the transaction is undone.
func (c *Call) Part(tx database.Tx, op *Operation, model string) *Call {
	p := *c
	p.Request = Request{Ctx: c.Ctx, Token: c.Token, Op: op, Catalog: c.Catalog, Settings: c.Settings, Now: c.Now, ID: c.ID, Recorded: c.Recorded, Changes: c.Changes,
		Model: model, Generic: model == "" && !op.Global, IsPart: true}
	p.DB = OpenTransaction{Tx: tx}
	p.Stale = p.DB // it must see what the transaction did
	p.Gate, p.Hold, p.Elicited, p.Confirmation, p.Elicitation, p.TellParts = nil, nil, nil, "", nil, nil
	return &p
}

// NewCallID returns an id for a call: 80 random bits.
func NewCallID() string { return rand.Text()[:16] }

// RecordedAs is the call's id as its answer tells it: by it, the journal knows what the call changed. It is "" if the
// journal has nothing of the call, or if the call is a part of another, whose answer has it.
func (req *Request) RecordedAs() string {
	if req.IsPart || req.DryRun || !*req.Recorded {
		return ""
	}
	return req.ID
}

// Lock makes a plan lock the rows that it reads if the call is to, and the token may change or delete them: who may only
// read keeps nobody from writing. Rows that are read together with others of theirs are not locked: the others would be, too.
func (c *Call) Lock(plan *database.Select) {
	mayChange := c.Scope.Has(access.Change) || c.Scope.Has(access.Delete)
	plan.Lock = c.Locks && mayChange && len(plan.Joins) == 0 && Lockable(c.Scope.Model().Table)
}

// reporter answers reports: a database, but no transaction, as a report has one of its own.
type reporter interface {
	Report(ctx context.Context, report *database.Report, out []byte) ([]byte, database.Reported, error)
}

// Lockable reports whether rows can be locked: a view's need not be rows of any table, and a database locks rows only for a
// user who may change them.
func Lockable(t *database.Table) bool {
	return t.Kind == database.BaseTable && t.Privileges.Has(database.MayUpdate)
}
