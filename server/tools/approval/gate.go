package approval

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/write"
)

// Gate holds an endpoint's policies, and is call.Gate for its calls. It never changes.
type Gate struct {
	policies []*policy
	// inspector sees all rows: policies ask of rows as they are, whoever calls.
	inspector access.Token
	register  *Register
}

// New returns the Gate of a Config's policies; nil if it has none. The inspector sees all rows of all models.
func New(config *contract.Config, models *catalog.Catalog, inspector access.Token, register *Register) *Gate {
	if register == nil {
		register = NewRegister(func() {}, nil)
	}
	register.use(&config.Endpoint)
	if len(config.Endpoint.Approvals) == 0 {
		return nil
	}
	g := &Gate{inspector: inspector, register: register}
	for i := range config.Endpoint.Approvals {
		g.policies = append(g.policies, newPolicy(&config.Endpoint.Approvals[i], models, inspector))
	}
	return g
}

// WrongPolicies says which policies that name a model cannot be judged as they are written. A nil Gate has none.
func (g *Gate) WrongPolicies(m *catalog.Model) (notes []string) {
	if g == nil {
		return nil
	}
	for _, p := range g.policies {
		if p.problem != "" && p.Problem == "" && (len(p.Models) == 0 || slices.Contains(p.Models, m.Name)) {
			notes = append(notes, "The endpoint's approval policy "+p.Name+" cannot be judged, and holds back everything of its operations: "+p.problem+".")
		}
	}
	return notes
}

// Problems say of each policy that a server cannot judge it as it is written, beyond what its Config says. A nil Gate has none.
func (g *Gate) Problems() (problems []string) {
	if g == nil {
		return nil
	}
	for _, p := range g.policies {
		if p.problem != "" && p.Problem == "" {
			problems = append(problems, p.Name+": "+p.problem)
		}
	}
	return problems
}

// held is a call that may have to wait. It is the call's store: whatever is committed is judged first.
type held struct {
	call.Store
	gate *Gate
	call *call.Call
	// policies are those that may concern the call.
	policies []*policy
	request  request
	// met are the policies whose condition on rows as they were is met, if they have been looked at.
	met map[*policy]bool
	// foreseen are the policies that would hold back what a dry run did.
	foreseen []string
	// changes are what the call would change.
	changes *call.Changes
	// used is the approval by which the call is about to be committed; nil: none is needed.
	used *contract.Approval
	// spent reports whether the approval turned out to have been used by an earlier call.
	spent bool
	// done ends what Enter passed; nil if it passed nothing.
	done func(bool)
}

// Enter implements call.Gate.
func (g *Gate) Enter(c *call.Call) error {
	reason, err := takeReason(c)
	if err != nil {
		return err
	}
	policies := g.concerning(c)
	if len(policies) == 0 {
		return nil
	}
	h := &held{Store: c.DB, gate: g, call: c, policies: policies}
	if h.request, err = requestOf(c, reason); err != nil {
		return err
	}
	if err := g.register.stillWaits(&h.request, c.Now); err != nil {
		return err
	}
	c.Hold = h
	if c.Op.Writes() {
		c.DB, c.Changes = h, &call.Changes{}
		return nil
	}
	h.done, err = h.Pass(nil)
	return err
}

// Left implements call.Hold.
func (h *held) Left(err error) {
	if h.done != nil {
		h.done(err == nil)
	}
}

// Unheld is the store whose commits nobody judges (call.Call.Own).
func (h *held) Unheld() call.Store { return h.Store }

// errLookBack undoes what a call did, so that the rows can be looked at as they were.
var errLookBack = errors.New("the rows are to be seen as they were")

// Transact implements call.Store: it runs do, and judges what it changed before it is committed.
func (h *held) Transact(ctx context.Context, within time.Duration, do func(database.Tx) error) error {
	changes := h.call.Changes
	err := h.Store.Transact(ctx, within, func(tx database.Tx) error {
		changes.Back(call.Mark{})
		h.used, h.met, h.spent, h.foreseen = nil, nil, false, nil
		if h.asksBefore() {
			err := tx.Savepoint(ctx, func() error {
				if err := do(tx); err != nil && !errors.Is(err, write.ErrDryRun) {
					return err
				}
				return errLookBack
			})
			if !errors.Is(err, errLookBack) {
				return err
			}
			if err := h.lookBack(tx, changes.List()); err != nil {
				return err
			}
			changes.Back(call.Mark{})
		}
		switch err := do(tx); {
		case errors.Is(err, write.ErrDryRun):
			if failed := h.foresee(tx, changes); failed != nil {
				return failed
			}
			return err
		case err != nil:
			return err
		}
		return h.judge(tx, changes)
	})
	switch {
	case h.used != nil && database.Committed(err):
		h.gate.register.executed(h.used, h.call.ID, h.call.Settings.Now())
	case h.spent:
		h.tellItRan()
	}
	return err
}

// foresee notes which policies would hold back what a dry run did.
func (h *held) foresee(tx database.Tx, changes *call.Changes) error {
	met, err := h.metBy(tx, changes)
	for _, p := range met {
		h.foreseen = append(h.foreseen, p.Name)
	}
	slices.Sort(h.foreseen)
	return err
}

// Foreseen implements call.Hold.
func (h *held) Foreseen() []string { return h.foreseen }
