package program

import (
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
	"github.com/mcp-admin/mcp-admin-operator/controllers/condition"
	"github.com/mcp-admin/mcp-admin-operator/controllers/observe"
	"k8s.io/apimachinery/pkg/types"
)

// Program holds what the manager knows about one endpoint's Config: what it should be, what is stored of it, and what the
// endpoint's pods have applied. The config reconciler compiles and writes, the endpoint's reconciler says which pods there
// are, and the pods' reports come in between. It is safe for concurrent use. Nothing waits under its lock.
type Program struct {
	endpoint types.NamespacedName

	mu sync.Mutex
	// compiler is nil until the stored Config was read.
	compiler *compile.Compiler
	// compiled reports whether the objects were compiled since.
	compiled    bool
	lastCompile compileRun
	// changedTokens are the tokens that have to be compiled again; nil is all of them.
	changedTokens map[types.NamespacedName]struct{}
	// problem says why the wanted Config could not be stored; nil if it could.
	problem *condition.Finding
	// written is when something was written last that only adds, pause how long the next additions wait from then on.
	written time.Time
	pause   time.Duration

	// observed reports whether the pods were asked since the manager started. Until then what the objects' statuses say of
	// them stays.
	observed bool
	reports  PodReports
	applied  applied
	// pods are the endpoint's pods; nil until somebody has counted them.
	pods *contract.Pods
	// absent is since when no pod counts; zero while one does.
	absent time.Time
	// doubts are the Secrets that may not be as they were written.
	doubts   map[string]bool
	removals removals
	changes  changes
	// ended reports whether the endpoint is gone.
	ended bool
	// overtaken is when pods had a higher revision than the manager knew; rewrite reports whether the parts have to be
	// written anew for it.
	overtaken time.Time
	rewrite   bool
	// overtakenBy is the higher revision until it was logged; 0 is none.
	overtakenBy int64
}

// compileRun is when the objects were compiled last, how long that took, and how many changes had come before that may take
// something away.
type compileRun struct {
	at       time.Time
	took     time.Duration
	removals int
}

// token returns what is known about a token, and whether that is about the present token and text. What was programmed
// for another text says nothing about this one.
func (p *Program) token(t *v1alpha1.MCPToken, credential *compile.Credential, now time.Time) (TokenFacts, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.compiled && p.problem != nil {
		waiting := compile.Verdict{Reason: p.problem.Reason, Message: p.problem.Message}
		return TokenFacts{Verdict: compile.TokenVerdict{Verdict: waiting}, Programmed: *p.problem}, true
	}
	if !p.compiled || !p.observed {
		return TokenFacts{}, false
	}
	verdict, object, given, ok := p.compiler.Token(cluster.KeyOf(t))
	if !ok || object.UID != t.UID || object.Generation != t.Generation || !reflect.DeepEqual(given, credential) {
		return TokenFacts{}, false
	}
	facts := TokenFacts{Verdict: verdict, Programmed: p.tokenProgrammed(t.Namespace, t.Name, verdict.Verdict, now)}
	if !p.compiler.StoredToken(t.Namespace, t.Name) {
		facts.Verdict.Revision = 0 // a status names no revision that is not written
	}
	return facts, true
}

// tokenProgrammed reports whether a token's entry has reached every pod.
func (p *Program) tokenProgrammed(namespace, name string, verdict compile.Verdict, now time.Time) condition.Finding {
	if verdict.Revision == 0 {
		return condition.Fails(verdict.Reason, verdict.Message)
	}
	key := types.NamespacedName{Namespace: namespace, Name: name}
	return p.reached(verdict.Revision, p.applied.ofToken(key, p.compiler.NeedsLayout(key)), p.compiler.StoredToken(namespace, name), now)
}

// mainProgrammed reports whether an entry of the main part has reached every pod.
func (p *Program) mainProgrammed(verdict compile.Verdict, now time.Time) condition.Finding {
	if verdict.Revision == 0 {
		return condition.Fails(verdict.Reason, verdict.Message)
	}
	return p.reached(verdict.Revision, p.applied.main, p.compiler.StoredMain(), now)
}

// reached reports whether a revision is among what the pods have applied, and there is a pod
// (docs/design/controllers.md, "Revision and Programmed"). The message counts no pods, so that a status does not change
// with every pod that comes and goes.
func (p *Program) reached(revision, applied int64, stored bool, now time.Time) condition.Finding {
	switch {
	case (p.applied.pods > 0 || p.awayFor(now) < absenceGrace) && applied >= revision:
		return condition.Holds(v1alpha1.ReasonProgrammed, fmt.Sprintf("every server pod has applied revision %d", revision))
	case !stored && p.problem != nil:
		return *p.problem
	case p.applied.pods == 0:
		return condition.Fails(v1alpha1.ReasonWaitingForPods, "no server pod is ready")
	case p.applied.refused != nil:
		return condition.Fails(v1alpha1.ReasonConfigRefused, "a server pod refuses the Config: "+p.applied.refused.Message)
	case p.applied.unheard:
		return condition.Fails(v1alpha1.ReasonWaitingForPods, "a server pod does not tell what it has applied: the manager must reach its port "+observe.AdminPort)
	}
	return condition.Fails(v1alpha1.ReasonWaitingForPods, fmt.Sprintf("not every server pod has applied revision %d yet", revision))
}

// absenceGrace is how long an endpoint may have no ready pod before its objects stop being Programmed. A pod that was
// replaced is back with the same Config, so the status of thousands of tokens need not be written twice. The endpoint
// itself says at once that no pod is ready.
const absenceGrace = 5 * time.Minute

// hasPods reports whether a pod answers agents.
func (p *Program) hasPods() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.applied.pods > 0
}

// awayFor is how long no pod has counted.
func (p *Program) awayFor(now time.Time) time.Duration {
	if p.absent.IsZero() {
		return 0
	}
	return now.Sub(p.absent)
}

// CountPods notes how many pods there are, and reports whether that is another number than before.
func (p *Program) CountPods(pods contract.Pods) (news bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	news = p.pods == nil || *p.pods != pods
	p.pods = &pods
	return news
}

// Observe takes in what the endpoint's pods report. It returns the tokens whose Programmed is another than before, and
// whether anything else is.
func (p *Program) Observe(reports PodReports, now time.Time) (tokens []types.NamespacedName, others bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before, beforeAway := p.applied, p.awayFor(now)
	others = !sameNews(p.reports, reports)
	p.reports = reports
	next := reports.applied()
	switch {
	case next.pods > 0:
		p.absent = time.Time{}
	case before.pods > 0 || p.absent.IsZero():
		p.absent = now
		if before.pods > 0 {
			next.main, next.tokens, next.parts = before.main, before.tokens, before.parts
		}
	default:
		if next.main, next.tokens, next.parts = before.main, before.tokens, before.parts; beforeAway >= absenceGrace {
			next.main, next.tokens, next.parts = 0, nil, 0
		}
	}
	p.applied = next
	if p.compiler == nil {
		return nil, others
	}
	first := !p.observed
	p.observed = true
	if len(p.changes.sent) > 0 {
		p.changes.applied(p.endpoint.String(), p.everyPodHas, next.pods, now)
	}
	others = p.checkRemovals(now, first) || others
	p.catchUp(now)
	return p.otherwiseApplied(before, next, first), others || p.overtakenBy > 0
}

// otherwiseApplied returns the tokens whose Programmed is another after the pods have applied something else; all of them if
// it is the first that is known.
func (p *Program) otherwiseApplied(before, next applied, first bool) (tokens []types.NamespacedName) {
	sameWords := !first && before.sameWords(next)
	see := func(key types.NamespacedName, entry *contract.Token) {
		parts := p.compiler.NeedsLayout(key)
		was, is := before.ofToken(key, parts) >= entry.Revision, next.ofToken(key, parts) >= entry.Revision
		if first || was != is || !is && !sameWords {
			tokens = append(tokens, key)
		}
	}
	if parts := len(next.tokens); !sameWords || len(before.tokens) != parts || before.parts != next.parts || !p.compiler.HasParts(parts) {
		p.compiler.EachToken(see)
		return tokens
	}
	for i := range next.tokens {
		if before.tokens[i] != next.tokens[i] {
			p.compiler.EachTokenOfPart(i, see)
		}
	}
	return tokens
}

// everyPodHas reports whether the counted pods have applied a revision of a part. The caller holds the lock.
func (p *Program) everyPodHas(part int, revision int64) bool {
	if part == compile.MainPart {
		return p.applied.main >= revision
	}
	return part < len(p.applied.tokens) && p.applied.tokens[part] >= revision
}

// overtakenRest is how long the parts are not written anew again for what a pod says.
const overtakenRest = time.Minute

// catchUp has all parts written above the revisions that the pods have had: after a restore from a backup they refuse what the
// manager writes. The caller holds the lock.
func (p *Program) catchUp(now time.Time) {
	if (p.overtaken.IsZero() || now.Sub(p.overtaken) >= overtakenRest) && p.compiler.GoAbove(p.reports.highest()) {
		p.overtaken, p.rewrite, p.overtakenBy = now, true, p.reports.highest()
	}
}

// TakeOvertaken returns a revision that a pod has had and that is higher than any that was known, once; 0 is none.
func (p *Program) TakeOvertaken() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	by := p.overtakenBy
	p.overtakenBy = 0
	return by
}

// Rights count what a token may do by the main part of a revision; false if it is not in force.
func (p *Program) Rights(token types.NamespacedName) (rights compile.Rights, revision int64, inForce bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.compiled || p.compiler.Main() == nil {
		return compile.Rights{}, 0, false
	}
	rights, inForce = p.compiler.Rights(token)
	return rights, p.compiler.Main().Revision, inForce
}
