package main

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"

	"github.com/go-jose/go-jose/v4"
)

// A signer signs whatever it is given, by hand: libraries refuse to make most of what this test sends.
type signer struct {
	algorithm, id string
	key           crypto.Signer
}

func newSigner(algorithm, id string) (*signer, error) {
	s := &signer{algorithm: algorithm, id: id}
	var err error
	switch algorithm {
	case "RS256":
		s.key, err = rsa.GenerateKey(rand.Reader, 2048)
	case "ES256":
		s.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	default:
		err = fmt.Errorf("no keys are made for %s", algorithm)
	}
	return s, err
}

// signerOf is the signer of a token that somebody else made with an ES256 key, whose file the test has.
func signerOf(token, file string) (*signer, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("no key in %s", file)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	private, ok := key.(*ecdsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("%s has a %T", file, key)
	}
	header, err := decode(token, 0)
	if err != nil {
		return nil, err
	}
	id, ok := header["kid"].(string)
	if !ok {
		return nil, errors.New("the token has no key id")
	}
	return &signer{algorithm: "ES256", id: id, key: private}, nil
}

// privateJWK is the key as an issuer keeps it, publicJWK as it publishes it; use is sig, or SPIFFE's own.
func (s *signer) privateJWK() ([]byte, error) {
	return jose.JSONWebKey{Key: s.key, KeyID: s.id, Algorithm: s.algorithm, Use: "sig"}.MarshalJSON()
}

func (s *signer) publicJWK(use string) ([]byte, error) {
	return jose.JSONWebKey{Key: s.key.Public(), KeyID: s.id, Use: use}.MarshalJSON()
}

// sign makes a token with the claims.
func (s *signer) sign(claims map[string]any) string {
	return s.compact(map[string]any{"alg": s.algorithm, "kid": s.id, "typ": "JWT"}, encodeJSON(claims))
}

// signWith is sign with a header that differs from the usual one.
func (s *signer) signWith(header, claims map[string]any) string {
	whole := map[string]any{"alg": s.algorithm, "kid": s.id, "typ": "JWT"}
	maps.Copy(whole, header)
	return s.compact(whole, encodeJSON(claims))
}

// compact signs with the key, whatever the header says.
func (s *signer) compact(header map[string]any, payload []byte) string {
	input := encodeSegment(encodeJSON(header)) + "." + encodeSegment(payload)
	return input + "." + encodeSegment(s.signature([]byte(input)))
}

func (s *signer) signature(input []byte) []byte {
	sum := sha256.Sum256(input)
	switch key := s.key.(type) {
	case *rsa.PrivateKey:
		signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
		must(err)
		return signature
	case *ecdsa.PrivateKey:
		r, t, err := ecdsa.Sign(rand.Reader, key, sum[:])
		must(err)
		return append(r.FillBytes(make([]byte, 32)), t.FillBytes(make([]byte, 32))...)
	}
	panic("no such key")
}

// decode reads a part of a token: 0 is its header, 1 are its claims.
func decode(token string, part int) (map[string]any, error) {
	segments := strings.Split(token, ".")
	if len(segments) != 3 {
		return nil, errors.New("not a signed token")
	}
	text, err := base64.RawURLEncoding.DecodeString(segments[part])
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber() // so that encoding it again changes nothing
	var fields map[string]any
	return fields, decoder.Decode(&fields)
}

func encodeSegment(text []byte) string { return base64.RawURLEncoding.EncodeToString(text) }

func encodeJSON(value any) []byte {
	text, err := json.Marshal(value)
	must(err)
	return text
}

// must ends the test: what it is asked of cannot fail.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
