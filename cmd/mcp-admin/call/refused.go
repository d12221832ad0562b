package call

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// whyRefused says what the cluster knows of a token that its endpoint refuses. The answer to the caller never tells.
func whyRefused(t *v1alpha1.MCPToken, now time.Time) string {
	if t == nil {
		return "\"mcp-admin dev\" does not know it any more; it prints which tokens there are"
	}
	ready := meta.FindStatusCondition(t.Status.Conditions, v1alpha1.ConditionReady)
	switch {
	case !t.Spec.EffectiveActive():
		return fmt.Sprintf("MCPToken %s is not active; set spec.active to true", t.Name)
	case t.Expired(now):
		return fmt.Sprintf("MCPToken %s expired at %s; set spec.expiry or spec.ttl later, or make another", t.Name, t.EffectiveExpiry().UTC().Format(time.RFC3339))
	case ready == nil:
		return fmt.Sprintf("the manager has not looked at MCPToken %s yet; \"mcp-admin doctor -n %s\" says whether one runs", t.Name, t.Namespace)
	case ready.Status != metav1.ConditionTrue:
		return fmt.Sprintf("MCPToken %s is not Ready: %s (%s)", t.Name, ready.Message, ready.Reason)
	}
	return fmt.Sprintf("MCPToken %s is Ready, so its pods take another text; look whether --url leads to its endpoint", t.Name)
}
