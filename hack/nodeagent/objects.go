package nodeagent

import (
	"context"
	"errors"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/mcp-admin/mcp-admin-operator/hack/nodeagent/watch"
)

// objects follows the Secrets and ConfigMaps that pods refer to, with one watch per object while a pod on this node
// refers to it. The Node authorizer lets a node see no more.
type objects struct {
	ctx    context.Context
	client rest.Interface

	mu      sync.Mutex
	watched map[objectKey]*watched
}

type objectKey struct{ resource, namespace, name string }

const (
	secrets    = "secrets"
	configMaps = "configmaps"
)

type watched struct {
	stop   context.CancelFunc
	users  map[types.UID]func() // by pod: the function to call after a change
	synced bool
	object runtime.Object // nil if it does not exist
}

// errNotYetKnown says that there is no answer about an object yet. Its users are called once there is one.
var errNotYetKnown = errors.New("not known yet")

func newObjects(ctx context.Context, client rest.Interface) *objects {
	return &objects{ctx: ctx, client: client, watched: map[objectKey]*watched{}}
}

// use begins to follow an object on behalf of a pod; changed is called at each change.
func (o *objects) use(key objectKey, pod types.UID, changed func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if w, ok := o.watched[key]; ok {
		w.users[pod] = changed
		return
	}
	ctx, cancel := context.WithCancel(o.ctx)
	w := &watched{stop: cancel, users: map[types.UID]func(){pod: changed}}
	o.watched[key] = w
	resource := watch.Resource{
		Client: o.client, Name: key.resource, Namespace: key.namespace,
		Selector: fields.OneTermEqualSelector("metadata.name", key.name),
	}
	switch key.resource {
	case secrets:
		go watch.Run(ctx, resource, &corev1.Secret{}, follow[*corev1.Secret](o, w))
	case configMaps:
		go watch.Run(ctx, resource, &corev1.ConfigMap{}, follow[*corev1.ConfigMap](o, w))
	}
}

func follow[T watch.Object](o *objects, w *watched) watch.Handler[T] {
	return watch.Handler[T]{
		Set:    func(object T) { o.update(w, func() { w.object = object }) },
		Gone:   func(T) { o.update(w, func() { w.object = nil }) },
		Synced: func() { o.update(w, func() { w.synced = true }) },
	}
}

func (o *objects) update(w *watched, change func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	change()
	for _, changed := range w.users {
		changed()
	}
}

// release stops following what only this pod refers to.
func (o *objects) release(pod types.UID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for key, w := range o.watched {
		delete(w.users, pod)
		if len(w.users) == 0 {
			w.stop()
			delete(o.watched, key)
		}
	}
}

func (o *objects) get(key objectKey) (runtime.Object, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	w, ok := o.watched[key]
	switch {
	case !ok || !w.synced && w.object == nil:
		return nil, errNotYetKnown
	case w.object == nil:
		return nil, notFoundError(fmt.Sprintf("%s %q not found", singular[key.resource], key.name))
	}
	return w.object, nil
}

var singular = map[string]string{secrets: "secret", configMaps: "configmap"}

// references lists the Secrets and ConfigMaps that a pod's volumes and environments refer to.
func references(pod *corev1.Pod) []objectKey {
	var keys []objectKey
	add := func(resource, name string) {
		keys = append(keys, objectKey{resource: resource, namespace: pod.Namespace, name: name})
	}
	for _, v := range pod.Spec.Volumes {
		if v.Secret != nil {
			add(secrets, v.Secret.SecretName)
		}
		if v.ConfigMap != nil {
			add(configMaps, v.ConfigMap.Name)
		}
		if v.Projected == nil {
			continue
		}
		for _, source := range v.Projected.Sources {
			if source.Secret != nil {
				add(secrets, source.Secret.Name)
			}
			if source.ConfigMap != nil {
				add(configMaps, source.ConfigMap.Name)
			}
		}
	}
	for _, c := range allContainers(pod) {
		for _, from := range c.EnvFrom {
			if from.SecretRef != nil {
				add(secrets, from.SecretRef.Name)
			}
			if from.ConfigMapRef != nil {
				add(configMaps, from.ConfigMapRef.Name)
			}
		}
		for _, variable := range c.Env {
			if from := variable.ValueFrom; from != nil && from.SecretKeyRef != nil {
				add(secrets, from.SecretKeyRef.Name)
			} else if from != nil && from.ConfigMapKeyRef != nil {
				add(configMaps, from.ConfigMapKeyRef.Name)
			}
		}
	}
	return keys
}

// allContainers returns the init containers, then the others.
func allContainers(pod *corev1.Pod) []corev1.Container {
	return append(append([]corev1.Container{}, pod.Spec.InitContainers...), pod.Spec.Containers...)
}
