package identity_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/identity"
)

// An issuer that is down, or answers nonsense, does not stop those whose keys are known.
func TestIssuerFailsLater(t *testing.T) {
	t.Parallel()
	for name, answer := range badAnswers() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			key := newSigner(t, "k1", "ES256")
			p := newProvider(t, key)
			changes := make(chan struct{}, 10)
			v := start(t, identity.Options{Changed: func() { changes <- struct{}{} }}, settings(p.issuer()), false)
			<-changes
			if status := v.Status()[0]; status != (contract.IssuerStatus{Name: "company", Reason: contract.ReasonKeysKnown, Usable: true}) {
				t.Errorf("%+v", status)
			}
			now := time.Now()
			text := key.sign(t, p.claims(now, nil), nil)
			mustAccept(t, v, text, now)
			p.answers(answer.handler)
			later := now.Add(31 * time.Second)
			refusal := make(chan struct{})
			go func() {
				defer close(refusal)
				began := time.Now()
				mustRefuse(t, v, newSigner(t, "unknown", "ES256").sign(t, p.claims(now, nil), nil), later, identity.UnknownKey)
				if waited := time.Since(began); waited > time.Minute {
					t.Errorf("a caller waited for %v", waited)
				}
			}()
			eventually(t, "the status says it", func() bool { return v.Status()[0].Message != "" })
			<-changes
			<-refusal
			status := v.Status()[0]
			if !status.Usable || status.Reason != answer.reason || !strings.Contains(status.Message, answer.message) {
				t.Errorf("%+v", status)
			}
			if len(status.Message) > 1000 {
				t.Errorf("a message of %d bytes", len(status.Message))
			}
			mustAccept(t, v, text, later)
			mustAccept(t, v, key.sign(t, p.claims(later, map[string]any{"sub": "bob"}), nil), later)
		})
	}
}

// An issuer that never answered as it should has nobody accepted, and nobody waits long for it.
func TestIssuerFailsAtOnce(t *testing.T) {
	t.Parallel()
	for name, answer := range badAnswers() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			key := newSigner(t, "k1", "ES256")
			p := newProvider(t, key)
			p.answers(answer.handler)
			v := start(t, identity.Options{}, settings(p.issuer()), false)
			began := time.Now()
			mustRefuse(t, v, key.sign(t, p.claims(began, nil), nil), began, identity.Unavailable)
			if waited := time.Since(began); waited > time.Minute {
				t.Errorf("a caller waited for %v", waited)
			}
			status := v.Status()[0]
			if status.Usable || status.Reason != answer.reason || !strings.Contains(status.Message, answer.message) {
				t.Errorf("%+v", status)
			}
		})
	}
}

type badAnswer struct {
	handler         func(http.ResponseWriter, *http.Request) bool
	reason, message string
}

func badAnswers() map[string]badAnswer {
	always := func(status int, text string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(status)
			fmt.Fprint(w, text)
			return true
		}
	}
	endless := func(w http.ResponseWriter, r *http.Request) bool {
		for r.Context().Err() == nil {
			if _, err := fmt.Fprint(w, strings.Repeat(" ", 4096)); err != nil {
				break
			}
		}
		return true
	}
	slow := func(w http.ResponseWriter, r *http.Request) bool {
		for r.Context().Err() == nil {
			fmt.Fprint(w, " ")
			http.NewResponseController(w).Flush()
			time.Sleep(100 * time.Millisecond)
		}
		return true
	}
	redirect := func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/elsewhere" {
			return false
		}
		http.Redirect(w, r, "/elsewhere", http.StatusFound)
		return true
	}
	cut := func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Length", "1000")
		fmt.Fprint(w, "{")
		return true
	}
	unreachable := contract.ReasonIssuerUnreachable
	return map[string]badAnswer{
		"an error":               {always(http.StatusInternalServerError, "secret details"), unreachable, "/.well-known/openid-configuration answers 500"},
		"not found":              {always(http.StatusNotFound, ""), unreachable, "answers 404"},
		"a redirect":             {redirect, unreachable, "answers 302: redirects are not followed"},
		"no JSON":                {always(http.StatusOK, "<html>Welcome</html>"), unreachable, "does not answer with JSON"},
		"JSON of another kind":   {always(http.StatusOK, `["a"]`), unreachable, "does not answer with an issuer's configuration"},
		"a page without an end":  {endless, unreachable, "more than 1 MiB"},
		"a slow page":            {slow, unreachable, "there is no whole answer within 10s"},
		"a page that is cut off": {cut, unreachable, "unexpected EOF"},
		"another issuer":         {always(http.StatusOK, `{"issuer":"https://other.example.com","jwks_uri":"https://other.example.com/keys"}`), contract.ReasonIssuerMismatch, `is the configuration of the issuer "https://other.example.com", not of "https://127.0.0.1`},
		"no keys":                {answerKeys(`{}`), unreachable, "are not a JSON Web Key Set"},
		"keys that are no list":  {answerKeys(`{"keys":{"a":1}}`), unreachable, "are not a JSON Web Key Set"},
		"deep keys":              {answerKeys(`{"keys":` + strings.Repeat("[", 100000) + strings.Repeat("]", 100000) + `}`), unreachable, "does not answer with JSON"},
	}
}
