// Package seal writes texts that only this endpoint can read or make: what a caller is given to bring back, such as a
// cursor. Nothing is kept between calls: whichever pod holds the Config's key opens what another sealed.
//
// Package tools imports it, and the page's server in cmd/mcp-admin, whose cookies it seals.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
)

// Sealer seals for one purpose; what is sealed for another does not open. It is safe for concurrent use.
type Sealer struct{ aead cipher.AEAD }

// New returns the Sealer of a purpose: AES-256-GCM under a key that HKDF-SHA256 (RFC 5869) derives from the endpoint's.
// key is the Config's SealKey, or the page's session key, of at least 32 random bytes.
func New(key []byte, purpose string) *Sealer {
	derived, err := hkdf.Key(sha256.New, key, nil, "mcp-admin "+purpose, 32)
	if err != nil {
		panic(err) // 32 bytes are within what HKDF gives
	}
	block, err := aes.NewCipher(derived)
	if err != nil {
		panic(err) // 32 bytes are a key
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err) // AES has the block size that GCM wants
	}
	return &Sealer{aead}
}

// Seal returns a URL-safe text that hides plain, 28 bytes longer than it before base64. It opens only with the same
// bound, which is not in it. The nonce is random, so that a key is good for about 2^32 texts.
func (s *Sealer) Seal(plain, bound []byte) string {
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nil, nil, plain, bound))
}

// Open returns what was sealed; false if the text was changed, sealed by another key or for another purpose, or bound
// to something else.
func (s *Sealer) Open(text string, bound []byte) (plain []byte, ok bool) {
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil, false
	}
	plain, err = s.aead.Open(nil, nil, sealed, bound)
	return plain, err == nil
}
