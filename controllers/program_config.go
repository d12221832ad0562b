package controllers

import (
	"errors"
	"iter"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
)

// What the config reconciler asks of a program. One reconcile of an endpoint runs at a time.

func (p *program) isLoaded() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.compiler != nil
}

// start begins with a Compiler that knows what is stored.
func (p *program) start(c *compile.Compiler) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.compiler = c
}

// update compiles what has changed.
func (p *program) update(in compile.Objects) compile.Outcome {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.growthIsRead() {
		p.compiler.Settle()
	}
	outcome := p.compiler.Update(in)
	p.compiled, p.rewrite = true, false
	p.noteRemovals(in.Now)
	return outcome
}

// growthIsRead reports whether every counted pod has the layout that a growth led to. The caller holds the lock.
func (p *program) growthIsRead() bool {
	published, _ := p.compiler.Layout()
	return published.Before > 0 && p.reports.haveLayout(published.Parts)
}

// configDue reports whether the pods' reports give the config reconciler something to do: to end a growth, or to write anew
// what they refuse.
func (p *program) configDue() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.compiled && p.compiler.Main() != nil && (p.rewrite || p.growthIsRead())
}

// tokenChanged notes that a token has to be compiled again.
func (p *program) tokenChanged(token types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.changedTokens != nil {
		p.changedTokens[token] = struct{}{}
	}
}

// allTokensChanged notes that all tokens are to be looked at again.
func (p *program) allTokensChanged() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.changedTokens = nil
}

// takeChangedTokens returns the tokens that have changed since it was called last; nil is perhaps all, as after a change of
// allowedTokens. What is read of tokens afterwards is as new as that.
func (p *program) takeChangedTokens(e *v1alpha1.MCPEndpoint) []types.NamespacedName {
	p.mu.Lock()
	defer p.mu.Unlock()
	changed := p.changedTokens
	p.changedTokens = map[types.NamespacedName]struct{}{}
	if changed == nil || !p.compiler.CompiledFor(e) {
		return nil
	}
	return slices.AppendSeq(make([]types.NamespacedName, 0, len(changed)), maps.Keys(changed))
}

// rest returns how long to wait before compiling again; 0 is not at all. To look at ten thousand tokens for each new
// model would keep a processor busy. What may take something away waits for nothing: removals counts those changes.
func (p *program) rest(e *v1alpha1.MCPEndpoint, removals int, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if last := p.lastCompile; p.compiled && last.took >= minCompile && last.removals == removals && p.compiler.CompiledFor(e) {
		return max(0, min(restShare*last.took, maxRest)-now.Sub(last.at))
	}
	return 0
}

// awaits reports whether changes have come since the objects were compiled that may take something away.
func (p *program) awaits(removals int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.compiled && p.lastCompile.removals != removals
}

// compiledIn notes how long compiling took, and how many changes had come before it that may take something away.
func (p *program) compiledIn(took time.Duration, removals int, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lastCompile = compileRun{at: now, took: took, removals: removals}
}

// refresh takes in a newer state of a token that asks for nothing else.
func (p *program) refresh(t *v1alpha1.MCPToken) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.compiler != nil {
		p.compiler.Refresh(t)
	}
}

// gather returns how long to wait before changes are written that take nothing away; 0 is not at all. The first of them is
// written at once, and the following ones wait for each other. As long as no pod counts, nobody waits for them, and all of
// them do.
func (p *program) gather(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	pending := p.compiler.Pending()
	if len(pending) == 0 || pending[0].Urgent {
		return 0
	}
	pause := min(max(gatherTime, gatherShare*p.adding), maxGatherTime)
	if p.written.IsZero() || p.applied.pods == 0 && now.Sub(p.written) > 2*pause {
		p.written = now
		return gatherTime
	}
	return max(0, pause-now.Sub(p.written))
}

// added notes how long it took to write what only adds.
func (p *program) added(took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.adding = took
}

// nextPart is a part that has to be written, with its wanted content.
type nextPart struct {
	pending  compile.Pending
	revision int64
	main     *contract.Config
	tokens   *contract.TokenPart
	// reduced reports whether it lacks what it should have and what does not fit.
	reduced bool
}

func (n nextPart) encode() (contract.Part, error) {
	if n.main != nil {
		return contract.EncodeMain(n.main)
	}
	return contract.EncodeTokens(n.tokens)
}

// next returns the part to write next, but for those to pass over; false if there is none.
func (p *program) next(passOver map[int]bool) (nextPart, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	pending := slices.DeleteFunc(p.compiler.Pending(), func(part compile.Pending) bool { return passOver[part.Index] })
	if len(pending) == 0 {
		return nextPart{}, false
	}
	next := nextPart{pending: pending[0]}
	if next.pending.Index == compile.MainPart {
		next.main = p.compiler.Main()
		next.revision = next.main.Revision
	} else {
		next.tokens = p.compiler.TokenPart(next.pending.Index)
		next.revision = next.tokens.Revision
	}
	return next, true
}

// wrote notes that a part was written.
func (p *program) wrote(next nextPart, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if next.reduced {
		p.compiler.WroteReduced(next.tokens)
	} else {
		p.compiler.Written(next.pending.Index, next.revision)
	}
	if !next.pending.Urgent {
		p.written = now
	}
}

// reduce returns a part that takes something away so that it fits, if the stored one is known.
func (p *program) reduce(next nextPart, stored *contract.TokenPart) (nextPart, contract.Part, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	next.reduced = true
	for _, leaner := range []bool{false, true} {
		next.tokens = p.compiler.Reduced(next.pending.Index, stored, leaner)
		if part, err := next.encode(); !errors.Is(err, contract.ErrTooLarge) {
			return next, part, err
		}
	}
	return next, nil, contract.ErrTooLarge
}

// grown reports whether there is a larger layout to publish, since all of its parts are stored.
func (p *program) grown() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.compiler.Grown()
}

// found notes what was read of a part after it was written by somebody else, or deleted.
func (p *program) found(index int, read storedPart) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case !read.exists:
		p.compiler.Written(index, 0)
	case read.part == nil || !read.whole:
		p.compiler.Written(index, foreignRevision)
	default:
		p.compiler.Written(index, read.part.Revision())
	}
}

// foreignRevision is the revision of a stored part that has to be overwritten, whatever is in it.
const foreignRevision = -1

// makeRoom changes what is compiled so that a part fits into a Secret, and reports whether it can: the layout grows, or the
// youngest models are left out.
func (p *program) makeRoom(part nextPart) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if part.main == nil {
		return p.compiler.TooLarge(part.pending.Index)
	}
	if len(part.main.Models) <= 1 {
		return false
	}
	p.compiler.MainTooLarge()
	return true
}

// setProblem notes why the wanted Config could not be stored, and reports whether that is news.
func (p *program) setProblem(problem *finding) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	news := (p.problem == nil) != (problem == nil) || problem != nil && *p.problem != *problem
	p.problem = problem
	return news
}

// parts yields the index of every part.
func (p *program) parts() iter.Seq[int] {
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

// secretNames are the names of the Secrets of an endpoint's Config.
func (p *program) secretNames(endpoint string) []string {
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

// doubt notes that a Secret of the Config may not be as it was written.
func (p *program) doubt(secret string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.doubts == nil {
		p.doubts = map[string]bool{}
	}
	p.doubts[secret] = true
}

// doubtAll notes that no Secret of the Config need be as it was written.
func (p *program) doubtAll(e *v1alpha1.MCPEndpoint) {
	for index := range p.parts() {
		p.doubt(partName(e, index))
	}
}

// doubted returns the Secrets that may not be as they were written, once.
func (p *program) doubted() map[string]bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	doubts := p.doubts
	p.doubts = nil
	return doubts
}
