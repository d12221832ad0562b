package cluster

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// PendingRemovals are the removals that not every server pod has applied.
var PendingRemovals = &removalTracker{seen: map[types.NamespacedName]map[string]time.Time{}}

// removalTracker knows what takes access away and has not reached every pod, by endpoint and by a name of the caller's
// choice, such as the token's. It is safe for concurrent use.
type removalTracker struct {
	mu   sync.Mutex
	seen map[types.NamespacedName]map[string]time.Time
}

// Saw notes that something has to be removed. Only the first call for it counts.
func (r *removalTracker) Saw(endpoint types.NamespacedName, what string, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen[endpoint] == nil {
		r.seen[endpoint] = map[string]time.Time{}
	}
	if _, known := r.seen[endpoint][what]; !known {
		r.seen[endpoint][what] = now
	}
}

// Done notes that every pod refuses it. It does nothing for what was not seen.
func (r *removalTracker) Done(endpoint types.NamespacedName, what string, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if since, known := r.seen[endpoint][what]; known {
		removalSeconds.Observe(now.Sub(since).Seconds())
		r.drop(endpoint, what)
	}
}

// Withdraw notes that something is not to be removed any more.
func (r *removalTracker) Withdraw(endpoint types.NamespacedName, what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop(endpoint, what)
}

func (r *removalTracker) drop(endpoint types.NamespacedName, what string) {
	if delete(r.seen[endpoint], what); len(r.seen[endpoint]) == 0 {
		delete(r.seen, endpoint)
	}
}

// Forget drops an endpoint that is gone, and its pods with it.
func (r *removalTracker) Forget(endpoint types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.seen, endpoint)
}

// late is the number of removals that take too long.
func (r *removalTracker) late(now time.Time) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, removals := range r.seen {
		for _, since := range removals {
			if now.Sub(since) > RemovalGrace {
				n++
			}
		}
	}
	return n
}

// RemovalGrace is how long a removal may take to reach every pod before the endpoint says that it has not.
const RemovalGrace = 10 * time.Second
