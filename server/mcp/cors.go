package mcp

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// provenance is where a request comes from, as far as the browser tells (docs/design/http.md, "Origins and CORS").
type provenance int

const (
	// noOrigin is a request without an Origin header: no page sent it.
	noOrigin provenance = iota
	// ownOrigin is a page of the endpoint's own scheme, host and port.
	ownOrigin
	// allowedOrigin is a page of one of the endpoint's allowed origins. Its answers carry the CORS headers.
	allowedOrigin
	// foreignOrigin is any other page.
	foreignOrigin
)

// The values of the CORS headers, which are the same on every answer; shared, so that they cost nothing.
var (
	varyOrigin     = []string{"Origin"}
	allowedMethods = []string{http.MethodPost}
	// allowedHeaders are the headers that browsers' MCP clients of both eras send, and the headers that traces add. The
	// server ignores Last-Event-ID and Mcp-Session-Id, but a client that sends them must not fail.
	allowedHeaders = []string{"Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Method, Mcp-Name, " +
		"Mcp-Session-Id, Last-Event-ID, traceparent, tracestate"}
	// exposedHeaders are the headers of an answer that a page may read, besides the headers that every page may.
	exposedHeaders = []string{"WWW-Authenticate, Retry-After, Allow, MCP-Protocol-Version, Mcp-Session-Id"}
	// preflightAge is for how many seconds a browser need not ask again. Browsers use at most a day, Chromium two
	// hours. The request itself is judged each time.
	preflightAge = []string{"7200"}
)

// crossOrigin says where a request comes from. For an allowed page it sets the headers without which the browser hides
// the answer.
func (h *Handler) crossOrigin(a *answer, request http.Header, settings *contract.Endpoint) provenance {
	policy := h.originsOf(settings)
	answer := a.w.Header()
	if policy.hasAllowed() {
		answer["Vary"] = varyOrigin
	}
	from := policy.judge(request)
	if from == allowedOrigin {
		answer["Access-Control-Allow-Origin"] = []string{request["Origin"][0]}
		answer["Access-Control-Expose-Headers"] = exposedHeaders
	}
	return from
}

// isPreflight reports whether a browser asks if a page may send its request.
func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && len(r.Header["Access-Control-Request-Method"]) == 1
}

// allowPreflight answers a preflight of an allowed origin.
func (a *answer) allowPreflight() {
	header := a.w.Header()
	header["Access-Control-Allow-Methods"] = allowedMethods
	header["Access-Control-Allow-Headers"] = allowedHeaders
	header["Access-Control-Max-Age"] = preflightAge
	a.send(http.StatusNoContent, nil)
}

// origins are the origins of one endpoint's settings, prepared for comparison.
type origins struct {
	of  *contract.Endpoint
	own origin
	// exact are the allowed origins without a wildcard. below are the origins for hosts with one more label, without the
	// "*.".
	exact, below map[origin]bool
}

// originsOf returns the origins of the settings. It keeps them until the settings change.
func (h *Handler) originsOf(settings *contract.Endpoint) *origins {
	if known := h.origins.Load(); known != nil && known.of == settings {
		return known
	}
	made := newOrigins(settings)
	h.origins.Store(made)
	return made
}

func newOrigins(settings *contract.Endpoint) *origins {
	o := &origins{of: settings, exact: map[origin]bool{}, below: map[origin]bool{}}
	o.own, _ = originOf(settings.URL)
	for _, text := range settings.AllowedOrigins {
		allowed, ok := originOf(text)
		if !ok {
			continue // The API refuses it; here it allows nothing.
		}
		if host, isPattern := strings.CutPrefix(allowed.host, "*."); isPattern {
			allowed.host = host
			o.below[allowed] = true
		} else {
			o.exact[allowed] = true
		}
	}
	return o
}

func (o *origins) hasAllowed() bool { return len(o.exact)+len(o.below) > 0 }

// judge decides by the Origin header. It ignores the Host header, because a page that rebinds its name controls that
// too.
func (o *origins) judge(header http.Header) provenance {
	values, present := header["Origin"]
	if !present {
		return noOrigin
	}
	if len(values) != 1 {
		return foreignOrigin
	}
	asked, ok := originOf(values[0])
	if _, rest, _ := strings.Cut(values[0], "://"); !ok || strings.ContainsAny(rest, "/?#@\\") {
		return foreignOrigin
	}
	if asked == o.own {
		return ownOrigin
	}
	if o.exact[asked] {
		return allowedOrigin
	}
	label, parent, _ := strings.Cut(asked.host, ".")
	asked.host = parent
	if label != "" && o.below[asked] {
		return allowedOrigin
	}
	return foreignOrigin
}

// origin is a scheme, host and port as browsers compare them.
type origin struct{ scheme, host, port string }

// originOf reads the origin of a URL; false if it has none, as in "null".
func originOf(text string) (origin, bool) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" || u.Host == "" {
		return origin{}, false
	}
	o := origin{scheme: strings.ToLower(u.Scheme), host: strings.ToLower(u.Hostname()), port: u.Port()}
	if o.port == "" {
		switch o.scheme {
		case "http":
			o.port = "80"
		case "https":
			o.port = "443"
		}
	}
	return o, true
}
