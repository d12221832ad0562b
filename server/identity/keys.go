package identity

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"
)

// A document is the stored form of what an issuer publishes.
type document struct {
	Issuer string `json:"issuer"`
	// Algorithms are the algorithms that the issuer says it signs with.
	Algorithms []string `json:"algorithms,omitempty"`
	// Keys is a JSON Web Key Set (RFC 7517).
	Keys json.RawMessage `json:"keys"`
}

// A keySet is a document that was read. It never changes.
type keySet struct {
	document document
	keys     []*key
}

// A key is one that signatures can be checked by.
type key struct {
	id string
	// algorithm is the algorithm that the key is for; "" if it does not say.
	algorithm string
	public    crypto.PublicKey
	// sum tells the key from all others.
	sum [sha256.Size]byte
}

// newKeySet reads a document. Keys that cannot be used are left out: others must not suffer from them.
func newKeySet(d document) (*keySet, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(d.Keys, &set); err != nil || set.Keys == nil {
		return nil, errors.New("not a JSON Web Key Set")
	}
	known := &keySet{document: d}
	for _, text := range set.Keys {
		var published jose.JSONWebKey
		if published.UnmarshalJSON(text) != nil {
			continue
		}
		if k := newKey(&published); k != nil {
			known.keys = append(known.keys, k)
		}
	}
	return known, nil
}

// uses are the purposes that a key may be published for: signatures, or the signatures of JWT-SVIDs in a SPIFFE trust
// domain's bundle.
var uses = map[string]bool{"": true, "sig": true, "jwt-svid": true}

// newKey returns nil for a key that is for something else, or too weak.
func newKey(published *jose.JSONWebKey) *key {
	if !uses[published.Use] || !strong(published.Key) {
		return nil
	}
	thumbprint, err := published.Thumbprint(crypto.SHA256)
	if err != nil {
		return nil
	}
	sum := sha256.New()
	for _, text := range []string{published.KeyID, published.Algorithm, string(thumbprint)} {
		sum.Write([]byte(text))
		sum.Write([]byte{0})
	}
	return &key{published.KeyID, published.Algorithm, published.Key, [sha256.Size]byte(sum.Sum(nil))}
}

// The sizes of RSA keys, in bits. A check by a longer one costs too much.
const minRSA, maxRSA = 2048, 8192

// strong reports whether a key is a public one that signatures are checked by.
func strong(published any) bool {
	switch public := published.(type) {
	case *rsa.PublicKey:
		return public.N.BitLen() >= minRSA && public.N.BitLen() <= maxRSA
	case *ecdsa.PublicKey, ed25519.PublicKey:
		return true
	}
	return false // a private or a symmetric key, which should never have been published
}

// fits reports whether signatures by an algorithm can be checked by the key.
func (k *key) fits(algorithm string) bool {
	if k.algorithm != "" && k.algorithm != algorithm {
		return false
	}
	switch public := k.public.(type) {
	case *rsa.PublicKey:
		return strings.HasPrefix(algorithm, "RS") || strings.HasPrefix(algorithm, "PS")
	case *ecdsa.PublicKey:
		return algorithm == curveAlgorithms[public.Curve.Params().Name]
	case ed25519.PublicKey:
		return algorithm == "EdDSA"
	}
	return false
}

var curveAlgorithms = map[string]string{"P-256": "ES256", "P-384": "ES384", "P-521": "ES512"}

// maxCandidates bounds how many signatures are checked for one token: more than one only if its key has no id of its own.
const maxCandidates = 4

// candidates returns the keys that a token may be signed with. One that names no key may be signed with any.
func (s *keySet) candidates(id, algorithm string) (keys []*key) {
	for _, k := range s.keys {
		if (id == "" || k.id == id) && k.fits(algorithm) && len(keys) < maxCandidates {
			keys = append(keys, k)
		}
	}
	return keys
}

// has reports whether a key is one of the set.
func (s *keySet) has(sum [sha256.Size]byte) bool {
	return slices.ContainsFunc(s.keys, func(k *key) bool { return k.sum == sum })
}

// fitsAny reports whether there is a key for one of the algorithms.
func (s *keySet) fitsAny(algorithms []string) bool {
	return slices.ContainsFunc(algorithms, func(algorithm string) bool { return len(s.candidates("", algorithm)) > 0 })
}
