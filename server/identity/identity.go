// Package identity checks tokens that others have issued: JSON Web Tokens that the cluster issues to ServiceAccounts, and
// tokens of OpenID Connect issuers. It tells whose they are, and nothing of what their holders may do: package access finds
// the MCPToken that is for such a caller.
//
// The server and its HTTP handler import it. Begin with Verifier.
package identity

import "time"

// Caller is who a checked token was issued to. It never changes.
type Caller struct {
	// ServiceAccount is namespace/name; "" if Issuer is given, which is the URL of one of the endpoint's.
	ServiceAccount string
	Issuer         string
	// Subject tells the issuer's callers apart; a ServiceAccount's is system:serviceaccount:namespace:name.
	Subject string
	// Claims are all that the token says: JSON values as encoding/json decodes them.
	Claims map[string]any
	// Expiry is the moment from which the token is refused.
	Expiry time.Time
}

// A Refusal is why a token was refused, for the metrics: one of the constants. Its holder is not told.
type Refusal string

// The reasons of a refusal.
const (
	// Accepted is no refusal.
	Accepted Refusal = ""
	// Malformed: the text is no signed JWT that could be one of a known issuer's, or is too large.
	Malformed Refusal = "malformed"
	// UnknownIssuer: no issuer of the endpoint issues such tokens.
	UnknownIssuer Refusal = "unknown_issuer"
	// Algorithm: the issuer is not declared to sign so.
	Algorithm Refusal = "algorithm"
	// UnknownKey: the issuer has no key of that id.
	UnknownKey Refusal = "unknown_key"
	// Signature: the signature is not the key's.
	Signature Refusal = "signature"
	// Audience: the token was issued for somebody else.
	Audience Refusal = "audience"
	// Expired and NotYetValid: the token itself, by the server's clock and the issuer's skew.
	Expired     Refusal = "jwt_expired"
	NotYetValid Refusal = "not_yet_valid"
	// Subject: the token does not say whom it was issued to.
	Subject Refusal = "subject"
	// Reviewed: the API server does not accept the token.
	Reviewed Refusal = "reviewed"
	// Unavailable: the issuer's keys, or the API server's review, cannot be had at the moment.
	Unavailable Refusal = "unavailable"
)
