// Package pageserver is the command "mcp-admin page-server": it serves the page for people in a cluster, to those who log in with an OpenID
// Connect identity provider. What somebody sees or does is a request to the API server in their own name: the command impersonates them,
// and needs no other right. docs/page-in-cluster.md is for who installs it.
//
// Begin with Server (server.go): a request's host, its session, the login (login.go) by which there is one, and the person whom the claims
// of a token name (person.go). The screens are package page's, what they read package ui's.
package pageserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/page"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/ui"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/identity"
)

// The cookies. Browsers keep a name that begins with __Host- for this host alone, and take it only over TLS.
const (
	sessionCookie = "__Host-mcp-admin"
	loginCookie   = "__Host-mcp-admin-login"
	// maxCookie is the longest text that every browser keeps, in bytes, less the cookie's name and attributes.
	maxCookie = 3900
)

// root is the path of the first screen.
const root = "/"

// Options are what a Server is made of.
type Options struct {
	// Host is the only host that is answered, with its port unless that is 443.
	Host string
	// Config reaches the API server with the credentials that may impersonate.
	Config *rest.Config
	Naming naming
	// ClientID and the secret in ClientSecretFile are the page's at the identity provider; without a file it is a public client.
	ClientID, ClientSecretFile string
	Scopes, Algorithms         []string
	// Authorities are the identity provider's, in PEM; "" are the system's.
	Authorities string
	// SessionKey is the same in each replica.
	SessionKey []byte
	// SessionTime is how long a session lasts at most. It never outlasts the ID token.
	SessionTime time.Duration
	// Namespaces are looked at for those who may not list all.
	Namespaces []string
	Log        *slog.Logger
	// Now is the clock.
	Now func() time.Time
}

// Server serves the page to people who log in.
type Server struct {
	Options
	origin           string
	screens          *page.Screens
	sessions, logins *cookieSeal
	provider         *provider
	verifier         *identity.Verifier
	people           *cluster.Impersonator
}

// New returns a Server. Its logins work while Run does.
func New(o Options) (*Server, error) {
	s := &Server{Options: o}
	s.Host = strings.TrimSuffix(strings.ToLower(o.Host), ":443")
	s.origin = "https://" + s.Host
	var err error
	if s.screens, err = page.NewScreens(root, root, o.Now); err != nil {
		return nil, err
	}
	bound := []string{s.Host, o.Naming.issuer, o.ClientID}
	if s.sessions, err = newCookieSeal(o.SessionKey, "session", bound...); err != nil {
		return nil, err
	}
	if s.logins, err = newCookieSeal(o.SessionKey, "login", bound...); err != nil {
		return nil, err
	}
	if s.provider, err = newProvider(o.Naming.issuer, o.Authorities, o.Now); err != nil {
		return nil, err
	}
	if s.people, err = cluster.NewImpersonator(o.Config); err != nil {
		return nil, err
	}
	// The checks of package identity are those that callers of endpoints go through; a second reader of tokens would have rules of its own.
	s.verifier = identity.NewVerifier(identity.Options{Log: o.Log})
	s.verifier.Configure(contract.Authentication{Issuers: []contract.Issuer{{
		Name: "page", URL: o.Naming.issuer, Audiences: []string{o.ClientID}, CertificateAuthority: o.Authorities, Algorithms: o.Algorithms,
		ClockSkew: contract.Duration(clockSkew), SubjectClaim: "sub",
	}}}, false)
	return s, nil
}

// Run reads the identity provider's keys, until ctx ends.
func (s *Server) Run(ctx context.Context) { s.verifier.Run(ctx) }

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	page.Headers(w.Header())
	w.Header().Set("Strict-Transport-Security", "max-age=31536000")
	if strings.TrimSuffix(strings.ToLower(r.Host), ":443") != s.Host {
		http.Error(w, "This page answers only at "+s.origin+".", http.StatusMisdirectedRequest)
		return
	}
	if s.screens.Static(w, r) {
		return
	}
	switch r.Method + " " + r.URL.Path {
	case "GET " + loginPath:
		s.begin(w, r)
	case "GET " + callbackPath:
		s.finish(w, r)
	case "POST " + logoutPath:
		s.logout(w, r)
	case "GET " + leftPath:
		s.left(w, r)
	default:
		s.serve(w, r)
	}
}

// serve shows a screen to somebody who is logged in, and asks others to log in.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	now := s.session(r)
	if now == nil {
		// A script that asks again for what changes is not led to another site.
		if mode := r.Header.Get("Sec-Fetch-Mode"); r.Method == http.MethodGet && (mode == "" || mode == "navigate") {
			http.Redirect(w, r, loginAt(r.URL.RequestURI()), http.StatusFound)
			return
		}
		s.notice(w, r, http.StatusUnauthorized, "Not logged in", "you are not logged in, or not any more", root)
		return
	}
	k, err := s.people.As(now.Name, now.Groups)
	if err != nil {
		s.Log.Error("The API server cannot be asked", "error", err.Error())
		http.Error(w, "The API server cannot be asked.", http.StatusInternalServerError)
		return
	}
	place := "as " + now.Name
	if len(now.Groups) > 0 {
		place += ", of " + strings.Join(now.Groups, ", ")
	}
	// Endpoints are called through the API server alone: an address that somebody wrote into an object is never asked from here.
	s.screens.Serve(w, r, s.origin, &page.Visitor{Form: now.Form, Logout: logoutPath,
		Source: ui.NewSource(k, ui.As{Place: place, Person: now.Name, Namespaces: s.Namespaces, Forward: true})})
}

// session is who sends a request; nil if nobody is logged in.
func (s *Server) session(r *http.Request) *session {
	c, err := r.Cookie(sessionCookie)
	if err != nil {
		return nil
	}
	now := &session{}
	if s.sessions.open(c.Value, now) != nil || now.Form == "" || !s.Now().Before(time.Unix(now.Expiry, 0)) || s.Naming.mayBe(&now.person) != nil {
		return nil
	}
	if len(s.Naming.groups) > 0 && slices.ContainsFunc(now.Groups, func(group string) bool { return !slices.Contains(s.Naming.groups, group) }) {
		return nil // it is from before the settings changed
	}
	return now
}

// cookie is one for this host alone, over TLS alone.
func cookie(name, text string, lasts time.Duration, site http.SameSite) *http.Cookie {
	return &http.Cookie{Name: name, Value: text, Path: "/", MaxAge: int(lasts.Seconds()), Secure: true, HttpOnly: true, SameSite: site}
}

// gone deletes a cookie.
func gone(name string, site http.SameSite) *http.Cookie { return cookie(name, "", -time.Second, site) }

// check says what is wrong with options that people give.
func (o *Options) check() error {
	switch {
	case o.Host == "" || strings.ContainsAny(o.Host, "/@ "):
		return errors.New("--host: name the host that browsers open, such as mcp.example.com")
	case !isHTTPS(o.Naming.issuer):
		return errors.New("--oidc-issuer-url: it is no https URL")
	case o.ClientID == "":
		return errors.New("--oidc-client-id: name the client")
	case o.Naming.usernameClaim == "":
		return errors.New("--oidc-username-claim: name the claim")
	case !slices.Contains(o.Scopes, "openid"):
		return errors.New("--oidc-scope: openid must be one of them")
	case o.SessionTime < time.Minute || o.SessionTime > 24*time.Hour:
		return errors.New("--session-time: it is a minute at least and a day at most")
	}
	for _, algorithm := range o.Algorithms {
		if !slices.Contains(contract.Algorithms, algorithm) {
			return fmt.Errorf("--oidc-signing-alg: %q is none of %s", algorithm, strings.Join(contract.Algorithms, ", "))
		}
	}
	for flag, prefix := range map[string]string{"--oidc-username-prefix": o.Naming.usernamePrefix, "--oidc-groups-prefix": o.Naming.groupsPrefix} {
		if strings.HasPrefix(prefix, reserved) {
			return fmt.Errorf("%s: names that begin with %q are Kubernetes' own", flag, reserved)
		}
	}
	return nil
}
