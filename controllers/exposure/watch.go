package exposure

import (
	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// Watch makes an exposure be reconciled when it changes, when its endpoint comes or goes, and when the store has news.
func (r *Reconciler) Watch(mgr manager.Manager, g *cluster.Guard) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha1.MCPModelExposure{}, cluster.Watched(mgr, "MCPModelExposure", cluster.WantedChanged, r.Status.Saw)).
		Watches(&v1alpha1.MCPEndpoint{}, cluster.Enqueue(cluster.OfEndpoint(r.Client, &v1alpha1.MCPModelExposureList{})), builder.WithPredicates(cluster.ServesOthers)).
		WatchesRawSource(r.Store.Exposures.Source()).
		WithOptions(cluster.InQueue()).
		Complete(g.Before("MCPModelExposure", r))
}
