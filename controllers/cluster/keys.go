package cluster

import (
	"context"
	"strconv"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	applymeta "k8s.io/client-go/applyconfigurations/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Indexes of the cache: which endpoint an object belongs to (as namespace/name), whether that is in another namespace, and
// which of the users' Secrets and ConfigMaps it names.
const (
	EndpointIndex  = "endpoint"
	ForeignIndex   = "foreign"
	SecretIndex    = "secret"
	NotifyIndex    = "notify"
	ConfigMapIndex = "configMap"
)

// KeyOf returns an object's namespace and name.
func KeyOf(obj client.Object) types.NamespacedName { return client.ObjectKeyFromObject(obj) }

// EndpointOf is the endpoint that an object of the namespace refers to.
func EndpointOf(namespace string, ref v1alpha1.EndpointReference) types.NamespacedName {
	return types.NamespacedName{Namespace: namespace, Name: ref.Name}
}

// FindEndpoint returns an endpoint, or nil if there is none or it is about to go.
func FindEndpoint(ctx context.Context, cached client.Reader, key types.NamespacedName) (*v1alpha1.MCPEndpoint, error) {
	endpoint := &v1alpha1.MCPEndpoint{}
	if err := cached.Get(ctx, key, endpoint); apierrors.IsNotFound(err) || err == nil && !endpoint.DeletionTimestamp.IsZero() {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	return endpoint, nil
}

// MetadataOf returns an empty object of a core kind, to read nothing but its metadata. Users' Secrets and ConfigMaps are
// cached in this form.
func MetadataOf(kind string) *metav1.PartialObjectMetadata {
	return metadataOf(corev1.SchemeGroupVersion.WithKind(kind))
}

// ReplicaSet returns an empty ReplicaSet, to read nothing but its metadata, in which form it is cached: that tells which
// Deployment a pod belongs to.
func ReplicaSet() *metav1.PartialObjectMetadata {
	return metadataOf(appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))
}

func metadataOf(kind schema.GroupVersionKind) *metav1.PartialObjectMetadata {
	m := &metav1.PartialObjectMetadata{}
	m.SetGroupVersionKind(kind)
	return m
}

// Quote puts a name into quotation marks, for a message.
func Quote(name string) string { return strconv.Quote(name) }

// KindOf names a kind of this API with its version.
func KindOf(kind string) schema.GroupVersionKind { return v1alpha1.GroupVersion.WithKind(kind) }

// OwnerReference makes the garbage collector delete a child with its owner. It does not block the owner's deletion.
func OwnerReference(owner metav1.Object, kind string) *applymeta.OwnerReferenceApplyConfiguration {
	gvk := KindOf(kind)
	return applymeta.OwnerReference().
		WithAPIVersion(gvk.GroupVersion().String()).WithKind(gvk.Kind).
		WithName(owner.GetName()).WithUID(owner.GetUID()).WithController(true)
}

// PartName is the name of a part's Secret.
func PartName(e *v1alpha1.MCPEndpoint, index int) string {
	if index == compile.MainPart {
		return contract.MainSecret(e.ConfigSecretName())
	}
	return contract.TokensSecret(e.ConfigSecretName(), index)
}

// NotScaling is the reason for which an autoscaler cannot tell how many pods are needed; "" if it can, or has not tried.
func NotScaling(a *autoscalingv2.HorizontalPodAutoscaler) string {
	for _, c := range a.Status.Conditions {
		if c.Type == autoscalingv2.ScalingActive && c.Status == corev1.ConditionFalse && c.Reason != "ScalingDisabled" {
			return c.Reason
		}
	}
	return ""
}

// Components of an endpoint, as ComponentLabel names them.
const (
	ComponentServer = "server"
	ComponentConfig = "config"
	ComponentToken  = "token"
)

// SelectorLabels select an endpoint's pods. They never change: a Deployment's selector cannot.
func SelectorLabels(e *v1alpha1.MCPEndpoint) map[string]string {
	return map[string]string{EndpointLabel: e.Name, ComponentLabel: ComponentServer}
}

// ChildLabels are on everything that belongs to an endpoint.
func ChildLabels(e *v1alpha1.MCPEndpoint, component string) map[string]string {
	return map[string]string{
		EndpointLabel:                  e.Name,
		ComponentLabel:                 component,
		"app.kubernetes.io/name":       "mcp-admin-server",
		"app.kubernetes.io/instance":   e.Name,
		"app.kubernetes.io/managed-by": "mcp-admin-manager",
	}
}
