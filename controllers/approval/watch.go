package approval

import (
	"context"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// Watch makes an approval be reconciled when it, its endpoint's policies or its token's identity or Secret change, and when a pod tells of its call.
func (r *Reconciler) Watch(mgr manager.Manager, g *cluster.Guard) error {
	another := predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, is := e.ObjectOld.(*v1alpha1.MCPToken)
			now, isNow := e.ObjectNew.(*v1alpha1.MCPToken)
			return !is || !isNow || before.UID != now.UID || before.CredentialSecretName() != now.CredentialSecretName()
		},
	}
	return ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha1.MCPApproval{}, builder.WithPredicates(predicate.Funcs{DeleteFunc: r.deleted})).
		Watches(&v1alpha1.MCPEndpoint{}, cluster.Enqueue(r.ofEndpoint), builder.WithPredicates(cluster.WantedChanged)).
		Watches(&v1alpha1.MCPToken{}, cluster.Enqueue(r.ofToken), builder.WithPredicates(another)).
		WatchesRawSource(r.Reports.source()).
		WithOptions(cluster.InQueue()).
		Complete(g.Before("MCPApproval", r))
}

// deleted notes that an object is gone. If its call may still wait, also as somebody deleted a denial, the pods tell of it once more.
func (r *Reconciler) deleted(e event.DeleteEvent) bool {
	if a, is := e.Object.(*v1alpha1.MCPApproval); is && (!a.Ended() || r.Now().Before(a.Spec.Request.ExpiryTime.Time)) {
		r.Again(EndpointOf(a))
	}
	return true
}

// ofEndpoint are the approvals of an endpoint, and the calls that wait for one.
func (r *Reconciler) ofEndpoint(_ context.Context, o client.Object) []types.NamespacedName {
	keys := r.Reports.waiting(cluster.KeyOf(o))
	for _, a := range r.Approvals.Of(cluster.KeyOf(o)) {
		keys = append(keys, cluster.KeyOf(a))
	}
	return keys
}

// ofToken are the approvals of a token's calls.
func (r *Reconciler) ofToken(_ context.Context, o client.Object) (keys []types.NamespacedName) {
	token, is := o.(*v1alpha1.MCPToken)
	if !is {
		return nil
	}
	for _, a := range r.Approvals.Of(token.Endpoint()) {
		if ref := a.Spec.Request.TokenRef; ref.Namespace == token.Namespace && ref.Name == token.Name {
			keys = append(keys, cluster.KeyOf(a))
		}
	}
	return keys
}

// tokenRef is the token that a pod names.
func tokenRef(name string) v1alpha1.TokenReference {
	namespace, tokenName, _ := strings.Cut(name, "/")
	return v1alpha1.TokenReference{Namespace: namespace, Name: tokenName}
}
