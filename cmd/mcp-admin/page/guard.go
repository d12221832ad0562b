package page

import (
	"crypto/rand"
	"crypto/subtle"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	cookieName = "mcp-admin"
	// sessionTime is how long a browser stays let in.
	sessionTime = 12 * time.Hour
)

// guard lets in the one browser that opens the link, and nobody else: neither another user or process of this machine, nor a page of
// another site in the same browser.
//
// The link works once, and leaves a cookie. Cookies know no ports: what another user of this machine serves at another port would get
// it, too. So the cookie is for a path that only the browser knows, and no page tells other sites where it was (Referrer-Policy).
type guard struct {
	base string
	// root is the path below which the screens are; session is the cookie's value, form that of each form.
	root, session, form string

	mu sync.Mutex
	// key is the last part of the link's path; "" once it was used.
	key string
}

func newGuard(base string) *guard {
	return &guard{base: base, root: base + "s-" + strings.ToLower(rand.Text()[:12]) + "/", session: rand.Text(), form: rand.Text(), key: rand.Text()}
}

// link is the path of the one-time link.
func (g *guard) link() string { return g.base + "open/" + g.key }

// Headers sets the headers of every answer: browsers do not keep the page, frame it, or send any of it elsewhere.
func Headers(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'self'; "+
		"frame-ancestors 'none'; base-uri 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin") // with no-referrer, browsers would not say which origin a form is from
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// local reports whether a request names this machine and the port that it came in at: a name of somebody else's that leads here, by
// DNS, is refused.
func local(r *http.Request) bool {
	address, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if address == nil {
		return false
	}
	_, port, err := net.SplitHostPort(address.String())
	if err != nil {
		return false
	}
	host, named, err := net.SplitHostPort(r.Host)
	if err != nil {
		host, named = r.Host, "80"
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	return named == port && (host == "localhost" || host == "127.0.0.1" || host == "::1")
}

// opens uses up the link's key, if it is right.
func (g *guard) opens(key string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.key == "" || subtle.ConstantTimeCompare([]byte(key), []byte(g.key)) != 1 {
		return false
	}
	g.key = ""
	return true
}

func (g *guard) cookie() *http.Cookie {
	return &http.Cookie{Name: cookieName, Value: g.session, Path: g.root, MaxAge: int(sessionTime.Seconds()), HttpOnly: true, SameSite: http.SameSiteStrictMode} // #nosec G124 -- it is served over HTTP to this machine alone
}

// knows reports whether the request has the session's cookie.
func (g *guard) knows(r *http.Request) bool {
	for _, c := range r.CookiesNamed(cookieName) {
		if subtle.ConstantTimeCompare([]byte(c.Value), []byte(g.session)) == 1 {
			return true
		}
	}
	return false
}

// Ours reports whether a form was sent from a page of an origin, with the secret of the visitor's forms.
func Ours(w http.ResponseWriter, r *http.Request, origin, form string) bool {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" {
		return false
	}
	if from := r.Header.Get("Origin"); from != origin && (from != "" || r.Header.Get("Sec-Fetch-Site") == "") {
		return false
	}
	return subtle.ConstantTimeCompare([]byte(r.PostFormValue("form")), []byte(form)) == 1
}
