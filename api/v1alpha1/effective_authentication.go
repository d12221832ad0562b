package v1alpha1

import (
	"net/url"
	"slices"
	"strings"
	"time"
)

// What absent fields of an issuer mean.
const (
	DefaultClockSkew    = 30 * time.Second
	DefaultSubjectClaim = "sub"
	DefaultAlgorithm    = SigningAlgorithm("RS256")
)

// EffectiveCheck is how the tokens of ServiceAccounts are checked.
func (s ServiceAccountAuthentication) EffectiveCheck() ServiceAccountCheck {
	if s.Check != "" {
		return s.Check
	}
	return CheckKeys
}

// EffectiveAlgorithms are the algorithms that the issuer signs with.
func (i *OIDCIssuer) EffectiveAlgorithms() []SigningAlgorithm {
	if len(i.Algorithms) > 0 {
		return i.Algorithms
	}
	return []SigningAlgorithm{DefaultAlgorithm}
}

// EffectiveClockSkew is how far the issuer's clock may be from the server's.
func (i *OIDCIssuer) EffectiveClockSkew() time.Duration {
	if i.ClockSkew == nil {
		return DefaultClockSkew
	}
	return i.ClockSkew.Duration
}

// EffectiveSubjectClaim is the claim that tells the issuer's callers apart.
func (i *OIDCIssuer) EffectiveSubjectClaim() string {
	if i.SubjectClaim != "" {
		return i.SubjectClaim
	}
	return DefaultSubjectClaim
}

// EffectiveListing says whether the issuer is listed for clients.
func (i *OIDCIssuer) EffectiveListing() IssuerListing {
	if i.Listing != "" {
		return i.Listing
	}
	return IssuerListed
}

// ServiceAccountAudiences are all that the token of a ServiceAccount may have been issued for, sorted: the endpoint's URL,
// that within the cluster, and the declared ones.
func (e *MCPEndpoint) ServiceAccountAudiences() []string {
	return withDeclared(slices.Concat(bothForms(e.EffectiveURL()), bothForms(e.ServiceURL())), e.Spec.Authentication.ServiceAccounts.Audiences)
}

// IssuerAudiences are all that the tokens of an issuer may have been issued for, sorted: the declared ones, or else the
// endpoint's public URL. An endpoint without one has none: the URL within the cluster is no name that tells endpoints apart
// to an issuer outside of it.
func (e *MCPEndpoint) IssuerAudiences(i *OIDCIssuer) []string {
	if len(i.Audiences) > 0 || !e.Public() {
		return withDeclared(nil, i.Audiences)
	}
	return withDeclared(bothForms(e.EffectiveURL()), nil)
}

// bothForms are a URL with and without the slash at its end.
func bothForms(url string) []string {
	bare := strings.TrimRight(url, "/")
	return []string{bare, bare + "/"}
}

func withDeclared(audiences []string, declared []Audience) []string {
	for _, audience := range declared {
		audiences = append(audiences, string(audience))
	}
	slices.Sort(audiences)
	return slices.Compact(audiences)
}

// metadataRoot is the well-known path of RFC 9728. What it is about follows it: the path of the protected resource.
const metadataRoot = "/.well-known/oauth-protected-resource"

// MetadataPath is the path of the endpoint's protected-resource metadata, without a slash at its end; "" if no issuer is
// listed there.
func (e *MCPEndpoint) MetadataPath() string {
	listed := func(i OIDCIssuer) bool { return i.EffectiveListing() == IssuerListed }
	if !slices.ContainsFunc(e.Spec.Authentication.OIDC, listed) {
		return ""
	}
	path := e.EffectivePath()
	if called, err := url.Parse(e.EffectiveURL()); err == nil {
		path = called.Path
	}
	return metadataRoot + strings.TrimRight(path, "/")
}
