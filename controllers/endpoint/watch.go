package endpoint

import (
	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// Watch makes an endpoint be reconciled when it, what it refers to, or what belongs to it changes, and when the store or
// a pod has news.
func (r *Reconciler) Watch(mgr manager.Manager, own cache.Cache, g *cluster.Guard) error {
	b := ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha1.MCPEndpoint{}, cluster.Watched(mgr, "MCPEndpoint", cluster.WantedChanged, r.Status.Saw)).
		WatchesMetadata(&corev1.Secret{}, cluster.Enqueue(cluster.Referring(r.Client, &v1alpha1.MCPEndpointList{}, cluster.SecretIndex))).
		WatchesMetadata(&corev1.ConfigMap{}, cluster.Enqueue(cluster.Referring(r.Client, &v1alpha1.MCPEndpointList{}, cluster.ConfigMapIndex))).
		WatchesRawSource(source.Kind(own, client.Object(cluster.MetadataOf("Secret")), cluster.Enqueue(cluster.Referring(r.Client, &v1alpha1.MCPEndpointList{}, cluster.SecretIndex)))).
		WatchesRawSource(source.Kind(own, client.Object(&corev1.Pod{}), cluster.Enqueue(cluster.Labelled))).
		WatchesRawSource(source.Kind(own, client.Object(cluster.ReplicaSet()), cluster.Enqueue(cluster.Labelled))).
		WatchesRawSource(r.Store.Endpoints.Source()).
		WithOptions(cluster.InQueue())
	for _, child := range append(cluster.WorkloadKinds(), &networkingv1.Ingress{}) {
		b = b.WatchesRawSource(source.Kind(own, child, cluster.OwnedBy(mgr, &v1alpha1.MCPEndpoint{}), cluster.CountsForEndpoint))
	}
	return b.Complete(g.Before("MCPEndpoint", r))
}
