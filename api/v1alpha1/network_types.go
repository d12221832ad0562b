package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// NetworkSpec says how agents reach the endpoint.
type NetworkSpec struct {
	// externalURL is the address that agents call, without /mcp/, if something leads to the endpoint that this object does
	// not make. Absent, the host of httpRoute, else the host of ingress, else the Service's address within the cluster.
	// +optional
	// +kubebuilder:validation:MinLength=8
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="isURL(self) && url(self).getScheme() in ['http', 'https'] && url(self).getHost() != '' && !self.matches('[?#@]')",message="must be an http or https URL with a host, without user, query or fragment"
	ExternalURL string `json:"externalURL,omitempty"`
	// cors lets web pages of other origins call the endpoint from a browser. Absent, only the endpoint's own origin may.
	// +optional
	CORS *CORSSpec `json:"cors,omitempty"`
	// service says how the endpoint's Service is made. Absent, it is a ClusterIP.
	// +optional
	Service ServiceSpec `json:"service,omitempty,omitzero"`
	// ingress makes an Ingress that leads to the endpoint; none when absent.
	// +optional
	Ingress *IngressSpec `json:"ingress,omitempty"`
	// httpRoute makes an HTTPRoute of the Gateway API that leads to the endpoint; none when absent.
	// +optional
	HTTPRoute *HTTPRouteSpec `json:"httpRoute,omitempty"`
	// networkPolicy makes a NetworkPolicy that says who may reach the server's pods. Absent, the operator makes none, and
	// whoever can reach the pods may call them.
	// +optional
	NetworkPolicy *NetworkPolicySpec `json:"networkPolicy,omitempty"`
}

// CORSSpec says which pages may call the endpoint from a browser.
type CORSSpec struct {
	// allowedOrigins are the pages' origins, exactly as browsers write them: scheme, host and port, no path. A host that
	// begins with "*." stands for all hosts with one more label: https://*.example.com allows https://a.example.com, and
	// neither https://example.com nor https://a.b.example.com. A bare "*" is refused: name the pages that may use a token
	// in a browser. An origin is no permission; every request still needs its token.
	// +required
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=50
	AllowedOrigins []Origin `json:"allowedOrigins,omitempty"`
}

// Origin is a page's origin, or a pattern of origins.
// +kubebuilder:validation:MinLength=4
// +kubebuilder:validation:MaxLength=300
// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z][a-z0-9+.-]*://([*][.][a-z0-9_-]+([.][a-z0-9_-]+)+|[a-z0-9_-]+([.][a-z0-9_-]+)*|[[][0-9a-f:.]+[]])(:[0-9]{1,5})?$')",message="must be an origin as browsers write it: scheme://host or scheme://host:port in lower case, without a path; the host may begin with *. before at least two labels"
type Origin string

// ObjectMetadata is added to the metadata of an object that is made for the endpoint.
type ObjectMetadata struct {
	// labels are added to the object.
	// +optional
	// +kubebuilder:validation:MaxProperties=50
	// +kubebuilder:validation:XValidation:rule="self.all(k, !format.qualifiedName().validate(k).hasValue() && !format.labelValue().validate(self[k]).hasValue() && !k.startsWith('mcpadmin.dev/'))",message="must be labels, and none of mcpadmin.dev, whose labels are the controllers' own"
	Labels map[string]LabelValue `json:"labels,omitempty"`
	// annotations are added to the object.
	// +optional
	// +kubebuilder:validation:MaxProperties=50
	// +kubebuilder:validation:XValidation:rule="self.all(k, !format.qualifiedName().validate(k).hasValue() && !k.startsWith('mcpadmin.dev/'))",message="must be annotations, and none of mcpadmin.dev, whose annotations are the controllers' own"
	Annotations map[string]AnnotationValue `json:"annotations,omitempty"`
}

// ServiceSpec says how the endpoint's Service is made. Its name, ports and selector are the controllers' own.
//
// +kubebuilder:validation:XValidation:rule="(has(self.type) && self.type == 'LoadBalancer') || (!has(self.loadBalancerClass) && !has(self.loadBalancerSourceRanges))",message="loadBalancerClass and loadBalancerSourceRanges are for type LoadBalancer"
// +kubebuilder:validation:XValidation:rule="(has(self.type) && self.type in ['NodePort', 'LoadBalancer']) || !has(self.externalTrafficPolicy)",message="externalTrafficPolicy is for the types NodePort and LoadBalancer"
// +kubebuilder:validation:XValidation:rule="!has(self.ipFamilies) || self.ipFamilies.size() < 2 || (has(self.ipFamilyPolicy) && self.ipFamilyPolicy != 'SingleStack')",message="two ipFamilies need the ipFamilyPolicy PreferDualStack or RequireDualStack"
type ServiceSpec struct {
	ObjectMetadata `json:",inline"`
	// type is the Service's type; ClusterIP when absent.
	// +optional
	Type ServiceType `json:"type,omitempty"`
	// ipFamilies are the families of the Service's addresses, the first one first; the cluster's own when absent. The
	// first cannot be changed later, unless the Service is deleted: it is made again.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=2
	IPFamilies []IPFamily `json:"ipFamilies,omitempty"`
	// ipFamilyPolicy says whether the Service has addresses of two families; SingleStack when absent. Two
	// ipFamilies need PreferDualStack or RequireDualStack.
	// +optional
	IPFamilyPolicy IPFamilyPolicy `json:"ipFamilyPolicy,omitempty"`
	// loadBalancerClass names what gives a Service of type LoadBalancer its address; the cluster's own when absent. It
	// cannot be changed later, unless the Service is deleted: it is made again.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="!format.qualifiedName().validate(self).hasValue()",message="must be a name such as example.com/internal"
	LoadBalancerClass string `json:"loadBalancerClass,omitempty"`
	// loadBalancerSourceRanges are the CIDRs whose clients a Service of type LoadBalancer lets through; all when absent.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=100
	LoadBalancerSourceRanges []CIDR `json:"loadBalancerSourceRanges,omitempty"`
	// externalTrafficPolicy says whether requests from outside of the cluster go to pods of the same node alone, which keeps
	// the client's address; Cluster when absent. It is for the types NodePort and LoadBalancer.
	// +optional
	ExternalTrafficPolicy TrafficPolicy `json:"externalTrafficPolicy,omitempty"`
	// internalTrafficPolicy says whether requests from within the cluster go to pods of the same node alone; Cluster when
	// absent.
	// +optional
	InternalTrafficPolicy TrafficPolicy `json:"internalTrafficPolicy,omitempty"`
	// trafficDistribution says which pods are preferred: the pods of the client's zone or of its node. None are when
	// absent.
	// +optional
	TrafficDistribution TrafficDistribution `json:"trafficDistribution,omitempty"`
}

// ServiceType is how a Service is reached.
// +kubebuilder:validation:Enum=ClusterIP;NodePort;LoadBalancer
type ServiceType string

// The types of a Service.
const (
	ServiceClusterIP    ServiceType = "ClusterIP"
	ServiceNodePort     ServiceType = "NodePort"
	ServiceLoadBalancer ServiceType = "LoadBalancer"
)

// IPFamily is a family of IP addresses.
// +kubebuilder:validation:Enum=IPv4;IPv6
type IPFamily string

// IPFamilyPolicy says how many families a Service has addresses of.
// +kubebuilder:validation:Enum=SingleStack;PreferDualStack;RequireDualStack
type IPFamilyPolicy string

// TrafficPolicy says which pods get a request: any pod, or a pod of the same node.
// +kubebuilder:validation:Enum=Cluster;Local
type TrafficPolicy string

// TrafficDistribution says which pods are preferred.
// +kubebuilder:validation:Enum=PreferSameZone;PreferSameNode;PreferClose
type TrafficDistribution string

// CIDR is a range of IP addresses, such as 10.0.0.0/8.
// +kubebuilder:validation:MaxLength=49
// +kubebuilder:validation:XValidation:rule="isCIDR(self) && cidr(self) == cidr(self).masked()",message="must be a range of IP addresses by its first address, such as 10.0.0.0/8 and not 10.1.2.3/8"
type CIDR string

// IngressSpec is an Ingress that leads from a host to the endpoint. Its path is spec.server.basePath and /mcp.
type IngressSpec struct {
	ObjectMetadata `json:",inline"`
	// className names the IngressClass; the cluster's default when absent.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="!format.dns1123Subdomain().validate(self).hasValue()",message="must be a name that an object can have: lower-case letters, digits, '-' and '.', first and last a letter or digit"
	ClassName string `json:"className,omitempty"`
	// host is the name that agents call: one name in lower case, without a wildcard and a port.
	// +required
	Host Hostname `json:"host,omitempty"`
	// tls makes the Ingress speak HTTPS. Absent, it speaks HTTP, and tokens cross the network in the clear.
	// +optional
	TLS *IngressTLS `json:"tls,omitempty"`
}

// IngressTLS is the certificate of an Ingress.
type IngressTLS struct {
	// secretRef names a Secret of type kubernetes.io/tls with the host's certificate. cert-manager writes it if
	// ingress.annotations ask it to. Absent, the Ingress controller's own certificate is used.
	// +optional
	SecretRef *SecretReference `json:"secretRef,omitempty"`
}

// Hostname is a DNS name in lower case, without a port.
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=253
// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
type Hostname string

// HTTPRouteSpec is an HTTPRoute of the Gateway API (gateway.networking.k8s.io/v1) that leads from Gateways to the
// endpoint. Its path is spec.server.basePath and /mcp.
type HTTPRouteSpec struct {
	ObjectMetadata `json:",inline"`
	// parentRefs name the Gateways that the route belongs to.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	ParentRefs []RouteParent `json:"parentRefs,omitempty"`
	// hostnames are the names that agents call; status.url has the first.
	// +required
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Hostnames []Hostname `json:"hostnames,omitempty"`
	// protocol is the protocol of the Gateways' listeners, for status.url; HTTPS when absent.
	// +optional
	Protocol RouteProtocol `json:"protocol,omitempty"`
}

// RouteProtocol is the protocol of a Gateway's listener.
// +kubebuilder:validation:Enum=HTTP;HTTPS
type RouteProtocol string

// The protocols of a listener.
const (
	RouteHTTP  RouteProtocol = "HTTP"
	RouteHTTPS RouteProtocol = "HTTPS"
)

// RouteParent names a Gateway, or one of its listeners.
type RouteParent struct {
	// name is the Gateway's name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="!format.dns1123Subdomain().validate(self).hasValue()",message="must be a name that an object can have: lower-case letters, digits, '-' and '.', first and last a letter or digit"
	Name string `json:"name,omitempty"`
	// namespace is the Gateway's namespace; the endpoint's own when absent. The Gateway must allow routes of the endpoint's
	// namespace.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Namespace string `json:"namespace,omitempty"`
	// sectionName names one listener of the Gateway; all when absent.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="!format.dns1123Subdomain().validate(self).hasValue()",message="must be a name that an object can have: lower-case letters, digits, '-' and '.', first and last a letter or digit"
	SectionName string `json:"sectionName,omitempty"`
	// port limits the route to the listeners of that port.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port,omitempty"`
}

// NetworkPolicySpec says who may reach the server's pods. What the pods may reach is left to policies of your own: the
// operator knows the address of neither the database nor the API server.
type NetworkPolicySpec struct {
	// from are those who may call the endpoint. An Ingress controller or Gateway before it must be among them.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=50
	From []NetworkPeer `json:"from,omitempty"`
	// metricsFrom are those who may read the metrics, such as Prometheus; nobody when absent. A podMonitor needs it. The
	// manager reaches the same port in any case if it runs in the cluster.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=50
	MetricsFrom []NetworkPeer `json:"metricsFrom,omitempty"`
}

// NetworkPeer is one of those who may reach a pod: pods, or addresses.
//
// +kubebuilder:validation:XValidation:rule="has(self.ipBlock) != (has(self.podSelector) || has(self.namespaceSelector))",message="exactly one of ipBlock and selectors must be given"
type NetworkPeer struct {
	// podSelector selects pods by their labels: pods of the endpoint's namespace, or of the namespaces that
	// namespaceSelector selects. Empty is all.
	// +optional
	PodSelector *metav1.LabelSelector `json:"podSelector,omitempty"`
	// namespaceSelector selects namespaces by their labels. Empty is all.
	// +optional
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector,omitempty"`
	// ipBlock is a range of addresses, for peers outside of the cluster.
	// +optional
	IPBlock *IPBlock `json:"ipBlock,omitempty"`
}

// IPBlock is a range of addresses.
//
// +kubebuilder:validation:XValidation:rule="!has(self.except) || !isCIDR(self.cidr) || self.except.all(e, !isCIDR(e) || cidr(self.cidr).containsCIDR(cidr(e)) && cidr(e).prefixLength() > cidr(self.cidr).prefixLength())",message="except must be parts of cidr"
type IPBlock struct {
	// cidr is the range.
	// +required
	// +kubebuilder:validation:MinLength=1
	CIDR CIDR `json:"cidr,omitempty"`
	// except are ranges within cidr that are left out.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=20
	Except []CIDR `json:"except,omitempty"`
}

// ObservabilitySpec says what can be seen of the endpoint, and who collects it.
type ObservabilitySpec struct {
	// audit says what the server's audit lines tell. Changes and refusals always have one.
	// +optional
	Audit AuditLinesSpec `json:"audit,omitempty,omitzero"`
	// metrics says what the metrics of calls tell apart: PerModel has series of their own for each model, and each operation that is
	// called on it; PerOperation, the default, has one for each operation. An endpoint of many models has many series then.
	// +optional
	Metrics MetricsDetail `json:"metrics,omitempty"`
	// tracing sends a trace of each call to a collector of OpenTelemetry; none when absent (docs/traces.md).
	// +optional
	Tracing *TracingSpec `json:"tracing,omitempty"`
	// podMonitor makes a PodMonitor of the Prometheus operator (monitoring.coreos.com/v1), which has the metrics of every
	// server pod read; none when absent.
	// +optional
	PodMonitor *PodMonitorSpec `json:"podMonitor,omitempty"`
}

// MetricsDetail says whether the metrics of calls have series for each model.
// +kubebuilder:validation:Enum=PerOperation;PerModel
type MetricsDetail string

// What metrics of calls tell apart.
const (
	MetricsPerOperation MetricsDetail = "PerOperation"
	MetricsPerModel     MetricsDetail = "PerModel"
)

// PodMonitorSpec is a PodMonitor for the server's pods.
type PodMonitorSpec struct {
	ObjectMetadata `json:",inline"`
	// interval is the time between two readings; Prometheus's own when absent.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ns|us|ms|s|m|h))+$') && duration(self) >= duration('1s') && duration(self) <= duration('1h')",message="must be a duration such as 500ms, 30s or 1m30s, between 1s and 1h"
	Interval *metav1.Duration `json:"interval,omitempty"`
}
