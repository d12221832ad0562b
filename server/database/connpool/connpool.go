// Package connpool is shared by the engines: a small pool of connections, and, for engines that use a driver below
// database/sql, the memory of a call and the reading of its rows.
//
// The engines below package database import it.
package connpool

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract/tracing"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// ErrBusy is a pool's answer when no connection became free in time.
var ErrBusy = errors.New("no connection became free in time")

// Conn is a connection to a database.
type Conn interface {
	// Keep reports whether the connection can be used again. It is called when the connection is given back.
	Keep() bool
	// Aged reports whether another connection should take its place, if one can be made.
	Aged() bool
	// Alive reports whether the connection can still be used, after it was idle for so long.
	Alive(ctx context.Context, idle time.Duration) bool
	// Close ends the connection. Nobody needs its error.
	Close()
}

const (
	// idleTime is how long a connection may be idle if there are others. One always stays: it answers if no new one can
	// be made.
	idleTime = 10 * time.Minute
	// renewPause is the least time between two attempts to replace a connection that is aged.
	renewPause = 10 * time.Second
	// reopenPause is how often a caller who waits for a connection of others tries to make one.
	reopenPause = 250 * time.Millisecond
)

// Pool holds connections that are idle, newest first, and counts all. It is safe for concurrent use.
//
// It never depends on a new connection while it has others: if none can be made (a password that was changed, a server
// that has no connection left), callers wait for the existing ones, and an aged connection stays until another one has
// taken its place.
type Pool[C Conn] struct {
	open     func(context.Context) (C, error)
	use      *database.PoolUse
	patience time.Duration
	// closing ends when the pool has to be closed.
	closing context.Context
	// slots has one element for each connection in use, and for each of the held ones.
	slots chan struct{}

	mu sync.Mutex
	// size is the most connections that the pool holds now. held are the slots that are kept free of connections for it, and owed
	// those that are still to be: their connections are in use.
	size, held, owed int
	idle             []resting[C]
	// waiting are the callers who could not make a connection, in the order in which they came.
	waiting []chan C
	// live is the number of connections that are open, idle or in use.
	live int
	// renewing reports whether a replacement is being made; replaced counts the replacements whose predecessor is still
	// open. No other is made before renewAfter.
	renewing   bool
	replaced   int
	renewAfter time.Time
	// closed reports whether all connections are closed, ending whether they are about to be, and retired whether none is kept idle.
	closed, ending, retired bool
}

// resting is a connection that is idle since a time.
type resting[C Conn] struct {
	conn  C
	since time.Time
}

// New returns a pool of at most size connections, at least one. Acquire waits no longer than patience for one that others
// use, and not after closing ends. use counts what happens; it may be nil.
func New[C Conn](closing context.Context, size int, patience time.Duration, use *database.PoolUse, open func(context.Context) (C, error)) *Pool[C] {
	size = max(size, 1)
	use.Size(size)
	return &Pool[C]{open: open, use: use, patience: patience, closing: closing, slots: make(chan struct{}, size), size: size}
}

// Size is the most connections that the pool may hold now.
func (p *Pool[C]) Size() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.size
}

// Acquire returns a connection. Callers are served in the order in which they came.
func (p *Pool[C]) Acquire(ctx context.Context) (C, error) {
	var none C
	if err := p.enter(ctx); err != nil {
		return none, err
	}
	for c, idle, ok := p.newest(); ok; c, idle, ok = p.newest() {
		if c.Alive(ctx, idle) {
			return c, nil
		}
		p.forget(c, database.CloseLost)
	}
	c, err := p.connect(ctx)
	for tried := time.Now(); err != nil; {
		var found, others bool
		if c, found, others = p.fromOthers(ctx, reopenPause); found {
			return c, nil
		}
		if !others || ctx.Err() != nil || p.closing.Err() != nil || time.Since(tried) > p.patience {
			p.leave()
			return none, err
		}
		c, err = p.connect(ctx)
	}
	return c, nil
}

// enter takes a slot.
func (p *Pool[C]) enter(ctx context.Context) error {
	if p.closing.Err() != nil {
		return p.closing.Err()
	}
	select {
	case p.slots <- struct{}{}:
		return nil
	default:
	}
	busy := false
	over := p.use.Wait()
	defer func() { over(busy) }()
	defer tracing.Waited(ctx, tracing.WaitedForConnection, time.Now())
	patience := time.NewTimer(p.patience)
	defer patience.Stop()
	select {
	case p.slots <- struct{}{}:
		return nil
	case <-patience.C:
		busy = true
		return ErrBusy
	case <-ctx.Done():
		return ctx.Err()
	case <-p.closing.Done():
		return p.closing.Err()
	}
}

// connect makes a connection.
func (p *Pool[C]) connect(ctx context.Context) (C, error) {
	opening, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.closing, cancel)()
	defer tracing.Waited(ctx, tracing.Connected, time.Now())
	c, err := p.open(opening)
	p.use.Connected(err)
	if err == nil {
		p.mu.Lock()
		p.live++
		p.mu.Unlock()
	}
	return c, err
}

// newest takes the newest idle connection; false if there is none.
func (p *Pool[C]) newest() (c C, idle time.Duration, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := len(p.idle) - 1
	if last < 0 {
		return c, 0, false
	}
	r := p.take(last)
	return r.conn, time.Since(r.since), true
}

// take takes one of the idle connections. The caller holds the lock.
func (p *Pool[C]) take(at int) resting[C] {
	r := p.idle[at]
	p.idle = slices.Delete(p.idle, at, at+1)
	p.use.Idle(-1)
	return r
}

// fromOthers waits for a connection that another caller gives back. others reports whether there is one to wait for.
func (p *Pool[C]) fromOthers(ctx context.Context, patience time.Duration) (c C, found, others bool) {
	if c, _, found = p.newest(); found {
		return c, true, true
	}
	p.mu.Lock()
	if p.live == 0 {
		p.mu.Unlock()
		return c, false, false
	}
	hand := make(chan C, 1)
	p.waiting = append(p.waiting, hand)
	p.mu.Unlock()

	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case c, found = <-hand:
		return c, found, found
	case <-timer.C:
	case <-ctx.Done():
	case <-p.closing.Done():
	}
	p.mu.Lock()
	at := slices.Index(p.waiting, hand)
	if at >= 0 {
		p.waiting = slices.Delete(p.waiting, at, at+1)
	}
	p.mu.Unlock()
	if at < 0 { // It was handed over at this moment.
		c, found = <-hand
		return c, found, found
	}
	return c, false, true
}

// Release gives a connection back.
func (p *Pool[C]) Release(c C) {
	switch {
	case !c.Keep():
		p.forget(c, database.CloseBroken)
	case p.isReplaced(c):
		p.forget(c, database.CloseAged)
	case p.tooMany():
		p.forget(c, database.CloseIdle)
	default:
		p.rest(c)
	}
	p.leave()
}

// rest hands a connection to the caller who waits longest, or else lays it by.
func (p *Pool[C]) rest(c C) {
	now := time.Now()
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		p.forget(c, database.CloseEnded)
		return
	}
	if len(p.waiting) > 0 {
		p.waiting[0] <- c
		p.waiting = slices.Delete(p.waiting, 0, 1)
		p.mu.Unlock()
		return
	}
	if p.retired {
		p.mu.Unlock()
		p.forget(c, database.CloseIdle)
		return
	}
	p.idle = append(p.idle, resting[C]{c, now})
	p.use.Idle(1)
	var tired []C
	if len(p.idle) > 1 && now.Sub(p.idle[0].since) > idleTime {
		tired = append(tired, p.take(0).conn)
	}
	p.mu.Unlock()
	for _, c := range tired {
		p.forget(c, database.CloseIdle)
	}
}

// forget closes a connection. If it was the last one, nobody has any to wait for.
func (p *Pool[C]) forget(c C, cause database.CloseCause) {
	p.use.Closed(cause)
	p.mu.Lock()
	if p.live--; p.live == 0 {
		for _, hand := range p.waiting {
			close(hand)
		}
		p.waiting = nil
	}
	p.mu.Unlock()
	c.Close()
}

// isReplaced reports whether a connection is aged and another one has taken its place. If none has, one is made meanwhile.
func (p *Pool[C]) isReplaced(c C) bool {
	if !c.Aged() {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.replaced > 0 {
		p.replaced--
		return true
	}
	if now := time.Now(); !p.renewing && now.After(p.renewAfter) {
		p.renewing, p.renewAfter = true, now.Add(renewPause)
		go p.renew()
	}
	return false
}

// renew makes a connection in the place of one that is aged, and closes that: at once if one is idle, else when it is given
// back.
func (p *Pool[C]) renew() {
	c, err := p.connect(p.closing)
	p.mu.Lock()
	p.renewing = false
	if err != nil {
		p.mu.Unlock()
		return
	}
	p.renewAfter = time.Time{}
	var old []C
	if at := slices.IndexFunc(p.idle, func(r resting[C]) bool { return r.conn.Aged() }); at >= 0 {
		old = append(old, p.take(at).conn)
	} else {
		p.replaced++
	}
	p.mu.Unlock()
	p.rest(c)
	for _, c := range old {
		p.forget(c, database.CloseAged)
	}
}

// Drop closes the connections that are idle, as what they lead to is lost.
func (p *Pool[C]) Drop() { p.drain(database.CloseLost) }

func (p *Pool[C]) drain(cause database.CloseCause) {
	for c, _, ok := p.newest(); ok; c, _, ok = p.newest() {
		p.forget(c, cause)
	}
}

// Close waits for the connections in use and closes all. After it, Acquire finds no free slot.
func (p *Pool[C]) Close() {
	p.mu.Lock()
	if !p.retired {
		p.use.Size(-p.size)
	}
	p.ending = true
	p.hold(0)
	p.mu.Unlock()
	for range cap(p.slots) {
		p.slots <- struct{}{}
	}
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.drain(database.CloseEnded)
}
