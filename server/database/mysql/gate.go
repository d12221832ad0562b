package mysql

import (
	"sync"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// gate holds new attempts to connect back for a moment after one failed, longer each time, so that calls fail at once
// while a database is down.
type gate struct {
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

// check returns the newest failure while the gate is shut.
func (g *gate) check() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.last != nil && time.Now().Before(g.opens) {
		return g.last
	}
	return nil
}

// failed shuts the gate; several attempts that failed side by side count once.
func (g *gate) failed(err *database.Error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.last = err
	if now := time.Now(); now.After(g.opens) {
		g.opens = now.Add(min(firstPause<<min(g.failures, 10), longestPause))
		g.failures++
	}
}

func (g *gate) succeeded() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.last, g.failures = nil, 0
}
