package controllers

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
)

// A group that thousands of tokens have is one write. What their statuses count of their rights follows later, at a pace
// that nobody notices.
const (
	rightsDelay = time.Minute
	rightsPace  = 100 * time.Millisecond
)

// rightsTurns says when the status of each token is written whose count of rights alone is out of date. Its zero value is
// empty; it is safe for concurrent use.
type rightsTurns struct {
	mu   sync.Mutex
	at   map[types.NamespacedName]time.Time
	last time.Time
}

// of is a token's turn: the next free one if it has none yet.
func (t *rightsTurns) of(token types.NamespacedName, now time.Time) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	if turn, given := t.at[token]; given {
		return turn
	}
	turn := now.Add(rightsDelay)
	if next := t.last.Add(rightsPace); next.After(turn) {
		turn = next
	}
	if t.at == nil {
		t.at = map[types.NamespacedName]time.Time{}
	}
	t.at[token], t.last = turn, turn
	return turn
}

// untilTurn is how long a status has to wait; 0 if it differs in more than its rights, or in nothing, or if it is its turn.
func (t *rightsTurns) untilTurn(token *v1alpha1.MCPToken, status v1alpha1.MCPTokenStatus, now time.Time) time.Duration {
	told, counted := token.Status.Rights, status.Rights
	status.Rights = told
	if told != nil && counted != nil && !equality.Semantic.DeepEqual(told, counted) && equality.Semantic.DeepEqual(token.Status, status) {
		if wait := t.of(keyOf(token), now).Sub(now); wait > 0 {
			return wait
		}
	}
	t.forget(keyOf(token))
	return 0
}

// forget drops a token's turn.
func (t *rightsTurns) forget(token types.NamespacedName) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.at, token)
}

// rights count what the token may do at present; nil if it is not in force.
func (r *tokenReconciler) rights(t *v1alpha1.MCPToken) *v1alpha1.RightsStatus {
	rights, inForce := r.store.program(t.Endpoint()).rights(keyOf(t))
	if !inForce {
		return nil
	}
	return rightsStatus(rights)
}

func rightsStatus(rights compile.Rights) *v1alpha1.RightsStatus {
	return &v1alpha1.RightsStatus{Models: new(int32(rights.Models)), Verbs: rights.Verbs, Tools: new(int32(rights.Tools))}
}

// rights count what a token may do at present; false if it is not in force.
func (p *program) rights(token types.NamespacedName) (compile.Rights, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.compiled {
		return compile.Rights{}, false
	}
	return p.compiler.Rights(token)
}

// staleRights are the tokens whose status tells of other rights than they have.
func (p *program) staleRights() []types.NamespacedName {
	p.mu.Lock()
	defer p.mu.Unlock()
	var stale []types.NamespacedName
	p.compiler.EachToken(func(key types.NamespacedName, _ *contract.Token) {
		rights, inForce := p.compiler.Rights(key)
		_, token, _, _ := p.compiler.Token(key)
		if told := token.Status.Rights; inForce && told != nil && !equality.Semantic.DeepEqual(told, rightsStatus(rights)) {
			stale = append(stale, key)
		}
	})
	return stale
}
