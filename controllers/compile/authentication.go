package compile

import (
	"cmp"
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// authenticationEntry says whose tokens are accepted beside the endpoint's own. It is the same whatever MCPTokens there are,
// so that one more is no change of the main part.
func authenticationEntry(e *v1alpha1.MCPEndpoint) contract.Authentication {
	given := &e.Spec.Authentication
	entry := contract.Authentication{ServiceAccounts: contract.ServiceAccounts{
		Check:     string(given.ServiceAccounts.EffectiveCheck()),
		Audiences: e.ServiceAccountAudiences(),
	}}
	for i := range given.OIDC {
		entry.Issuers = append(entry.Issuers, issuerEntry(e, &given.OIDC[i]))
	}
	slices.SortFunc(entry.Issuers, func(a, b contract.Issuer) int { return cmp.Compare(a.Name, b.Name) })
	return entry
}

func issuerEntry(e *v1alpha1.MCPEndpoint, i *v1alpha1.OIDCIssuer) contract.Issuer {
	entry := contract.Issuer{
		Name:                 i.Name,
		URL:                  string(i.URL),
		DiscoveryURL:         string(i.DiscoveryURL),
		KeysURL:              string(i.KeysURL),
		Audiences:            e.IssuerAudiences(i),
		CertificateAuthority: i.CertificateAuthority,
		ClockSkew:            contract.Duration(i.EffectiveClockSkew()),
		SubjectClaim:         i.EffectiveSubjectClaim(),
		Listed:               i.EffectiveListing() == v1alpha1.IssuerListed,
		Scopes:               slices.Clone(i.Scopes),
	}
	for _, algorithm := range i.EffectiveAlgorithms() {
		entry.Algorithms = append(entry.Algorithms, string(algorithm))
	}
	slices.Sort(entry.Algorithms)
	return entry
}

// issuerURLs are the URLs of the issuers that a main part has, by their names.
func issuerURLs(main *contract.Config) map[string]string {
	urls := map[string]string{}
	for i := range main.Endpoint.Authentication.Issuers {
		issuer := &main.Endpoint.Authentication.Issuers[i]
		urls[issuer.Name] = issuer.URL
	}
	return urls
}
