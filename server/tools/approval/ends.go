package approval

import (
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// ensure returns an approval's entry, and whether it was known: it was not if the call was asked for on another pod. The caller holds the
// lock.
func (r *Register) ensure(a *contract.Approval) (e *entry, known bool) {
	if e, known = r.entries[a.Digest]; !known {
		e = &entry{Approval: *a}
		r.entries[a.Digest] = e
	}
	return e, known
}

// executed notes that a call ran by an approval.
func (r *Register) executed(a *contract.Approval, id string, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, known := r.ensure(a)
	if known && e.State == contract.ApprovalExecuted && e.Call == id {
		return
	}
	e.Call = id
	r.end(e, contract.ApprovalExecuted, now)
}

// end notes what became of a call that waited: the manager is told, and the webhooks. The caller holds the lock.
func (r *Register) end(e *entry, state string, at time.Time) {
	e.State, e.Ended = state, &at
	r.changed(e)
	r.tell(e, state, nil, at)
}

// refuse ends a call that a decision does not let run. The manager knows it; the webhooks are told. The caller holds the lock.
func (r *Register) refuse(e *entry, d *contract.Decision, at time.Time) {
	e.State, e.Ended, e.values = endOf(d), &at, nil
	r.tell(e, e.State, d.By, at)
}

// endOf is the state of a call that a decision does not let run: what was allowed, and did not run in time, has expired.
func endOf(d *contract.Decision) string {
	if d.State == contract.ApprovalApproved {
		return contract.ApprovalExpired
	}
	return d.State
}

// refused notes that the caller is told of a decision that lets no call run, and reports whether they were not told of it before.
func (r *Register) refused(a *contract.Approval, d *contract.Decision) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, known := r.ensure(a)
	if known && (e.State == endOf(d) || e.State == contract.ApprovalWaiting && e.Asked.After(d.Expires)) {
		return false
	}
	r.refuse(e, d, a.Asked)
	return true
}
