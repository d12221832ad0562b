package source

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// fakeAPI is the part of the Kubernetes API that a server uses: list and watch of one Secret by its name, in the
// namespace "shop". Any other request fails the test, as the pod's Role would refuse it.
type fakeAPI struct {
	t      *testing.T
	server *httptest.Server

	mu        sync.Mutex
	version   int
	secrets   map[string]*corev1.Secret
	events    []fakeEvent
	changed   chan struct{}
	away      bool
	forbidden map[string]bool
	// oldest is the first version from which a watch may still begin.
	oldest int
	lists  int
}

type fakeEvent struct {
	version int
	kind    string
	secret  *corev1.Secret
}

func newFakeAPI(t *testing.T) *fakeAPI {
	a := &fakeAPI{t: t, version: 10, secrets: map[string]*corev1.Secret{}, changed: make(chan struct{}), forbidden: map[string]bool{}}
	a.server = httptest.NewServer(a)
	t.Cleanup(func() { a.setAway(true); a.server.Close() })
	return a
}

func (a *fakeAPI) config() *rest.Config { return &rest.Config{Host: a.server.URL} }

func (a *fakeAPI) put(name string, data map[string][]byte) {
	a.record("MODIFIED", name, &corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "shop"},
		Data:       data,
	})
}

func (a *fakeAPI) remove(name string) { a.record("DELETED", name, nil) }

func (a *fakeAPI) record(kind, name string, secret *corev1.Secret) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.version++
	if secret == nil {
		secret = a.secrets[name].DeepCopy()
		delete(a.secrets, name)
	} else {
		if a.secrets[name] == nil {
			kind = "ADDED"
		}
		a.secrets[name] = secret
	}
	secret.ResourceVersion = strconv.Itoa(a.version)
	a.events = append(a.events, fakeEvent{a.version, kind, secret})
	a.wake()
}

// forbid refuses to show a Secret, as the Role would, or stops doing so.
func (a *fakeAPI) forbid(name string, forbidden bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.forbidden[name] = forbidden
}

// setAway cuts all connections and refuses new ones, or stops doing so.
func (a *fakeAPI) setAway(away bool) {
	a.mu.Lock()
	a.away = away
	a.wake()
	a.mu.Unlock()
	a.server.CloseClientConnections()
}

// expire forgets all changes before now: a watch must begin with a list again.
func (a *fakeAPI) expire() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.version++
	a.oldest = a.version
	a.wake()
}

func (a *fakeAPI) wake() {
	close(a.changed)
	a.changed = make(chan struct{})
}

func (a *fakeAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	name, ok := strings.CutPrefix(query.Get("fieldSelector"), "metadata.name=")
	if r.Method != http.MethodGet || r.URL.Path != "/api/v1/namespaces/shop/secrets" || !ok {
		a.t.Errorf("the API was asked %s %s", r.Method, r.URL)
	}
	a.mu.Lock()
	away, forbidden := a.away, a.forbidden[name]
	a.mu.Unlock()
	switch {
	case away:
		panic(http.ErrAbortHandler)
	case forbidden:
		a.refuse(w, http.StatusForbidden, metav1.StatusReasonForbidden)
	case query.Get("watch") == "true":
		from, _ := strconv.Atoi(query.Get("resourceVersion"))
		a.watch(w, r, name, from)
	default:
		a.list(w, name)
	}
}

func (a *fakeAPI) refuse(w http.ResponseWriter, code int32, reason metav1.StatusReason) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(int(code))
	_ = json.NewEncoder(w).Encode(statusOf(code, reason))
}

func statusOf(code int32, reason metav1.StatusReason) metav1.Status {
	return metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Failure", Code: code, Reason: reason}
}

func (a *fakeAPI) list(w http.ResponseWriter, name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lists++
	list := corev1.SecretList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "SecretList"}}
	list.ResourceVersion = strconv.Itoa(a.version)
	if s := a.secrets[name]; s != nil {
		list.Items = append(list.Items, *s)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(list)
}

func (a *fakeAPI) watch(w http.ResponseWriter, r *http.Request, name string, from int) {
	w.Header().Set("Content-Type", "application/json")
	encoder := json.NewEncoder(w)
	for {
		w.(http.Flusher).Flush()
		a.mu.Lock()
		if a.away {
			a.mu.Unlock()
			panic(http.ErrAbortHandler)
		}
		if from < a.oldest {
			a.mu.Unlock()
			_ = encoder.Encode(map[string]any{"type": "ERROR", "object": statusOf(http.StatusGone, metav1.StatusReasonExpired)})
			return
		}
		for _, e := range a.events {
			if e.version > from && e.secret.Name == name {
				_ = encoder.Encode(map[string]any{"type": e.kind, "object": e.secret})
				from = e.version
			}
		}
		changed := a.changed
		a.mu.Unlock()
		w.(http.Flusher).Flush()
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	}
}
