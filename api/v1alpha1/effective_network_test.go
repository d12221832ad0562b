package v1alpha1

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestTheURLIsWhereAgentsAreLedTo(t *testing.T) {
	external := func(n *NetworkSpec) { n.ExternalURL = "https://elsewhere.example:8443/x/" }
	route := func(n *NetworkSpec) {
		n.HTTPRoute = &HTTPRouteSpec{Hostnames: []Hostname{"route.example", "second.example"}}
	}
	plainRoute := func(n *NetworkSpec) {
		n.HTTPRoute = &HTTPRouteSpec{Hostnames: []Hostname{"route.example"}, Protocol: RouteHTTP}
	}
	ingress := func(n *NetworkSpec) { n.Ingress = &IngressSpec{Host: "ingress.example"} }
	secureIngress := func(n *NetworkSpec) { n.Ingress = &IngressSpec{Host: "ingress.example", TLS: &IngressTLS{}} }
	balancer := func(n *NetworkSpec) { n.Service.Type = ServiceLoadBalancer }
	type change = func(*NetworkSpec)
	for name, row := range map[string]struct {
		changes []change
		tls     bool
		base    string
		want    string
	}{
		"nothing":                      {nil, false, "", "http://shop-mcp.sales.svc/mcp/"},
		"a certificate of its own":     {nil, true, "", "https://shop-mcp.sales.svc/mcp/"},
		"a base path":                  {nil, false, "/shop", "http://shop-mcp.sales.svc/shop/mcp/"},
		"a load balancer":              {[]change{balancer}, false, "", "http://shop-mcp.sales.svc/mcp/"},
		"an Ingress":                   {[]change{ingress}, false, "/shop", "http://ingress.example/shop/mcp/"},
		"an Ingress before a TLS port": {[]change{ingress}, true, "", "http://ingress.example/mcp/"},
		"an Ingress with TLS":          {[]change{secureIngress}, false, "", "https://ingress.example/mcp/"},
		"a route":                      {[]change{route}, false, "/shop", "https://route.example/shop/mcp/"},
		"a route of a plain listener":  {[]change{plainRoute}, true, "", "http://route.example/mcp/"},
		"a route and an Ingress":       {[]change{ingress, route}, false, "", "https://route.example/mcp/"},
		"all of it":                    {[]change{ingress, route, balancer, external}, true, "/shop", "https://elsewhere.example:8443/x/shop/mcp/"},
	} {
		e := &MCPEndpoint{ObjectMeta: metav1.ObjectMeta{Namespace: "sales", Name: "shop"}}
		e.Spec.Server.BasePath = row.base
		if row.tls {
			e.Spec.Server.TLS = &ServerTLS{}
		}
		for _, change := range row.changes {
			change(&e.Spec.Network)
		}
		if got := e.EffectiveURL(); got != row.want {
			t.Errorf("%s: %s, want %s", name, got, row.want)
		}
	}
}
