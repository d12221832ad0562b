package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// AuthenticationSpec says how callers are known who show a token that somebody else issued: the cluster itself to a
// ServiceAccount, or an identity provider to a person or a job. What they may do, their MCPTokens say.
type AuthenticationSpec struct {
	// serviceAccounts says how the tokens of ServiceAccounts are checked, for MCPTokens with a serviceAccountRef.
	// +optional
	ServiceAccounts ServiceAccountAuthentication `json:"serviceAccounts,omitempty,omitzero"`
	// oidc are the identity providers whose tokens are accepted, for MCPTokens with oidc; at most 16.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, a.url == b.url))",message="each issuer may be named once"
	OIDC []OIDCIssuer `json:"oidc,omitempty"`
}

// ServiceAccountAuthentication says how the tokens of ServiceAccounts are checked.
type ServiceAccountAuthentication struct {
	// check is Keys, which checks a token's signature by the keys that the cluster publishes, and works while the API server
	// is away; or TokenReview, which asks the API server, so that the token of a pod or ServiceAccount that was deleted is
	// refused within twenty seconds. The server's ServiceAccount <endpoint>-mcp must then be allowed to create TokenReviews.
	// Keys when absent.
	// +optional
	Check ServiceAccountCheck `json:"check,omitempty"`
	// audiences are names of this endpoint, in addition to its URL; a token must have been issued for one of them.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=16
	Audiences []Audience `json:"audiences,omitempty"`
}

// ServiceAccountCheck is how the token of a ServiceAccount is checked.
// +kubebuilder:validation:Enum=Keys;TokenReview
type ServiceAccountCheck string

// The checks of a ServiceAccount's token.
const (
	CheckKeys        ServiceAccountCheck = "Keys"
	CheckTokenReview ServiceAccountCheck = "TokenReview"
)

// Audience is whom a token was issued for: a URL or a name.
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=512
type Audience string

// OIDCIssuer is an identity provider.
//
// +kubebuilder:validation:XValidation:rule="!has(self.discoveryURL) || !has(self.keysURL)",message="at most one of discoveryURL and keysURL may be given: with keysURL nothing is discovered"
type OIDCIssuer struct {
	// name is the issuer's name in MCPTokens.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name,omitempty"`
	// url is the issuer, exactly as its tokens have it in their claim iss.
	// +required
	URL IssuerURL `json:"url,omitempty"`
	// discoveryURL is where the issuer's configuration is read, if it is not at url + /.well-known/openid-configuration. The
	// configuration must name the url as its issuer all the same.
	// +optional
	DiscoveryURL IssuerURL `json:"discoveryURL,omitempty"`
	// keysURL is where the issuer's keys are read (a JSON Web Key Set), for an issuer that publishes no configuration.
	// +optional
	KeysURL IssuerURL `json:"keysURL,omitempty"`
	// audiences are whom the tokens must have been issued for: one of them must be in a token's claim aud. Absent, it is the
	// endpoint's public URL.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Audiences []Audience `json:"audiences,omitempty"`
	// certificateAuthority has the CA certificates (PEM) that the issuer's TLS certificate must be from; the system's CA
	// certificates when absent.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=16384
	// +kubebuilder:validation:XValidation:rule="self.contains('-----BEGIN CERTIFICATE-----') && !self.contains('PRIVATE KEY')",message="must be certificates in PEM, and no private key"
	CertificateAuthority string `json:"certificateAuthority,omitempty"`
	// algorithms are the algorithms that the issuer signs with: RS, PS or ES with 256, 384 or 512, or EdDSA. RS256 when
	// absent.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=10
	Algorithms []SigningAlgorithm `json:"algorithms,omitempty"`
	// clockSkew is how far the issuer's clock may be from the server's; 30s when absent, 5m at most.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ns|us|ms|s|m|h))+$') && duration(self) >= duration('0s') && duration(self) <= duration('5m')",message="must be a duration such as 500ms, 30s or 1m30s, between 0s and 5m"
	ClockSkew *metav1.Duration `json:"clockSkew,omitempty"`
	// subjectClaim is the claim that tells callers apart, and by which the audit names them; sub when absent.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	SubjectClaim string `json:"subjectClaim,omitempty"`
	// listing says whether the issuer stands in the endpoint's protected-resource metadata, by which clients find where their
	// people log in. Unlisted is for issuers that no person logs in to, such as the issuers of CI jobs. Listed when absent.
	// +optional
	Listing IssuerListing `json:"listing,omitempty"`
	// scopes are the scopes that clients are asked to request from the issuer.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=128
	// +kubebuilder:validation:items:Pattern=`^[\x21\x23-\x5B\x5D-\x7E]+$`
	Scopes []string `json:"scopes,omitempty"`
}

// IssuerURL is an https URL without a query.
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=512
// +kubebuilder:validation:XValidation:rule="isURL(self) && url(self).getScheme() == 'https' && url(self).getHost().size() > 0 && !self.matches('[?#@]')",message="must be an https URL with a host, without user, query and fragment"
type IssuerURL string

// SigningAlgorithm is an asymmetric algorithm of RFC 7518 or RFC 8037.
// +kubebuilder:validation:Enum=RS256;RS384;RS512;PS256;PS384;PS512;ES256;ES384;ES512;EdDSA
type SigningAlgorithm string

// IssuerListing says whether an issuer is listed for clients.
// +kubebuilder:validation:Enum=Listed;Unlisted
type IssuerListing string

// The listings of an issuer.
const (
	IssuerListed   IssuerListing = "Listed"
	IssuerUnlisted IssuerListing = "Unlisted"
)

// ServiceAccountReference names a ServiceAccount.
type ServiceAccountReference struct {
	// name is the ServiceAccount's name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Name string `json:"name,omitempty"`
	// namespace is the ServiceAccount's namespace; the MCPToken's when absent.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Namespace string `json:"namespace,omitempty"`
}

// OIDCIdentity says which callers an MCPToken is for, by what an identity provider's token says of them.
//
// +kubebuilder:validation:XValidation:rule="has(self.subject) != has(self.claims)",message="exactly one of subject and claims must be given"
type OIDCIdentity struct {
	// issuer is the name of an issuer in the endpoint's spec.authentication.oidc.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Issuer string `json:"issuer,omitempty"`
	// subject is the one caller, by the issuer's subjectClaim.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Subject string `json:"subject,omitempty"`
	// claims are the claims that a caller's token must have. Each claim is this text (a number as digits), or a list that
	// contains it. A name that begins with / is a JSON pointer, as in /realm_access/roles.
	// +optional
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=16
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.size() >= 1 && k.size() <= 128)",message="names of claims have 1 to 128 characters"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('/') || !k.matches('~([^01]|$)'))",message="a name that begins with / is a JSON pointer, in which ~ stands only in ~0 and ~1"
	// +kubebuilder:validation:XValidation:rule="self.map(k, k.size() + self[k].size()).sum() <= 2048",message="names and values must have at most 2048 characters together"
	Claims map[string]ClaimValue `json:"claims,omitempty"`
	// attributes are values that row policies compare with (tokenAttribute), made from the caller's token: each is a CEL
	// expression over claims and subject that gives a text. If it cannot be evaluated, the caller does not have the attribute.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.size() <= 63 && k.matches('^[A-Za-z][A-Za-z0-9_.-]*$'))",message="names of attributes are a letter, then letters, digits, '_', '.' and '-', at most 63 characters"
	// +kubebuilder:validation:XValidation:rule="self.map(k, k.size() + self[k].size()).sum() <= 2048",message="names and expressions must have at most 2048 characters together"
	Attributes map[string]CELExpression `json:"attributes,omitempty"`
	// groups gives a caller groups of the endpoint by the claims of its token, in addition to spec.groups.
	// +optional
	Groups *OIDCGroups `json:"groups,omitempty"`
}

// OIDCGroups are the groups that a caller has by what its token says.
type OIDCGroups struct {
	// expression is a CEL expression over claims and subject that gives a list of names, such as claims.groups. If it cannot
	// be evaluated, the caller has none.
	// +required
	Expression CELExpression `json:"expression,omitempty"`
	// among are the groups that a caller can have so; other names count for nothing.
	// +required
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.map(g, g.size()).sum() <= 1024",message="the names must have at most 1024 characters together"
	Among []string `json:"among,omitempty"`
}

// ClaimValue is the text that a claim must have.
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=1024
type ClaimValue string

// CELExpression is an expression of the Common Expression Language.
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=1024
type CELExpression string
