package approval

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/audit"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/write"
)

// judge lets a transaction be committed, or ends it with an error: the call must wait, was denied, or was allowed and done before.
func (h *held) judge(tx database.Tx, changes *call.Changes) error {
	met, err := h.metBy(tx, changes)
	if err != nil {
		return err
	}
	note := ""
	if len(met) > 0 {
		if err := tx.CheckConstraints(h.call.Ctx); err != nil {
			return err // it would not be committed, whoever allows it
		}
		decision, err := h.decided(met, changes)
		if err != nil {
			return err
		}
		if err := h.use(tx, decision); err != nil {
			return err
		}
		note = "; allowed by " + strings.Join(decision.By, ", ") + " (" + decision.Name + ")"
		if decision.Comment != "" {
			note += ": " + decision.Comment
		}
	}
	for _, ch := range changes.List() {
		ch.Message += note
		if err := write.Record(&h.call.Request, tx, ch); err != nil {
			return err
		}
	}
	return nil
}

// Pass implements call.Hold.
func (h *held) Pass(changes []call.Change) (func(bool), error) {
	nothing := func(bool) {}
	var met []*policy
	about := call.ChangesOf(changes)
	if h.call.Op.Writes() {
		var err error
		if met, err = h.metBy(h.Store, about); err != nil {
			return nil, err
		}
	} else {
		met = h.policies // of what only reads, nothing changes that could be asked about
	}
	if len(met) == 0 {
		return nothing, nil
	}
	decision, err := h.decided(met, about)
	if err != nil {
		return nil, err
	}
	giveBack := func() { // if it fails, the approval stays used: nothing is done without another one
		_ = h.Store.Transact(h.call.Ctx, h.call.Settings.StatementTimeout, func(tx database.Tx) error { return h.giveBack(tx, decision) })
	}
	// What is done cannot be undone: that the approval is used up is committed before.
	err = h.Store.Transact(h.call.Ctx, h.call.Settings.StatementTimeout, func(tx database.Tx) error { return h.use(tx, decision) })
	if err != nil {
		if database.Committed(err) {
			giveBack()
		}
		return nil, call.NotDone(err)
	}
	return func(happened bool) {
		if happened {
			h.gate.register.executed(h.used, h.call.ID, h.call.Settings.Now())
			return
		}
		giveBack()
	}, nil
}

// decided is the decision that allows what a call would do. Without one the call waits, and the error says so.
func (h *held) decided(met []*policy, changes *call.Changes) (*contract.Decision, error) {
	if h.call.Catalog.Idempotency() == nil {
		return nil, call.Failf(call.CodeUnavailable, "this call needs an approval, and the endpoint's table of idempotency keys, by which what is allowed happens once, cannot be used; the endpoint's status says why, and nothing was changed")
	}
	digest, err := h.digest(met, changes)
	if err != nil {
		return nil, err
	}
	now := h.call.Settings.Now()
	h.changes = changes
	h.used = h.approval(digest, met, changes, now)
	decision := h.gate.register.decision(digest)
	h.call.Record.Approval = h.used.Name
	switch {
	case decision == nil:
		return nil, h.gate.register.wait(h, h.used, met, now)
	case decision.State == contract.ApprovalApproved && now.Before(decision.Expires):
		h.call.Record.AllowedBy = decision.By
		return decision, nil
	case decision.State == contract.ApprovalDenied:
		h.gate.register.refused(h.used, decision)
		return nil, refused(decision)
	case !h.gate.register.refused(h.used, decision): // the caller knows that it expired, and asks anew
		if h.used.Asked = now; !now.After(decision.Expires) { // the manager's clock is ahead
			h.used.Asked = decision.Expires.Add(time.Millisecond)
		}
		return nil, h.gate.register.wait(h, h.used, met, now)
	}
	return nil, refused(decision)
}

// refused is the error about a call that was not allowed, or not in time.
func refused(d *contract.Decision) *call.ToolError {
	const anew = ": nothing was changed. If it is still wanted, make it again, and it waits anew"
	message := "nobody allowed this call in time" + anew
	switch d.State {
	case contract.ApprovalDenied:
		message = "other people did not allow this call, and nothing was changed"
		if d.Comment != "" {
			message += ": " + d.Comment
		}
	case contract.ApprovalApproved:
		message = "this call was allowed, and was not made in time" + anew
	}
	payload := answerOf(map[string]any{"error": message, "code": call.CodeApprovalDenied, "approval": d.Name, "decided_by": d.By})
	return &call.ToolError{Code: call.CodeApprovalDenied, Message: message, Payload: payload}
}

// errUsed returns the error about an approval that was used before.
func (h *held) errUsed(name string) error {
	return call.Failf(call.CodeConflict, "this call was allowed once, as %s, and was done: nothing was changed now. If it is to be done again, call with an %s that you have not used", name, call.KeyName)
}

// use uses an approval up, in the transaction of what it allows: a second call with it waits there for the end of the first, and is
// refused.
func (h *held) use(tx database.Tx, d *contract.Decision) error {
	table := h.call.Catalog.Idempotency()
	row := database.Insert{Into: h.call.Token.Unscoped(table)}
	for _, cell := range []struct{ name, value string }{
		{"id", h.rowOf(d.Digest, d.Name)}, {"token", h.call.Token.Caller()}, {"call", h.call.ID}, {"request", d.Digest},
	} {
		row.Set = append(row.Set, database.Assignment{Column: table.Column(cell.name), Value: cell.value})
	}
	at, err := call.MomentIn(table.Column("at"), d.Expires)
	if err != nil {
		return err
	}
	row.Set = append(row.Set, database.Assignment{Column: table.Column("at"), Value: at}) // kept until it can be used no more
	_, err = tx.Insert(h.call.Ctx, &row, nil)
	var failure *database.Error
	if errors.As(err, &failure) && failure.Code == database.Violated && failure.Violation.Kind == database.UniqueViolation {
		h.spent = true
		return h.errUsed(d.Name)
	}
	return err
}

// tellItRan has the manager told of the call that used the approval up: the pod that ran it may have died before it told.
func (h *held) tellItRan() {
	table := h.call.Catalog.Idempotency()
	id := table.Column("id")
	rows, _, err := call.ReadAll[struct{ Call string }](h.call.Ctx, h.Store, &database.Select{
		From: h.call.Token.Unscoped(table), Limit: 1, Order: []database.Order{{Column: id}},
		Where:  database.Compare{Column: id, Op: database.Equal, Value: h.rowOf(h.used.Digest, h.used.Name)},
		Output: []database.Output{{Name: "call", Columns: []*database.Column{table.Column("call")}}},
	})
	if err == nil && len(rows) == 1 { // otherwise the next repetition tells it
		h.gate.register.executed(h.used, rows[0].Call, h.call.Settings.Now())
	}
}

// giveBack takes back that an approval was used.
func (h *held) giveBack(tx database.Tx, d *contract.Decision) error {
	table := h.call.Catalog.Idempotency()
	_, err := tx.Delete(h.call.Ctx, &database.Delete{From: h.call.Token.Unscoped(table),
		Where: database.Compare{Column: table.Column("id"), Op: database.Equal, Value: h.rowOf(d.Digest, d.Name)}})
	return err
}

// rowOf is the id of the row that says that an approval was used. No key of a caller has it: those are hashes of three texts.
func (h *held) rowOf(digest, name string) string {
	return call.HashOf("approval", h.call.Settings.Endpoint, digest, name)
}

// approval is what the manager is told of a call.
func (h *held) approval(digest string, met []*policy, changes *call.Changes, now time.Time) *contract.Approval {
	c := h.call
	a := &contract.Approval{
		Name: contract.ApprovalName(digest), Digest: digest, State: contract.ApprovalWaiting,
		Token: c.Token.Name(), TokenUID: c.Token.UID(), Caller: h.request.caller, Subject: c.Token.Subject(),
		Tool: c.Op.Name, Operation: c.Op.Name, Model: c.Model, Reason: h.request.reason, Asked: now, Rows: len(changes.List()) + changes.Unnamed().All(),
	}
	if c.Record.Operation != "" {
		a.Operation = c.Record.Operation
	}
	if c.Model != "" && !c.Generic {
		a.Tool += "_" + c.Model
	}
	for _, p := range met {
		a.Policies = append(a.Policies, p.Name)
	}
	slices.Sort(a.Policies)
	if a.Changes, a.Notice = shown(met, changes); !c.Op.Writes() {
		a.Notice = cut("asks for " + audit.Question(c.Raw)) // without the values that rows are compared with
	}
	return a
}
