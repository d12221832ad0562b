package child

import (
	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	applymeta "k8s.io/client-go/applyconfigurations/meta/v1"
	applynetworking "k8s.io/client-go/applyconfigurations/networking/v1"
)

// managerLabels are labels of the manager's own pods, as the chart and the kustomization have them.
var managerLabels = map[string]string{"app.kubernetes.io/component": "manager"}

// networkPolicy says who may reach the server's pods; nil if the endpoint asks for none. It is about incoming connections
// alone (docs/design/controllers.md, "Network"). The manager must always reach the admin port: it asks there what the pods
// have applied. Probes come from the pod's own node, which no policy keeps out.
func networkPolicy(e *v1alpha1.MCPEndpoint, managerNamespace string) *applynetworking.NetworkPolicyApplyConfiguration {
	given := e.Spec.Network.NetworkPolicy
	if given == nil {
		return nil
	}
	spec := applynetworking.NetworkPolicySpec().
		WithPodSelector(applymeta.LabelSelector().WithMatchLabels(cluster.SelectorLabels(e))).
		WithPolicyTypes(networkingv1.PolicyTypeIngress).
		WithIngress(allowed(endpointPort(e).number, peers(given.From)))
	admin := peers(given.MetricsFrom)
	if managerNamespace != "" {
		admin = append(admin, applynetworking.NetworkPolicyPeer().
			WithNamespaceSelector(applymeta.LabelSelector().WithMatchLabels(map[string]string{corev1.LabelMetadataName: managerNamespace})).
			WithPodSelector(applymeta.LabelSelector().WithMatchLabels(managerLabels)))
	}
	if len(admin) > 0 { // a rule without peers would let everybody through
		spec.WithIngress(allowed(adminPort, admin))
	}
	return applynetworking.NetworkPolicy(e.ServiceName(), e.Namespace).
		WithLabels(cluster.ChildLabels(e, cluster.ComponentServer)).
		WithOwnerReferences(cluster.OwnerReference(e, "MCPEndpoint")).
		WithSpec(spec)
}

// allowed is a rule that lets peers reach a port.
func allowed(port int32, from []*applynetworking.NetworkPolicyPeerApplyConfiguration) *applynetworking.NetworkPolicyIngressRuleApplyConfiguration {
	return applynetworking.NetworkPolicyIngressRule().
		WithPorts(applynetworking.NetworkPolicyPort().WithProtocol(corev1.ProtocolTCP).WithPort(intstr.FromInt32(port))).
		WithFrom(from...)
}

func peers(given []v1alpha1.NetworkPeer) []*applynetworking.NetworkPolicyPeerApplyConfiguration {
	var all []*applynetworking.NetworkPolicyPeerApplyConfiguration
	for i := range given {
		peer := applynetworking.NetworkPolicyPeer()
		if selector := given[i].PodSelector; selector != nil {
			peer.WithPodSelector(labelSelector(selector))
		}
		if selector := given[i].NamespaceSelector; selector != nil {
			peer.WithNamespaceSelector(labelSelector(selector))
		}
		if block := given[i].IPBlock; block != nil {
			addresses := applynetworking.IPBlock().WithCIDR(string(block.CIDR))
			for _, cidr := range block.Except {
				addresses.WithExcept(string(cidr))
			}
			peer.WithIPBlock(addresses)
		}
		all = append(all, peer)
	}
	return all
}

func labelSelector(given *metav1.LabelSelector) *applymeta.LabelSelectorApplyConfiguration {
	selector := applymeta.LabelSelector().WithMatchLabels(given.MatchLabels)
	for _, r := range given.MatchExpressions {
		selector.WithMatchExpressions(applymeta.LabelSelectorRequirement().WithKey(r.Key).WithOperator(r.Operator).WithValues(r.Values...))
	}
	return selector
}
