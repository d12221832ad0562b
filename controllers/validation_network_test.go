package controllers_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

var _ = Describe("The API server and admission", func() {
	var w *world
	BeforeEach(func() { w = newWorld() })

	service := func(s v1alpha1.ServiceSpec) func(*endpointType) {
		return func(e *endpointType) { e.Spec.Network.Service = s }
	}
	ingress := func(i v1alpha1.IngressSpec) func(*endpointType) {
		return func(e *endpointType) { e.Spec.Network.Ingress = &i }
	}
	route := func(change func(*v1alpha1.HTTPRouteSpec)) func(*endpointType) {
		return func(e *endpointType) {
			e.Spec.Network.HTTPRoute = &v1alpha1.HTTPRouteSpec{
				ParentRefs: []v1alpha1.RouteParent{{Name: "public"}}, Hostnames: []v1alpha1.Hostname{"a.example"},
			}
			change(e.Spec.Network.HTTPRoute)
		}
	}
	peers := func(from ...v1alpha1.NetworkPeer) func(*endpointType) {
		return func(e *endpointType) { e.Spec.Network.NetworkPolicy = &v1alpha1.NetworkPolicySpec{From: from} }
	}
	block := func(cidr v1alpha1.CIDR, except ...v1alpha1.CIDR) v1alpha1.NetworkPeer {
		return v1alpha1.NetworkPeer{IPBlock: &v1alpha1.IPBlock{CIDR: cidr, Except: except}}
	}
	everyPod := v1alpha1.NetworkPeer{NamespaceSelector: &metav1.LabelSelector{}}
	labelled := v1alpha1.ObjectMetadata{Labels: map[string]v1alpha1.LabelValue{"team": "a"}, Annotations: map[string]v1alpha1.AnnotationValue{"a.example/b": "c"}}
	ours := v1alpha1.ObjectMetadata{Labels: map[string]v1alpha1.LabelValue{"mcpadmin.dev/component": "a"}}

	DescribeTable("agree on an endpoint's network", func(valid bool, change func(*endpointType)) {
		e := w.endpoint("shop")
		change(e)
		agree(e, valid)
	},
		Entry("a Service of every field", true, service(v1alpha1.ServiceSpec{
			ObjectMetadata: labelled, Type: "LoadBalancer", IPFamilies: []v1alpha1.IPFamily{"IPv6", "IPv4"}, IPFamilyPolicy: "RequireDualStack",
			LoadBalancerClass: "example.com/x", LoadBalancerSourceRanges: []v1alpha1.CIDR{"10.0.0.0/8", "fd00::/8"},
			ExternalTrafficPolicy: "Local", InternalTrafficPolicy: "Cluster", TrafficDistribution: "PreferSameZone",
		})),
		Entry("a Service of another type", false, service(v1alpha1.ServiceSpec{Type: "ExternalName"})),
		Entry("a Service of our labels", false, service(v1alpha1.ServiceSpec{ObjectMetadata: ours})),
		Entry("a Service of a family twice", false, service(v1alpha1.ServiceSpec{IPFamilies: []v1alpha1.IPFamily{"IPv4", "IPv4"}, IPFamilyPolicy: "PreferDualStack"})),
		Entry("a Service of two families in one stack", false, service(v1alpha1.ServiceSpec{IPFamilies: []v1alpha1.IPFamily{"IPv4", "IPv6"}})),
		Entry("a class of no LoadBalancer", false, service(v1alpha1.ServiceSpec{LoadBalancerClass: "x"})),
		Entry("ranges of no LoadBalancer", false, service(v1alpha1.ServiceSpec{Type: "NodePort", LoadBalancerSourceRanges: []v1alpha1.CIDR{"10.0.0.0/8"}})),
		Entry("ranges that are none", false, service(v1alpha1.ServiceSpec{Type: "LoadBalancer", LoadBalancerSourceRanges: []v1alpha1.CIDR{"10.0.0.0"}})),
		Entry("a range twice", false, service(v1alpha1.ServiceSpec{Type: "LoadBalancer", LoadBalancerSourceRanges: []v1alpha1.CIDR{"10.0.0.0/8", "10.0.0.0/8"}})),
		Entry("external traffic to nodes", true, service(v1alpha1.ServiceSpec{Type: "NodePort", ExternalTrafficPolicy: "Local"})),
		Entry("external traffic to a ClusterIP", false, service(v1alpha1.ServiceSpec{ExternalTrafficPolicy: "Local"})),
		Entry("internal traffic to somewhere", false, service(v1alpha1.ServiceSpec{InternalTrafficPolicy: "Nowhere"})),
		Entry("traffic distributed somehow", false, service(v1alpha1.ServiceSpec{TrafficDistribution: "Somehow"})),

		Entry("an Ingress", true, ingress(v1alpha1.IngressSpec{ObjectMetadata: labelled, ClassName: "nginx", Host: "mcp.example.com"})),
		Entry("an Ingress with TLS", true, ingress(v1alpha1.IngressSpec{Host: "a.example", TLS: &v1alpha1.IngressTLS{}})),
		Entry("an Ingress with a certificate", true, ingress(v1alpha1.IngressSpec{
			Host: "a.example", TLS: &v1alpha1.IngressTLS{SecretRef: &v1alpha1.SecretReference{Name: "a"}},
		})),
		Entry("an Ingress with a certificate of no name", false, ingress(v1alpha1.IngressSpec{
			Host: "a.example", TLS: &v1alpha1.IngressTLS{SecretRef: &v1alpha1.SecretReference{}},
		})),
		Entry("an Ingress of our labels", false, ingress(v1alpha1.IngressSpec{ObjectMetadata: ours, Host: "a.example"})),
		Entry("an Ingress without a host", false, ingress(v1alpha1.IngressSpec{})),
		Entry("an Ingress of many hosts", false, ingress(v1alpha1.IngressSpec{Host: "*.example.com"})),
		Entry("an Ingress of a host in capitals", false, ingress(v1alpha1.IngressSpec{Host: "A.example.com"})),
		Entry("an Ingress of a port", false, ingress(v1alpha1.IngressSpec{Host: "a.example.com:8443"})),

		Entry("a route", true, route(func(*v1alpha1.HTTPRouteSpec) {})),
		Entry("a route of every field", true, route(func(r *v1alpha1.HTTPRouteSpec) {
			r.ObjectMetadata, r.Protocol = labelled, "HTTP"
			r.ParentRefs = append(r.ParentRefs, v1alpha1.RouteParent{Name: "public", Namespace: "infra", SectionName: "https", Port: 443})
			r.Hostnames = append(r.Hostnames, "b.example")
		})),
		Entry("a route of no Gateway", false, route(func(r *v1alpha1.HTTPRouteSpec) { r.ParentRefs = nil })),
		Entry("a route of a Gateway without a name", false, route(func(r *v1alpha1.HTTPRouteSpec) { r.ParentRefs[0].Name = "" })),
		Entry("a route of a port that is none", false, route(func(r *v1alpha1.HTTPRouteSpec) { r.ParentRefs[0].Port = 65536 })),
		Entry("a route of no host", false, route(func(r *v1alpha1.HTTPRouteSpec) { r.Hostnames = nil })),
		Entry("a route of a host twice", false, route(func(r *v1alpha1.HTTPRouteSpec) { r.Hostnames = []v1alpha1.Hostname{"a", "a"} })),
		Entry("a route of many hosts", false, route(func(r *v1alpha1.HTTPRouteSpec) { r.Hostnames = []v1alpha1.Hostname{"*.example"} })),
		Entry("a route of another protocol", false, route(func(r *v1alpha1.HTTPRouteSpec) { r.Protocol = "TLS" })),

		Entry("a policy", true, peers(everyPod, block("10.0.0.0/8", "10.1.0.0/16"), block("fd00::/8"))),
		Entry("a policy for nobody", false, peers()),
		Entry("a policy for whom it does not say", false, peers(v1alpha1.NetworkPeer{})),
		Entry("a policy for pods at addresses", false, peers(v1alpha1.NetworkPeer{
			PodSelector: &metav1.LabelSelector{}, IPBlock: &v1alpha1.IPBlock{CIDR: "10.0.0.0/8"},
		})),
		Entry("a policy for an address", false, peers(block("10.0.0.1"))),
		Entry("a policy for no address", false, peers(block(""))),
		Entry("a policy but for an address", false, peers(block("10.0.0.0/8", "10.0.0.1"))),
		Entry("a policy that keeps Prometheus out", false, func(e *endpointType) {
			peers(everyPod)(e)
			e.Spec.Observability.PodMonitor = &v1alpha1.PodMonitorSpec{}
		}),
		Entry("a policy that lets Prometheus in", true, func(e *endpointType) {
			peers(everyPod)(e)
			e.Spec.Network.NetworkPolicy.MetricsFrom = []v1alpha1.NetworkPeer{everyPod}
			e.Spec.Observability.PodMonitor = &v1alpha1.PodMonitorSpec{}
		}),

		Entry("a monitor", true, func(e *endpointType) {
			e.Spec.Observability.PodMonitor = &v1alpha1.PodMonitorSpec{ObjectMetadata: labelled, Interval: &metav1.Duration{Duration: time.Minute}}
		}),
		Entry("a monitor that never rests", false, func(e *endpointType) {
			e.Spec.Observability.PodMonitor = &v1alpha1.PodMonitorSpec{Interval: &metav1.Duration{Duration: time.Millisecond}}
		}),
		Entry("a monitor of our labels", false, func(e *endpointType) {
			e.Spec.Observability.PodMonitor = &v1alpha1.PodMonitorSpec{ObjectMetadata: ours}
		}),
	)
})
