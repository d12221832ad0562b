// Package objpool keeps the memory of one call for the next. Tests can switch that off, so that every call begins with
// memory that nobody used before: a mistake with such memory then shows every time, and not only after a garbage
// collection.
//
// The engines below package database and package call import it.
package objpool

import (
	"sync"
	"sync/atomic"
)

// Pool hands out objects of the type T, used ones if there are any. Its zero value is ready; it is safe for concurrent
// use. Whoever puts an object back has cleared it of a request's values before.
type Pool[T any] struct{ kept sync.Pool }

// Get returns an object that Put got, or a new one with T's zero value.
func (p *Pool[T]) Get() *T {
	if !off.Load() {
		if used, ok := p.kept.Get().(*T); ok {
			return used
		}
	}
	return new(T)
}

// Put keeps an object for a later Get.
func (p *Pool[T]) Put(object *T) { p.kept.Put(object) }

var off atomic.Bool

// Switch says for all pools of the process whether Get returns used objects. It is for tests; pools begin switched on.
func Switch(on bool) { off.Store(!on) }
