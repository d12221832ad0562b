// Package share divides something scarce (bytes of memory, connections, places) among the tokens that want it, so that
// no token can keep it from the others: a token may hold only a part of the whole, and what becomes free goes to the
// waiting tokens in turn.
//
// Packages mcp and server import it.
package share

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract/tracing"
)

// ErrBusy is returned if nothing became free in time.
var ErrBusy = errors.New("nothing became free in time")

// Pool is a quantity that is divided among holders, by name. It is safe for concurrent use.
type Pool struct {
	mu sync.Mutex
	// size is the whole, most what one holder may have of it, used what all of them have.
	size, most, used int64
	holders          map[string]*holder
	// waiting are the holders that wait for more; the first is served next.
	waiting []*holder
	// spare are holders that can be used again.
	spare []*holder
}

// holder is one token that has, or waits for, a part of the pool.
type holder struct {
	name  string
	used  int64
	queue []*waiter
}

type waiter struct {
	n     int64
	ready chan struct{}
}

// New returns a pool of that size; one holder may have at most most of it.
func New(size, most int64) *Pool {
	p := &Pool{holders: map[string]*holder{}}
	p.Resize(size, most)
	return p
}

// Resize changes the size and what one holder may have. What is held stays held.
func (p *Pool) Resize(size, most int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.size, p.most = max(size, 1), max(most, 1)
	p.serve()
}

// Used is what all holders have together.
func (p *Pool) Used() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.used
}

// Quarter is a quarter of the size, and at least one: what a token may hold of something that it gives back at its own
// pace.
func Quarter(size int64) int64 { return max(size/4, 1) }

// ButQuarter is all but a quarter of the size, and at least one: what a token may hold of something that the server
// itself gives back in time.
func ButQuarter(size int64) int64 { return max(size-Quarter(size), 1) }

// Try takes n for a name, and reports whether it could.
func (p *Pool) Try(name string, n int64) bool { return p.Grow(name, 0, n) }

// Grow takes n more for a use that already has some of what the name holds, and reports whether it could. A holder may
// always have one use of any size if the pool is otherwise free.
func (p *Pool) Grow(name string, has, n int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.holder(name)
	if !h.fits(p, has, n) || !p.fits(has, n) || p.contended(h) {
		p.forget(h)
		return false
	}
	p.take(h, n)
	return true
}

// Wait takes n for a name. It waits for it no longer than patience, and returns ErrBusy or the context's error if it
// must give up.
func (p *Pool) Wait(ctx context.Context, name string, n int64, patience time.Duration) error {
	w := p.enqueue(name, n)
	if w == nil {
		return nil
	}
	defer tracing.Waited(ctx, tracing.WaitedForShare, time.Now())
	timer := time.NewTimer(patience)
	defer timer.Stop()
	var err error
	select {
	case <-w.ready:
		return nil
	case <-timer.C:
		err = ErrBusy
	case <-ctx.Done():
		err = ctx.Err()
	}
	if p.leave(name, w) {
		return err
	}
	return nil // It was served at the last moment.
}

// Move changes what a name holds by delta, whether there is room or not: for what turned out larger or smaller than was
// thought.
func (p *Pool) Move(name string, delta int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.holder(name)
	p.take(h, delta)
	p.forget(h)
	if delta < 0 {
		p.serve()
	}
}

// Give gives n back.
func (p *Pool) Give(name string, n int64) { p.Move(name, -n) }

// enqueue takes n at once and returns nil, or returns the waiter that it has put into the queue.
func (p *Pool) enqueue(name string, n int64) *waiter {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.holder(name)
	if len(h.queue) == 0 && h.fits(p, 0, n) && p.fits(0, n) && !p.contended(h) {
		p.take(h, n)
		return nil
	}
	w := &waiter{n, make(chan struct{})}
	if h.queue = append(h.queue, w); len(h.queue) == 1 {
		p.waiting = append(p.waiting, h)
	}
	return w
}

// leave takes a waiter out of its queue; false if it has been served.
func (p *Pool) leave(name string, w *waiter) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.holders[name]
	if h == nil {
		return false
	}
	for i := range h.queue {
		if h.queue[i] == w {
			h.queue = append(h.queue[:i], h.queue[i+1:]...)
			p.settle(h)
			p.serve()
			return true
		}
	}
	return false
}

// serve gives what is free to the waiting callers, holder by holder. A holder that has its share is passed over; one for
// which too little is free keeps its turn, so that small uses cannot hold up a large one for ever.
func (p *Pool) serve() {
	for i := 0; i < len(p.waiting); {
		h := p.waiting[i]
		w := h.queue[0]
		if !h.fits(p, 0, w.n) {
			i++
			continue
		}
		if !p.fits(0, w.n) {
			return
		}
		p.take(h, w.n)
		h.queue = h.queue[1:]
		close(w.ready)
		p.waiting = append(p.waiting[:i], p.waiting[i+1:]...)
		if len(h.queue) > 0 {
			p.waiting = append(p.waiting, h)
		}
		i = 0
	}
}

// settle takes a holder whose queue is empty out of the turn.
func (p *Pool) settle(h *holder) {
	if len(h.queue) > 0 {
		return
	}
	for i := range p.waiting {
		if p.waiting[i] == h {
			p.waiting = append(p.waiting[:i], p.waiting[i+1:]...)
			break
		}
	}
	p.forget(h)
}

// contended reports whether another holder waits for what is free.
func (p *Pool) contended(by *holder) bool {
	for _, h := range p.waiting {
		if h != by && h.fits(p, 0, h.queue[0].n) {
			return true
		}
	}
	return false
}

// fits reports whether n more leave the holder within its share, or are all that it has beside the use that has some.
func (h *holder) fits(p *Pool, has, n int64) bool { return h.used == has || h.used+n <= p.most }

// fits reports whether n are free.
func (p *Pool) fits(has, n int64) bool { return p.used == has || p.used+n <= p.size }

func (p *Pool) take(h *holder, n int64) {
	h.used += n
	p.used += n
}

// holder returns the one of the name, and makes it if there is none.
func (p *Pool) holder(name string) *holder {
	if h := p.holders[name]; h != nil {
		return h
	}
	var h *holder
	if last := len(p.spare) - 1; last >= 0 {
		h, p.spare = p.spare[last], p.spare[:last]
	} else {
		h = &holder{}
	}
	h.name = name
	p.holders[name] = h
	return h
}

// maxSpare is how many holders are kept to be used again.
const maxSpare = 64

// forget lets a holder go that holds nothing and waits for nothing. While there are few it stays: it will soon come again.
func (p *Pool) forget(h *holder) {
	if h.used != 0 || len(h.queue) > 0 || len(p.holders) <= maxSpare {
		return
	}
	delete(p.holders, h.name)
	h.queue = nil
	if len(p.spare) < maxSpare {
		p.spare = append(p.spare, h)
	}
}
