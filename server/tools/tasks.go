package tools

import (
	"bytes"
	"context"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/approval"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// HasTasks reports whether calls may become tasks: other people may have to allow some.
func (set *Set) HasTasks() bool { return set.tasks() != nil }

func (set *Set) tasks() *approval.Register {
	if gate, ok := set.settings.Gate.(*approval.Gate); ok {
		return gate.Tasks()
	}
	return nil
}

// HoldTask makes a task of a call that waits for an approval; false if it cannot be one.
func (set *Set) HoldTask(token access.Token, waitsFor string, made call.TaskCall) (call.Task, bool) {
	return set.tasks().HoldTask(token.Caller(), waitsFor, made, set.settings.Now())
}

// Task is what became of a task of the token's own; false if this server knows none of that id.
func (set *Set) Task(token access.Token, id string) (call.Task, bool) {
	tasks := set.tasks()
	if tasks == nil {
		return call.Task{}, false
	}
	t, sight, known := tasks.Task(token.Caller(), id, set.settings.Now())
	if sight != nil && !bytes.Equal(sight, call.SightOf(token, set.catalog)) {
		t.Result = approval.Unshown(t.Result)
	}
	return t, known
}

// CancelTask withdraws a task of the token's own; false if this server knows none of that id.
func (set *Set) CancelTask(token access.Token, id string) bool {
	tasks := set.tasks()
	return tasks != nil && tasks.CancelTask(token.Caller(), id, set.settings.Now())
}

// RunTask runs the call of a task that is due, as its caller, and returns its result; false if it is not due, or runs already. What was
// begun is brought to its end though the client may be gone: the result is kept for it.
func (set *Set) RunTask(ctx context.Context, token access.Token, id string) (result call.Result, ran bool) {
	tasks := set.tasks()
	if tasks == nil {
		return call.Result{}, false
	}
	made, ran := tasks.BeginTask(token.Caller(), id, set.settings.Now())
	if !ran {
		return call.Result{}, false
	}
	var kept *call.Result
	defer func() { tasks.EndTask(token.Caller(), id, kept, call.SightOf(token, set.catalog)) }()
	op, model := call.ParseName(made.Tool)
	c := set.newCall(context.WithoutCancel(ctx), token, op)
	if c.Resumed, c.Confirmation = true, made.Confirmation; made.Elicits {
		c.Elicited = &call.Elicited{}
	}
	result = set.perform(c, model, made.Arguments)
	if result.Waits != id { // else what allowed it was taken back meanwhile
		kept = &result
	}
	return result, true
}
