package identity

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"testing"

	"github.com/go-jose/go-jose/v4"
)

func TestOnlyKeysForSignaturesOfTokensAreTaken(t *testing.T) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for use, want := range map[string]int{"": 1, "sig": 1, "jwt-svid": 1, "x509-svid": 0, "enc": 0} {
		published, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: private.Public(), KeyID: "1", Use: use}}})
		if err != nil {
			t.Fatal(err)
		}
		set, err := newKeySet(document{Keys: published})
		if err != nil || len(set.keys) != want {
			t.Errorf("use %q: %v, %v", use, set, err)
		}
	}
}
