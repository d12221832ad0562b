// Package connpool is what the engines share that use a driver below database/sql: a small pool of connections, the
// memory of a call, and the reading of its rows.
//
// The engines below package database import it.
package connpool

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrBusy is a pool's answer when no connection became free in time.
var ErrBusy = errors.New("no connection became free in time")

// Conn is a connection to a database.
type Conn interface {
	// Keep reports whether the connection can be used again. It is called when the connection is given back.
	Keep() bool
	// Alive reports whether the connection can still be used. It is called when the connection was idle, and must not
	// wait.
	Alive() bool
	// Close ends the connection. Nobody needs its error.
	Close()
}

// Pool holds connections that are idle, newest first, and counts those in use. It is safe for concurrent use.
type Pool[C Conn] struct {
	open     func(context.Context) (C, error)
	patience time.Duration
	// slots has one element for each connection in use.
	slots chan struct{}
	mu    sync.Mutex
	idle  []C
}

// New returns a pool of at most size connections, at least one. Acquire waits no longer than patience.
func New[C Conn](size int, patience time.Duration, open func(context.Context) (C, error)) *Pool[C] {
	return &Pool[C]{open: open, patience: patience, slots: make(chan struct{}, max(size, 1))}
}

// Size is the most connections that the pool holds.
func (p *Pool[C]) Size() int { return cap(p.slots) }

// Acquire returns a connection. It waits for one no longer than the pool's patience, and not after closing ends.
// Callers are served in the order in which they came.
func (p *Pool[C]) Acquire(ctx, closing context.Context) (C, error) {
	var none C
	if closing.Err() != nil {
		return none, closing.Err()
	}
	select {
	case p.slots <- struct{}{}:
	default:
		patience := time.NewTimer(p.patience)
		defer patience.Stop()
		select {
		case p.slots <- struct{}{}:
		case <-patience.C:
			return none, ErrBusy
		case <-ctx.Done():
			return none, ctx.Err()
		case <-closing.Done():
			return none, closing.Err()
		}
	}
	for c, ok := p.newest(); ok; c, ok = p.newest() {
		if c.Alive() {
			return c, nil
		}
		c.Close()
	}
	opening, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(closing, cancel)()
	c, err := p.open(opening)
	if err != nil {
		<-p.slots
	}
	return c, err
}

// newest takes the newest idle connection; false if there is none.
func (p *Pool[C]) newest() (c C, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := len(p.idle) - 1
	if last < 0 {
		return c, false
	}
	c = p.idle[last]
	p.idle = p.idle[:last]
	return c, true
}

// Release gives a connection back.
func (p *Pool[C]) Release(c C) {
	if c.Keep() {
		p.mu.Lock()
		p.idle = append(p.idle, c)
		p.mu.Unlock()
	} else {
		c.Close()
	}
	<-p.slots
}

// Close waits for the connections in use and closes all. After it, Acquire finds no free slot.
func (p *Pool[C]) Close() {
	for range cap(p.slots) {
		p.slots <- struct{}{}
	}
	for c, ok := p.newest(); ok; c, ok = p.newest() {
		c.Close()
	}
}
