package pageserver

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
)

// minKey is how many bytes the session key has at least.
const minKey = 32

// seal encrypts what a cookie holds, so that nobody can read or change it, by a key that all replicas have.
type seal struct {
	aead cipher.AEAD
	// bound is part of each seal: what was sealed for another host, issuer or client cannot be opened.
	bound []byte
}

// newSeal returns the seal of a purpose, whose key follows from the session key. What is sealed for one purpose cannot be opened for
// another.
func newSeal(key []byte, purpose string, bound ...string) (*seal, error) {
	if len(key) < minKey {
		return nil, fmt.Errorf("the session key has %d bytes, and needs %d or more", len(key), minKey)
	}
	derived, err := hkdf.Key(sha256.New, key, nil, "mcp-admin page: "+purpose, 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(derived)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(bound)
	return &seal{aead, text}, err
}

// close returns a value as the text of a cookie.
func (s *seal) close(value any) (string, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nil, nil, text, s.bound)), nil
}

var errSeal = errors.New("the cookie is not one of this page")

// open reads a cookie's text into value.
func (s *seal) open(text string, value any) error {
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return errSeal
	}
	opened, err := s.aead.Open(nil, nil, sealed, s.bound)
	if err != nil || json.Unmarshal(opened, value) != nil {
		return errSeal
	}
	return nil
}
