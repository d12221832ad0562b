// Package rate bounds how often each token may call. A bound is a token bucket that holds as much as a second gives, and
// it is each pod's own: nothing is shared between replicas.
//
// Package mcp imports it.
package rate

import (
	"math"
	"sync"
	"time"
)

// Limits are the buckets of all tokens, by name. They outlive any Config, so that a change of it refills none. Its zero
// value is ready; it is safe for concurrent use.
type Limits struct {
	mu      sync.Mutex
	buckets map[string]*bucket
	// sweepAt is the number of buckets at which full ones are deleted.
	sweepAt int
}

// bucket holds what a caller has left, which is negative if a call was larger than the bucket.
type bucket struct {
	left float64
	// at is the time at which left was computed.
	at time.Time
	// refused reports whether the last call was refused.
	refused bool
}

// leastSweep is the least number of buckets at which full ones are deleted.
const leastSweep = 1024

// Take charges n calls to a name's bucket and returns 0. If the bucket is short, it charges nothing, and returns how
// long to wait and whether this is the first refusal since a call went through. A bucket holds perSecond calls and gets
// as many each second. A call larger than the bucket goes through when the bucket is full, and leaves it negative. n is
// at least 1; a perSecond of 0 is no limit.
func (l *Limits) Take(name string, perSecond, n int, now time.Time) (wait time.Duration, first bool) {
	if perSecond <= 0 {
		return 0, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.bucket(name, perSecond, now)
	b.fill(perSecond, now)
	if missing := float64(min(n, perSecond)) - b.left; missing > 0 {
		first, b.refused = !b.refused, true
		return time.Duration(math.Ceil(missing / float64(perSecond) * float64(time.Second))), first
	}
	b.left -= float64(n)
	b.refused = false
	return 0, false
}

// bucket returns the name's bucket. A new one is full.
func (l *Limits) bucket(name string, perSecond int, now time.Time) *bucket {
	if b := l.buckets[name]; b != nil {
		return b
	}
	if len(l.buckets) >= max(l.sweepAt, leastSweep) {
		l.sweep(perSecond, now)
	}
	if l.buckets == nil {
		l.buckets = map[string]*bucket{}
	}
	b := &bucket{left: float64(perSecond), at: now}
	l.buckets[name] = b
	return b
}

// sweep deletes full buckets, which are the same as new ones. It runs when there are twice as many as the last sweep
// left, so that its cost for each call is small.
func (l *Limits) sweep(perSecond int, now time.Time) {
	for name, b := range l.buckets {
		if b.fill(perSecond, now); b.left >= float64(perSecond) {
			delete(l.buckets, name)
		}
	}
	l.sweepAt = 2 * len(l.buckets)
}

// fill adds the calls for the time since the last fill. A clock that goes back adds nothing.
func (b *bucket) fill(perSecond int, now time.Time) {
	if passed := now.Sub(b.at); passed > 0 {
		b.left += passed.Seconds() * float64(perSecond)
		b.at = now
	}
	b.left = min(b.left, float64(perSecond))
}
