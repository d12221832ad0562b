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
	// changes and unnamed are what the call would change.
	changes []call.Change
	unnamed int
	// used is the approval by which the call is about to be committed; nil: none is needed.
	used *contract.Approval
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
		h.used, h.met = nil, nil
		if h.asksBefore() {
			err := tx.Savepoint(ctx, func() error {
				if err := do(tx); err != nil {
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
		if err := do(tx); err != nil {
			return err
		}
		return h.judge(tx, changes)
	})
	if err == nil && h.used != nil {
		h.gate.register.executed(h.used, h.call.ID, h.call.Settings.Now())
	}
	return err
}
