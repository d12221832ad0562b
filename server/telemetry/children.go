package telemetry

import (
	"maps"
	"sync"
	"sync/atomic"
)

// children are what a vector of Prometheus has for the values of its labels, of which there are few. They are found without
// a lock and without looking at each value, as the vector would for every request.
type children[L comparable, C any] struct {
	find func(L) C
	// known is never changed, but replaced; adding is held meanwhile.
	known  atomic.Pointer[map[L]C]
	adding sync.Mutex
}

func newChildren[L comparable, C any](find func(L) C) *children[L, C] {
	c := &children[L, C]{find: find}
	c.known.Store(&map[L]C{})
	return c
}

// of returns the child of the values.
func (c *children[L, C]) of(labels L) C {
	if child, ok := (*c.known.Load())[labels]; ok {
		return child
	}
	c.adding.Lock()
	defer c.adding.Unlock()
	more := maps.Clone(*c.known.Load())
	more[labels] = c.find(labels)
	c.known.Store(&more)
	return more[labels]
}
