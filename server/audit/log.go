package audit

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// Settings say how lines are written. They are the endpoint's, and may change while lines are written.
type Settings struct {
	// OCSF has each line be an event of the Open Cybersecurity Schema Framework.
	OCSF bool
	// Required is set if a call that reads is not answered without its line.
	Required bool
	// Endpoint is the endpoint's namespace and name, for OCSF.
	Endpoint string
	// Files are the limits of the outputs that are folders.
	Files FolderLimits
}

// Log writes a line for each record to each of its outputs. A nil Log writes nothing. Safe for concurrent use.
type Log struct {
	// Pod and Version are the server's own, for OCSF.
	Pod, Version string
	// Lost is called with the error of each line that an output did not take; nil if nobody wants to know. It must not block.
	Lost func(error)
	// Receiver gets the lines, too; nil if nobody does.
	Receiver Receiver
	// Changed is called when Problem says something else; nil if nobody wants to know. It must not block.
	Changed func()

	to       []io.Writer
	settings atomic.Pointer[Settings]
	// problem is what Problem returns; nil is "".
	problem atomic.Pointer[string]
	// writing keeps lines apart. It guards failures: the error of each output, if it did not take its newest line.
	writing  sync.Mutex
	failures []error
}

// A Receiver gets lines beside the outputs. It must not block, and what it loses fails no call.
type Receiver interface {
	// Receive gets a line, which is used again once it returns.
	Receive(ctx context.Context, l *Line)
}

// NewLog returns a Log that writes to outputs: each gets a whole line in one Write.
func NewLog(to ...io.Writer) *Log {
	l := &Log{to: to, failures: make([]error, len(to))}
	l.settings.Store(&Settings{})
	return l
}

// Use has the next lines follow the settings.
func (l *Log) Use(s Settings) {
	if l == nil || *l.settings.Load() == s {
		return
	}
	l.settings.Store(&s)
	for _, to := range l.to {
		if folder, ok := to.(*Folder); ok {
			folder.Limit(s.Files)
		}
	}
}

// writeTo writes a line to each output, in their order. One that fails does not keep the line from others, unless all must have it.
func (l *Log) writeTo(line []byte, all bool) (failed error) {
	l.writing.Lock()
	defer l.writing.Unlock()
	defer l.note()
	for i, to := range l.to {
		_, err := to.Write(line)
		if l.failures[i] = err; err != nil {
			failed = errors.Join(failed, err)
			if all {
				break
			}
		}
	}
	return failed
}

// entry is what a line tells.
type entry interface {
	// tell adds the members of a line of our own format.
	tell(m *members, from *Caller)
	// event is the event of OCSF.
	event(m *moment) any
	// about are the members that all lines of calls have.
	about() About
}

// write writes a line. An error says that an output did not take it. If no call may be answered then, the other outputs do not say that it
// was.
func (l *Log) write(ctx context.Context, told entry) error {
	m := &moment{at: time.Now(), log: l, settings: l.settings.Load()}
	if origin, ok := ctx.Value(OriginKey{}).(Origin); ok {
		m.from = origin.Caller()
	}
	read, reads := told.(*Read)
	must := reads && m.settings.Required
	err := l.writeLine(ctx, m, told, must)
	if err != nil && must {
		_ = l.writeLine(ctx, m, read.unanswered(), false)
	}
	if err != nil && l.Lost != nil {
		l.Lost(err)
	}
	return err
}

func (l *Log) writeLine(ctx context.Context, m *moment, told entry, all bool) error {
	line := drafts.Get().(*draft)
	defer line.release()
	if err := line.write(m, told); err != nil {
		return err
	}
	err := l.writeTo(line.text.json, all)
	if l.Receiver != nil && (err == nil || !all) {
		l.Receiver.Receive(ctx, &Line{At: m.at, Text: bytes.TrimSuffix(line.text.json, newline), About: told.about(), From: m.from})
	}
	return err
}
