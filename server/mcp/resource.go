package mcp

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// A resource is an endpoint as OAuth's clients see it: a protected resource (RFC 9728), whose people log in at issuers.
type resource struct {
	of *contract.Endpoint
	// path is where its metadata lie, without a slash at the end; "" if nobody logs in anywhere.
	path     string
	metadata []byte
	// challenge is the WWW-Authenticate header of a 401.
	challenge []string
}

const (
	wellKnownPath = "/.well-known/"
	// metadataPath stands before the path of a resource: RFC 9728, section 3.1.
	metadataPath = wellKnownPath + "oauth-protected-resource"
)

// resourceOf returns the resource of the settings. It is kept until the settings change.
func (h *Handler) resourceOf(settings *contract.Endpoint) *resource {
	if known := h.resource.Load(); known != nil && known.of == settings {
		return known
	}
	made := newResource(settings)
	h.resource.Store(made)
	return made
}

func newResource(settings *contract.Endpoint) *resource {
	r := &resource{of: settings, challenge: []string{"Bearer"}}
	metadata := struct {
		Resource             string   `json:"resource"`
		AuthorizationServers []string `json:"authorization_servers"`
		BearerMethods        []string `json:"bearer_methods_supported"`
		Scopes               []string `json:"scopes_supported,omitempty"`
		Name                 string   `json:"resource_name"`
	}{Resource: settings.URL, BearerMethods: []string{"header"}, Name: settings.Name}
	for _, issuer := range settings.Authentication.Issuers {
		if !issuer.Listed {
			continue
		}
		metadata.AuthorizationServers = append(metadata.AuthorizationServers, issuer.URL)
		for _, scope := range issuer.Scopes {
			if !slices.Contains(metadata.Scopes, scope) {
				metadata.Scopes = append(metadata.Scopes, scope)
			}
		}
	}
	at, err := url.Parse(settings.URL)
	if err != nil || at.Host == "" || len(metadata.AuthorizationServers) == 0 {
		return r
	}
	where := url.URL{Scheme: at.Scheme, Host: at.Host, Path: metadataPath + at.Path}
	r.path = strings.TrimSuffix(where.Path, "/")
	r.metadata, _ = json.Marshal(metadata) // strings only: it cannot fail
	r.challenge = []string{`Bearer resource_metadata="` + where.String() + `"`}
	return r
}

// wellKnown answers below /.well-known/: with the resource's metadata, which every page may read, at its path alone.
func (h *Handler) wellKnown(a *answer, r *http.Request, settings *contract.Endpoint) {
	of := h.resourceOf(settings)
	if of.path == "" || strings.TrimSuffix(r.URL.Path, "/") != of.path {
		a.refuse(http.StatusNotFound, "Not found")
		return
	}
	a.header("Access-Control-Allow-Origin", "*")
	switch {
	case r.Method == http.MethodGet:
		a.send(http.StatusOK, of.metadata)
	case isPreflight(r):
		a.header("Access-Control-Allow-Methods", http.MethodGet)
		a.header("Access-Control-Allow-Headers", "*")
		a.w.Header()["Access-Control-Max-Age"] = preflightAge
		a.send(http.StatusNoContent, nil)
	default:
		a.header("Allow", http.MethodGet)
		a.refuse(http.StatusMethodNotAllowed, "Method not allowed")
	}
}
