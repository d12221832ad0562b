package config

import (
	"context"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// endpointsOfForeignTokens are the endpoints that tokens of the event's namespace name elsewhere. Which tokens they admit may
// be another matter now.
func (r *Reconciler) endpointsOfForeignTokens(ctx context.Context, o client.Object) []types.NamespacedName {
	var keys []types.NamespacedName
	cluster.ForeignTokens(ctx, r.Client, o.GetName(), func(t *v1alpha1.MCPToken) {
		keys = append(keys, t.Endpoint())
		r.Store.Program(t.Endpoint()).AllTokensChanged()
	})
	return keys
}

// Watch makes an endpoint's Config be compiled when the endpoint, what refers to it, or a Secret that goes into the Config
// changes, when one of the Config's own Secrets is not as it was written, and when the store has news.
func (r *Reconciler) Watch(mgr manager.Manager, own cache.Cache, g *cluster.Guard) error {
	b := ctrl.NewControllerManagedBy(mgr).
		Named("config").
		WatchesRawSource(source.Kind(mgr.GetCache(), &v1alpha1.MCPEndpoint{}, cluster.EndpointChanged())).
		WatchesRawSource(r.Exposures).
		WatchesRawSource(r.Tokens).
		WatchesRawSource(r.Approvals).
		WatchesMetadata(&corev1.Secret{}, cluster.Enqueue(cluster.OfWebhooks(r.Client))).
		WatchesMetadata(&corev1.Secret{}, cluster.Enqueue(r.changedPart)). // somebody else's Secret of a part's name may go
		WatchesRawSource(source.Kind(own, client.Object(cluster.MetadataOf("Secret")), cluster.Enqueue(cluster.OfWebhooks(r.Client)))).
		WatchesRawSource(source.Kind(own, client.Object(cluster.MetadataOf("Secret")), cluster.Enqueue(r.changedPart))).
		WatchesRawSource(r.Store.Configs.Source()).
		WithOptions(cluster.InQueue())
	if !r.Namespaces.Some {
		b = b.WatchesMetadata(&corev1.Namespace{}, cluster.FirstOfAll(r.endpointsOfForeignTokens), cluster.Relabelled)
	}
	return b.Complete(g.Before("Config", r))
}

// changedPart is the endpoint of a Config's Secret that is not as this process wrote it. It is read again. The name says
// whose it is, since somebody may have removed labels and owner.
func (r *Reconciler) changedPart(_ context.Context, o client.Object) []types.NamespacedName {
	name := cluster.PartSecret.FindStringSubmatch(o.GetName())
	if name == nil || r.Secrets.IsCurrent(o) && metav1.GetControllerOfNoCopy(o) != nil {
		return nil
	}
	endpoint := types.NamespacedName{Namespace: o.GetNamespace(), Name: name[1]}
	r.Store.Program(endpoint).Doubt(o.GetName())
	return []types.NamespacedName{endpoint}
}
