package controllers

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// conflictWatches watch the objects of others that have the name of a child, each by its name, and only as long as the
// conflict lasts: the cache holds none of them. It is safe for concurrent use.
type conflictWatches struct {
	ctx    context.Context
	client client.WithWatch
	wake   func(endpoint types.NamespacedName)

	mu      sync.Mutex
	running map[string]bool
}

// foreignRetry is how long to wait before looking again at an object of another, if it cannot be watched. Tests set it so long
// that they see what comes by a watch alone.
var foreignRetry = 30 * time.Second

// watch wakes an endpoint once the object that stands in its way has changed or is gone. A second watch of the same
// object is not begun.
func (w *conflictWatches) watch(endpoint types.NamespacedName, obj client.Object) {
	gvk, err := apiutil.GVKForObject(obj, w.client.Scheme())
	if err != nil {
		return // a kind that the scheme does not know cannot have been read either
	}
	place := gvk.Kind + "/" + obj.GetNamespace() + "/" + obj.GetName()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running[place] {
		return
	}
	w.running[place] = true
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	version := obj.GetResourceVersion()
	go func() {
		w.untilChanged(list, client.ObjectKeyFromObject(obj), version)
		w.mu.Lock()
		delete(w.running, place)
		w.mu.Unlock()
		if w.ctx.Err() == nil {
			w.wake(endpoint)
		}
	}()
}

// untilChanged returns when an object has another version than the version that was read, or when the watch ends.
func (w *conflictWatches) untilChanged(list *metav1.PartialObjectMetadataList, key client.ObjectKey, version string) {
	watching, err := w.client.Watch(w.ctx, list, client.InNamespace(key.Namespace), client.MatchingFields{metav1.ObjectNameField: key.Name})
	if err != nil {
		select {
		case <-w.ctx.Done():
		case <-time.After(foreignRetry):
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
