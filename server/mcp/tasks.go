package mcp

import (
	"bytes"
	"net/http"
	"strconv"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// MCP's extension by which a client waits for a task in place of an answer. Here a call that waits until other people allow it becomes
// one (docs/design/protocol.md, "Tasks").
const (
	tasksExtension = "io.modelcontextprotocol/tasks"
	tasksPrefix    = "tasks/"
)

// pollInterval is how often a client should ask for a task, in milliseconds.
const pollInterval = 5000

// offersTasks reports whether calls that wait may become tasks. A task lives in the pod that made it, so that several pods offer none.
func (x *exchange) offersTasks() bool {
	_, pods := x.endpoint.TokenRate()
	return pods == 1 && x.endpoint.HasTasks()
}

// hasTasks reports whether the client that sent a message declares the extension.
func (x *exchange) hasTasks(m *message) bool {
	if !x.protocol.modern {
		return false
	}
	extensions, _ := jsontext.Member(m.inside.meta.clientCapabilities, "extensions")
	tasks, _ := jsontext.Member(extensions, tasksExtension)
	return isObject(tasks)
}

// makeTask answers a call that waits by a task. Status 0 means that it cannot be one.
func (x *exchange) makeTask(id []byte, tool string, m *message, elicited *call.Elicited, result *call.Result) (status int) {
	made := call.TaskCall{Tool: tool, Arguments: m.inside.arguments, Elicits: elicited != nil}
	if elicited != nil {
		made.Confirmation = elicited.Carried
	}
	task, ok := x.endpoint.HoldTask(x.token, result.Waits, made)
	if !ok {
		return 0
	}
	result.Release()
	x.openResultOf(taskCreated, id, uncached)
	x.appendTask(&task)
	return x.closeResult(id)
}

// getTask tells what became of a task. One that was allowed is run by it: its own caller acts, with the rights that they have now.
func (x *exchange) getTask(id []byte, m *message) (status int) {
	task, status := x.ownTask(id, m)
	if status != 0 {
		return status
	}
	var result call.Result
	if due := task.Due; due != nil {
		if x.limited() {
			if wait := x.overRate(due.Tool, call.Cost(due.Tool, due.Arguments)); wait > 0 {
				return x.refuseRate(id, wait)
			}
		}
		start := x.handler.options.Now()
		var ran bool
		if result, ran = x.endpoint.RunTask(x.onBehalf(), x.token, task.ID); ran {
			defer result.Release()
			x.noteCall(due.Tool, due.Arguments, &result, start)
		}
		now, known := x.endpoint.Task(x.token, task.ID)
		switch {
		case known:
			task = now
		case ran: // its policy is not in force any more, and it ran
			task.Status, task.Message, task.Result = call.TaskCompleted, "", &result
		}
		if ran && task.Result != nil {
			task.Result = &result // the whole of it, if it was too large to keep
		}
	}
	x.openResult(id, uncached)
	x.appendTask(&task)
	if task.Result != nil {
		x.out = append(x.out, `,"result":{"resultType":"complete",`...)
		x.appendToolMembers(task.Result)
		x.out = append(x.out, '}')
	}
	return x.closeResult(id)
}

// updateTask acknowledges what a client answers to the questions of a task: here none has any, as a call asks before it waits.
func (x *exchange) updateTask(id []byte, m *message) (status int) {
	if _, status := x.ownTask(id, m); status != 0 {
		return status
	}
	if !isObject(m.inside.inputResponses) {
		return x.fail(id, codeInvalidParams, "inputResponses is required and must be an object")
	}
	x.openResult(id, uncached)
	x.closeAfterComma()
	return x.closeResult(id)
}

// cancelTask withdraws a task.
func (x *exchange) cancelTask(id []byte, m *message) (status int) {
	task, status := x.ownTask(id, m)
	if status != 0 {
		return status
	}
	x.endpoint.CancelTask(x.token, task.ID)
	x.openResult(id, uncached)
	x.closeAfterComma()
	return x.closeResult(id)
}

// ownTask is the caller's own task that a message names. A status other than 0 means a refusal, which was appended: the same for a task
// of somebody else as for one that is none.
func (x *exchange) ownTask(id []byte, m *message) (task call.Task, status int) {
	if !x.hasTasks(m) {
		x.appendError(id, codeMissingCapability, "The client must declare the extension "+tasksExtension, []byte(`{"requiredCapabilities":{"extensions":{"`+tasksExtension+`":{}}}}`))
		return call.Task{}, http.StatusBadRequest
	}
	if !isString(m.inside.taskID) {
		return call.Task{}, x.fail(id, codeInvalidParams, "taskId is required and must be a string")
	}
	name := stringValue(m.inside.taskID)
	task, known := x.endpoint.Task(x.token, name)
	if !known {
		return call.Task{}, x.fail(id, codeInvalidParams, "This server knows no task of yours with this id; make the call itself again with the same arguments: it tells what became of it")
	}
	return task, 0
}

// closeAfterComma takes back the comma behind the last member of a result that has no members of its own.
func (x *exchange) closeAfterComma() { x.out = bytes.TrimSuffix(x.out, []byte(",")) }

// appendTask appends the members of a task.
func (x *exchange) appendTask(t *call.Task) {
	x.out = jsontext.AppendString(append(x.out, `"taskId":`...), t.ID)
	x.out = jsontext.AppendString(append(x.out, `,"status":`...), string(t.Status))
	if t.Message != "" {
		x.out = jsontext.AppendString(append(x.out, `,"statusMessage":`...), t.Message)
	}
	moment := func(name string, at time.Time) {
		x.out = append(append(append(x.out, `,"`...), name...), `":"`...)
		x.out = append(at.UTC().AppendFormat(x.out, time.RFC3339), '"')
	}
	moment("createdAt", t.Created)
	moment("lastUpdatedAt", t.Updated)
	x.out = strconv.AppendInt(append(x.out, `,"ttlMs":`...), max(t.Lasts.Milliseconds(), 1), 10)
	x.out = strconv.AppendInt(append(x.out, `,"pollIntervalMs":`...), pollInterval, 10)
}
