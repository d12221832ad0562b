package database

import (
	"sync/atomic"
	"time"
)

// PoolUse counts what happens to the connections of a pool, or of the pools that have the same task one after the other. A nil
// PoolUse counts nothing. Safe for concurrent use.
type PoolUse struct {
	limit, open, idle, waiting      atomic.Int64
	waits, waited, timeouts, failed atomic.Int64
	opened                          atomic.Int64
	closed                          [len(closeCauses)]atomic.Int64
}

// CloseCause is why a connection was closed.
type CloseCause int

// The causes.
const (
	// CloseLost: it was found dead when it was needed.
	CloseLost CloseCause = iota
	// CloseBroken: it could not be used again after a call.
	CloseBroken
	// CloseAged: another took its place.
	CloseAged
	// CloseIdle: nobody had needed it for long.
	CloseIdle
	// CloseEnded: its pool ended.
	CloseEnded
)

var closeCauses = [...]string{"lost", "broken", "aged", "idle", "closed"}

// PoolReading is what a PoolUse has counted.
type PoolReading struct {
	// InUse, Idle and Waiting are connections and calls now; Limit is how many connections there may be.
	InUse, Idle, Waiting, Limit int64
	// Waits are the calls that waited, Timeouts those that waited in vain, Opened and Failed attempts to connect.
	Waits, Timeouts, Opened, Failed int64
	// Waited is the time of all waits together.
	Waited time.Duration
	// Closed are the connections that were closed, by cause.
	Closed map[string]int64
}

// Read returns what was counted.
func (u *PoolUse) Read() PoolReading {
	idle := u.idle.Load()
	r := PoolReading{
		InUse: max(u.open.Load()-idle, 0), Idle: idle, Waiting: u.waiting.Load(), Limit: u.limit.Load(),
		Waits: u.waits.Load(), Timeouts: u.timeouts.Load(), Opened: u.opened.Load(), Failed: u.failed.Load(),
		Waited: time.Duration(u.waited.Load()), Closed: make(map[string]int64, len(closeCauses)),
	}
	for cause, name := range closeCauses {
		r.Closed[name] = u.closed[cause].Load()
	}
	return r
}

// Size counts the places of a pool that is made, or, negative, of one that ended.
func (u *PoolUse) Size(delta int) {
	if u != nil {
		u.limit.Add(int64(delta))
	}
}

// Connected counts an attempt to connect.
func (u *PoolUse) Connected(err error) {
	switch {
	case u == nil:
	case err != nil:
		u.failed.Add(1)
	default:
		u.opened.Add(1)
		u.open.Add(1)
	}
}

// Closed counts a connection that is closed, and was not idle.
func (u *PoolUse) Closed(cause CloseCause) {
	if u != nil {
		u.open.Add(-1)
		u.closed[cause].Add(1)
	}
}

// Idle counts connections that became idle, or, negative, no longer are.
func (u *PoolUse) Idle(delta int) {
	if u != nil {
		u.idle.Add(int64(delta))
	}
}

// Wait counts a call that begins to wait. The caller calls the function that it returns when the wait is over, with true if it was in
// vain.
func (u *PoolUse) Wait() (over func(busy bool)) {
	if u == nil {
		return func(bool) {}
	}
	u.waiting.Add(1)
	began := time.Now()
	return func(busy bool) {
		u.waiting.Add(-1)
		u.waits.Add(1)
		u.waited.Add(int64(time.Since(began)))
		if busy {
			u.timeouts.Add(1)
		}
	}
}
