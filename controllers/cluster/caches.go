package cluster

import (
	"context"
	"maps"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/controllers/intern"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// CacheOptions are the options of the manager's cache. It holds the kinds of the API, limited to the namespaces if some are
// given, and a small part of the metadata of users' Secrets and ConfigMaps. The Secrets that the manager made are in a
// cache of their own (NewOwnCache), also by their metadata alone: no cache holds what is in a Secret.
func CacheOptions(namespaces []string) cache.Options {
	options := cache.Options{
		DefaultTransform: Slim,
		ByObject: map[client.Object]cache.ByObject{
			MetadataOf("Secret"):    {Transform: KeepIdentity, Label: withComponent(selection.DoesNotExist)},
			MetadataOf("ConfigMap"): {Transform: KeepIdentity},
			MetadataOf("Namespace"): {Transform: keepLabels},
		},
		// A read of another kind fails. It must not start a cache of every Secret in the cluster.
		ReaderFailOnMissingInformer: true,
	}
	for _, namespace := range namespaces {
		if options.DefaultNamespaces == nil {
			options.DefaultNamespaces = map[string]cache.Config{}
		}
		options.DefaultNamespaces[namespace] = cache.Config{}
	}
	return options
}

// NewOwnCache holds what the controllers made, and the server's pods: all that has the component label.
func NewOwnCache(mgr manager.Manager, namespaces []string) (cache.Cache, error) {
	options := CacheOptions(namespaces)
	options.ByObject = map[client.Object]cache.ByObject{MetadataOf("Secret"): {Transform: KeepIdentity}}
	options.Scheme, options.Mapper, options.HTTPClient = mgr.GetScheme(), mgr.GetRESTMapper(), mgr.GetHTTPClient()
	options.DefaultLabelSelector = withComponent(selection.Exists)
	own, err := cache.New(mgr.GetConfig(), options)
	if err != nil {
		return nil, err
	}
	return own, mgr.Add(standbyCache{own})
}

// withComponent selects the objects with the component label, or the objects without it.
func withComponent(operator selection.Operator) labels.Selector {
	requirement, err := labels.NewRequirement(ComponentLabel, operator, nil)
	if err != nil {
		panic(err) // the label is a constant
	}
	return labels.NewSelector().Add(*requirement)
}

// standbyCache is a cache that fills before its manager is the leader, as the manager's own does.
type standbyCache struct{ cache.Cache }

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (standbyCache) NeedLeaderElection() bool { return false }

// KeepIdentity keeps of an object's metadata only what tells that it exists, whether it changed, whose it is, and who may
// use it.
func KeepIdentity(obj any) (any, error) {
	if m, ok := obj.(*metav1.PartialObjectMetadata); ok {
		allowed, given := m.Annotations[v1alpha1.AllowEndpointsAnnotation]
		m.ObjectMeta = metav1.ObjectMeta{
			Namespace: m.Namespace, Name: m.Name, UID: m.UID, ResourceVersion: m.ResourceVersion, OwnerReferences: m.OwnerReferences,
		}
		if given {
			m.Annotations = map[string]string{v1alpha1.AllowEndpointsAnnotation: allowed}
		}
		intern.Within(m)
	}
	return obj, nil
}

// Slim drops what no reconciler compares or reads, before an object is kept: who wrote which field, what kubectl applied,
// and what is in the pods beyond their state. What thousands of objects have alike is kept once.
func Slim(obj any) (any, error) {
	o, err := meta.Accessor(obj)
	if err != nil {
		return obj, nil // a tombstone
	}
	o.SetManagedFields(nil)
	if _, ok := o.GetAnnotations()[corev1.LastAppliedConfigAnnotation]; ok { // an object comes here twice, and its map may be others' by then
		annotations := maps.Clone(o.GetAnnotations())
		delete(annotations, corev1.LastAppliedConfigAnnotation)
		o.SetAnnotations(annotations)
	}
	if len(o.GetAnnotations()) == 0 {
		o.SetAnnotations(nil)
	}
	switch o := obj.(type) {
	case *v1alpha1.MCPApproval:
		o.Spec.Request.Changes = nil // nobody but people reads them
	case *corev1.Pod:
		o.Spec = corev1.PodSpec{NodeName: o.Spec.NodeName}
	}
	intern.Within(obj)
	return obj, nil
}

// UsersClient finds the metadata of a Secret that somebody names, whether users made it or the manager.
type UsersClient struct {
	client.Client
	Own client.Reader
}

// Get implements client.Reader.
func (c UsersClient) Get(ctx context.Context, key types.NamespacedName, obj client.Object, options ...client.GetOption) error {
	err := c.Client.Get(ctx, key, obj, options...)
	m, isMetadata := obj.(*metav1.PartialObjectMetadata)
	if !apierrors.IsNotFound(err) || !isMetadata || m.Kind != "Secret" {
		return err
	}
	return c.Own.Get(ctx, key, obj, options...)
}

// LiveSecrets reads the objects that the controllers made from their cache, and the content of Secrets, which the cache
// does not have, from the API server.
type LiveSecrets struct {
	client.Reader
	Live client.Reader
}

// Get implements client.Reader.
func (r LiveSecrets) Get(ctx context.Context, key types.NamespacedName, obj client.Object, options ...client.GetOption) error {
	if _, isSecret := obj.(*corev1.Secret); !isSecret {
		return r.Reader.Get(ctx, key, obj, options...)
	}
	if err := r.Reader.Get(ctx, key, MetadataOf("Secret")); err != nil {
		return err
	}
	return r.Live.Get(ctx, key, obj, options...)
}
