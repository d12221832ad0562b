package v1alpha1

import (
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

var (
	hostname = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	origin   = regexp.MustCompile(`^[a-z][a-z0-9+.-]*://(\*\.[a-z0-9_-]+(\.[a-z0-9_-]+)+|[a-z0-9_-]+(\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])(:[0-9]{1,5})?$`)
)

func (v *validator) network(path *field.Path, n *NetworkSpec) {
	if n.ExternalURL != "" {
		at := path.Child("externalURL")
		v.text(at, n.ExternalURL, 8, 1024, nil)
		if !isExternalURL(n.ExternalURL) {
			v.invalid(at, n.ExternalURL, "must be an http or https URL with a host, without user, query or fragment")
		}
	}
	v.cors(path.Child("cors"), n.CORS)
	v.service(path.Child("service"), &n.Service)
	if n.Ingress != nil {
		v.ingress(path.Child("ingress"), n.Ingress)
	}
	if n.HTTPRoute != nil {
		v.httpRoute(path.Child("httpRoute"), n.HTTPRoute)
	}
	if n.NetworkPolicy != nil {
		v.networkPolicy(path.Child("networkPolicy"), n.NetworkPolicy)
	}
}

func isExternalURL(s string) bool {
	u, err := url.ParseRequestURI(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && !strings.ContainsAny(s, "?#@")
}

func (v *validator) cors(path *field.Path, c *CORSSpec) {
	if c == nil {
		return
	}
	at := path.Child("allowedOrigins")
	if len(c.AllowedOrigins) == 0 {
		v.add(field.Required(at, "name the origins that may call the endpoint, or leave out cors"))
	}
	v.atMost(at, len(c.AllowedOrigins), 50)
	for i, o := range c.AllowedOrigins {
		v.text(at.Index(i), string(o), 4, 300, nil)
		if slices.Contains(c.AllowedOrigins[:i], o) {
			v.add(field.Duplicate(at.Index(i), o))
		}
		if !origin.MatchString(string(o)) {
			v.invalid(at.Index(i), o, "must be an origin as browsers write it: scheme://host or scheme://host:port in lower case, without a path; the host may begin with *. before at least two labels")
		}
	}
}

func (v *validator) service(path *field.Path, s *ServiceSpec) {
	v.metadata(path, s.Labels, s.Annotations)
	oneOf(v, path.Child("type"), s.Type, "", ServiceClusterIP, ServiceNodePort, ServiceLoadBalancer)
	oneOfEach(v, path.Child("ipFamilies"), s.IPFamilies, "IPv4", "IPv6")
	oneOf(v, path.Child("ipFamilyPolicy"), s.IPFamilyPolicy, "", "SingleStack", "PreferDualStack", "RequireDualStack")
	if len(s.IPFamilies) > 1 && (s.IPFamilyPolicy == "" || s.IPFamilyPolicy == "SingleStack") {
		v.invalid(path.Child("ipFamilies"), s.IPFamilies, "two ipFamilies need the ipFamilyPolicy PreferDualStack or RequireDualStack")
	}
	v.optional(path.Child("loadBalancerClass"), s.LoadBalancerClass, 253, nil)
	v.cidrs(path.Child("loadBalancerSourceRanges"), s.LoadBalancerSourceRanges, 100)
	if s.Type != ServiceLoadBalancer && (s.LoadBalancerClass != "" || len(s.LoadBalancerSourceRanges) > 0) {
		v.invalid(path, s.Type, "loadBalancerClass and loadBalancerSourceRanges are for type LoadBalancer")
	}
	oneOf(v, path.Child("externalTrafficPolicy"), s.ExternalTrafficPolicy, "", "Cluster", "Local")
	if s.Type != ServiceNodePort && s.Type != ServiceLoadBalancer && s.ExternalTrafficPolicy != "" {
		v.invalid(path, s.Type, "externalTrafficPolicy is for the types NodePort and LoadBalancer")
	}
	oneOf(v, path.Child("internalTrafficPolicy"), s.InternalTrafficPolicy, "", "Cluster", "Local")
	oneOf(v, path.Child("trafficDistribution"), s.TrafficDistribution, "", "PreferSameZone", "PreferSameNode", "PreferClose")
}

func (v *validator) ingress(path *field.Path, i *IngressSpec) {
	v.metadata(path, i.Labels, i.Annotations)
	v.optional(path.Child("className"), i.ClassName, 253, nil)
	v.required(path.Child("host"), string(i.Host), 253, hostname)
	if i.TLS != nil && i.TLS.SecretRef != nil {
		v.required(path.Child("tls", "secretRef", "name"), i.TLS.SecretRef.Name, 253, nil)
	}
}

func (v *validator) httpRoute(path *field.Path, r *HTTPRouteSpec) {
	v.metadata(path, r.Labels, r.Annotations)
	at := path.Child("parentRefs")
	if len(r.ParentRefs) == 0 {
		v.add(field.Required(at, "name the Gateways that the route belongs to"))
	}
	v.atMost(at, len(r.ParentRefs), 8)
	for i, parent := range r.ParentRefs {
		v.required(at.Index(i).Child("name"), parent.Name, 253, nil)
		v.optional(at.Index(i).Child("namespace"), parent.Namespace, 63, nil)
		v.optional(at.Index(i).Child("sectionName"), parent.SectionName, 253, nil)
		within(v, at.Index(i).Child("port"), parent.Port, 1, 65535)
	}
	at = path.Child("hostnames")
	if len(r.Hostnames) == 0 {
		v.add(field.Required(at, "name the hosts that agents call"))
	}
	v.atMost(at, len(r.Hostnames), 16)
	for i, name := range r.Hostnames {
		v.text(at.Index(i), string(name), 1, 253, hostname)
	}
	distinct(v, at, r.Hostnames, func(name Hostname) string { return string(name) })
	oneOf(v, path.Child("protocol"), r.Protocol, "", RouteHTTP, RouteHTTPS)
}

func (v *validator) networkPolicy(path *field.Path, p *NetworkPolicySpec) {
	if len(p.From) == 0 {
		v.add(field.Required(path.Child("from"), "name those who may call the endpoint"))
	}
	v.peers(path.Child("from"), p.From)
	notEmpty(v, path.Child("metricsFrom"), p.MetricsFrom)
	v.peers(path.Child("metricsFrom"), p.MetricsFrom)
}

func (v *validator) peers(path *field.Path, peers []NetworkPeer) {
	v.atMost(path, len(peers), 50)
	for i, peer := range peers {
		at := path.Index(i)
		if (peer.IPBlock != nil) == (peer.PodSelector != nil || peer.NamespaceSelector != nil) {
			v.invalid(at, "", "exactly one of ipBlock and selectors must be given")
		}
		if block := peer.IPBlock; block != nil {
			v.cidr(at.Child("ipBlock", "cidr"), block.CIDR)
			v.cidrs(at.Child("ipBlock", "except"), block.Except, 20)
		}
	}
}

func (v *validator) cidrs(path *field.Path, ranges []CIDR, maximum int) {
	v.atMost(path, len(ranges), maximum)
	for i, r := range ranges {
		v.cidr(path.Index(i), r)
	}
	distinct(v, path, ranges, func(r CIDR) string { return string(r) })
}

func (v *validator) cidr(path *field.Path, r CIDR) {
	v.text(path, string(r), 0, 49, nil)
	if _, err := netip.ParsePrefix(string(r)); err != nil {
		v.invalid(path, r, "must be a range of IP addresses such as 10.0.0.0/8")
	}
}

// observability takes the whole spec: who reads the metrics must be let through to them.
func (v *validator) observability(path *field.Path, spec *MCPEndpointSpec) {
	monitor := spec.Observability.PodMonitor
	if monitor == nil {
		return
	}
	at := path.Child("podMonitor")
	v.metadata(at, monitor.Labels, monitor.Annotations)
	if interval := monitor.Interval; interval != nil && (interval.Duration < time.Second || interval.Duration > time.Hour) {
		v.invalid(at.Child("interval"), interval.Duration.String(), "must be between 1s and 1h")
	}
	if policy := spec.Network.NetworkPolicy; policy != nil && len(policy.MetricsFrom) == 0 {
		v.invalid(at, "", "observability.podMonitor has Prometheus read the metrics, and network.networkPolicy keeps it out; name its pods in network.networkPolicy.metricsFrom")
	}
}
