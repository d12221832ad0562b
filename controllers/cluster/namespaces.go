package cluster

import (
	"context"
	"errors"
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
	"github.com/mcp-admin/mcp-admin-operator/controllers/condition"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// Namespaces tells the labels of namespaces, by which endpoints choose whose tokens may name them. A manager that watches
// only some namespaces knows none.
type Namespaces struct {
	Cached client.Reader
	// Some reports whether the manager watches only some namespaces.
	Some bool
}

// labels are a namespace's; nil if it is not known, or about to go.
func (n Namespaces) labels(ctx context.Context, name string) (map[string]string, error) {
	if n.Some {
		return nil, nil
	}
	found := MetadataOf("Namespace")
	if err := n.Cached.Get(ctx, types.NamespacedName{Name: name}, found); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	if found.Labels == nil {
		return map[string]string{}, nil
	}
	return found.Labels, nil
}

// Admitted returns the tokens whose endpoint admits them. Each namespace is looked at once.
func (n Namespaces) Admitted(ctx context.Context, e *v1alpha1.MCPEndpoint, tokens []*v1alpha1.MCPToken) ([]*v1alpha1.MCPToken, error) {
	var failed error
	judged := map[string]bool{e.Namespace: true}
	return slices.DeleteFunc(tokens, func(t *v1alpha1.MCPToken) bool {
		allowed, known := judged[t.Namespace]
		if !known {
			var err error
			allowed, err = n.Admits(ctx, e, t)
			failed = errors.Join(failed, err)
			judged[t.Namespace] = allowed
		}
		return !allowed
	}), failed
}

// Unwatched is the finding about an endpoint that allows tokens of namespaces which the manager does not watch; nil if
// it allows none.
func (n Namespaces) Unwatched(e *v1alpha1.MCPEndpoint) *condition.Finding {
	from := e.Spec.EffectiveFrom()
	if !n.Some || from == v1alpha1.NamespacesSame {
		return nil
	}
	return new(condition.Fails(v1alpha1.ReasonNamespacesNotWatched, "spec.allowedTokens.namespaces.from is "+string(from)+", and this manager was told to "+
		"watch some namespaces only (--namespace): tokens of other namespaces are refused; let the manager watch all, or set from: Same"))
}

// Admits reports whether an endpoint lets a token name it.
func (n Namespaces) Admits(ctx context.Context, e *v1alpha1.MCPEndpoint, t *v1alpha1.MCPToken) (bool, error) {
	if t.Namespace == e.Namespace {
		return true, nil
	}
	if n.Some {
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

// Relabelled passes namespaces that come, go, or whose labels change.
var Relabelled = builder.WithPredicates(predicate.LabelChangedPredicate{})

// ForeignTokens calls visit with each token in a namespace whose endpoint is in another one.
func ForeignTokens(ctx context.Context, cached client.Reader, namespace string, visit func(*v1alpha1.MCPToken)) {
	var found v1alpha1.MCPTokenList
	if err := cached.List(ctx, &found, client.InNamespace(namespace), client.MatchingFields{ForeignIndex: "true"}); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "The tokens of a namespace could not be listed", "namespace", namespace)
	}
	for i := range found.Items {
		visit(&found.Items[i])
	}
}

// ForeignTokensOf are the tokens of the event's namespace whose endpoints are elsewhere.
func ForeignTokensOf(cached client.Reader) func(context.Context, client.Object) []types.NamespacedName {
	return func(ctx context.Context, o client.Object) []types.NamespacedName {
		var keys []types.NamespacedName
		ForeignTokens(ctx, cached, o.GetName(), func(t *v1alpha1.MCPToken) { keys = append(keys, KeyOf(t)) })
		return keys
	}
}
