package program

import (
	"context"
	"reflect"
	"sync"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/contract/tracing"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
	"github.com/mcp-admin/mcp-admin-operator/controllers/condition"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// ExposureFacts holds what the endpoint's reconciler knows about an exposure.
type ExposureFacts struct {
	UID types.UID
	// Generation is the compiled generation.
	Generation int64
	Verdict    compile.Verdict
	Programmed condition.Finding
	// Model holds what the server's pods found about it; nil if none has reported yet.
	Model *contract.ModelStatus
}

// TokenFacts holds the known facts about a token, besides its text.
type TokenFacts struct {
	Verdict    compile.TokenVerdict
	Programmed condition.Finding
}

// credentialOf returns what the token's reconciler knows about a token's text.
type credentialOf struct {
	uid        types.UID
	credential *compile.Credential
}

// Store holds what the reconcilers tell each other. It is in memory, and fills again after a restart. A change wakes the
// reconcilers that it concerns; storing equal facts wakes none. It is safe for concurrent use.
type Store struct {
	Configs, Endpoints, Exposures, Tokens waker
	// LastUsed are the hours in which tokens were used last, as far as the pods have told this process.
	LastUsed cluster.Memo[types.NamespacedName, time.Time]
	// Refused are the tokens that were shown though they have expired or are not active, as the pods have told this process: the newest
	// report about each.
	Refused cluster.Memo[types.NamespacedName, contract.RefusedUse]

	// tracer makes traces of changes; now is the clock.
	tracer *tracing.Tracer
	now    func() time.Time

	mu            sync.RWMutex
	programs      map[types.NamespacedName]*Program
	credentials   map[types.NamespacedName]credentialOf
	exposureFacts map[types.NamespacedName]map[types.NamespacedName]ExposureFacts // by endpoint, then exposure
}

// NewStore returns a store without programs. The tracer may be nil; now is the clock.
func NewStore(tracer *tracing.Tracer, now func() time.Time) *Store {
	return &Store{
		tracer: tracer, now: now,
		programs:      map[types.NamespacedName]*Program{},
		credentials:   map[types.NamespacedName]credentialOf{},
		exposureFacts: map[types.NamespacedName]map[types.NamespacedName]ExposureFacts{},
	}
}

// Program returns the program of an endpoint, a new one if there is none.
func (s *Store) Program(endpoint types.NamespacedName) *Program {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.programs[endpoint]
	if p == nil {
		p = &Program{endpoint: endpoint, changes: changes{tracer: s.tracer}}
		s.programs[endpoint] = p
	}
	return p
}

// Known returns the program of an endpoint, nil if there is none.
func (s *Store) Known(endpoint types.NamespacedName) *Program {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.programs[endpoint]
}

// TokenChanged notes that a token has to be compiled again. The caller wakes the endpoint's config reconciler.
func (s *Store) TokenChanged(endpoint, token types.NamespacedName) {
	p := s.Program(endpoint)
	p.tokenChanged(token)
	p.ChangeCame(s.now())
}

// ExposureChanged notes that an exposure asks for something else.
func (s *Store) ExposureChanged(endpoint, _ types.NamespacedName) {
	if p := s.Known(endpoint); p != nil {
		p.ChangeCame(s.now())
	}
}

// Refresh lets what was compiled from a token refer to a newer state of it that asks for nothing else.
func (s *Store) Refresh(t *v1alpha1.MCPToken) {
	if p := s.Known(t.Endpoint()); p != nil {
		p.refresh(t)
	}
}

// Drop forgets an endpoint's Config, and returns what was known of it; nil if nothing was.
func (s *Store) Drop(endpoint types.NamespacedName) *Program {
	s.mu.Lock()
	p := s.programs[endpoint]
	delete(s.programs, endpoint)
	s.mu.Unlock()
	if p != nil {
		p.end()
	}
	return p
}

// SetCredential gives the config reconciler the credential of a token. A text that counts no more goes before everything
// else.
func (s *Store) SetCredential(token *v1alpha1.MCPToken, credential compile.Credential) {
	key := cluster.KeyOf(token)
	s.mu.Lock()
	old, known := s.credentials[key]
	same := known && old.uid == token.UID && reflect.DeepEqual(*old.credential, credential)
	if !same {
		s.credentials[key] = credentialOf{token.UID, &credential}
	}
	s.mu.Unlock()
	if same {
		return
	}
	s.TokenChanged(token.Endpoint(), key)
	priority := s.PriorityOfNew(token)
	if known && len(old.credential.Hashes) > 0 {
		priority = cluster.PriorityRemoval
	}
	s.Configs.WakeAt(priority, token.Endpoint())
}

// PriorityOfNew is the priority of what a new token needs.
func (s *Store) PriorityOfNew(t *v1alpha1.MCPToken) int {
	if p := s.Known(t.Endpoint()); p != nil && p.hasPods() {
		return cluster.PriorityIssue
	}
	return cluster.PriorityChange
}

// ForgetToken drops what is known about a token that is gone.
func (s *Store) ForgetToken(key types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.credentials, key)
	s.LastUsed.Forget(key)
	s.Refused.Forget(key)
}

// Credential is a token's credential; nil if it was not looked up.
func (s *Store) Credential(t *v1alpha1.MCPToken) *compile.Credential {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if c, ok := s.credentials[cluster.KeyOf(t)]; ok && c.uid == t.UID {
		return c.credential
	}
	return nil
}

// Publish replaces what is known about an endpoint's exposures; nil means that the endpoint is gone.
func (s *Store) Publish(endpoint types.NamespacedName, exposures map[types.NamespacedName]ExposureFacts) {
	s.mu.Lock()
	changed := swap(s.exposureFacts, endpoint, exposures)
	s.mu.Unlock()
	s.Exposures.Wake(changed...)
}

// swap replaces an endpoint's facts and returns whose changed.
func swap[F any](all map[types.NamespacedName]map[types.NamespacedName]F, endpoint types.NamespacedName, next map[types.NamespacedName]F) []types.NamespacedName {
	old := all[endpoint]
	if all[endpoint] = next; next == nil {
		delete(all, endpoint)
	}
	var changed []types.NamespacedName
	for key, fact := range next {
		if before, ok := old[key]; !ok || !reflect.DeepEqual(before, fact) {
			changed = append(changed, key)
		}
	}
	for key := range old {
		if _, still := next[key]; !still {
			changed = append(changed, key)
		}
	}
	return changed
}

// Exposure returns what is known about an exposure, and whether it is about the present exposure.
func (s *Store) Exposure(e *v1alpha1.MCPModelExposure) (ExposureFacts, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	f, ok := s.exposureFacts[cluster.EndpointOf(e.Namespace, e.Spec.EndpointRef)][cluster.KeyOf(e)]
	return f, ok && f.UID == e.UID && f.Generation == e.Generation
}

// Token returns what is known about a token, and whether that is about the present token and text.
func (s *Store) Token(t *v1alpha1.MCPToken, credential compile.Credential, now time.Time) (TokenFacts, bool) {
	return s.Program(t.Endpoint()).token(t, &credential, now)
}

// waker is a source of a controller: it puts objects into its queue. Before the controller runs it does nothing. Nothing
// is lost, because a controller begins with all objects.
type waker struct {
	mu    sync.RWMutex
	queue workqueue.TypedRateLimitingInterface[reconcile.Request]
}

func (w *waker) Source() source.Source {
	return source.Func(func(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.queue = queue
		return nil
	})
}

// Wake puts objects into the queue.
func (w *waker) Wake(keys ...types.NamespacedName) { w.WakeAt(cluster.PriorityChange, keys...) }

// WakeAt puts objects into the queue with a priority.
func (w *waker) WakeAt(priority int, keys ...types.NamespacedName) {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.queue != nil {
		cluster.EnqueueAt(w.queue, priority, keys...)
	}
}

// WakeAfter puts an object into the queue after d.
func (w *waker) WakeAfter(d time.Duration, key types.NamespacedName) {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.queue != nil {
		w.queue.AddAfter(reconcile.Request{NamespacedName: key}, d)
	}
}

// HasProgrammed reports whether every server pod lets in a token with that credential.
func (s *Store) HasProgrammed(t *v1alpha1.MCPToken, credential compile.Credential, now time.Time) bool {
	facts, evaluated := s.Token(t, credential, now)
	return evaluated && facts.Verdict.InForce && facts.Programmed.Status == "True"
}
