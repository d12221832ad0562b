package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"strings"
	"sync"
	"time"
)

// request is a request of the manager to the API server: a verb and a resource.
type request struct{ Verb, Resource string }

// writes reports whether a request changes something that matters. The Lease of a leader is not counted: its cost does
// not depend on what is managed.
func (r request) writes() bool {
	return r.Verb != "get" && r.Verb != "list" && r.Resource != "leases" && !strings.HasPrefix(r.Resource, "selfsubject")
}

// requests are numbers of requests.
type requests map[request]int

func (r requests) since(before requests) requests {
	delta := requests{}
	for key, n := range r {
		if n > before[key] {
			delta[key] = n - before[key]
		}
	}
	return delta
}

// auditLog follows the API server's audit log, in which only the manager's requests stand.
type auditLog struct {
	mu                 sync.Mutex
	all, withoutProbes requests
	refused            int
	last               time.Time
}

// probePrefix begins the names of what is only there to be measured while other objects are created.
const probePrefix = "probe-"

type auditEvent struct {
	Verb      string `json:"verb"`
	ObjectRef struct {
		Resource, Subresource, Name string
	} `json:"objectRef"`
	ResponseStatus struct{ Code int } `json:"responseStatus"`
	StageTimestamp time.Time          `json:"stageTimestamp"`
}

func followAudit(ctx context.Context, path string) *auditLog {
	a := &auditLog{all: requests{}, withoutProbes: requests{}}
	go a.follow(ctx, path)
	return a
}

// follow reads the lines as they come.
func (a *auditLog) follow(ctx context.Context, path string) {
	var file *os.File
	for ; file == nil && ctx.Err() == nil; pause(ctx, 50*time.Millisecond) {
		opened, err := os.Open(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return
		}
		file = opened
	}
	if file == nil {
		return
	}
	defer file.Close()
	lines := bufio.NewReaderSize(file, 1<<16)
	var partial []byte
	for ctx.Err() == nil {
		piece, err := lines.ReadSlice('\n')
		partial = append(partial, piece...)
		switch {
		case err == nil:
			a.note(partial)
			partial = partial[:0]
		case errors.Is(err, io.EOF):
			pause(ctx, 50*time.Millisecond)
		}
	}
}

func (a *auditLog) note(line []byte) {
	var event auditEvent
	if json.Unmarshal(line, &event) != nil || event.ObjectRef.Resource == "" {
		return
	}
	key := request{event.Verb, event.ObjectRef.Resource}
	if event.ObjectRef.Subresource != "" {
		key.Resource += "/" + event.ObjectRef.Subresource
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all[key]++
	if !strings.HasPrefix(event.ObjectRef.Name, probePrefix) {
		a.withoutProbes[key]++
	}
	if !key.writes() {
		return
	}
	if event.ResponseStatus.Code >= 400 {
		a.refused++
	}
	if event.StageTimestamp.After(a.last) {
		a.last = event.StageTimestamp
	}
}

// counts returns the numbers of requests so far, with or without those about the probes.
func (a *auditLog) counts(withProbes bool) requests {
	a.mu.Lock()
	defer a.mu.Unlock()
	if withProbes {
		return maps.Clone(a.all)
	}
	return maps.Clone(a.withoutProbes)
}

func (a *auditLog) refusals() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.refused
}

// lastWrite is when the manager wrote last.
func (a *auditLog) lastWrite() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.last
}
