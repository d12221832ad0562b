package endpoint

import (
	"context"
	"sync"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// ConflictWatches watch the objects of others that have the name of a child, each by its name, and only as long as the
// conflict lasts: the cache holds none of them. It is safe for concurrent use.
type ConflictWatches struct {
	Ctx    context.Context
	Client client.WithWatch
	Wake   func(endpoint types.NamespacedName)

	mu      sync.Mutex
	Running map[string]bool
}

// watch wakes an endpoint once the object that stands in its way has changed or is gone. A second watch of the same
// object is not begun.
func (w *ConflictWatches) watch(endpoint types.NamespacedName, obj client.Object) {
	gvk, err := apiutil.GVKForObject(obj, w.Client.Scheme())
	if err != nil {
		return // a kind that the scheme does not know cannot have been read either
	}
	place := gvk.Kind + "/" + obj.GetNamespace() + "/" + obj.GetName()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.Running[place] {
		return
	}
	w.Running[place] = true
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	version := obj.GetResourceVersion()
	go func() {
		w.untilChanged(list, client.ObjectKeyFromObject(obj), version)
		w.mu.Lock()
		delete(w.Running, place)
		w.mu.Unlock()
		if w.Ctx.Err() == nil {
			w.Wake(endpoint)
		}
	}()
}

// untilChanged returns when an object has another version than the version that was read, or when the watch ends.
func (w *ConflictWatches) untilChanged(list *metav1.PartialObjectMetadataList, key client.ObjectKey, version string) {
	watching, err := w.Client.Watch(w.Ctx, list, client.InNamespace(key.Namespace), client.MatchingFields{metav1.ObjectNameField: key.Name})
	if err != nil {
		select {
		case <-w.Ctx.Done():
		case <-time.After(cluster.ForeignRetry):
		}
		return
	}
	defer watching.Stop()
	for event := range watching.ResultChan() {
		// A watch begins with what is there.
		if obj, is := event.Object.(client.Object); event.Type != watch.Added || !is || obj.GetResourceVersion() != version {
			return
		}
	}
}
