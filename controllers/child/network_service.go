package child

import (
	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
)

// service is where agents reach the endpoint within the cluster. The admin port is not on it. A field that the endpoint
// leaves out is left to the API server.
func service(e *v1alpha1.MCPEndpoint) *applycore.ServiceApplyConfiguration {
	port, given := endpointPort(e), &e.Spec.Network.Service
	spec := applycore.ServiceSpec().
		WithSelector(cluster.SelectorLabels(e)).
		WithPorts(applycore.ServicePort().
			WithName(port.name).WithPort(port.before).WithProtocol(corev1.ProtocolTCP).WithTargetPort(intstr.FromString(port.name)))
	if given.Type != "" {
		spec.WithType(corev1.ServiceType(given.Type))
	}
	for _, family := range given.IPFamilies {
		spec.WithIPFamilies(corev1.IPFamily(family))
	}
	if given.IPFamilyPolicy != "" {
		spec.WithIPFamilyPolicy(corev1.IPFamilyPolicy(given.IPFamilyPolicy))
	}
	if given.LoadBalancerClass != "" {
		spec.WithLoadBalancerClass(given.LoadBalancerClass)
	}
	for _, cidr := range given.LoadBalancerSourceRanges {
		spec.WithLoadBalancerSourceRanges(string(cidr))
	}
	if given.ExternalTrafficPolicy != "" {
		spec.WithExternalTrafficPolicy(corev1.ServiceExternalTrafficPolicy(given.ExternalTrafficPolicy))
	}
	if given.InternalTrafficPolicy != "" {
		spec.WithInternalTrafficPolicy(corev1.ServiceInternalTrafficPolicy(given.InternalTrafficPolicy))
	}
	if given.TrafficDistribution != "" {
		spec.WithTrafficDistribution(string(given.TrafficDistribution))
	}
	labels, annotations := withOwn(e, given.ObjectMetadata)
	return applycore.Service(e.ServiceName(), e.Namespace).
		WithLabels(labels).
		WithAnnotations(annotations).
		WithOwnerReferences(cluster.OwnerReference(e, "MCPEndpoint")).
		WithSpec(spec)
}

// withOwn are the labels and annotations of a child to which the user adds some. The user's are set first, so that ours
// win.
func withOwn(e *v1alpha1.MCPEndpoint, given v1alpha1.ObjectMetadata) (labels, annotations map[string]string) {
	labels, annotations = map[string]string{}, map[string]string{}
	for key, value := range given.Labels {
		labels[key] = string(value)
	}
	for key, value := range given.Annotations {
		annotations[key] = string(value)
	}
	for key, value := range cluster.ChildLabels(e, cluster.ComponentServer) {
		labels[key] = value
	}
	return labels, annotations
}
