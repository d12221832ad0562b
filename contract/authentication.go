package contract

import (
	"maps"
	"slices"
	"strconv"
)

// Authentication says whose tokens are accepted, beside those whose hashes stand in the Config.
type Authentication struct {
	ServiceAccounts ServiceAccounts `json:"serviceAccounts,omitzero"`
	// Issuers are sorted by name; no two have the same URL.
	Issuers []Issuer `json:"issuers,omitempty"`
}

// ServiceAccounts says how the tokens of ServiceAccounts are checked.
type ServiceAccounts struct {
	// Check is one of the Check… constants; "" is CheckKeys.
	Check string `json:"check,omitempty"`
	// Audiences are all that a token may have been issued for.
	Audiences []string `json:"audiences,omitempty"`
}

// How the token of a ServiceAccount is checked.
const (
	// CheckKeys checks the signature by the keys that the cluster publishes.
	CheckKeys = "Keys"
	// CheckTokenReview asks the API server.
	CheckTokenReview = "TokenReview"
)

// Issuer is an OpenID Connect identity provider.
type Issuer struct {
	Name string `json:"name"`
	// URL is the value of the claim iss in the issuer's tokens.
	URL string `json:"url"`
	// DiscoveryURL is where the configuration is read; "" is below URL. KeysURL is where the keys are read without a
	// configuration; "" if there is one.
	DiscoveryURL string `json:"discoveryURL,omitempty"`
	KeysURL      string `json:"keysURL,omitempty"`
	// Audiences are all that a token may have been issued for; an issuer without any has no valid token.
	Audiences []string `json:"audiences,omitempty"`
	// CertificateAuthority is PEM; "" are the system's.
	CertificateAuthority string `json:"certificateAuthority,omitempty"`
	// Algorithms are names of RFC 7518 and RFC 8037, asymmetric ones only.
	Algorithms   []string `json:"algorithms"`
	ClockSkew    Duration `json:"clockSkew,omitempty"`
	SubjectClaim string   `json:"subjectClaim"`
	// Listed reports whether the protected-resource metadata names the issuer. Clients are asked to request the Scopes.
	Listed bool     `json:"listed,omitempty"`
	Scopes []string `json:"scopes,omitempty"`
}

// Algorithms are the algorithms that an issuer may sign with: asymmetric ones only.
var Algorithms = []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}

// Identity says which callers a token is for that have no text of ours: a ServiceAccount, or callers of an issuer.
type Identity struct {
	// ServiceAccount is namespace/name; "" if Issuer is given, which is the URL of one of the endpoint's: its name may be given
	// to another issuer, and the part that says so may come before this one.
	ServiceAccount string `json:"serviceAccount,omitempty"`
	Issuer         string `json:"issuer,omitempty"`
	// Subject is the one caller of the issuer; "" if Claims say which they are.
	Subject string `json:"subject,omitempty"`
	// Claims are the claims that a caller's token must have. Each claim is this text, or a list that contains it. A name
	// that begins with / is a JSON pointer (RFC 6901).
	Claims map[string]string `json:"claims,omitempty"`
	// Attributes are CEL expressions, by the names of the attributes that they give.
	Attributes map[string]string `json:"attributes,omitempty"`
	// Groups is a CEL expression that gives names of groups; only names in Among count; "" gives none.
	Groups string   `json:"groups,omitempty"`
	Among  []string `json:"among,omitempty"`
}

// Key tells the callers of an identity from other callers: two tokens with the same key are for the same callers.
func (i *Identity) Key() string {
	var key []byte
	write := func(texts ...string) {
		for _, text := range texts {
			key = strconv.AppendQuote(key, text) // no two lists of texts have the same
		}
	}
	switch {
	case i.ServiceAccount != "":
		write("serviceaccount", i.ServiceAccount)
	case i.Subject != "":
		write("subject", i.Issuer, i.Subject)
	default:
		write("claims", i.Issuer)
		for _, name := range slices.Sorted(maps.Keys(i.Claims)) {
			write(name, i.Claims[name])
		}
	}
	return string(key)
}

// IssuerStatus is an issuer as the pod last saw it. The ServiceAccounts of the cluster are the issuer with the name "".
type IssuerStatus struct {
	Name string `json:"name,omitempty"`
	// Reason is ReasonKeysKnown, or why no new keys could be had. Message says what and where.
	Reason  string `json:"reason"`
	Message string `json:"message,omitempty"`
	// Usable reports whether there are keys to check a token by, even if no new ones can be had.
	Usable bool `json:"usable,omitempty"`
}

// The reasons of an IssuerStatus. They are also the reasons of the objects' conditions.
const (
	// ReasonKeysKnown: the issuer's keys were read.
	ReasonKeysKnown = "KeysKnown"
	// ReasonIssuerUnreachable: the issuer does not answer, or not with what it should; the message says which.
	ReasonIssuerUnreachable = "IssuerUnreachable"
	// ReasonIssuerMismatch: the configuration that was read belongs to another issuer.
	ReasonIssuerMismatch = "IssuerMismatch"
	// ReasonTokenReviewForbidden: the server may not create TokenReviews; the message has the command that would let it.
	ReasonTokenReviewForbidden = "TokenReviewForbidden"
)
