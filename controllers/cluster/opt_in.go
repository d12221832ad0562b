package cluster

import (
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/controllers/condition"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// OptIn is the rule by which Secrets may be named by MCPEndpoints and MCPTokens. If it is in force, a Secret must name
// the endpoint in its annotation. Otherwise anybody who may write those objects could use any Secret of the namespace.
type OptIn bool

// Allows reports whether an endpoint, and its tokens, may use a Secret.
func (o OptIn) Allows(secret metav1.Object, endpoint string) bool {
	if !o {
		return true
	}
	names := strings.Split(secret.GetAnnotations()[v1alpha1.AllowEndpointsAnnotation], ",")
	return slices.ContainsFunc(names, func(name string) bool {
		name = strings.TrimSpace(name)
		return name == endpoint || name == "*"
	})
}

// Refusal is the finding about a Secret that does not allow an endpoint.
func (o OptIn) Refusal(secret, endpoint string) condition.Finding {
	return condition.Fails(v1alpha1.ReasonSecretNotAllowed, "Secret "+Quote(secret)+" does not allow this endpoint; set its annotation "+
		v1alpha1.AllowEndpointsAnnotation+" to "+Quote(endpoint)+", or to several names with commas, or to \"*\"")
}
