package pageserver

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mcp-admin/mcp-admin-operator/server/seal"
)

// minKey is how many bytes the session key has at least.
const minKey = 32

// cookieSeal encrypts what a cookie holds, so that nobody can read or change it, by a key that all replicas have.
type cookieSeal struct {
	sealer *seal.Sealer
	// bound is part of each seal: what was sealed for another host, issuer or client cannot be opened.
	bound []byte
}

// newCookieSeal returns the seal of a purpose, whose key follows from the session key. What is sealed for one purpose cannot be opened for
// another.
func newCookieSeal(key []byte, purpose string, bound ...string) (*cookieSeal, error) {
	if len(key) < minKey {
		return nil, fmt.Errorf("the session key has %d bytes, and needs %d or more", len(key), minKey)
	}
	text, err := json.Marshal(bound)
	return &cookieSeal{seal.New(key, "page: "+purpose), text}, err
}

// close returns a value as the text of a cookie.
func (s *cookieSeal) close(value any) (string, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return "", err
	}
	return s.sealer.Seal(text, s.bound), nil
}

var errSeal = errors.New("the cookie is not one of this page")

// open reads a cookie's text into value.
func (s *cookieSeal) open(text string, value any) error {
	opened, ok := s.sealer.Open(text, s.bound)
	if !ok || json.Unmarshal(opened, value) != nil {
		return errSeal
	}
	return nil
}
