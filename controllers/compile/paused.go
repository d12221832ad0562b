package compile

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// held is the verdict about an object that must not be added yet, because it or its endpoint is paused; nil if nothing
// holds it up. What is in force stays so, and its changes are let through, since a change may take rights away
// (docs/design/conditions.md, "Pausing").
func held(endpoint *v1alpha1.MCPEndpoint, kind string, obj metav1.Object, inForce bool) *Verdict {
	var paused string
	switch {
	case inForce:
		return nil
	case v1alpha1.IsPaused(endpoint):
		paused = "MCPEndpoint " + endpoint.Name
	case v1alpha1.IsPaused(obj):
		paused = kind + " " + obj.GetName()
	default:
		return nil
	}
	return &Verdict{
		Reason:  v1alpha1.ReasonPaused,
		Message: fmt.Sprintf("%s is paused, so nothing is added; remove its annotation %s", paused, v1alpha1.PausedAnnotation),
	}
}
