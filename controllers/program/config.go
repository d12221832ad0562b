package program

import (
	"errors"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
	"github.com/mcp-admin/mcp-admin-operator/controllers/condition"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// What the config reconciler asks of a program. One reconcile of an endpoint runs at a time.

// IsLoaded reports whether what is stored of the Config has been read.
func (p *Program) IsLoaded() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.compiler != nil
}

// Start begins with a Compiler that knows what is stored.
func (p *Program) Start(c *compile.Compiler) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.compiler = c
}

// Update compiles what has changed.
func (p *Program) Update(in compile.Objects) compile.Outcome {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.growthIsRead() {
		p.compiler.Settle()
	}
	in.Pods = p.pods
	outcome := p.compiler.Update(in)
	p.compiled, p.rewrite = true, false
	p.noteRemovals(in.Now)
	return outcome
}

// growthIsRead reports whether every counted pod has the layout that a growth led to. The caller holds the lock.
func (p *Program) growthIsRead() bool {
	published, _ := p.compiler.Layout()
	return published.Before > 0 && p.reports.haveLayout(published.Parts)
}

// ConfigDue reports whether the pods' reports give the config reconciler something to do: to end a growth, or to write anew
// what they refuse.
func (p *Program) ConfigDue() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.compiled && p.compiler.Main() != nil && (p.rewrite || p.growthIsRead())
}

// tokenChanged notes that a token has to be compiled again.
func (p *Program) tokenChanged(token types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.changedTokens != nil {
		p.changedTokens[token] = struct{}{}
	}
}

// AllTokensChanged notes that all tokens are to be looked at again.
func (p *Program) AllTokensChanged() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.changedTokens = nil
}

// TakeChangedTokens returns the tokens that have changed since it was called last; nil is perhaps all, as after a change of
// allowedTokens. What is read of tokens afterwards is as new as that.
func (p *Program) TakeChangedTokens(e *v1alpha1.MCPEndpoint) []types.NamespacedName {
	p.mu.Lock()
	defer p.mu.Unlock()
	changed := p.changedTokens
	p.changedTokens = map[types.NamespacedName]struct{}{}
	if changed == nil || !p.compiler.CompiledFor(e) {
		return nil
	}
	return slices.AppendSeq(make([]types.NamespacedName, 0, len(changed)), maps.Keys(changed))
}

// Rest returns how long to wait before compiling again; 0 is not at all. To look at ten thousand tokens for each new
// model would keep a processor busy. What may take something away waits for nothing: removals counts those changes.
func (p *Program) Rest(e *v1alpha1.MCPEndpoint, removals int, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if last := p.lastCompile; p.compiled && last.took >= minCompile && last.removals == removals && p.compiler.CompiledFor(e) {
		return max(0, min(restShare*last.took, maxRest)-now.Sub(last.at))
	}
	return 0
}

// Awaits reports whether changes have come since the objects were compiled that may take something away.
func (p *Program) Awaits(removals int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.compiled && p.lastCompile.removals != removals
}

// CompiledIn notes how long compiling took, and how many changes had come before it that may take something away.
func (p *Program) CompiledIn(took time.Duration, removals int, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lastCompile = compileRun{at: now, took: took, removals: removals}
	if p.changes.on() {
		p.changes.compiled(now.Add(-took), now, len(p.compiler.Pending()) > 0)
	}
}

// refresh takes in a newer state of a token that asks for nothing else.
func (p *Program) refresh(t *v1alpha1.MCPToken) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.compiler != nil {
		p.compiler.Refresh(t)
	}
}

// Gather returns how long to wait before changes are written that take nothing away; 0 is not at all. The first of them is
// written at once, and the following ones wait for each other. As long as no pod counts, nobody waits for them, and all of
// them do.
func (p *Program) Gather(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	pending := p.compiler.Pending()
	if len(pending) == 0 || pending[0].Urgent || pending[0].Soon {
		return 0
	}
	pause := max(GatherTime, p.pause)
	if p.written.IsZero() || p.applied.pods == 0 && now.Sub(p.written) > 2*pause {
		p.written = now
		return GatherTime
	}
	return max(0, pause-now.Sub(p.written))
}

// Added notes how long it took to write what only adds, and how many parts that were.
func (p *Program) Added(took time.Duration, parts int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pause = gatherPause(took, parts)
}

// NextPart is a part that has to be written, with its wanted content.
type NextPart struct {
	Pending  compile.Pending
	Revision int64
	Main     *contract.Config
	tokens   *contract.TokenPart
	// Reduced reports whether it lacks what it should have and what does not fit.
	Reduced bool
}

// Encode returns the part as it is stored.
func (n NextPart) Encode() (contract.Part, error) {
	if n.Main != nil {
		return contract.EncodeMain(n.Main)
	}
	return contract.EncodeTokens(n.tokens)
}

// Next returns the part to write next, but for those to pass over; false if there is none.
func (p *Program) Next(passOver map[int]bool) (NextPart, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	pending := slices.DeleteFunc(p.compiler.Pending(), func(part compile.Pending) bool { return passOver[part.Index] })
	if len(pending) == 0 {
		return NextPart{}, false
	}
	next := NextPart{Pending: pending[0]}
	if next.Pending.Index == compile.MainPart {
		next.Main = p.compiler.Main()
		next.Revision = next.Main.Revision
	} else {
		next.tokens = p.compiler.TokenPart(next.Pending.Index)
		next.Revision = next.tokens.Revision
	}
	return next, true
}

// Wrote notes that a part was written.
func (p *Program) Wrote(next NextPart, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if next.Reduced {
		p.compiler.WroteReduced(next.tokens)
	} else {
		p.compiler.Written(next.Pending.Index, next.Revision)
	}
	if !next.Pending.Urgent && !next.Pending.Soon {
		p.written = now
	}
	if p.changes.on() {
		p.changes.wrote(next.Pending.Index, next.Revision, now, len(p.compiler.Pending()) > 0)
	}
}

// Reduce returns a part that takes something away so that it fits, if the stored one is known.
func (p *Program) Reduce(next NextPart, stored *contract.TokenPart) (NextPart, contract.Part, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	next.Reduced = true
	for _, leaner := range []bool{false, true} {
		next.tokens = p.compiler.Reduced(next.Pending.Index, stored, leaner)
		if part, err := next.Encode(); !errors.Is(err, contract.ErrTooLarge) {
			return next, part, err
		}
	}
	return next, nil, contract.ErrTooLarge
}

// Grown reports whether there is a larger layout to publish, since all of its parts are stored.
func (p *Program) Grown() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.compiler.Grown()
}

// Found notes what was read of a part after it was written by somebody else, or deleted.
func (p *Program) Found(index int, read StoredPart) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case !read.exists:
		p.compiler.Written(index, 0)
	case read.Part == nil || !read.whole:
		p.compiler.Written(index, foreignRevision)
	default:
		p.compiler.Written(index, read.Part.Revision())
	}
}

// foreignRevision is the revision of a stored part that has to be overwritten, whatever is in it.
const foreignRevision = -1

// MakeRoom changes what is compiled so that a part fits into a Secret, and reports whether it can: the layout grows, or the
// youngest models are left out.
func (p *Program) MakeRoom(part NextPart) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if part.Main == nil {
		return p.compiler.TooLarge(part.Pending.Index)
	}
	if len(part.Main.Models) <= 1 {
		return false
	}
	p.compiler.MainTooLarge()
	return true
}

// SetProblem notes why the wanted Config could not be stored, and reports whether that is news.
func (p *Program) SetProblem(problem *condition.Finding) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	news := (p.problem == nil) != (problem == nil) || problem != nil && *p.problem != *problem
	p.problem = problem
	return news
}

// Parts yields the index of every part.
func (p *Program) Parts() iter.Seq[int] {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, tokens := p.compiler.Layout()
	return func(yield func(int) bool) {
		for index := compile.MainPart; index < tokens; index++ {
			if !yield(index) {
				return
			}
		}
	}
}

// SecretNames are the names of the Secrets of an endpoint's Config.
func (p *Program) SecretNames(endpoint string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := v1alpha1.MCPEndpoint{ObjectMeta: metav1.ObjectMeta{Name: endpoint}}
	base := e.ConfigSecretName()
	names := []string{contract.MainSecret(base), contract.TokensSecret(base, 0)}
	if p.compiler != nil {
		_, parts := p.compiler.Layout()
		for i := 1; i < parts; i++ {
			names = append(names, contract.TokensSecret(base, i))
		}
	}
	return names
}

// Doubt notes that a Secret of the Config may not be as it was written.
func (p *Program) Doubt(secret string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.doubts == nil {
		p.doubts = map[string]bool{}
	}
	p.doubts[secret] = true
}

// DoubtAll notes that no Secret of the Config need be as it was written.
func (p *Program) DoubtAll(e *v1alpha1.MCPEndpoint) {
	for index := range p.Parts() {
		p.Doubt(cluster.PartName(e, index))
	}
}

// Doubted returns the Secrets that may not be as they were written, once.
func (p *Program) Doubted() map[string]bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	doubts := p.doubts
	p.doubts = nil
	return doubts
}
