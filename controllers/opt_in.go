package controllers

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// optIn is the rule by which Secrets may be named by MCPEndpoints and MCPTokens. If it is in force, a Secret must name
// the endpoint in its annotation. Otherwise anybody who may write those objects could use any Secret of the namespace.
type optIn bool

// allows reports whether an endpoint, and its tokens, may use a Secret.
func (o optIn) allows(secret metav1.Object, endpoint string) bool {
	if !o {
		return true
	}
	names := strings.Split(secret.GetAnnotations()[v1alpha1.AllowEndpointsAnnotation], ",")
	return slices.ContainsFunc(names, func(name string) bool {
		name = strings.TrimSpace(name)
		return name == endpoint || name == "*"
	})
}

// refusal is the finding about a Secret that does not allow an endpoint.
func (o optIn) refusal(secret, endpoint string) finding {
	return fails(v1alpha1.ReasonSecretNotAllowed, "Secret "+quote(secret)+" does not allow this endpoint; set its annotation "+
		v1alpha1.AllowEndpointsAnnotation+" to "+quote(endpoint)+", or to several names with commas, or to \"*\"")
}
