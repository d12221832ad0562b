// Package rate bounds how often each token may call, and how much is kept for it. A bound is a token bucket that holds as
// much as a period gives. It is each pod's own; whoever shares a bound among pods gives each its part.
//
// Packages mcp and tools import it.
package rate

import (
	"cmp"
	"math"
	"sync"
	"time"
)

// Limits are the buckets of all tokens, by name. They outlive any Config, so that a change of it refills none. Its zero
// value is ready; it is safe for concurrent use.
type Limits struct {
	// Period is the time in which an empty bucket fills; 0 is a second. It is set before the first use.
	Period  time.Duration
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
// long to wait and whether this is the first refusal since a call went through. A bucket holds perPeriod calls, at least one, and
// gets perPeriod each period. A call larger than the bucket goes through when the bucket is full, and leaves it negative. n is
// at least 1; a perPeriod of 0 is no limit.
func (l *Limits) Take(name string, perPeriod float64, n int, now time.Time) (wait time.Duration, first bool) {
	if perPeriod <= 0 {
		return 0, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.bucket(name, perPeriod, now)
	b.fill(perPeriod, l.period(), now)
	if missing := min(float64(n), size(perPeriod)) - b.left; missing > 0 {
		first, b.refused = !b.refused, true
		return time.Duration(math.Ceil(missing / perPeriod * float64(l.period()))), first
	}
	b.left -= float64(n)
	b.refused = false
	return 0, false
}

// size is what a bucket holds.
func size(perPeriod float64) float64 { return max(perPeriod, 1) }

func (l *Limits) period() time.Duration { return cmp.Or(l.Period, time.Second) }

// bucket returns the name's bucket. A new one is full.
func (l *Limits) bucket(name string, perPeriod float64, now time.Time) *bucket {
	if b := l.buckets[name]; b != nil {
		return b
	}
	if len(l.buckets) >= max(l.sweepAt, leastSweep) {
		l.sweep(perPeriod, now)
	}
	if l.buckets == nil {
		l.buckets = map[string]*bucket{}
	}
	b := &bucket{left: size(perPeriod), at: now}
	l.buckets[name] = b
	return b
}

// sweep deletes full buckets, which are the same as new ones. It runs when there are twice as many as the last sweep
// left, so that its cost for each call is small.
func (l *Limits) sweep(perPeriod float64, now time.Time) {
	for name, b := range l.buckets {
		if b.fill(perPeriod, l.period(), now); b.left >= size(perPeriod) {
			delete(l.buckets, name)
		}
	}
	l.sweepAt = 2 * len(l.buckets)
}

// fill adds the calls for the time since the last fill. A clock that goes back adds nothing.
func (b *bucket) fill(perPeriod float64, period time.Duration, now time.Time) {
	if passed := now.Sub(b.at); passed > 0 {
		b.left += float64(passed) / float64(period) * perPeriod
		b.at = now
	}
	b.left = min(b.left, size(perPeriod))
}
