package identity_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/identity"
)

// A signer is a private key of an issuer.
type signer struct {
	id, algorithm string
	private       crypto.Signer
	// use and declared are the published key's use and algorithm.
	use, declared string
}

// newSigner returns a key for an algorithm, of 2048 bits if it is RSA.
func newSigner(t testing.TB, id, algorithm string) *signer {
	t.Helper()
	var private crypto.Signer
	var err error
	switch {
	case strings.HasPrefix(algorithm, "ES"):
		curve := map[string]elliptic.Curve{"ES256": elliptic.P256(), "ES384": elliptic.P384(), "ES512": elliptic.P521()}[algorithm]
		private, err = ecdsa.GenerateKey(curve, rand.Reader)
	case algorithm == "EdDSA":
		_, private, err = ed25519.GenerateKey(rand.Reader)
	default:
		private, err = rsa.GenerateKey(rand.Reader, 2048)
	}
	if err != nil {
		t.Fatal(err)
	}
	return &signer{id: id, algorithm: algorithm, private: private}
}

func (s *signer) published() jose.JSONWebKey {
	return jose.JSONWebKey{KeyID: s.id, Key: s.private.Public(), Use: s.use, Algorithm: s.declared}
}

// sign returns a token with these claims. The header has the key's id, unless headers has another one.
func (s *signer) sign(t testing.TB, claims any, headers map[jose.HeaderKey]any) string {
	t.Helper()
	options := (&jose.SignerOptions{}).WithType("JWT")
	if s.id != "" {
		options.WithHeader("kid", s.id)
	}
	for name, value := range headers {
		options.WithHeader(name, value)
	}
	payload, ok := claims.(string)
	if !ok {
		text, err := json.Marshal(claims)
		if err != nil {
			t.Fatal(err)
		}
		payload = string(text)
	}
	with, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.SignatureAlgorithm(s.algorithm), Key: s.private}, options)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := with.Sign([]byte(payload))
	if err != nil {
		t.Fatal(err)
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// A provider is an issuer that publishes its keys over HTTPS.
type provider struct {
	server *httptest.Server
	// requests counts the received requests.
	requests atomic.Int64

	mutex sync.Mutex
	keys  []jose.JSONWebKey
	// answer is asked first; it reports whether it has answered.
	answer func(http.ResponseWriter, *http.Request) bool
	// configuration takes the place of what belongs to the issuer.
	configuration map[string]any
}

func newProvider(t testing.TB, signers ...*signer) *provider {
	t.Helper()
	p := &provider{}
	p.publish(signers...)
	p.server = httptest.NewUnstartedServer(p)
	p.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	p.server.StartTLS()
	t.Cleanup(p.server.Close)
	return p
}

func (p *provider) publish(signers ...*signer) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.keys = nil
	for _, s := range signers {
		p.keys = append(p.keys, s.published())
	}
}

// answers has requests answered otherwise from now on; nil as they should be.
func (p *provider) answers(answer func(http.ResponseWriter, *http.Request) bool) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.answer = answer
}

// down has every connection fail.
func (p *provider) down() {
	p.answers(func(w http.ResponseWriter, _ *http.Request) bool {
		connection, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			connection.Close()
		}
		return true
	})
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.requests.Add(1)
	p.mutex.Lock()
	answer, keys := p.answer, slices.Clone(p.keys)
	configuration := map[string]any{"issuer": p.server.URL, "jwks_uri": p.server.URL + "/keys"}
	maps.Copy(configuration, p.configuration)
	p.mutex.Unlock()
	if answer != nil && answer(w, r) {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		writeJSON(w, configuration)
	case "/keys":
		writeJSON(w, map[string]any{"keys": keys})
	default:
		http.NotFound(w, r)
	}
}

func writeJSON(w http.ResponseWriter, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	_, _ = w.Write(text) // whoever asked has gone away
}

const audience = "https://books.example.com/mcp/"

// issuer is the provider as an endpoint declares it.
func (p *provider) issuer(change ...func(*contract.Issuer)) contract.Issuer {
	declared := contract.Issuer{
		Name: "company", URL: p.server.URL, Audiences: []string{audience}, CertificateAuthority: p.certificate(),
		Algorithms: []string{"RS256", "ES256"}, ClockSkew: contract.Duration(30 * time.Second), SubjectClaim: "sub",
	}
	for _, f := range change {
		f(&declared)
	}
	return declared
}

func (p *provider) certificate() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.server.Certificate().Raw}))
}

// claims returns the claims of a token that is accepted at a moment, with some changes; a value of nil leaves the claim
// out.
func (p *provider) claims(at time.Time, changes map[string]any) map[string]any {
	claims := map[string]any{
		"iss": p.server.URL, "aud": audience, "sub": "ann", "iat": at.Unix(), "nbf": at.Unix(), "exp": at.Add(time.Hour).Unix(),
		"groups": []string{"staff"},
	}
	for name, value := range changes {
		claims[name] = value
		if value == nil {
			delete(claims, name)
		}
	}
	return claims
}

func settings(issuers ...contract.Issuer) contract.Authentication {
	return contract.Authentication{Issuers: issuers}
}

// start returns a Verifier that runs with these settings, and has asked each issuer once.
func start(t testing.TB, options identity.Options, authentication contract.Authentication, serviceAccounts bool) *identity.Verifier {
	t.Helper()
	options.Log = slog.New(slog.DiscardHandler)
	v := identity.NewVerifier(options)
	v.Configure(authentication, serviceAccounts)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		v.Run(t.Context())
	}()
	t.Cleanup(func() { <-ended })
	wanted := len(authentication.Issuers)
	if serviceAccounts {
		wanted++
	}
	eventually(t, "every issuer was asked", func() bool { return len(v.Status()) == wanted })
	return v
}

func eventually(t testing.TB, what string, happens func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Minute); !happens(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it never happens that %s", what)
		}
	}
}

// verify shows a token as a request does.
func verify(t testing.TB, v *identity.Verifier, text string, at time.Time) (*identity.Caller, identity.Refusal) {
	t.Helper()
	caller, refusal := v.Verify(t.Context(), text, sha256.Sum256([]byte(text)), at)
	if (caller == nil) == (refusal == identity.Accepted) {
		t.Errorf("the caller %v and the refusal %q", caller, refusal)
	}
	return caller, refusal
}

func mustRefuse(t testing.TB, v *identity.Verifier, text string, at time.Time, want identity.Refusal) {
	t.Helper()
	if caller, refusal := verify(t, v, text, at); refusal != want {
		t.Errorf("refused as %q (caller %v), want %q", refusal, caller, want)
	}
}

func mustAccept(t testing.TB, v *identity.Verifier, text string, at time.Time) *identity.Caller {
	t.Helper()
	caller, refusal := verify(t, v, text, at)
	if refusal != identity.Accepted {
		t.Fatalf("refused as %q: %+v", refusal, v.Status())
	}
	return caller
}
