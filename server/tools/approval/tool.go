package approval

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// ToolName is the name of the tool that tells callers of their own approvals.
const ToolName = "approvals"

// maxWait is the longest that the tool waits, in seconds, and maxWaiters how many calls may wait so at once: each holds a place of the
// server's.
const (
	maxWait    = 50
	maxWaiters = 32
)

// Operation tells callers what became of their own calls that other people must allow.
var Operation = call.WithArguments(ToolName, call.Operation{
	OfferedTo: func(c *catalog.Catalog, scope access.Scope) bool { return c.Approves() && call.MayWrite(scope) },
	Description: func(*catalog.Model) string {
		return "What became of your calls that other people must allow. It can wait for a decision, and withdraw a call."
	},
	OutputSchema: func(*catalog.Model) call.Schema { return call.PayloadSchema[listed]() },
}, tell,
	call.Argument[arguments]{Name: "approval", Into: func(a *arguments) any { return &a.name }, Help: "only this one: the approval of an answer"},
	call.Argument[arguments]{Name: "wait", Into: func(a *arguments) any { return &a.wait }, Help: "wait up to so many seconds, at most 50, while nothing is decided"},
	call.Argument[arguments]{Name: "withdraw", Into: func(a *arguments) any { return &a.withdraw }, Help: "with approval: it is not wanted any more"},
)

type arguments struct {
	name     string
	wait     call.Count
	withdraw bool
}

// listed is the tool's payload.
type listed struct {
	Approvals []state `json:"approvals"`
	Message   string  `json:"message,omitempty"`
}

// state is what is known of an approval.
type state struct {
	Approval string   `json:"approval"`
	State    string   `json:"state"`
	Tool     string   `json:"tool"`
	Rows     int      `json:"rows,omitempty"`
	Policies []string `json:"policies,omitempty"`
	// Given says of each policy how many of the people who must allow the call have done so, if it takes more than one.
	Given     []string  `json:"approvals_given,omitempty"`
	Reason    string    `json:"reason,omitempty"`
	Expires   time.Time `json:"expires,omitzero"`
	DecidedBy []string  `json:"decided_by,omitempty"`
	Comment   string    `json:"comment,omitempty"`
	// Call is the call's id, once it has run.
	Call string `json:"call,omitempty"`
	Next string `json:"next,omitempty"`
}

// tell answers what became of the caller's own calls.
func tell(c *call.Call, a *arguments) ([]byte, error) {
	g, ok := c.Gate.(*Gate)
	switch {
	case !ok:
		return answerOf(listed{Approvals: []state{}, Message: "no call of this endpoint needs an approval"}), nil
	case a.wait.N > maxWait:
		return nil, call.Invalid("wait must be a number of seconds from 0 to %d", maxWait)
	case a.withdraw && a.name == "":
		return nil, call.Invalid("withdraw goes with approval, which names the one to withdraw")
	}
	caller := c.Token.Caller()
	if a.withdraw {
		if err := g.register.withdraw(caller, a.name, c.Settings.Now()); err != nil {
			return nil, err
		}
	}
	found := g.register.await(c.Ctx, caller, a.name, time.Duration(a.wait.N)*time.Second)
	if a.name != "" && len(found) == 0 {
		return nil, call.Failf(call.CodeNotFound, "this server knows no approval %q of yours; make the call itself again with the same arguments: it tells what became of it", a.name)
	}
	return answerOf(listed{Approvals: found}), nil
}

// withdraw ends a call of a caller that waits.
func (r *Register) withdraw(caller, name string, now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.entryOf(caller, name)
	switch {
	case e == nil:
		return call.Failf(call.CodeNotFound, "this server knows no approval %q of yours that waits", name)
	case e.State != contract.ApprovalWaiting || r.about(e) != nil:
		return call.Failf(call.CodeConflict, "%s waits no more, so that it cannot be withdrawn", name)
	}
	r.end(e, contract.ApprovalWithdrawn, now)
	return nil
}

// entryOf is a caller's entry of a name; nil if there is none. The caller holds the lock.
func (r *Register) entryOf(caller, name string) *entry {
	for _, e := range r.entries {
		if e.Name == name && e.Caller == caller {
			return e
		}
	}
	return nil
}

// await returns a caller's approvals, the newest first, or the one of a name. While all of them wait, it waits for a decision.
func (r *Register) await(ctx context.Context, caller, name string, wait time.Duration) []state {
	deadline := time.NewTimer(wait)
	defer deadline.Stop()
	if wait > 0 {
		defer r.waiters.Add(-1)
		if r.waiters.Add(1) > maxWaiters {
			wait = 0
		}
	}
	for {
		found, decided := r.of(caller, name)
		waits := len(found) > 0 && !slices.ContainsFunc(found, func(s state) bool { return s.State != contract.ApprovalWaiting })
		if wait == 0 || !waits {
			return found
		}
		select {
		case <-decided:
		case <-deadline.C:
			wait = 0
		case <-ctx.Done():
			return found
		}
	}
}

// of are the approvals of a caller, the newest first, and a channel that is closed when something is decided.
func (r *Register) of(caller, name string) ([]state, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := []state{}
	asked := map[string]time.Time{}
	for _, e := range r.entries {
		if e.Caller == caller && (name == "" || e.Name == name) {
			s := e.state(r.about(e))
			for _, p := range e.given(r.allowed[e.Digest]) {
				if s.State == contract.ApprovalWaiting && p.Approvals > 1 {
					s.Given = append(s.Given, fmt.Sprintf("%s: %d of %d", p.Name, p.Given, p.Approvals))
				}
			}
			found = append(found, s)
			asked[e.Name] = e.Asked
		}
	}
	for digest, d := range r.decisions {
		if d.Caller == caller && (name == "" || d.Name == name) && r.entries[digest] == nil {
			found = append(found, decidedState(d)) // it was asked for on another pod
		}
	}
	slices.SortFunc(found, func(a, b state) int {
		return cmp.Or(asked[b.Approval].Compare(asked[a.Approval]), cmp.Compare(a.Approval, b.Approval))
	})
	return found, r.decided
}

func (e *entry) state(d *contract.Decision) state {
	s := state{Approval: e.Name, State: e.State, Tool: e.Tool, Rows: e.Rows, Policies: e.Policies, Reason: e.Reason, Call: e.Call,
		Expires: e.waitsUntil.UTC().Truncate(time.Second)}
	if d != nil {
		s.DecidedBy, s.Comment = d.By, d.Comment
		if e.State == contract.ApprovalWaiting {
			s.State = d.State
		}
	}
	s.Next = nextOf(s.State)
	return s
}

func decidedState(d *contract.Decision) state {
	return state{Approval: d.Name, State: d.State, Tool: d.Tool, Expires: d.Expires.UTC(), DecidedBy: d.By, Comment: d.Comment, Next: nextOf(d.State)}
}

// nextOf says what a caller can do about an approval in a state.
func nextOf(state string) string {
	switch state {
	case contract.ApprovalApproved:
		return "make the call again with exactly the same arguments: it runs now"
	case contract.ApprovalWaiting:
		return "wait, or withdraw it; do not try to reach the same in another way"
	case contract.ApprovalSuperseded:
		return "the rows have changed: the call waits as another approval"
	}
	return ""
}
