package compile

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// Admits reports whether an endpoint lets tokens of a namespace name it; labels are the namespace's. A token that is not
// admitted is told the same as one whose endpoint does not exist: who may write tokens elsewhere must not find out
// which endpoints there are.
func Admits(e *v1alpha1.MCPEndpoint, namespace string, namespaceLabels map[string]string) bool {
	if namespace == e.Namespace {
		return true
	}
	switch e.Spec.EffectiveFrom() {
	case v1alpha1.NamespacesAll:
		return true
	case v1alpha1.NamespacesSelector:
		chosen := e.Spec.AllowedTokens.Namespaces.Selector
		if chosen == nil || namespaceLabels == nil {
			return false
		}
		selector, err := metav1.LabelSelectorAsSelector(chosen.LabelSelector())
		return err == nil && !selector.Empty() && selector.Matches(labels.Set(namespaceLabels))
	}
	return false
}

func (in Inputs) key() types.NamespacedName {
	return types.NamespacedName{Namespace: in.Endpoint.Namespace, Name: in.Endpoint.Name}
}

// admission returns what tells whether tokens of a namespace are admitted. Each namespace is judged once.
func (in Inputs) admission() func(namespace string) bool {
	judged := map[string]bool{}
	return func(namespace string) bool {
		admitted, known := judged[namespace]
		if !known {
			admitted = namespace == in.Endpoint.Namespace ||
				!in.SomeNamespaces && Admits(in.Endpoint, namespace, in.NamespaceLabels[namespace])
			judged[namespace] = admitted
		}
		return admitted
	}
}

// unwatched is what an endpoint lacks that allows tokens of namespaces which the manager does not watch.
func (in Inputs) unwatched() Lack {
	if from := in.Endpoint.Spec.EffectiveFrom(); in.SomeNamespaces && from != v1alpha1.NamespacesSame {
		return Lack{
			Reason: v1alpha1.ReasonNamespacesNotWatched,
			Message: fmt.Sprintf("spec.allowedTokens.namespaces.from is %s, and this manager was told to watch some namespaces only (--namespace): "+
				"tokens of other namespaces are refused; let the manager watch all, or set from: Same", from),
		}
	}
	return Lack{}
}

// refuseGroups says which of its groups a token of another namespace may not have; nil if it may have all. The
// message does not tell whether the endpoint has the group.
func (in Inputs) refuseGroups(t *v1alpha1.MCPToken) *Verdict {
	if !t.Foreign() {
		return nil
	}
	var allowed []string
	if a := in.Endpoint.Spec.AllowedTokens; a != nil {
		allowed = a.Groups
	}
	for _, group := range t.Spec.Groups {
		if !slices.Contains(allowed, group) {
			return &Verdict{
				Reason: v1alpha1.ReasonGroupNotAllowed,
				Message: fmt.Sprintf("MCPEndpoint %s does not allow tokens of other namespaces the group %q; name groups that its spec.allowedTokens.groups has",
					in.Endpoint.Name, group),
			}
		}
	}
	return nil
}

// nameFor names a token to the author of another one. What is in other namespaces is not told.
func nameFor(t, reader *v1alpha1.MCPToken) string {
	if t.Namespace != reader.Namespace {
		return "an MCPToken of another namespace"
	}
	return fmt.Sprintf("MCPToken %q", t.Name)
}
