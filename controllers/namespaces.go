package controllers

import (
	"context"
	"errors"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
)

// namespaces tells the labels of namespaces, by which endpoints choose whose tokens may name them. A manager that watches
// only some namespaces knows none.
type namespaces struct {
	cached client.Reader
	// some reports whether the manager watches only some namespaces.
	some bool
}

// labels are a namespace's; nil if it is not known, or about to go.
func (n namespaces) labels(ctx context.Context, name string) (map[string]string, error) {
	if n.some {
		return nil, nil
	}
	found := metadataOf("Namespace")
	if err := n.cached.Get(ctx, types.NamespacedName{Name: name}, found); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	if found.Labels == nil {
		return map[string]string{}, nil
	}
	return found.Labels, nil
}

// admitted returns the tokens whose endpoint admits them. Each namespace is looked at once.
func (n namespaces) admitted(ctx context.Context, e *v1alpha1.MCPEndpoint, tokens []*v1alpha1.MCPToken) ([]*v1alpha1.MCPToken, error) {
	var failed error
	judged := map[string]bool{e.Namespace: true}
	return slices.DeleteFunc(tokens, func(t *v1alpha1.MCPToken) bool {
		allowed, known := judged[t.Namespace]
		if !known {
			var err error
			allowed, err = n.admits(ctx, e, t)
			failed = errors.Join(failed, err)
			judged[t.Namespace] = allowed
		}
		return !allowed
	}), failed
}

// unwatched is the finding about an endpoint that allows tokens of namespaces which the manager does not watch; nil if
// it allows none.
func (n namespaces) unwatched(e *v1alpha1.MCPEndpoint) *finding {
	from := e.Spec.EffectiveFrom()
	if !n.some || from == v1alpha1.NamespacesSame {
		return nil
	}
	return new(fails(v1alpha1.ReasonNamespacesNotWatched, "spec.allowedTokens.namespaces.from is "+string(from)+", and this manager was told to "+
		"watch some namespaces only (--namespace): tokens of other namespaces are refused; let the manager watch all, or set from: Same"))
}

// admits reports whether an endpoint lets a token name it.
func (n namespaces) admits(ctx context.Context, e *v1alpha1.MCPEndpoint, t *v1alpha1.MCPToken) (bool, error) {
	if t.Namespace == e.Namespace {
		return true, nil
	}
	if n.some {
		return false, nil
	}
	found, err := n.labels(ctx, t.Namespace)
	return err == nil && compile.Admits(e, t.Namespace, found), err
}

// keepLabels keeps of a namespace's metadata only its labels.
func keepLabels(obj any) (any, error) {
	if m, ok := obj.(*metav1.PartialObjectMetadata); ok {
		m.ObjectMeta = metav1.ObjectMeta{Name: m.Name, UID: m.UID, ResourceVersion: m.ResourceVersion, Labels: m.Labels}
	}
	return obj, nil
}

// relabelled passes namespaces that come, go, or whose labels change.
var relabelled = builder.WithPredicates(predicate.LabelChangedPredicate{})

// foreignTokens calls visit with each token in a namespace whose endpoint is in another one.
func foreignTokens(ctx context.Context, cached client.Reader, namespace string, visit func(*v1alpha1.MCPToken)) {
	var found v1alpha1.MCPTokenList
	if err := cached.List(ctx, &found, client.InNamespace(namespace), client.MatchingFields{foreignIndex: "true"}); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "The tokens of a namespace could not be listed", "namespace", namespace)
	}
	for i := range found.Items {
		visit(&found.Items[i])
	}
}

// foreignTokensOf are the tokens of the event's namespace whose endpoints are elsewhere.
func foreignTokensOf(cached client.Reader) func(context.Context, client.Object) []types.NamespacedName {
	return func(ctx context.Context, o client.Object) []types.NamespacedName {
		var keys []types.NamespacedName
		foreignTokens(ctx, cached, o.GetName(), func(t *v1alpha1.MCPToken) { keys = append(keys, keyOf(t)) })
		return keys
	}
}

// endpointsOfForeignTokens are the endpoints that tokens of the event's namespace name elsewhere. Which tokens they admit may
// be another matter now.
func (r *configReconciler) endpointsOfForeignTokens(ctx context.Context, o client.Object) []types.NamespacedName {
	var keys []types.NamespacedName
	foreignTokens(ctx, r.client, o.GetName(), func(t *v1alpha1.MCPToken) {
		keys = append(keys, t.Endpoint())
		r.store.program(t.Endpoint()).allTokensChanged()
	})
	return keys
}
