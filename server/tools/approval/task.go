package approval

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// The bounds of what tasks hold in one process, in bytes: one call or answer, and all of them. A caller has a quarter.
const (
	maxTaskBytes  = 64 << 10
	maxTasksBytes = 16 << 20
)

// task is a waiting call whose client waits for a task (docs/design/decisions/0012-approvals.md, "Tasks").
type task struct {
	call    call.TaskCall
	running bool
	// cancelled is set if the client does not want it any more though it was allowed.
	cancelled bool
	// result is the call's, as it was kept; nil while there is none. sight is what its caller could see then; nil if it shows no rows.
	result *call.Result
	sight  []byte
}

func (t *task) size() int {
	switch {
	case t == nil:
		return 0
	case t.result != nil:
		return len(t.result.Text)
	}
	return len(t.call.Tool) + len(t.call.Arguments) + len(t.call.Confirmation)
}

// Tasks are the calls that wait as tasks.
func (g *Gate) Tasks() *Register { return g.register }

// HoldTask makes a task of a caller's call that waits; false if there is no room for it.
func (r *Register) HoldTask(caller, approval string, made call.TaskCall, now time.Time) (call.Task, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.entryOf(caller, approval)
	if e == nil {
		return call.Task{}, false
	}
	if e.task == nil {
		t := &task{call: made}
		if !r.hasRoom(caller, t.size()) {
			return call.Task{}, false
		}
		t.call.Arguments = bytes.Clone(made.Arguments) // the request's memory is used again
		e.task = t
	}
	return r.look(e, now), true
}

// Task is what became of a caller's task, and what its caller could see when its result was kept; false if there is none. One that was
// allowed is due: RunTask runs it.
func (r *Register) Task(caller, id string, now time.Time) (found call.Task, sight []byte, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.taskOf(caller, id)
	if e == nil {
		return call.Task{}, nil, false
	}
	return r.look(e, now), e.task.sight, true
}

// CancelTask withdraws a caller's task, if it is not over; false if there is none.
func (r *Register) CancelTask(caller, id string, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.taskOf(caller, id)
	if e == nil {
		return false
	}
	if t := r.look(e, now); t.Status != call.TaskWorking || e.task.running {
		return true
	}
	if e.task.cancelled = true; r.about(e) == nil {
		r.end(e, contract.ApprovalWithdrawn, now)
	}
	return true
}

// BeginTask begins to run a caller's task that is due; false if it is not, or somebody else runs it. EndTask must follow.
func (r *Register) BeginTask(caller, id string, now time.Time) (*call.TaskCall, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.taskOf(caller, id)
	if e == nil {
		return nil, false
	}
	due := r.look(e, now).Due
	e.task.running = e.task.running || due != nil
	return due, due != nil
}

// EndTask keeps the result of a task that ran, and what its caller may see; a nil result keeps nothing, and the task waits on.
func (r *Register) EndTask(caller, id string, result *call.Result, sight []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.taskOf(caller, id)
	if e == nil {
		return // its policy is not in force any more
	}
	if e.task.running = false; result == nil {
		return
	}
	e.task.call = call.TaskCall{}
	if !r.hasRoom(caller, len(result.Text)) {
		e.task.result = e.unshown(result, "it was too large to keep")
		return
	}
	e.task.result, e.task.sight = result.Keep(), sight
}

// Unshown is the result of a task whose caller may not see it any more.
func Unshown(result *call.Result) *call.Result {
	return (&entry{}).unshown(result, "what you may see has changed since")
}

// unshown says of a result that is not shown again what became of the call.
func (e *entry) unshown(result *call.Result, why string) *call.Result {
	if result.IsError {
		failed := call.ResultOf(nil, &call.ToolError{Code: result.Code, Message: "the call failed; its message is not shown, because " + why})
		return &failed
	}
	return &call.Result{Structured: result.Structured, Text: answerOf(call.Replayed{Success: true, Replayed: true, Call: e.Call,
		Notice: "this call was allowed and took hold; what it answered cannot be shown, because " + why + ": read the rows"})}
}

// taskOf is a caller's entry that is the task of an id; nil if there is none. The caller holds the lock.
func (r *Register) taskOf(caller, id string) *entry {
	if e := r.entryOf(caller, id); e != nil && e.task != nil {
		return e
	}
	return nil
}

// hasRoom reports whether tasks may hold so many bytes more of a caller. The caller holds the lock.
func (r *Register) hasRoom(caller string, size int) bool {
	all, own := size, size
	for _, e := range r.entries {
		if all += e.task.size(); e.Caller == caller {
			own += e.task.size()
		}
	}
	return size <= maxTaskBytes && own <= maxTasksBytes/4 && all <= maxTasksBytes
}

// look is what became of an entry that is a task. Who did not allow it ends it. The caller holds the lock.
func (r *Register) look(e *entry, now time.Time) call.Task {
	d := r.about(e)
	if d != nil && (d.State != contract.ApprovalApproved || !now.Before(d.Expires)) && e.State != contract.ApprovalExecuted {
		r.endRefused(e, d, now)
	}
	t := call.Task{ID: e.Name, Status: call.TaskWorking, Created: e.Asked, Updated: e.Asked, Lasts: e.waitsUntil.Sub(e.Asked), Result: e.task.result}
	if e.Ended != nil {
		t.Updated, t.Lasts = *e.Ended, e.Ended.Add(keptAfter).Sub(e.Asked)
	}
	switch {
	case e.task.result != nil:
	case e.task.running:
		t.Message = "Other people have allowed this call, and it runs now."
	case e.State == contract.ApprovalWithdrawn:
		t.Status, t.Message = call.TaskCancelled, "This call was withdrawn: nothing was changed."
	case e.task.cancelled:
		t.Status, t.Message = call.TaskCancelled, "This task was cancelled, and does not run the call. The call stays allowed until it expires: made again, it runs."
	case e.State == contract.ApprovalExecuted:
		t.Result = e.unshown(&call.Result{}, "the call that was made again has the answer")
	case e.State == contract.ApprovalSuperseded:
		message := "the rows have changed, so that the call would do something else: nothing was changed. It waits as another approval"
		superseded := call.ResultOf(nil, &call.ToolError{Code: call.CodeConflict, Message: message,
			Payload: answerOf(map[string]any{"error": message, "code": call.CodeConflict, "approval": e.By, "superseded": e.Name})})
		t.Result = &superseded
	case e.State == contract.ApprovalDenied, e.State == contract.ApprovalExpired: // its caller was told by the call itself
		refusal := call.ResultOf(nil, refused(&contract.Decision{Name: e.Name, State: e.State}))
		t.Result = &refusal
	case d != nil:
		made := e.task.call
		t.Message, t.Due = "Other people have allowed this call.", &made
	default:
		t.Message = fmt.Sprintf("Nothing was changed: other people must allow this call first (%s). It runs once they do.", strings.Join(e.Policies, ", "))
	}
	if t.Result != nil {
		t.Status = call.TaskCompleted
	}
	return t
}

// endRefused ends a task that nobody allowed, or nobody ran in time: its caller is told now. The caller holds the lock.
func (r *Register) endRefused(e *entry, d *contract.Decision, now time.Time) {
	if e.task.result != nil || e.task.running {
		return
	}
	refusal := call.ResultOf(nil, refused(d))
	e.task.result, e.task.call = refusal.Keep(), call.TaskCall{}
	if e.State == contract.ApprovalWaiting {
		r.refuse(e, d, now)
	}
}
