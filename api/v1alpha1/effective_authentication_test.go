package v1alpha1

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestAudiencesAreTheURLsAndTheDeclaredOnes(t *testing.T) {
	declared := []Audience{"shop", "https://mcp.example.com/mcp/"}
	within := "http://shop-mcp.sales.svc/mcp http://shop-mcp.sales.svc/mcp/"
	outside := "https://mcp.example.com/mcp https://mcp.example.com/mcp/"
	for name, row := range map[string]struct {
		network   NetworkSpec
		declared  []Audience
		accounts  string
		ofIssuers string
	}{
		"nothing":                {NetworkSpec{}, nil, within, ""},
		"declared":               {NetworkSpec{}, declared, within + " https://mcp.example.com/mcp/ shop", "https://mcp.example.com/mcp/ shop"},
		"a public URL":           {NetworkSpec{ExternalURL: "https://mcp.example.com/"}, nil, within + " " + outside, outside},
		"a public URL, and more": {NetworkSpec{ExternalURL: "https://mcp.example.com"}, declared, within + " " + outside + " shop", "https://mcp.example.com/mcp/ shop"},
		"an Ingress":             {NetworkSpec{Ingress: &IngressSpec{Host: "mcp.example.com", TLS: &IngressTLS{}}}, nil, within + " " + outside, outside},
		"a route":                {NetworkSpec{HTTPRoute: &HTTPRouteSpec{Hostnames: []Hostname{"mcp.example.com"}}}, nil, within + " " + outside, outside},
		"a load balancer":        {NetworkSpec{Service: ServiceSpec{Type: ServiceLoadBalancer}}, nil, within, ""},
		"the Service's URL":      {NetworkSpec{ExternalURL: "http://shop-mcp.sales.svc"}, nil, within, within},
	} {
		e := &MCPEndpoint{ObjectMeta: metav1.ObjectMeta{Namespace: "sales", Name: "shop"}}
		e.Spec.Network, e.Spec.Authentication.ServiceAccounts.Audiences = row.network, row.declared
		if got := strings.Join(e.ServiceAccountAudiences(), " "); got != row.accounts {
			t.Errorf("%s: %s\nwant %s", name, got, row.accounts)
		}
		if got := strings.Join(e.IssuerAudiences(&OIDCIssuer{Audiences: row.declared}), " "); got != row.ofIssuers {
			t.Errorf("%s: %s\nwant %s", name, got, row.ofIssuers)
		}
	}
}

func TestTheMetadataIsBelowTheWellKnownPath(t *testing.T) {
	listed, unlisted := OIDCIssuer{Name: "corp"}, OIDCIssuer{Name: "ci", Listing: IssuerUnlisted}
	for name, row := range map[string]struct {
		issuers  []OIDCIssuer
		external string
		want     string
	}{
		"no issuer":                  {nil, "", ""},
		"an issuer":                  {[]OIDCIssuer{unlisted, listed}, "", "/.well-known/oauth-protected-resource/shop/mcp"},
		"an issuer that nobody sees": {[]OIDCIssuer{unlisted}, "", ""},
		"another path outside":       {[]OIDCIssuer{listed}, "https://mcp.example.com/sales", "/.well-known/oauth-protected-resource/sales/shop/mcp"},
	} {
		e := &MCPEndpoint{}
		e.Spec.Server.BasePath, e.Spec.Network.ExternalURL, e.Spec.Authentication.OIDC = "/shop", row.external, row.issuers
		if got := e.MetadataPath(); got != row.want {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}

func TestAbsentFieldsOfAnIssuerHaveTheirDefaults(t *testing.T) {
	var absent OIDCIssuer
	if got := absent.EffectiveAlgorithms(); !slices.Equal(got, []SigningAlgorithm{"RS256"}) || absent.EffectiveClockSkew() != 30*time.Second ||
		absent.EffectiveSubjectClaim() != "sub" || absent.EffectiveListing() != IssuerListed || (ServiceAccountAuthentication{}).EffectiveCheck() != CheckKeys {
		t.Errorf("%v %v %v %v", got, absent.EffectiveClockSkew(), absent.EffectiveSubjectClaim(), absent.EffectiveListing())
	}
	given := OIDCIssuer{ClockSkew: &metav1.Duration{}, Algorithms: []SigningAlgorithm{"ES256"}, SubjectClaim: "email", Listing: IssuerUnlisted}
	if got := given.EffectiveAlgorithms(); !slices.Equal(got, given.Algorithms) || given.EffectiveClockSkew() != 0 ||
		given.EffectiveSubjectClaim() != "email" || given.EffectiveListing() != IssuerUnlisted {
		t.Errorf("%v %v %v %v", got, given.EffectiveClockSkew(), given.EffectiveSubjectClaim(), given.EffectiveListing())
	}
}
