package pageserver

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/page"
	"github.com/mcp-admin/mcp-admin-operator/server/identity"
)

const (
	loginPath, callbackPath, logoutPath, leftPath = "/login", "/callback", "/logout", "/logged-out"
	// loginTime is how long somebody may take to log in.
	loginTime = 10 * time.Minute
	// maxTarget bounds the path that a login leads back to, in bytes.
	maxTarget = 1024
	// clockSkew is how far the provider's clock and this one may differ.
	clockSkew = 30 * time.Second
)

// login is what a browser keeps while its person is with the identity provider.
type login struct {
	State    string `json:"state"`
	Nonce    string `json:"nonce"`
	Verifier string `json:"verifier"`
	// Target is the path that the login leads back to.
	Target string `json:"target"`
	Expiry int64  `json:"expiry"`
}

// session is what a browser keeps of somebody who is logged in.
type session struct {
	person
	// Form is the secret of the forms.
	Form   string `json:"form"`
	Expiry int64  `json:"expiry"`
}

// errors that people are told of: what is wrong, in a sentence without its full stop.
var (
	errNotBegun = errors.New("this login was not begun in this browser, or took too long")
	errToken    = errors.New("the identity provider's token is not one for this page")
)

// oauth is the client of the provider.
func (s *Server) oauth(known *configuration) (*oauth2.Config, error) {
	c := &oauth2.Config{
		ClientID: s.ClientID, RedirectURL: s.origin + callbackPath, Scopes: s.Scopes,
		Endpoint: oauth2.Endpoint{AuthURL: known.Authorization, TokenURL: known.Token, AuthStyle: oauth2.AuthStyleInParams},
	}
	if s.ClientSecretFile == "" {
		return c, nil
	}
	text, err := os.ReadFile(s.ClientSecretFile) // each time: it may be another one by now
	if err != nil {
		return nil, fmt.Errorf("the client's secret cannot be read: %w", err)
	}
	if c.ClientSecret = strings.TrimRight(string(text), "\r\n"); known.basic() {
		c.Endpoint.AuthStyle = oauth2.AuthStyleInHeader
	}
	return c, nil
}

// begin sends a browser to the identity provider.
func (s *Server) begin(w http.ResponseWriter, r *http.Request) {
	known, err := s.provider.configuration(r.Context())
	var client *oauth2.Config
	if err == nil {
		client, err = s.oauth(known)
	}
	if err != nil {
		s.Log.Error("The identity provider cannot be asked", "error", err.Error())
		s.notice(w, r, http.StatusBadGateway, "Not possible now", "the identity provider cannot be asked at the moment", r.FormValue("to"))
		return
	}
	l := &login{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Target: target(r.FormValue("to")), Expiry: s.Now().Add(loginTime).Unix()}
	text, err := s.logins.close(l)
	if err != nil {
		http.Error(w, "The login cannot begin.", http.StatusInternalServerError)
		return
	}
	// It must come with a request that another site's page leads to: the way back from the provider.
	http.SetCookie(w, cookie(loginCookie, text, loginTime, http.SameSiteLaxMode))
	http.Redirect(w, r, client.AuthCodeURL(l.State, oauth2.SetAuthURLParam("nonce", l.Nonce), oauth2.S256ChallengeOption(l.Verifier)), http.StatusFound)
}

// target is the path that a login leads to: one of this site, whatever the browser was told to ask for.
func target(text string) string {
	u, err := url.Parse(text)
	if err != nil || len(text) > maxTarget || u.Scheme != "" || u.Host != "" || u.User != nil || !strings.HasPrefix(u.Path, "/") || strings.HasPrefix(u.Path, "//") ||
		strings.ContainsAny(text, "\\;,") {
		return root
	}
	return u.RequestURI()
}

// finish lets somebody in who comes back from the identity provider.
func (s *Server) finish(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, gone(loginCookie, http.SameSiteLaxMode)) // it is good once
	l, p, until, err := s.identify(r)
	if err != nil {
		to := root
		if l != nil {
			to = l.Target
		}
		s.Log.Warn("A login was refused", "reason", err.Error())
		s.notice(w, r, http.StatusForbidden, "Not logged in", err.Error(), to)
		return
	}
	text, err := s.sessions.close(&session{person: *p, Form: rand.Text(), Expiry: until.Unix()})
	if err == nil && len(text) > maxCookie {
		err = fmt.Errorf("your %d groups are too many for a cookie; the page's values page.impersonate.groups can name those that count", len(p.Groups))
	}
	if err != nil {
		s.Log.Warn("A login was refused", "person", p.Name, "reason", err.Error())
		s.notice(w, r, http.StatusForbidden, "Not logged in", err.Error(), l.Target)
		return
	}
	http.SetCookie(w, cookie(sessionCookie, text, until.Sub(s.Now()), http.SameSiteStrictMode))
	s.Log.Info("A person logged in", "person", p.Name, "groups", len(p.Groups), "until", until.UTC().Format(time.RFC3339))
	s.screens.Opened(w, r, l.Target)
}

// identify checks the answer of the identity provider, and says who came back, and until when they are let in. The login is nil if none was
// begun in this browser.
func (s *Server) identify(r *http.Request) (*login, *person, time.Time, error) {
	var until time.Time
	l := &login{}
	if c, err := r.Cookie(loginCookie); err != nil || s.logins.open(c.Value, l) != nil || !s.Now().Before(time.Unix(l.Expiry, 0)) {
		return nil, nil, until, errNotBegun
	}
	if !same(r.FormValue("state"), l.State) {
		return l, nil, until, errNotBegun
	}
	known, err := s.provider.configuration(r.Context())
	if err != nil {
		return l, nil, until, errors.New("the identity provider cannot be asked at the moment")
	}
	if from := r.FormValue("iss"); from != s.Naming.issuer && (from != "" || known.NamesItself) {
		return l, nil, until, errors.New("the answer is another identity provider's")
	}
	if problem := r.FormValue("error"); problem != "" {
		return l, nil, until, fmt.Errorf("the identity provider refuses: %.100q, %.200q", problem, r.FormValue("error_description"))
	}
	text, err := s.exchange(r.Context(), known, r.FormValue("code"), l.Verifier)
	if err != nil {
		s.Log.Warn("The identity provider gives no token", "error", err.Error())
		return l, nil, until, errors.New("the identity provider gives no token for this login")
	}
	caller, refusal := s.verifier.Verify(r.Context(), text, sha256.Sum256([]byte(text)), s.Now())
	if refusal != identity.Accepted {
		return l, nil, until, fmt.Errorf("%w (%s)", errToken, refusal)
	}
	if nonce, _ := caller.Claims["nonce"].(string); !same(nonce, l.Nonce) {
		return l, nil, until, fmt.Errorf("%w (nonce)", errToken)
	}
	if !s.isFor(caller.Claims) {
		return l, nil, until, fmt.Errorf("%w (azp)", errToken)
	}
	until = caller.Expiry.Add(-clockSkew)
	if most := s.Now().Add(s.SessionTime); most.Before(until) {
		until = most
	}
	if !s.Now().Before(until) {
		return l, nil, until, fmt.Errorf("%w (%s)", errToken, identity.Expired)
	}
	p, err := s.Naming.person(caller.Claims)
	return l, p, until, err
}

// exchange gives the code back for an ID token. What else the provider gives is forgotten. The error has nothing secret.
func (s *Server) exchange(ctx context.Context, known *configuration, code, verifier string) (string, error) {
	client, err := s.oauth(known)
	if err != nil {
		return "", err
	}
	given, err := client.Exchange(context.WithValue(ctx, oauth2.HTTPClient, s.provider.client), code, oauth2.VerifierOption(verifier))
	var refused *oauth2.RetrieveError
	switch {
	case errors.As(err, &refused): // its text has the whole answer
		return "", fmt.Errorf("the token endpoint answers %d %.100q", refused.Response.StatusCode, refused.ErrorCode)
	case err != nil:
		return "", err
	}
	text, _ := given.Extra("id_token").(string)
	if text == "" {
		return "", errors.New("the token endpoint gives no id_token: is the scope openid asked for?")
	}
	return text, nil
}

// isFor reports whether an ID token was issued to this client: one for several audiences says to whom (OpenID Connect Core 1.0, section
// 3.1.3.7).
func (s *Server) isFor(claims map[string]any) bool {
	party, told := claims["azp"]
	if audiences, several := claims["aud"].([]any); several && len(audiences) > 1 || told {
		return party == s.ClientID
	}
	return true
}

func same(a, b string) bool { return a != "" && subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// logout ends a session in the browser.
func (s *Server) logout(w http.ResponseWriter, r *http.Request) {
	now := s.session(r)
	if now == nil || !page.Ours(w, r, s.origin, now.Form) {
		http.Error(w, "This form was not sent from this page. Go back, load the page again, and send it once more.", http.StatusForbidden)
		return
	}
	s.Log.Info("A person logged out", "person", now.Name)
	http.SetCookie(w, gone(sessionCookie, http.SameSiteStrictMode))
	http.Redirect(w, r, leftPath, http.StatusSeeOther)
}

// left tells somebody that they are logged out.
func (s *Server) left(w http.ResponseWriter, r *http.Request) {
	n := &page.Notice{Title: "Logged out", Why: "You are logged out of this page.", Do: "The identity provider may still know you: log out there, too, if others use this browser.",
		Link: loginPath, Label: "Log in again"}
	if known, err := s.provider.configuration(r.Context()); err == nil && known.EndSession != "" {
		n.Link, n.Label = known.EndSession, "Log out of the identity provider"
	}
	s.screens.TurnAway(w, r, http.StatusOK, n)
}

// notice tells somebody who is not let in why, and how to begin again.
func (s *Server) notice(w http.ResponseWriter, r *http.Request, code int, title, why, to string) {
	s.screens.TurnAway(w, r, code, &page.Notice{Title: title, Why: strings.ToUpper(why[:1]) + why[1:] + ".", Link: loginAt(to), Label: "Log in again"})
}

// loginAt is the path of a login that leads to another path.
func loginAt(to string) string { return loginPath + "?" + url.Values{"to": {target(to)}}.Encode() }
