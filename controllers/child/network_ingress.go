package child

import (
	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	networkingv1 "k8s.io/api/networking/v1"
	applynetworking "k8s.io/client-go/applyconfigurations/networking/v1"
)

// Ingress leads from a host to the endpoint's Service; nil if the endpoint asks for none. An Ingress rewrites no path, so
// its path is the path that the server answers at.
func Ingress(e *v1alpha1.MCPEndpoint) *applynetworking.IngressApplyConfiguration {
	given := e.Spec.Network.Ingress
	if given == nil {
		return nil
	}
	rules := applynetworking.HTTPIngressRuleValue()
	for _, path := range routedPaths(e) {
		rules.WithPaths(applynetworking.HTTPIngressPath().
			WithPath(path).
			WithPathType(networkingv1.PathTypePrefix).
			WithBackend(applynetworking.IngressBackend().WithService(applynetworking.IngressServiceBackend().
				WithName(e.ServiceName()).
				WithPort(applynetworking.ServiceBackendPort().WithName(endpointPort(e).name)))))
	}
	spec := applynetworking.IngressSpec().WithRules(applynetworking.IngressRule().WithHost(string(given.Host)).WithHTTP(rules))
	if given.ClassName != "" {
		spec.WithIngressClassName(given.ClassName)
	}
	if tls := given.TLS; tls != nil {
		certificate := applynetworking.IngressTLS().WithHosts(string(given.Host))
		if tls.SecretRef != nil {
			certificate.WithSecretName(tls.SecretRef.Name)
		}
		spec.WithTLS(certificate)
	}
	labels, annotations := withOwn(e, given.ObjectMetadata)
	return applynetworking.Ingress(e.ServiceName(), e.Namespace).
		WithLabels(labels).
		WithAnnotations(annotations).
		WithOwnerReferences(cluster.OwnerReference(e, "MCPEndpoint")).
		WithSpec(spec)
}

// routedPaths are the paths that lead to the server: the endpoint's own, and the path of its protected-resource metadata if
// it has any.
func routedPaths(e *v1alpha1.MCPEndpoint) []string {
	paths := []string{e.EffectivePath()}
	if metadata := e.MetadataPath(); metadata != "" {
		paths = append(paths, metadata)
	}
	return paths
}
