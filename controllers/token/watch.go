package token

import (
	"context"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// created enqueues a new token before others if somebody can use it at once.
func (r *Reconciler) created(_ context.Context, e event.CreateEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	if !e.IsInInitialList {
		cluster.EnqueueAt(queue, r.Store.PriorityOfNew(e.Object.(*v1alpha1.MCPToken)), cluster.KeyOf(e.Object))
	}
}

// Watch makes a token be reconciled when it, its Secret or its endpoint changes, when another token of the same Secret comes or goes,
// and when the store has news.
func (r *Reconciler) Watch(mgr manager.Manager, own cache.Cache, g *cluster.Guard) error {
	ofSecret := cluster.Enqueue(cluster.TokensReferring(r.Client))
	deletions := r.Texts.Left.deletions()
	b := ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha1.MCPToken{}, cluster.Watched(mgr, "MCPToken", predicate.And(deletions, predicate.Or(cluster.WantedChanged, cluster.RotationAsked)), r.Status.Saw)).
		Watches(&v1alpha1.MCPToken{}, cluster.Enqueue(func(ctx context.Context, o client.Object) []types.NamespacedName {
			return cluster.TokensReferring(r.Client)(ctx, cluster.TokenSecret(o.(*v1alpha1.MCPToken)))
		}), builder.WithPredicates(deletions, cluster.ComeOrGone)).
		Watches(&v1alpha1.MCPToken{}, handler.Funcs{CreateFunc: r.created}).
		Watches(&v1alpha1.MCPEndpoint{}, cluster.Enqueue(cluster.OfEndpoint(r.Client, &v1alpha1.MCPTokenList{})), builder.WithPredicates(cluster.ServesOthers)).
		WatchesMetadata(&corev1.Secret{}, ofSecret).
		WatchesRawSource(source.Kind(own, client.Object(cluster.MetadataOf("Secret")), ofSecret)).
		WatchesRawSource(r.Store.Tokens.Source()).
		WithOptions(cluster.InQueue())
	if !r.Namespaces.Some {
		b = b.WatchesMetadata(&corev1.Namespace{}, cluster.Enqueue(cluster.ForeignTokensOf(r.Client)), cluster.Relabelled)
	}
	return b.Complete(g.Before("MCPToken", r))
}
