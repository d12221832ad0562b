package identity_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/identity"
)

// An apiServer is a provider that answers as the API server does, with reviews that a test decides on; package
// test/serviceaccounts asks a real one.
type apiServer struct {
	*provider
	url string
	// reviews counts all, atOnce is how many are under way, and most how many were at any time.
	reviews, atOnce, most atomic.Int64
	// review returns a review's answer; it may wait. It and url are changed by change.
	review func(token string) (status int, answer string)
}

func newAPIServer(t testing.TB, signers ...*signer) *apiServer {
	t.Helper()
	a := &apiServer{provider: newProvider(t, signers...), url: "https://kubernetes.default.svc"}
	a.answers(a.serve)
	return a
}

func (a *apiServer) serve(w http.ResponseWriter, r *http.Request) bool {
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		a.mutex.Lock()
		defer a.mutex.Unlock()
		writeJSON(w, map[string]any{
			"issuer": a.url, "jwks_uri": "https://10.0.0.1/openid/v1/jwks", "id_token_signing_alg_values_supported": []string{"ES256", "none", "HS256"},
		})
	case "/openid/v1/jwks":
		a.mutex.Lock()
		defer a.mutex.Unlock()
		writeJSON(w, map[string]any{"keys": a.keys})
	case "/apis/authentication.k8s.io/v1/tokenreviews":
		var asked struct{ Spec struct{ Token string } }
		if json.NewDecoder(r.Body).Decode(&asked) != nil || asked.Spec.Token == "none" {
			fmt.Fprint(w, `{"status":{}}`) // what a Verifier asks to find out whether it may
			return true
		}
		a.reviews.Add(1)
		defer a.atOnce.Add(-1)
		if n := a.atOnce.Add(1); n > a.most.Load() {
			a.most.Store(n)
		}
		a.mutex.Lock()
		review := a.review
		a.mutex.Unlock()
		status, answer := review(asked.Spec.Token)
		w.WriteHeader(status)
		fmt.Fprint(w, answer)
	default:
		return false
	}
	return true
}

func (a *apiServer) change(f func()) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	f()
}

func (a *apiServer) options() identity.Options {
	return identity.Options{API: &identity.API{URL: a.server.URL + "/", Client: a.server.Client()}}
}

func accounts(check string) contract.Authentication {
	return contract.Authentication{ServiceAccounts: contract.ServiceAccounts{Check: check, Audiences: []string{audience}}}
}

// account are the claims of a ServiceAccount's token.
func (a *apiServer) account(name string, at time.Time, changes map[string]any) map[string]any {
	all := map[string]any{
		"iss": a.url, "sub": "system:serviceaccount:shop:" + name, "aud": []string{audience}, "jti": fmt.Sprint(at.UnixNano()),
		"kubernetes.io": map[string]any{"namespace": "shop", "serviceaccount": map[string]any{"name": name, "uid": "1"}},
	}
	for key, value := range changes {
		all[key] = value
	}
	return a.claims(at, all)
}

const accepted = `{"status":{"authenticated":true,"user":{"username":"system:serviceaccount:shop:clerk"},"audiences":["` + audience + `"]}}`

func TestServiceAccounts(t *testing.T) {
	t.Parallel()
	key := newSigner(t, "k1", "ES256")
	a := newAPIServer(t, key)
	v := start(t, a.options(), accounts(contract.CheckKeys), true)
	now := time.Now()
	if status := v.Status()[0]; status != (contract.IssuerStatus{Reason: contract.ReasonKeysKnown, Usable: true}) {
		t.Errorf("%+v", status)
	}
	caller := mustAccept(t, v, key.sign(t, a.account("clerk", now, nil), nil), now)
	if caller.ServiceAccount != "shop/clerk" || caller.Subject != "system:serviceaccount:shop:clerk" || caller.Issuer != "" {
		t.Errorf("%+v", caller)
	}
	details := func(namespace, name any) map[string]any {
		return map[string]any{"namespace": namespace, "serviceaccount": map[string]any{"name": name}}
	}
	for name, test := range map[string]struct {
		changes map[string]any
		want    identity.Refusal
	}{
		"a legacy token, without an end":       {map[string]any{"exp": nil}, identity.Malformed},
		"a legacy token, without an audience":  {map[string]any{"aud": nil}, identity.Audience},
		"the audience of the API server":       {map[string]any{"aud": []string{a.url}}, identity.Audience},
		"another issuer":                       {map[string]any{"iss": "kubernetes/serviceaccount"}, identity.UnknownIssuer},
		"expired":                              {map[string]any{"exp": now.Add(-time.Minute).Unix()}, identity.Expired},
		"not yet valid":                        {map[string]any{"nbf": now.Add(time.Minute).Unix()}, identity.NotYetValid},
		"a person":                             {map[string]any{"sub": "ann"}, identity.Subject},
		"a subject without a name":             {map[string]any{"sub": "system:serviceaccount:shop"}, identity.Subject},
		"a subject with an empty name":         {map[string]any{"sub": "system:serviceaccount:shop:", "kubernetes.io": details("shop", "")}, identity.Subject},
		"a subject with an empty namespace":    {map[string]any{"sub": "system:serviceaccount::clerk", "kubernetes.io": details("", "clerk")}, identity.Subject},
		"a subject with a part more":           {map[string]any{"sub": "system:serviceaccount:shop:clerk:x"}, identity.Subject},
		"another name in the details":          {map[string]any{"kubernetes.io": details("shop", "boss")}, identity.Subject},
		"another namespace in the details":     {map[string]any{"kubernetes.io": details("bank", "clerk")}, identity.Subject},
		"details that are none":                {map[string]any{"kubernetes.io": "shop/clerk"}, identity.Subject},
		"details without a ServiceAccount":     {map[string]any{"kubernetes.io": map[string]any{"namespace": "shop"}}, identity.Subject},
		"a ServiceAccount whose name is a map": {map[string]any{"kubernetes.io": details("shop", map[string]any{"a": 1})}, identity.Subject},
		"no details":                           {map[string]any{"kubernetes.io": nil}, identity.Subject},
	} {
		t.Run(name, func(t *testing.T) {
			mustRefuse(t, v, key.sign(t, a.account("clerk", now, test.changes), nil), now, test.want)
		})
	}
	rs := newSigner(t, "k1", "RS256")
	mustRefuse(t, v, rs.sign(t, a.account("clerk", now, nil), nil), now, identity.Algorithm)

	// Nobody shows such tokens any more.
	v.Configure(accounts(contract.CheckKeys), false)
	mustRefuse(t, v, key.sign(t, a.account("clerk", now, nil), nil), now, identity.UnknownIssuer)
	if status := v.Status(); len(status) != 0 {
		t.Errorf("%+v", status)
	}
}

// The API server was started again as another issuer.
func TestClusterChangesItsIssuer(t *testing.T) {
	t.Parallel()
	key := newSigner(t, "k1", "ES256")
	a := newAPIServer(t, key)
	v := start(t, a.options(), accounts(contract.CheckKeys), true)
	now := time.Now()
	old := key.sign(t, a.account("clerk", now, nil), nil)
	mustAccept(t, v, old, now)
	a.change(func() { a.url = "https://new.example.com" })
	mustAccept(t, v, key.sign(t, a.account("clerk", now, nil), nil), now.Add(31*time.Second))
	mustRefuse(t, v, old, now, identity.UnknownIssuer)
}

// Tokens of issuers that nobody knows have the API server asked as seldom as those with unknown keys.
func TestUnknownIssuersAskTheClusterSeldom(t *testing.T) {
	t.Parallel()
	key := newSigner(t, "k1", "ES256")
	a := newAPIServer(t, key)
	a.review = func(string) (int, string) { return http.StatusCreated, accepted }
	v := start(t, a.options(), accounts(contract.CheckTokenReview), true)
	now := time.Now()
	before := a.requests.Load()
	for i := range 1000 {
		mustRefuse(t, v, key.sign(t, a.account("clerk", now, map[string]any{"iss": fmt.Sprint("https://", i)}), nil), now, identity.UnknownIssuer)
	}
	if n := a.requests.Load() - before; n > 2 {
		t.Errorf("1000 tokens of unknown issuers made %d requests", n)
	}
}

// While the API server is away, its keys are of no use if it must review each token.
func TestAPIServerGoesAway(t *testing.T) {
	t.Parallel()
	key := newSigner(t, "k1", "ES256")
	now := time.Now()
	for check, usable := range map[string]bool{contract.CheckKeys: true, contract.CheckTokenReview: false} {
		a := newAPIServer(t, key)
		a.review = func(string) (int, string) { return http.StatusCreated, accepted }
		v := start(t, a.options(), accounts(check), true)
		text := key.sign(t, a.account("clerk", now, nil), nil)
		mustAccept(t, v, text, now)
		a.down()
		later := now.Add(31 * time.Second)
		mustRefuse(t, v, newSigner(t, "unknown", "ES256").sign(t, a.account("clerk", now, nil), nil), later, identity.UnknownKey)
		if status := v.Status()[0]; status.Usable != usable || status.Reason != contract.ReasonIssuerUnreachable {
			t.Errorf("%s: %+v", check, status)
		}
		want := identity.Unavailable
		if usable {
			want = identity.Accepted
		}
		mustRefuse(t, v, text, later, want)
	}
}

func TestWithoutAPIServer(t *testing.T) {
	t.Parallel()
	key := newSigner(t, "k1", "ES256")
	for _, check := range []string{contract.CheckKeys, contract.CheckTokenReview} {
		v := start(t, identity.Options{}, accounts(check), true)
		if status := v.Status()[0]; status.Usable || !strings.Contains(status.Message, "There is no API server here") {
			t.Errorf("%+v", status)
		}
		now := time.Now()
		mustRefuse(t, v, key.sign(t, map[string]any{"iss": "https://kubernetes.default.svc"}, nil), now, identity.Unavailable)
	}
}

// The cluster's own issuer can be declared, but its tokens are one kind of callers only.
func TestClusterThatIsDeclared(t *testing.T) {
	t.Parallel()
	key := newSigner(t, "k1", "ES256")
	a := newAPIServer(t, key)
	v := start(t, a.options(), accounts(contract.CheckKeys), true)
	now := time.Now()
	text := key.sign(t, a.account("clerk", now, nil), nil)
	mustAccept(t, v, text, now)
	both := accounts(contract.CheckKeys)
	both.Issuers = []contract.Issuer{a.issuer(func(i *contract.Issuer) {
		i.URL, i.KeysURL = a.url, a.server.URL+"/openid/v1/jwks"
	})}
	v.Configure(both, true)
	caller := mustAccept(t, v, text, now)
	if caller.Issuer != a.url || caller.ServiceAccount != "" {
		t.Errorf("%+v", caller)
	}
	if status := v.Status()[0]; status.Usable || status.Reason != contract.ReasonIssuerMismatch || !strings.Contains(status.Message, "declared as the issuer company") {
		t.Errorf("%+v", status)
	}
}

func TestReviews(t *testing.T) {
	t.Parallel()
	key := newSigner(t, "k1", "ES256")
	now := time.Now()
	for name, test := range map[string]struct {
		status int
		answer string
		want   identity.Refusal
		// remembered reports whether the answer holds for a while.
		remembered bool
	}{
		"good":                  {http.StatusCreated, accepted, identity.Accepted, true},
		"deleted":               {http.StatusCreated, `{"status":{"error":"deleted"}}`, identity.Reviewed, true},
		"another user":          {http.StatusCreated, strings.Replace(accepted, "clerk", "boss", 1), identity.Reviewed, true},
		"another audience":      {http.StatusCreated, strings.Replace(accepted, audience, "other", 1), identity.Reviewed, true},
		"no audience":           {http.StatusCreated, strings.Replace(accepted, `"audiences"`, `"x"`, 1), identity.Reviewed, true},
		"forbidden":             {http.StatusForbidden, `{"message":"tokenreviews is forbidden"}`, identity.Unavailable, false},
		"too many requests":     {http.StatusTooManyRequests, ``, identity.Unavailable, false},
		"an error":              {http.StatusInternalServerError, ``, identity.Unavailable, false},
		"no JSON":               {http.StatusCreated, `<html>`, identity.Unavailable, false},
		"a redirect":            {http.StatusTemporaryRedirect, ``, identity.Unavailable, false},
		"more than can be read": {http.StatusCreated, accepted + strings.Repeat(" ", 2<<20), identity.Unavailable, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAPIServer(t, key)
			a.review = func(string) (int, string) { return test.status, test.answer }
			v := start(t, a.options(), accounts(contract.CheckTokenReview), true)
			text := key.sign(t, a.account("clerk", now, nil), nil)
			for range 10 {
				mustRefuse(t, v, text, now, test.want)
			}
			if n := a.reviews.Load(); test.remembered && n != 1 || !test.remembered && n != 10 {
				t.Errorf("%d reviews", n)
			}
			before := a.reviews.Load()
			mustRefuse(t, v, text, now.Add(10*time.Second), test.want)
			if a.reviews.Load() == before {
				t.Error("an answer holds for more than 10 seconds")
			}
		})
	}
}

func TestReviewsAreForbidden(t *testing.T) {
	t.Parallel()
	key := newSigner(t, "k1", "ES256")
	a := newAPIServer(t, key)
	a.review = func(string) (int, string) { return http.StatusForbidden, `{"message":"tokenreviews is forbidden"}` }
	var changes atomic.Int64
	options := a.options()
	options.Changed = func() { changes.Add(1) }
	v := start(t, options, accounts(contract.CheckTokenReview), true)
	now := time.Now()
	mustRefuse(t, v, key.sign(t, a.account("clerk", now, nil), nil), now, identity.Unavailable)
	if status := v.Status()[0]; status.Usable || status.Reason != contract.ReasonTokenReviewForbidden || !strings.Contains(status.Message, "--serviceaccount=<namespace>:<endpoint>-mcp") {
		t.Errorf("%+v", status)
	}
	a.change(func() { a.review = func(string) (int, string) { return http.StatusCreated, accepted } })
	mustAccept(t, v, key.sign(t, a.account("clerk", now, nil), nil), now)
	if status := v.Status()[0]; !status.Usable || status.Reason != contract.ReasonKeysKnown {
		t.Errorf("%+v", status)
	}
	for deadline := time.Now().Add(10 * time.Minute); changes.Load() < 3 && time.Now().Before(deadline); time.Sleep(time.Millisecond) { // it is told a moment after it can be seen
	}
	if n := changes.Load(); n != 3 {
		t.Errorf("%d changes of the status were told, want 3", n)
	}
}

// Many who show the same token wait for one review, and never are more than 16 under way.
func TestReviewsAreBounded(t *testing.T) {
	t.Parallel()
	key := newSigner(t, "k1", "ES256")
	a := newAPIServer(t, key)
	a.review = func(string) (int, string) {
		time.Sleep(50 * time.Millisecond)
		return http.StatusCreated, accepted
	}
	v := start(t, a.options(), accounts(contract.CheckTokenReview), true)
	now := time.Now()
	var group sync.WaitGroup
	show := func(text string) { group.Go(func() { mustRefuse(t, v, text, now, identity.Accepted) }) }
	text := key.sign(t, a.account("clerk", now, nil), nil)
	for range 100 {
		show(text)
	}
	group.Wait()
	if n := a.reviews.Load(); n != 1 {
		t.Errorf("100 requests with one token made %d reviews", n)
	}
	for i := range 100 {
		show(key.sign(t, a.account("clerk", now, map[string]any{"jti": fmt.Sprint(i)}), nil))
	}
	group.Wait()
	if n := a.most.Load(); n > 16 {
		t.Errorf("%d reviews at a time", n)
	}
}

// Who stops waiting does not take the others along.
func TestWhoeverGivesUpDoesNotStopAReview(t *testing.T) {
	t.Parallel()
	key := newSigner(t, "k1", "ES256")
	a := newAPIServer(t, key)
	asked, answer := make(chan struct{}), make(chan struct{})
	a.review = func(string) (int, string) {
		close(asked)
		<-answer
		return http.StatusCreated, accepted
	}
	v := start(t, a.options(), accounts(contract.CheckTokenReview), true)
	now := time.Now()
	text := key.sign(t, a.account("clerk", now, nil), nil)
	first := make(chan identity.Refusal)
	given, giveUp := cancelled(t)
	go func() {
		_, refusal := v.Verify(given, text, sumOf(text), now)
		first <- refusal
	}()
	<-asked
	second := make(chan identity.Refusal)
	go func() {
		_, refusal := v.Verify(t.Context(), text, sumOf(text), now)
		second <- refusal
	}()
	giveUp()
	if refusal := <-first; refusal != identity.Unavailable {
		t.Errorf("who gave up was refused as %q", refusal)
	}
	close(answer)
	if refusal := <-second; refusal != identity.Accepted {
		t.Errorf("who waited was refused as %q", refusal)
	}
	if n := a.reviews.Load(); n != 1 {
		t.Errorf("%d reviews", n)
	}
}

// From the moment at which reviews are asked for, no token is accepted without one.
func TestCheckChanges(t *testing.T) {
	t.Parallel()
	key := newSigner(t, "k1", "ES256")
	a := newAPIServer(t, key)
	a.review = func(string) (int, string) { return http.StatusCreated, `{"status":{}}` }
	v := start(t, a.options(), accounts(contract.CheckKeys), true)
	now := time.Now()
	text := key.sign(t, a.account("clerk", now, nil), nil)
	mustAccept(t, v, text, now)
	v.Configure(accounts(contract.CheckTokenReview), true)
	mustRefuse(t, v, text, now, identity.Reviewed)
	v.Configure(accounts(contract.CheckKeys), true)
	mustAccept(t, v, text, now)
	if reasons := v.Status(); len(reasons) != 1 || !slices.ContainsFunc(reasons, func(s contract.IssuerStatus) bool { return s.Usable }) {
		t.Errorf("%+v", reasons)
	}
}
