package harness

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"encoding/pem"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/identity"
)

// Issuer issues tokens, and publishes the key that it signs them with: as an identity provider does, and as an API server
// does for ServiceAccounts.
type Issuer struct {
	t      testing.TB
	server *httptest.Server
	signer jose.Signer
	// client is the one at which people log in; nil if nobody does.
	client atomic.Pointer[Client]
}

// Audience is whom an Issuer's tokens are for.
const Audience = "https://endpoint.example.com/mcp/"

// NewIssuer returns an issuer that answers until the test ends.
func NewIssuer(t testing.TB) *Issuer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	public := jose.JSONWebKey{Key: key.Public(), KeyID: "first", Algorithm: string(jose.ES256), Use: "sig"}
	i := &Issuer{t: t}
	mux := http.NewServeMux()
	publish := func(path string, document func() any) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(document()) // a client that is gone needs none
		})
	}
	keys := func() any { return jose.JSONWebKeySet{Keys: []jose.JSONWebKey{public}} }
	publish("/keys", keys)
	publish("/openid/v1/jwks", keys)
	publish("/.well-known/openid-configuration", func() any {
		methods := []string{"client_secret_basic"}
		if c := i.client.Load(); c != nil && c.InForm {
			methods = []string{"client_secret_post"}
		}
		return map[string]any{
			"token_endpoint": i.server.URL + "/token", "token_endpoint_auth_methods_supported": methods, "code_challenge_methods_supported": []string{"S256"},
			"authorization_response_iss_parameter_supported": true,
			"issuer": i.server.URL, "jwks_uri": i.server.URL + "/keys", "authorization_endpoint": i.server.URL + "/authorize",
			"response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"},
			"id_token_signing_alg_values_supported": []string{"ES256"},
		}
	})
	ofClient := func(pattern string, answer func(*Client, http.ResponseWriter, *http.Request)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			c := i.client.Load()
			if c == nil {
				http.NotFound(w, r)
				return
			}
			answer(c, w, r)
		})
	}
	ofClient("GET /authorize", (*Client).authorize)
	ofClient("POST /token", (*Client).token)
	i.server = httptest.NewTLSServer(mux)
	t.Cleanup(i.server.Close)
	i.signer, err = jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: key, KeyID: "first"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// Stop has the issuer answer no more.
func (i *Issuer) Stop() { i.server.Close() }

// Settings are the issuer as an endpoint declares it.
func (i *Issuer) Settings(name string) contract.Issuer {
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.server.Certificate().Raw})
	return contract.Issuer{
		Name: name, URL: i.server.URL, Audiences: []string{Audience}, CertificateAuthority: string(authority),
		Algorithms: []string{"ES256"}, SubjectClaim: "sub", Listed: true, Scopes: []string{"openid"},
	}
}

// API is the issuer as the API server that issues tokens to ServiceAccounts.
func (i *Issuer) API() *identity.API {
	return &identity.API{URL: i.server.URL, Client: i.server.Client()}
}

// Token issues a token of an hour. The claims are added to each token's usual claims, or take their places.
func (i *Issuer) Token(subject string, claims map[string]any) string {
	i.t.Helper()
	now := time.Now()
	all := map[string]any{"iss": i.server.URL, "sub": subject, "aud": Audience, "iat": now.Unix(), "exp": now.Add(time.Hour).Unix()}
	maps.Copy(all, claims)
	return i.Sign(all)
}

// Sign issues a token with these claims and no others.
func (i *Issuer) Sign(claims map[string]any) string {
	text, err := jwt.Signed(i.signer).Claims(claims).Serialize()
	if err != nil {
		i.t.Error(err)
	}
	return text
}

// ServiceAccountToken issues a token to a ServiceAccount.
func (i *Issuer) ServiceAccountToken(namespace, name string) string {
	i.t.Helper()
	return i.Token("system:serviceaccount:"+namespace+":"+name, map[string]any{
		"aud":           []string{Audience},
		"kubernetes.io": map[string]any{"namespace": namespace, "serviceaccount": map[string]any{"name": name, "uid": "1"}},
	})
}
