package controllers

import (
	"context"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	applymeta "k8s.io/client-go/applyconfigurations/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// Indexes of the cache: which endpoint an object belongs to (as namespace/name), whether that is in another namespace, and
// which of the users' Secrets and ConfigMaps it names.
const (
	endpointIndex  = "endpoint"
	foreignIndex   = "foreign"
	secretIndex    = "secret"
	configMapIndex = "configMap"
)

func keyOf(obj client.Object) types.NamespacedName { return client.ObjectKeyFromObject(obj) }

// endpointOf is the endpoint that an object of the namespace refers to.
func endpointOf(namespace string, ref v1alpha1.EndpointReference) types.NamespacedName {
	return types.NamespacedName{Namespace: namespace, Name: ref.Name}
}

// findEndpoint returns an endpoint, or nil if there is none or it is about to go.
func findEndpoint(ctx context.Context, cached client.Reader, key types.NamespacedName) (*v1alpha1.MCPEndpoint, error) {
	endpoint := &v1alpha1.MCPEndpoint{}
	if err := cached.Get(ctx, key, endpoint); apierrors.IsNotFound(err) || err == nil && !endpoint.DeletionTimestamp.IsZero() {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	return endpoint, nil
}

// metadataOf returns an empty object of a core kind, to read nothing but its metadata. Users' Secrets and ConfigMaps are
// cached in this form.
func metadataOf(kind string) *metav1.PartialObjectMetadata {
	m := &metav1.PartialObjectMetadata{}
	m.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind))
	return m
}

func quote(name string) string { return strconv.Quote(name) }

// kindOf names a kind of this API with its version.
func kindOf(kind string) schema.GroupVersionKind { return v1alpha1.GroupVersion.WithKind(kind) }

// ownerReference makes the garbage collector delete a child with its owner. It does not block the owner's deletion.
func ownerReference(owner metav1.Object, kind string) *applymeta.OwnerReferenceApplyConfiguration {
	gvk := kindOf(kind)
	return applymeta.OwnerReference().
		WithAPIVersion(gvk.GroupVersion().String()).WithKind(gvk.Kind).
		WithName(owner.GetName()).WithUID(owner.GetUID()).WithController(true)
}
