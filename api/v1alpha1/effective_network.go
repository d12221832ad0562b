package v1alpha1

import "strings"

// EffectiveURL is the URL that agents call: the external URL, or else the host of the HTTPRoute, of the Ingress or of the
// Service within the cluster, with the endpoint's path.
func (e *MCPEndpoint) EffectiveURL() string { return e.effectiveOrigin() + e.EffectivePath() + "/" }

// EffectivePath is the path of the endpoint: what routes lead to.
func (e *MCPEndpoint) EffectivePath() string { return e.Spec.Server.BasePath + "/mcp" }

// ServiceURL is the URL at which agents within the cluster are answered.
func (e *MCPEndpoint) ServiceURL() string { return e.serviceOrigin() + e.EffectivePath() + "/" }

// Public reports whether the endpoint has a URL besides its Service's URL.
func (e *MCPEndpoint) Public() bool {
	n := &e.Spec.Network
	return n.ExternalURL != "" || n.HTTPRoute != nil && len(n.HTTPRoute.Hostnames) > 0 || n.Ingress != nil
}

// effectiveOrigin is the URL before the path.
func (e *MCPEndpoint) effectiveOrigin() string {
	n := &e.Spec.Network
	switch {
	case n.ExternalURL != "":
		return strings.TrimRight(n.ExternalURL, "/")
	case n.HTTPRoute != nil && len(n.HTTPRoute.Hostnames) > 0:
		return scheme(n.HTTPRoute.EffectiveProtocol() == RouteHTTPS) + string(n.HTTPRoute.Hostnames[0])
	case n.Ingress != nil:
		return scheme(n.Ingress.TLS != nil) + string(n.Ingress.Host)
	}
	return e.serviceOrigin()
}

func (e *MCPEndpoint) serviceOrigin() string {
	return scheme(e.Spec.Server.TLS != nil) + e.ServiceName() + "." + e.Namespace + ".svc"
}

func scheme(secure bool) string {
	if secure {
		return "https://"
	}
	return "http://"
}

// EffectiveProtocol is the protocol of the listeners of the route's Gateways.
func (r *HTTPRouteSpec) EffectiveProtocol() RouteProtocol {
	if r.Protocol != "" {
		return r.Protocol
	}
	return RouteHTTPS
}

// CertificateSecretRef names the Secret of the Ingress's certificate; nil if it names none.
func (i *IngressSpec) CertificateSecretRef() *SecretReference {
	if i == nil || i.TLS == nil {
		return nil
	}
	return i.TLS.SecretRef
}

// EffectiveType is the Service's type.
func (s *ServiceSpec) EffectiveType() ServiceType {
	if s.Type != "" {
		return s.Type
	}
	return ServiceClusterIP
}

// EffectiveNamespace is the Gateway's namespace, for an endpoint of a namespace.
func (p RouteParent) EffectiveNamespace(endpoint string) string {
	if p.Namespace != "" {
		return p.Namespace
	}
	return endpoint
}
