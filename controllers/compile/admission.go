package compile

import (
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// Admits reports whether an endpoint lets tokens of a namespace name it; labels are the namespace's. A token that is not
// admitted gets the same message as one whose endpoint does not exist: who may write tokens elsewhere must not find out
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

// refuseGroups says which of its groups a token of another namespace may not have; nil if it may have all. The
// message does not tell whether the endpoint has the group.
func refuseGroups(e *v1alpha1.MCPEndpoint, t *v1alpha1.MCPToken) *Verdict {
	if !t.Foreign() {
		return nil
	}
	var allowed []string
	if a := e.Spec.AllowedTokens; a != nil {
		allowed = a.Groups
	}
	for _, group := range t.Spec.NamedGroups() {
		if !slices.Contains(allowed, group) {
			return &Verdict{
				Reason: v1alpha1.ReasonGroupNotAllowed,
				Message: fmt.Sprintf("MCPEndpoint %s does not allow tokens of other namespaces the group %q; name groups that its spec.allowedTokens.groups has",
					e.Name, group),
			}
		}
	}
	return nil
}

// refuseOwnRights is the verdict on a token of another namespace that has rights of its own; nil if it has none. The API server
// refuses such a token too. Here it is asked again, since the endpoint's author decides what others' tokens may do.
func refuseOwnRights(t *v1alpha1.MCPToken) *Verdict {
	s := &t.Spec
	if !t.Foreign() || len(s.Permissions) == 0 && len(s.Attributes) == 0 && (s.OIDC == nil || len(s.OIDC.Attributes) == 0) {
		return nil
	}
	refused := invalid(errors.New("spec: a token of an endpoint in another namespace has no permissions and no attributes of its own, nor oidc.attributes; leave them out, or leave out endpointRef.namespace"))
	return &refused
}

// nameFor names a token to the author of another one. What is in other namespaces is not told.
func nameFor(t, reader *v1alpha1.MCPToken) string {
	if t.Namespace != reader.Namespace {
		return "an MCPToken of another namespace"
	}
	return fmt.Sprintf("MCPToken %q", t.Name)
}
