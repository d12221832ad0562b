package program

import (
	"maps"
	"strconv"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
)

// removals are the changes that take access away at an endpoint and have not reached every pod.
type removals struct {
	// revisions are, by part, the newest revision that takes something away. What was stored when the manager started may have
	// taken something away.
	revisions map[int]int64
	// pending are the parts that some pod does not have at that revision.
	pending map[int]Removal
	// uncompiled is when a change came that may take something away and could not be compiled yet; zero if none did.
	uncompiled time.Time
	// failures is how often in a row a removal could not be written.
	failures int
}

// Removal is a change that takes access away in one part.
type Removal struct {
	Part     int
	Revision int64
	// since is when it was asked for, or was first known to be missing somewhere.
	since time.Time
	// found reports whether it was found out by comparing: when it was asked for is not known.
	found bool
}

// maxRemovalRetry is the longest time between two attempts to write a removal.
const maxRemovalRetry = 2 * time.Second

// uncompiled stands for the part of what was not compiled yet.
const uncompiled = "uncompiled"

// RemovalCame notes that a change has come that may take something away; CompiledIn follows, unless something fails.
func (p *Program) RemovalCame(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r := &p.removals; r.uncompiled.IsZero() && !p.ended {
		r.uncompiled = now
		cluster.PendingRemovals.Saw(p.endpoint, uncompiled, now)
	}
}

// noteRemovals takes in which parts take something away, after all changes were compiled. The caller holds the lock.
func (p *Program) noteRemovals(now time.Time) {
	r := &p.removals
	since := now
	if !r.uncompiled.IsZero() {
		since, r.uncompiled = r.uncompiled, time.Time{}
		cluster.PendingRemovals.Withdraw(p.endpoint, uncompiled)
	}
	for _, part := range p.compiler.Pending() {
		if part.Urgent && !part.New {
			p.setRemoval(part.Index, p.compiler.RevisionOf(part.Index))
			p.awaitRemoval(Removal{Part: part.Index, since: since})
		}
	}
}

func (p *Program) setRemoval(part int, revision int64) {
	if p.removals.revisions == nil {
		p.removals.revisions, p.removals.pending = map[int]int64{}, map[int]Removal{}
	}
	p.removals.revisions[part] = revision
}

// awaitRemoval begins to wait for the pods to apply what a part takes away, unless they have.
func (p *Program) awaitRemoval(r Removal) {
	r.Revision = p.removals.revisions[r.Part]
	if p.removalApplied(r.Part) || p.ended {
		return
	}
	if waiting, ok := p.removals.pending[r.Part]; ok {
		r.since, r.found = waiting.since, waiting.found // the first of them counts
	}
	p.removals.pending[r.Part] = r
	cluster.PendingRemovals.Saw(p.endpoint, strconv.Itoa(r.Part), r.since)
}

// removalApplied reports whether no pod lets in what a part takes away. A part of a layout that was not published yet is read
// by nobody, and what pods have is not known before they were asked.
func (p *Program) removalApplied(part int) bool {
	published, _ := p.compiler.Layout()
	return part >= published.Parts || p.observed && p.reports.haveAll(part, p.removals.revisions[part])
}

// checkRemovals compares what the pods have with what was taken away, and reports whether the endpoint has something new to
// say. At first that may be all that is stored.
func (p *Program) checkRemovals(now time.Time, first bool) (news bool) {
	if first {
		_, parts := p.compiler.Layout()
		for part := compile.MainPart; part < parts; part++ {
			if _, known := p.removals.revisions[part]; !known {
				p.setRemoval(part, p.compiler.StoredRevision(part))
			}
		}
	}
	for part := range p.removals.revisions {
		waiting, ok := p.removals.pending[part]
		switch applied := p.removalApplied(part); {
		case !applied && !ok && p.reports.lacks(part, p.removals.revisions[part]):
			p.awaitRemoval(Removal{Part: part, since: now, found: true})
			news = true
		case applied && ok:
			delete(p.removals.pending, part)
			news = news || now.Sub(waiting.since) >= cluster.RemovalGrace
			if waiting.found {
				cluster.PendingRemovals.Withdraw(p.endpoint, strconv.Itoa(part))
			} else {
				cluster.PendingRemovals.Done(p.endpoint, strconv.Itoa(part), now)
			}
		}
	}
	return news
}

// LateRemoval is the oldest removal that some pod has not applied for longer than RemovalGrace, and how long until the
// next one is; zeros if there is none.
func (p *Program) LateRemoval(now time.Time) (late *Removal, next time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	waiting := maps.Clone(p.removals.pending)
	if since := p.removals.uncompiled; !since.IsZero() && len(p.reports) > 0 {
		if waiting == nil {
			waiting = map[int]Removal{}
		}
		waiting[NotCompiled] = Removal{Part: NotCompiled, since: since}
	}
	for _, r := range waiting {
		if age := now.Sub(r.since); age >= cluster.RemovalGrace {
			if late == nil || r.since.Before(late.since) {
				late = &r
			}
		} else if left := cluster.RemovalGrace - age; next == 0 || left < next {
			next = left
		}
	}
	if late != nil {
		next = 0
	}
	return late, next
}

// NotCompiled is the part of a removal that was not compiled yet.
const NotCompiled = compile.MainPart - 1

// RetryRemoval returns when to try again after an attempt failed to write what takes something away; 0 if nothing does.
func (p *Program) RetryRemoval() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := &p.removals
	if r.uncompiled.IsZero() && (p.compiler == nil || !p.compiler.TakesAway()) {
		return 0
	}
	r.failures = min(r.failures+1, 10)
	return min(10*time.Millisecond<<r.failures, maxRemovalRetry)
}

// RemovalTried notes that an attempt succeeded.
func (p *Program) RemovalTried() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.removals.failures = 0
}

// end forgets what is waited for: the endpoint is gone, and its pods with it.
func (p *Program) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	cluster.PendingRemovals.Forget(p.endpoint)
}
