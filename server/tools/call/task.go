package call

import (
	"bytes"
	"time"
)

// Task is a call that waits for other people, as a client sees it that can wait for tasks (MCP's extension
// io.modelcontextprotocol/tasks).
type Task struct {
	// ID is the approval's name.
	ID      string
	Status  TaskStatus
	Message string
	// Created is when the call began to wait, Updated when its status changed; Lasts is how long from its creation it is known.
	Created, Updated time.Time
	Lasts            time.Duration
	// Result is the call's; nil while there is none.
	Result *Result
	// Due is the call, if other people have allowed it and it has to be run now; else nil.
	Due *TaskCall
}

// TaskStatus is a task's status, as the extension has it.
type TaskStatus string

// The statuses of tasks.
const (
	TaskWorking   TaskStatus = "working"
	TaskCompleted TaskStatus = "completed"
	TaskCancelled TaskStatus = "cancelled"
)

// TaskCall is the call of a task, as it was made.
type TaskCall struct {
	Tool      string
	Arguments []byte
	// Elicits is set if the client can ask its person, and Confirmation is the confirmation_token of the question that they said yes
	// to; "" is none.
	Elicits      bool
	Confirmation string
}

// Keep is the result for later: its text is nobody else's.
func (r *Result) Keep() *Result {
	kept := *r
	kept.Text, kept.Cause, kept.room = bytes.Clone(r.Text), nil, nil
	return &kept
}
