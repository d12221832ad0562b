package server

import (
	"crypto/rand"
	"reflect"
	"strconv"
	"sync"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// A board shows the newest status and wakes who waits for another.
type board struct {
	// process makes serials that no process before had.
	process string

	mu      sync.Mutex
	count   int
	status  contract.Status
	changed chan struct{}
}

func newBoard() *board {
	return &board{process: rand.Text(), changed: make(chan struct{})}
}

// set shows a status. One that says the same as before is not new.
func (b *board) set(status contract.Status) {
	b.mu.Lock()
	defer b.mu.Unlock()
	status.Serial, status.ModelsSerial = b.status.Serial, b.status.ModelsSerial
	if b.count > 0 && reflect.DeepEqual(status, b.status) {
		return
	}
	b.count++
	status.Serial = b.process + "-" + strconv.Itoa(b.count)
	if b.count == 1 || !reflect.DeepEqual(status.Models, b.status.Models) {
		status.ModelsSerial = status.Serial
	}
	b.status = status
	close(b.changed)
	b.changed = make(chan struct{})
}

// get returns the status, and a channel that is closed when it is no longer the newest.
func (b *board) get() (contract.Status, <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.status, b.changed
}
