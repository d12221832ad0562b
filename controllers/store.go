package controllers

import (
	"context"
	"reflect"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
)

// exposureFacts holds what the endpoint's reconciler knows about an exposure.
type exposureFacts struct {
	UID types.UID
	// Generation is the compiled generation.
	Generation int64
	Verdict    compile.Verdict
	Programmed finding
	// Model holds what the server's pods found about it; nil if none has reported yet.
	Model *contract.ModelStatus
}

// tokenFacts holds the known facts about a token, besides its text.
type tokenFacts struct {
	Verdict    compile.TokenVerdict
	Programmed finding
}

// credentialOf returns what the token's reconciler knows about a token's text.
type credentialOf struct {
	uid        types.UID
	credential *compile.Credential
}

// store holds what the reconcilers tell each other. It is in memory, and fills again after a restart. A change wakes the
// reconcilers that it concerns; storing equal facts wakes none. It is safe for concurrent use.
type store struct {
	configs, endpoints, exposures, tokens waker
	// lastUsed are the hours in which tokens were used last, as far as the pods have told this process.
	lastUsed memo[types.NamespacedName, time.Time]

	mu            sync.RWMutex
	programs      map[types.NamespacedName]*program
	credentials   map[types.NamespacedName]credentialOf
	exposureFacts map[types.NamespacedName]map[types.NamespacedName]exposureFacts // by endpoint, then exposure
}

func newStore() *store {
	return &store{
		programs:      map[types.NamespacedName]*program{},
		credentials:   map[types.NamespacedName]credentialOf{},
		exposureFacts: map[types.NamespacedName]map[types.NamespacedName]exposureFacts{},
	}
}

// program returns the program of an endpoint, a new one if there is none.
func (s *store) program(endpoint types.NamespacedName) *program {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.programs[endpoint]
	if p == nil {
		p = &program{endpoint: endpoint}
		s.programs[endpoint] = p
	}
	return p
}

// known returns the program of an endpoint, nil if there is none.
func (s *store) known(endpoint types.NamespacedName) *program {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.programs[endpoint]
}

// tokenChanged notes that a token has to be compiled again. The caller wakes the endpoint's config reconciler.
func (s *store) tokenChanged(endpoint, token types.NamespacedName) {
	s.program(endpoint).tokenChanged(token)
}

// refresh lets what was compiled from a token refer to a newer state of it that asks for nothing else.
func (s *store) refresh(t *v1alpha1.MCPToken) {
	if p := s.known(t.Endpoint()); p != nil {
		p.refresh(t)
	}
}

// drop forgets an endpoint's Config, and returns what was known of it; nil if nothing was.
func (s *store) drop(endpoint types.NamespacedName) *program {
	s.mu.Lock()
	p := s.programs[endpoint]
	delete(s.programs, endpoint)
	s.mu.Unlock()
	if p != nil {
		p.end()
	}
	return p
}

// setCredential gives the config reconciler the credential of a token. A text that counts no more goes before everything
// else.
func (s *store) setCredential(token *v1alpha1.MCPToken, credential compile.Credential) {
	key := keyOf(token)
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
	s.tokenChanged(token.Endpoint(), key)
	priority := priorityChange
	if known && len(old.credential.Hashes) > 0 {
		priority = priorityRemoval
	}
	s.configs.wakeAt(priority, token.Endpoint())
}

// forgetToken drops what is known about a token that is gone.
func (s *store) forgetToken(key types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.credentials, key)
	s.lastUsed.forget(key)
}

// credential is a token's credential; nil if it was not looked up.
func (s *store) credential(t *v1alpha1.MCPToken) *compile.Credential {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if c, ok := s.credentials[keyOf(t)]; ok && c.uid == t.UID {
		return c.credential
	}
	return nil
}

// publish replaces what is known about an endpoint's exposures; nil means that the endpoint is gone.
func (s *store) publish(endpoint types.NamespacedName, exposures map[types.NamespacedName]exposureFacts) {
	s.mu.Lock()
	changed := swap(s.exposureFacts, endpoint, exposures)
	s.mu.Unlock()
	s.exposures.wake(changed...)
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

// exposure returns what is known about an exposure, and whether it is about the present exposure.
func (s *store) exposure(e *v1alpha1.MCPModelExposure) (exposureFacts, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	f, ok := s.exposureFacts[endpointOf(e.Namespace, e.Spec.EndpointRef)][keyOf(e)]
	return f, ok && f.UID == e.UID && f.Generation == e.Generation
}

// token returns what is known about a token, and whether that is about the present token and text.
func (s *store) token(t *v1alpha1.MCPToken, credential compile.Credential, now time.Time) (tokenFacts, bool) {
	return s.program(t.Endpoint()).token(t, &credential, now)
}

// waker is a source of a controller: it puts objects into its queue. Before the controller runs it does nothing. Nothing
// is lost, because a controller begins with all objects.
type waker struct {
	mu    sync.RWMutex
	queue workqueue.TypedRateLimitingInterface[reconcile.Request]
}

func (w *waker) source() source.Source {
	return source.Func(func(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.queue = queue
		return nil
	})
}

// wake puts objects into the queue.
func (w *waker) wake(keys ...types.NamespacedName) { w.wakeAt(priorityChange, keys...) }

// wakeAt puts objects into the queue with a priority.
func (w *waker) wakeAt(priority int, keys ...types.NamespacedName) {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.queue != nil {
		enqueueAt(w.queue, priority, keys...)
	}
}

// wakeAfter puts an object into the queue after d.
func (w *waker) wakeAfter(d time.Duration, key types.NamespacedName) {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.queue != nil {
		w.queue.AddAfter(reconcile.Request{NamespacedName: key}, d)
	}
}
