package controllers

import (
	"context"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
)

// exposureFacts is what the endpoint's reconciler knows about an exposure.
type exposureFacts struct {
	UID types.UID
	// Generation is the one that was compiled.
	Generation int64
	Verdict    compile.Verdict
	Programmed finding
	// Model is what the server's pods found of it; nil if none has said yet.
	Model *contract.ModelStatus
}

// tokenFacts is what the endpoint's reconciler knows about a token.
type tokenFacts struct {
	UID types.UID
	// Generation and Credential are those that were compiled.
	Generation int64
	Credential compile.Credential
	Verdict    compile.TokenVerdict
	Programmed finding
}

// credentialOf is what the token's reconciler knows about a token's text.
type credentialOf struct {
	uid        types.UID
	endpoint   types.NamespacedName
	credential compile.Credential
}

// store holds what the reconcilers tell each other. It is in memory, and fills again after a restart. A change wakes the
// reconcilers that it concerns; storing equal facts wakes none.
type store struct {
	endpoints, exposures, tokens waker
	// rights tell what the tokens of each endpoint may do. A change of them wakes nobody.
	rights memo[types.NamespacedName, *compile.Registry]

	mu            sync.Mutex
	credentials   map[types.NamespacedName]credentialOf
	exposureFacts map[types.NamespacedName]map[types.NamespacedName]exposureFacts // by endpoint, then exposure
	tokenFacts    map[types.NamespacedName]map[types.NamespacedName]tokenFacts    // by endpoint, then token
}

func newStore() *store {
	return &store{
		credentials:   map[types.NamespacedName]credentialOf{},
		exposureFacts: map[types.NamespacedName]map[types.NamespacedName]exposureFacts{},
		tokenFacts:    map[types.NamespacedName]map[types.NamespacedName]tokenFacts{},
	}
}

// setCredential gives the endpoint's reconciler the credential of a token.
func (s *store) setCredential(token *v1alpha1.MCPToken, credential compile.Credential) {
	key := keyOf(token)
	news := credentialOf{token.UID, token.Endpoint(), credential}
	s.mu.Lock()
	old, known := s.credentials[key]
	s.credentials[key] = news
	s.mu.Unlock()
	if !known || !reflect.DeepEqual(old, news) {
		s.endpoints.wake(news.endpoint)
	}
}

// forgetToken drops what is known about a token that is gone.
func (s *store) forgetToken(key types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.credentials, key)
}

// credentialsOf returns the credentials of those tokens that were looked up.
func (s *store) credentialsOf(tokens []v1alpha1.MCPToken) map[types.NamespacedName]compile.Credential {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := make(map[types.NamespacedName]compile.Credential, len(tokens))
	for i := range tokens {
		if c, ok := s.credentials[keyOf(&tokens[i])]; ok && c.uid == tokens[i].UID {
			known[keyOf(&tokens[i])] = c.credential
		}
	}
	return known
}

// publish replaces what is known about an endpoint's exposures and tokens. Nil maps mean that the endpoint is gone.
func (s *store) publish(endpoint types.NamespacedName, exposures map[types.NamespacedName]exposureFacts, tokens map[types.NamespacedName]tokenFacts) {
	s.mu.Lock()
	changedExposures := swap(s.exposureFacts, endpoint, exposures)
	changedTokens := swap(s.tokenFacts, endpoint, tokens)
	s.mu.Unlock()
	s.exposures.wake(changedExposures...)
	s.tokens.wake(changedTokens...)
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

// exposure returns what is known about an exposure, and whether it is about the exposure as it is now.
func (s *store) exposure(e *v1alpha1.MCPModelExposure) (exposureFacts, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, ok := s.exposureFacts[endpointOf(e.Namespace, e.Spec.EndpointRef)][keyOf(e)]
	return f, ok && f.UID == e.UID && f.Generation == e.Generation
}

// token returns what is known about a token, and whether that is about the present token and text. What was programmed
// for another text says nothing about this one.
func (s *store) token(t *v1alpha1.MCPToken, credential compile.Credential) (tokenFacts, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, ok := s.tokenFacts[t.Endpoint()][keyOf(t)]
	return f, ok && f.UID == t.UID && f.Generation == t.Generation && reflect.DeepEqual(f.Credential, credential)
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

func (w *waker) wake(keys ...types.NamespacedName) {
	w.mu.RLock()
	defer w.mu.RUnlock()
	for _, key := range keys {
		if w.queue != nil {
			w.queue.Add(reconcile.Request{NamespacedName: key})
		}
	}
}
