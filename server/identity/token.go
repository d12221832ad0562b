package identity

import (
	"errors"
	"strings"

	"github.com/go-jose/go-jose/v4"
	// Unlike encoding/json it tells apart names that differ in case only, and refuses an object that has a name twice: two
	// readers of such a token could see different claims.
	"github.com/go-jose/go-jose/v4/json"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// maxToken is in bytes.
const maxToken = 16 << 10

// asymmetric are all algorithms that any issuer may be declared to use.
var asymmetric = func() (algorithms []jose.SignatureAlgorithm) {
	for _, name := range contract.Algorithms {
		algorithms = append(algorithms, jose.SignatureAlgorithm(name))
	}
	return algorithms
}()

// types are the types that a token's header may name, in lower case: an access token, an ID token, or nothing. One that was
// signed for another purpose, such as a logout token, is no credential.
var types = map[string]bool{"": true, "jwt": true, "application/jwt": true, "at+jwt": true, "application/at+jwt": true, "jose": true}

// A token holds the contents of an unchecked text.
type token struct {
	signed    *jose.JSONWebSignature
	algorithm string
	keyID     string
	issuer    string
}

// IsToken reports whether a text has the form of the tokens that a Verifier checks: it is a JWT.
func IsToken(text string) bool { return strings.HasPrefix(text, "ey") && strings.Count(text, ".") == 2 }

// parse reads a text as far as is needed to find the key that it must be signed with.
func parse(text string) (*token, Refusal) {
	if len(text) > maxToken || !IsToken(text) || !isBase64(text) {
		return nil, Malformed
	}
	signed, err := jose.ParseSignedCompact(text, asymmetric)
	var unexpected *jose.ErrUnexpectedSignatureAlgorithm
	switch {
	case errors.As(err, &unexpected):
		return nil, Algorithm
	case err != nil:
		return nil, Malformed
	}
	header := signed.Signatures[0].Protected
	kind, _ := header.ExtraHeaders[jose.HeaderType].(string)
	if !types[strings.ToLower(kind)] || header.ExtraHeaders["crit"] != nil {
		return nil, Malformed
	}
	var payload struct {
		Issuer string `json:"iss"`
	}
	if json.Unmarshal(signed.UnsafePayloadWithoutVerification(), &payload) != nil || payload.Issuer == "" {
		return nil, Malformed
	}
	return &token{signed, header.Algorithm, header.KeyID, payload.Issuer}, Accepted
}

// isBase64 reports whether a text has only the letters of base64url, and dots. Decoders skip line ends.
func isBase64(text string) bool {
	for i := range len(text) {
		c := text[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return true
}

// verify returns the claims if one of the keys has signed them, and that key.
func (t *token) verify(candidates []*key) (map[string]any, *key, Refusal) {
	for _, candidate := range candidates {
		payload, err := t.signed.Verify(candidate.public)
		if err != nil {
			continue
		}
		var claims map[string]any
		if json.Unmarshal(payload, &claims) != nil {
			return nil, nil, Malformed
		}
		return claims, candidate, Accepted
	}
	return nil, nil, Signature
}
