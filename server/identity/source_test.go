package identity_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/identity"
)

func answerKeys(text string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/keys" {
			return false
		}
		fmt.Fprint(w, text)
		return true
	}
}

// refresh has the keys read again, by a token whose key nobody knows.
func refresh(t *testing.T, v *identity.Verifier, p *provider, at time.Time) {
	t.Helper()
	before := p.requests.Load()
	mustRefuse(t, v, newSigner(t, "unknown", "ES256").sign(t, p.claims(at, nil), nil), at, identity.UnknownKey)
	if p.requests.Load() == before {
		t.Fatal("the issuer was not asked again")
	}
}

// A key that nobody can read, or that should not be there, does not take the others along.
func TestOddKeysAreLeftOut(t *testing.T) {
	t.Parallel()
	key := newSigner(t, "k1", "ES256")
	p := newProvider(t, key)
	good, err := key.published().MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	private, err := (&jose.JSONWebKey{Key: key.private, KeyID: "private"}).MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	p.answers(answerKeys(`{"keys":[null,7,{"kty":"XX"},{"kty":"oct","k":"c2VjcmV0","kid":"oct"},{"kty":"EC","crv":"P-256","x":"AA","y":"AA"},` +
		string(private) + `,` + string(good) + `]}`))
	v := start(t, identity.Options{}, settings(p.issuer()), false)
	now := time.Now()
	mustAccept(t, v, key.sign(t, p.claims(now, nil), nil), now)
	mustRefuse(t, v, key.sign(t, p.claims(now, nil), map[jose.HeaderKey]any{"kid": "private"}), now, identity.UnknownKey)
}

func TestWhereKeysAreRead(t *testing.T) {
	t.Parallel()
	key := newSigner(t, "k1", "ES256")
	p := newProvider(t, key)
	now := time.Now()
	for name, test := range map[string]struct {
		change  func(*contract.Issuer)
		message string
	}{
		"keysURL": {func(i *contract.Issuer) { i.URL, i.KeysURL = "https://spiffe.example.com", p.server.URL+"/keys" }, ""},
		"discoveryURL": {func(i *contract.Issuer) {
			i.DiscoveryURL = p.server.URL + "/.well-known/openid-configuration"
		}, ""},
		"discoveryURL of another issuer": {func(i *contract.Issuer) {
			i.URL, i.DiscoveryURL = "https://other.example.com", p.server.URL+"/.well-known/openid-configuration"
		}, `not of "https://other.example.com"`},
		"a CA that is not the issuer's": {func(i *contract.Issuer) { i.CertificateAuthority = "" }, "certificate"},
		"a CA that is none":             {func(i *contract.Issuer) { i.CertificateAuthority = "hello" }, "certificateAuthority has no certificate"},
		"a host that does not exist": {func(i *contract.Issuer) {
			i.URL = "https://no-such-host.invalid"
		}, "no-such-host.invalid"},
		"a port where nobody listens": {func(i *contract.Issuer) { i.URL = "https://127.0.0.1:1" }, "cannot be read: connect: connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			declared := p.issuer(test.change)
			v := start(t, identity.Options{}, settings(declared), false)
			if status := v.Status()[0]; status.Usable != (test.message == "") || !strings.Contains(status.Message, test.message) {
				t.Errorf("%+v", status)
			}
			want := identity.Accepted
			if test.message != "" {
				want = identity.Unavailable
			}
			mustRefuse(t, v, key.sign(t, p.claims(now, map[string]any{"iss": declared.URL}), nil), now, want)
		})
	}
}

// Keys are read over TLS only, whatever the configuration says.
func TestKeysWithoutTLS(t *testing.T) {
	t.Parallel()
	p := newProvider(t, newSigner(t, "k1", "ES256"))
	p.configuration = map[string]any{"jwks_uri": "http" + strings.TrimPrefix(p.server.URL, "https") + "/keys"}
	v := start(t, identity.Options{}, settings(p.issuer()), false)
	if status := v.Status()[0]; status.Usable || !strings.Contains(status.Message, "names no https URL in jwks_uri") {
		t.Errorf("%+v", status)
	}
}

func TestConfigure(t *testing.T) {
	t.Parallel()
	key := newSigner(t, "k1", "ES256")
	p := newProvider(t, key)
	v := start(t, identity.Options{}, settings(p.issuer()), false)
	now := time.Now()
	text := key.sign(t, p.claims(now, nil), nil)
	first := mustAccept(t, v, text, now)

	v.Configure(settings(p.issuer()), false)
	if mustAccept(t, v, text, now) != first {
		t.Error("the same settings make a token be checked again")
	}
	requests := p.requests.Load()
	for name, test := range map[string]struct {
		issuers []contract.Issuer
		want    identity.Refusal
	}{
		"no issuer":        {nil, identity.UnknownIssuer},
		"other audiences":  {[]contract.Issuer{p.issuer(func(i *contract.Issuer) { i.Audiences = []string{"other"} })}, identity.Audience},
		"no audience":      {[]contract.Issuer{p.issuer(func(i *contract.Issuer) { i.Audiences = nil })}, identity.Audience},
		"other algorithms": {[]contract.Issuer{p.issuer(func(i *contract.Issuer) { i.Algorithms = []string{"RS256"} })}, identity.Algorithm},
		"another claim":    {[]contract.Issuer{p.issuer(func(i *contract.Issuer) { i.SubjectClaim = "email" })}, identity.Subject},
		"a URL twice": {[]contract.Issuer{p.issuer(), p.issuer(func(i *contract.Issuer) { i.Name = "double" })},
			identity.UnknownIssuer},
	} {
		v.Configure(settings(test.issuers...), false)
		if _, refusal := verify(t, v, text, now); refusal != test.want {
			t.Errorf("%s: refused as %q, want %q", name, refusal, test.want)
		}
		v.Configure(settings(p.issuer()), false)
		mustAccept(t, v, text, now)
	}
	v.Configure(settings(p.issuer(func(i *contract.Issuer) { i.Name = "renamed" })), false)
	before := p.requests.Load()
	if caller := mustAccept(t, v, text, now); caller.Issuer != p.issuer().URL {
		t.Errorf("the issuer is %s", caller.Issuer)
	}
	if before != p.requests.Load() {
		t.Error("an issuer with another name alone is asked for its keys")
	}
	t.Logf("%d requests for %d changes", p.requests.Load()-requests, 12)
}

// A container that starts again while the issuer is away uses the stored keys, and only keys of issuers that it has.
func TestRestartWhileTheIssuerIsAway(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	key := newSigner(t, "k1", "ES256")
	p := newProvider(t, key)
	now := time.Now()
	text := key.sign(t, p.claims(now, nil), nil)
	run := func(declared contract.Issuer, use func(*identity.Verifier)) {
		t.Helper()
		t.Run("process", func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			use(start(testWithContext{t, ctx}, identity.Options{StateDir: dir}, settings(declared), false))
		})
	}
	run(p.issuer(), func(v *identity.Verifier) { mustAccept(t, v, text, now) })
	p.down()
	run(p.issuer(), func(v *identity.Verifier) {
		mustAccept(t, v, text, now)
		if status := v.Status()[0]; !status.Usable || status.Reason != contract.ReasonIssuerUnreachable {
			t.Errorf("%+v", status)
		}
	})
	files, err := filepath.Glob(filepath.Join(dir, "issuers", "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the folder has %v (%v)", files, err)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	stored, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}

	if err := os.WriteFile(files[0], stored[:len(stored)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	run(p.issuer(), func(v *identity.Verifier) { mustRefuse(t, v, text, now, identity.Unavailable) })

	if err := os.WriteFile(files[0], stored, 0o600); err != nil {
		t.Fatal(err)
	}
	run(p.issuer(func(i *contract.Issuer) { i.DiscoveryURL = p.server.URL + "/elsewhere" }), func(v *identity.Verifier) {
		mustRefuse(t, v, text, now, identity.Unavailable)
	})
	if files, _ := filepath.Glob(filepath.Join(dir, "issuers", "*")); len(files) != 0 {
		t.Errorf("the keys of an issuer that is no longer declared stay: %v", files)
	}
}

// testWithContext is a test whose context ends sooner.
type testWithContext struct {
	*testing.T
	ctx context.Context
}

func (t testWithContext) Context() context.Context { return t.ctx }

// Everything happens at once; the race detector looks on.
func TestConcurrently(t *testing.T) {
	t.Parallel()
	first, second := newSigner(t, "k1", "ES256"), newSigner(t, "k2", "ES256")
	p := newProvider(t, first, second)
	v := start(t, identity.Options{StateDir: t.TempDir(), Changed: func() {}}, settings(p.issuer()), false)
	end := time.Now().Add(time.Second)
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for i := 0; time.Now().Before(end); i++ {
				text := first.sign(t, p.claims(end, map[string]any{"sub": fmt.Sprint(worker, i%10)}), nil)
				caller, refusal := verify(t, v, text, end.Add(time.Duration(i)*time.Minute/10))
				if caller != nil && caller.Subject != fmt.Sprint(worker, i%10) {
					t.Errorf("%s is %s", fmt.Sprint(worker, i%10), caller.Subject)
				}
				if refusal != identity.Accepted && refusal != identity.UnknownKey && refusal != identity.Audience && refusal != identity.Expired && refusal != identity.Unavailable {
					t.Errorf("refused as %q", refusal)
				}
			}
		})
	}
	group.Go(func() {
		for i := 0; time.Now().Before(end); i++ {
			v.Configure(settings(p.issuer(func(issuer *contract.Issuer) {
				if i%2 == 0 {
					issuer.Audiences = []string{"other"}
				}
				if i%5 == 0 {
					issuer.DiscoveryURL = p.server.URL + "/.well-known/openid-configuration"
				}
			})), false)
			v.Status()
			time.Sleep(time.Millisecond)
		}
	})
	group.Go(func() {
		for i := 0; time.Now().Before(end); i++ {
			p.publish([]*signer{first, second}[i%2:]...)
			time.Sleep(3 * time.Millisecond)
		}
	})
	group.Wait()
}
