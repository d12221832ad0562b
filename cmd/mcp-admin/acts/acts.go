// Package acts changes objects in a cluster as people do it by hand: it makes tokens inactive, and sets the annotations that ask for a
// rotation, a pause or a fresh look. The command revoke and the page call it.
package acts

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
)

// TokensOf are the named MCPTokens of the cluster's namespace, and all in it that have the group; "" is no group.
func TokensOf(ctx context.Context, k *cluster.Cluster, names []string, group string) ([]v1alpha1.MCPToken, error) {
	var found []v1alpha1.MCPToken
	for _, name := range names {
		t, err := k.Token(ctx, name)
		if err != nil {
			return nil, err
		}
		found = append(found, *t)
	}
	if group == "" {
		return found, nil
	}
	var list v1alpha1.MCPTokenList
	if err := k.List(ctx, &list, client.InNamespace(k.Namespace)); err != nil {
		return nil, cluster.Explain(err)
	}
	for i := range list.Items {
		if slices.Contains(list.Items[i].Spec.NamedGroups(), group) {
			found = append(found, list.Items[i])
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no MCPToken of namespace %s has the group %q", k.Namespace, group)
	}
	return found, nil
}

// Revoke makes a token inactive.
func Revoke(ctx context.Context, k *cluster.Cluster, t *v1alpha1.MCPToken) error {
	return setActive(ctx, k, t, false)
}

// Activate lets a token in again.
func Activate(ctx context.Context, k *cluster.Cluster, t *v1alpha1.MCPToken) error {
	return setActive(ctx, k, t, true)
}

func setActive(ctx context.Context, k *cluster.Cluster, t *v1alpha1.MCPToken, active bool) error {
	if t.Spec.EffectiveActive() == active {
		return nil
	}
	before := t.DeepCopy()
	t.Spec.Active = &active
	return cluster.Explain(k.Patch(ctx, t, client.MergeFrom(before)))
}

// Applied reports whether a token's status says that every pod knows its present spec: an inactive one is refused by each.
func Applied(t *v1alpha1.MCPToken) bool {
	ready := meta.FindStatusCondition(t.Status.Conditions, v1alpha1.ConditionReady)
	return ready != nil && t.Status.ObservedGeneration == t.Generation && ready.Status == metav1.ConditionTrue
}

// Rotate asks for another text of a token.
func Rotate(ctx context.Context, k *cluster.Cluster, t *v1alpha1.MCPToken, now time.Time) error {
	return annotate(ctx, k, t, v1alpha1.RotateAnnotation, now.UTC().Format(time.RFC3339))
}

// CannotRotate says why the text of a token cannot be replaced; "" if it can.
func CannotRotate(t *v1alpha1.MCPToken) string {
	switch spec := &t.Spec; {
	case spec.IssuedElsewhere():
		return "its callers show what somebody else issued, who also replaces it"
	case spec.TokenSecretRef != nil, spec.TokenHashSecretRef != nil:
		return "its text was made by somebody else: change it in the Secret that the token names"
	case spec.EffectiveSecret().Mutability == v1alpha1.SecretImmutable:
		return "its Secret is immutable (spec.secret.mutability)"
	case !spec.EffectiveActive():
		return "it is not active"
	}
	return ""
}

// Pause has the controllers make nothing new of an object; Resume ends that.
func Pause(ctx context.Context, k *cluster.Cluster, o client.Object) error {
	return annotate(ctx, k, o, v1alpha1.PausedAnnotation, "true")
}

// Resume ends a pause.
func Resume(ctx context.Context, k *cluster.Cluster, o client.Object) error {
	return annotate(ctx, k, o, v1alpha1.PausedAnnotation, "")
}

// Reconcile asks the controllers for a fresh look at an object.
func Reconcile(ctx context.Context, k *cluster.Cluster, o client.Object, now time.Time) error {
	return annotate(ctx, k, o, v1alpha1.ReconcileRequestAnnotation, now.UTC().Format(time.RFC3339Nano))
}

// annotate sets an annotation; "" removes it.
func annotate(ctx context.Context, k *cluster.Cluster, o client.Object, name, value string) error {
	before := o.DeepCopyObject().(client.Object)
	annotations := o.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	if annotations[name] = value; value == "" {
		delete(annotations, name)
	}
	o.SetAnnotations(annotations)
	return cluster.Explain(k.Patch(ctx, o, client.MergeFrom(before)))
}
