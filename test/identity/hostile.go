package main

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// hostile are issuers that misbehave, each below a path of one address. All have the same key: what they would publish
// if they behaved.
type hostile struct {
	address, untrusted, plain string
	signer                    *signer
	servers                   []*http.Server
	// trapped counts the calls of what nobody may call.
	trapped atomic.Int64
}

// misbehaviours are the names of the issuers, and what each does.
var misbehaviours = []struct{ name, does string }{
	{"redirects", "redirects from its configuration to a good one"},
	{"redirects-keys", "redirects from its keys to good ones"},
	{"slow", "answers nothing for a minute"},
	{"trickles", "sends a byte now and then"},
	{"huge", "has a configuration of 8 MiB"},
	{"huge-keys", "has keys of 8 MiB"},
	{"mismatched", "has the configuration of another issuer"},
	{"plain-keys", "has its keys at an http address"},
	{"garbage", "answers with a page"},
	{"fails", "answers with 500 and its configuration"},
	{"empty", "has no key at all"},
	{"untrusted", "has a certificate of another authority"},
	{"absent", "is not there"},
}

func startHostile(ca *authority) (*hostile, error) {
	h := &hostile{}
	var err error
	if h.signer, err = newSigner("ES256", "hostile-1"); err != nil {
		return nil, err
	}
	stranger, err := newAuthority()
	if err != nil {
		return nil, err
	}
	for _, l := range []struct {
		address *string
		listen  func() (net.Listener, error)
	}{
		{&h.address, ca.listen}, {&h.untrusted, stranger.listen},
		{&h.plain, func() (net.Listener, error) { return net.Listen("tcp", "127.0.0.1:0") }},
	} {
		listener, err := l.listen()
		if err != nil {
			return nil, errors.Join(err, h.Close())
		}
		*l.address = listener.Addr().String()
		server := &http.Server{Handler: http.HandlerFunc(h.answer), ReadHeaderTimeout: 10 * time.Second,
			ErrorLog: log.New(io.Discard, "", 0), TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){}}
		h.servers = append(h.servers, server)
		go func() { _ = server.Serve(listener) }()
	}
	return h, nil
}

// url is an issuer's.
func (h *hostile) url(name string) string {
	switch name {
	case "untrusted":
		return "https://" + h.untrusted + "/" + name
	case "absent":
		return "https://127.0.0.1:1/" + name
	}
	return "https://" + h.address + "/" + name
}

func (h *hostile) issuers() []issuerObject {
	all := []issuerObject{{Name: behaving, URL: h.url(behaving), Algorithm: "ES256", Listing: "Unlisted"}}
	for _, m := range misbehaviours {
		all = append(all, issuerObject{Name: m.name, URL: h.url(m.name), Algorithm: "ES256", Listing: "Unlisted"})
	}
	return all
}

// tokens are MCPTokens for a caller of each issuer.
func (h *hostile) tokens() []tokenObject {
	all := []tokenObject{
		{"doubtful-worker", "doubtful", `oidc: {issuer: company, subject: worker}`},
		{"of-" + behaving, "doubtful", fmt.Sprintf(`oidc: {issuer: %s, subject: anybody}`, behaving)},
	}
	for _, m := range misbehaviours {
		all = append(all, tokenObject{"of-" + m.name, "doubtful", fmt.Sprintf("oidc: {issuer: %s, subject: anybody}", m.name)})
	}
	return all
}

// behaving is an issuer beside them that does what it should.
const behaving = "behaves"

// token is one that would be let in if the issuer behaved.
func (h *hostile) token(name, audience string) string {
	return h.signer.sign(object{"iss": h.url(name), "sub": "anybody", "aud": audience, "exp": seconds(time.Hour)})
}

func (h *hostile) answer(w http.ResponseWriter, r *http.Request) {
	name, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	configuration := path == ".well-known/openid-configuration"
	switch {
	case name == "trap":
		h.trapped.Add(1)
	case name == "redirects" && configuration:
		http.Redirect(w, r, "/"+behaving+"/"+path+"?as=redirects", http.StatusFound)
	case name == "redirects-keys" && !configuration:
		http.Redirect(w, r, "/"+behaving+"/jwks", http.StatusTemporaryRedirect)
	case name == "slow":
		wait(r, time.Minute)
		h.behave(w, name, configuration, "")
	case name == "trickles":
		for range 600 {
			fmt.Fprint(w, " ")
			_ = http.NewResponseController(w).Flush() // wait notices a client that went away
			if !wait(r, 100*time.Millisecond) {
				return
			}
		}
	case name == "huge" && configuration, name == "huge-keys" && !configuration:
		h.behave(w, name, configuration, strings.Repeat(" ", 8<<20))
	case name == "mismatched" && configuration:
		h.behave(w, behaving, configuration, "")
	case name == "plain-keys" && configuration:
		fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":"http://%s/trap/jwks"}`, h.url(name), h.plain)
	case name == "garbage":
		fmt.Fprint(w, "<!DOCTYPE html><title>Log in</title>")
	case name == "fails":
		w.WriteHeader(http.StatusInternalServerError)
		h.behave(w, name, configuration, "")
	case name == "empty" && !configuration:
		fmt.Fprint(w, `{"keys":[]}`)
	case r.URL.Query().Get("as") != "":
		h.behave(w, r.URL.Query().Get("as"), configuration, "")
	default:
		h.behave(w, name, configuration, "")
	}
}

// behave answers as an issuer should, with something before it.
func (h *hostile) behave(w io.Writer, name string, configuration bool, before string) {
	if configuration {
		fmt.Fprintf(w, `%s{"issuer":%q,"jwks_uri":%q}`, before, h.url(name), h.url(name)+"/jwks")
		return
	}
	key, err := h.signer.publicJWK("sig")
	must(err)
	fmt.Fprintf(w, `%s{"keys":[%s]}`, before, bytes.TrimSpace(key))
}

// wait waits, and reports whether the client is still there.
func wait(r *http.Request, d time.Duration) bool {
	select {
	case <-r.Context().Done():
		return false
	case <-time.After(d):
		return true
	}
}

// Close ends them.
func (h *hostile) Close() error {
	if h == nil {
		return nil
	}
	var failed error
	for _, s := range h.servers {
		failed = errors.Join(failed, s.Close())
	}
	return failed
}
