// Package watch follows objects of one kind and calls functions as they come, change and go. It is a
// thin layer on client-go's Reflector, which shared informers hide, for one reason: after an outage of
// the API server a shared informer may wait for half a minute before it tries again, and tests stop
// the API server on purpose.
package watch

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// Object can be watched.
type Object interface {
	comparable
	metav1.Object
	runtime.Object
}

// Handler is called from one goroutine. The objects are the watch's own: they must not be changed.
type Handler[T Object] struct {
	// Set is called with each object there is, and again when it changes.
	Set func(T)
	// Gone is called with the last known state of an object that was deleted. Of a name that was
	// deleted and made again, the old one goes before the new one is set.
	Gone func(T)
	// Synced is called after the first complete list, and after each later one.
	Synced func()
}

// Resource names what is watched.
type Resource struct {
	Client rest.Interface
	// Name is the resource in a URL: "pods".
	Name      string
	Namespace string
	Selector  fields.Selector
}

// Run watches until the context ends.
func Run[T Object](ctx context.Context, r Resource, example T, h Handler[T]) {
	selector := r.Selector
	if selector == nil {
		selector = fields.Everything()
	}
	logger := klog.FromContext(ctx)
	reflector := cache.NewReflectorWithOptions(
		cache.NewListWatchFromClient(r.Client, r.Name, r.Namespace, selector), example,
		&store[T]{handler: h, known: map[types.UID]T{}},
		cache.ReflectorOptions{
			Name:    r.Name,
			Logger:  &logger,
			Backoff: &wait.Backoff{Duration: 50 * time.Millisecond, Factor: 2, Jitter: 0.1, Steps: 6, Cap: time.Second},
		})
	reflector.RunWithContext(ctx)
}

// store turns what the Reflector reports into calls of the handler.
type store[T Object] struct {
	handler Handler[T]
	known   map[types.UID]T
}

func (s *store[T]) Add(obj any) error { return s.set(obj) }

func (s *store[T]) Update(obj any) error { return s.set(obj) }

func (s *store[T]) set(obj any) error {
	o, ok := obj.(T)
	if !ok {
		return fmt.Errorf("unexpected object %T", obj)
	}
	s.known[o.GetUID()] = o
	if s.handler.Set != nil {
		s.handler.Set(o)
	}
	return nil
}

func (s *store[T]) Delete(obj any) error {
	o, ok := obj.(T)
	if !ok {
		return fmt.Errorf("unexpected object %T", obj)
	}
	delete(s.known, o.GetUID())
	if s.handler.Gone != nil {
		s.handler.Gone(o)
	}
	return nil
}

func (s *store[T]) Replace(list []any, _ string) error {
	listed := map[types.UID]bool{}
	for _, obj := range list {
		if o, ok := obj.(T); ok {
			listed[o.GetUID()] = true
		}
	}
	for uid, o := range s.known {
		if !listed[uid] {
			if err := s.Delete(o); err != nil {
				return err
			}
		}
	}
	for _, obj := range list {
		if err := s.set(obj); err != nil {
			return err
		}
	}
	if s.handler.Synced != nil {
		s.handler.Synced()
	}
	return nil
}

func (s *store[T]) Resync() error { return nil }
