package cluster

import (
	"context"
	"errors"
	"sync"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// Tracked holds the objects of one kind by the endpoint that they refer to, as the cache has them: an endpoint's
// reconciler gets ten thousand tokens without a copy. It is the source of that reconciler too, so that no event comes
// before the object that it is about. It is safe for concurrent use.
type Tracked[O client.Object] struct {
	Informers  cache.Informers
	Prototype  O
	EndpointOf func(O) types.NamespacedName
	// Changed is called with the endpoint and the name of an object that came, went, or asks for something else now, before the
	// endpoint is reconciled for it; restated with an object if nothing but its status changed. Nil is not at all.
	Changed  func(endpoint, object types.NamespacedName)
	Restated func(O)

	mu         sync.RWMutex
	byEndpoint map[types.NamespacedName]map[types.NamespacedName]O
	// removals counts, by endpoint, the changes that may take something away.
	removals map[types.NamespacedName]int

	registration toolscache.ResourceEventHandlerRegistration
}

var _ source.SyncingSource = (*Tracked[client.Object])(nil)

// Of returns the objects that refer to an endpoint. They must not be changed.
func (x *Tracked[O]) Of(endpoint types.NamespacedName) []O {
	x.mu.RLock()
	defer x.mu.RUnlock()
	all := make([]O, 0, len(x.byEndpoint[endpoint]))
	for _, object := range x.byEndpoint[endpoint] {
		all = append(all, object)
	}
	return all
}

// Some returns the named objects that refer to an endpoint. They must not be changed.
func (x *Tracked[O]) Some(endpoint types.NamespacedName, names []types.NamespacedName) []O {
	x.mu.RLock()
	defer x.mu.RUnlock()
	var found []O
	for _, name := range names {
		if object, ok := x.byEndpoint[endpoint][name]; ok {
			found = append(found, object)
		}
	}
	return found
}

// Start implements source.Source.
func (x *Tracked[O]) Start(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	informer, err := x.Informers.GetInformer(ctx, x.Prototype)
	if err != nil {
		return err
	}
	x.registration, err = informer.AddEventHandler(toolscache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, initial bool) {
			if object, ok := obj.(O); ok {
				x.put(object)
				x.tell(object)
				EnqueueAt(queue, priorityOfNew(initial), x.EndpointOf(object))
			}
		},
		UpdateFunc: func(oldObj, newObj any) {
			before, wasOne := oldObj.(O)
			after, isOne := newObj.(O)
			if !wasOne || !isOne {
				return
			}
			x.put(after)
			if x.EndpointOf(before) != x.EndpointOf(after) { // made anew while the API server could not be watched
				x.drop(before)
				x.enqueueRemoval(queue, before)
			}
			if relevant(before, after) { // it may take away what somebody may do
				x.enqueueRemoval(queue, after)
			} else if x.Restated != nil {
				x.Restated(after)
			}
		},
		DeleteFunc: func(obj any) {
			if tombstone, ok := obj.(toolscache.DeletedFinalStateUnknown); ok {
				obj = tombstone.Obj
			}
			if object, ok := obj.(O); ok {
				x.drop(object)
				x.enqueueRemoval(queue, object)
			}
		},
	})
	return err
}

func (x *Tracked[O]) tell(object O) {
	if x.Changed != nil {
		x.Changed(x.EndpointOf(object), KeyOf(object))
	}
}

func (x *Tracked[O]) enqueueRemoval(queue workqueue.TypedRateLimitingInterface[reconcile.Request], object O) {
	x.tell(object)
	endpoint := x.EndpointOf(object)
	x.mu.Lock()
	if x.removals == nil {
		x.removals = map[types.NamespacedName]int{}
	}
	x.removals[endpoint]++
	x.mu.Unlock()
	EnqueueAt(queue, PriorityRemoval, endpoint)
}

// RemovalsOf is how many changes have come that may take something away at an endpoint.
func (x *Tracked[O]) RemovalsOf(endpoint types.NamespacedName) int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.removals[endpoint]
}

// Forget drops the count of an endpoint that is gone. It is not dropped with the endpoint's last object, whose removal must
// be seen to be another than those before.
func (x *Tracked[O]) Forget(endpoint types.NamespacedName) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.removals, endpoint)
}

// WaitForSync implements source.SyncingSource: no Config is written before all objects are known.
func (x *Tracked[O]) WaitForSync(ctx context.Context) error {
	if x.registration == nil || !toolscache.WaitForCacheSync(ctx.Done(), x.registration.HasSynced) {
		return errors.New("the objects of a kind could not be listed")
	}
	return nil
}

func (x *Tracked[O]) put(object O) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.byEndpoint == nil {
		x.byEndpoint = map[types.NamespacedName]map[types.NamespacedName]O{}
	}
	of := x.EndpointOf(object)
	if x.byEndpoint[of] == nil {
		x.byEndpoint[of] = map[types.NamespacedName]O{}
	}
	x.byEndpoint[of][KeyOf(object)] = object
}

func (x *Tracked[O]) drop(object O) {
	x.mu.Lock()
	defer x.mu.Unlock()
	of := x.EndpointOf(object)
	delete(x.byEndpoint[of], KeyOf(object))
	if len(x.byEndpoint[of]) == 0 {
		delete(x.byEndpoint, of)
	}
}

// relevant reports whether an update is more than a status: another generation, another object, the beginning of the
// object's deletion, or an annotation that the controllers read.
func relevant(before, after client.Object) bool {
	return before.GetGeneration() != after.GetGeneration() || before.GetUID() != after.GetUID() ||
		before.GetDeletionTimestamp().IsZero() != after.GetDeletionTimestamp().IsZero() ||
		v1alpha1.IsPaused(before) != v1alpha1.IsPaused(after) ||
		v1alpha1.ReconcileRequest(before) != v1alpha1.ReconcileRequest(after)
}
