package dial

import (
	"sync"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// Gate holds back attempts to connect for a moment after one failed, longer each time. So calls fail at once while a
// database is down. Its zero value is open; it is safe for concurrent use.
type Gate struct {
	mu       sync.Mutex
	last     *database.Error
	failures int
	opens    time.Time
}

// The pause after the first failed attempt, and the longest.
const (
	firstPause   = 50 * time.Millisecond
	longestPause = 2 * time.Second
)

// Check returns the newest failure while the gate is shut.
func (g *Gate) Check() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.last != nil && time.Now().Before(g.opens) {
		return g.last
	}
	return nil
}

// Failed shuts the gate. Several attempts that failed at the same time count once.
func (g *Gate) Failed(err *database.Error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.last = err
	if now := time.Now(); now.After(g.opens) {
		g.opens = now.Add(min(firstPause<<min(g.failures, 10), longestPause))
		g.failures++
	}
}

// Succeeded opens the gate. The next failure counts as the first one.
func (g *Gate) Succeeded() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.last, g.failures = nil, 0
}
