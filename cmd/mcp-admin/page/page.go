package page

import (
	"net/http"
	"strings"
	"time"
)

// Options are what a page is made of.
type Options struct {
	Source Source
	// Base is the path below which it is served; it ends in "/".
	Base string
	// Start is the path below the root of the first screen; "" is the list of endpoints.
	Start string
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Page is the page for the browser of one person at this machine.
type Page struct {
	Options
	guard   *guard
	screens *Screens
	visitor *Visitor
}

// New returns the page. It can be opened once, by its Link.
func New(o Options) (*Page, error) {
	g := newGuard(o.Base)
	s, err := NewScreens(o.Base, g.root, o.Now)
	if err != nil {
		return nil, err
	}
	return &Page{Options: o, guard: g, screens: s, visitor: &Visitor{Source: o.Source, Form: g.form}}, nil
}

// Link is the URL that opens the page, once. The origin is that of the listener, such as http://127.0.0.1:8080.
func (p *Page) Link(origin string) string { return origin + p.guard.link() }

// ServeHTTP implements http.Handler.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	Headers(w.Header())
	path, below := strings.CutPrefix(r.URL.Path, p.Base)
	key, opens := strings.CutPrefix(path, "open/")
	switch {
	case !local(r):
		http.Error(w, "This page answers only at the address that mcp-admin printed.", http.StatusMisdirectedRequest)
	case !below:
		http.NotFound(w, r)
	case p.screens.Static(w, r):
	case opens && r.Method == http.MethodGet && p.guard.opens(key):
		http.SetCookie(w, p.guard.cookie())
		p.screens.Opened(w, r, p.guard.root+p.Start)
	case !p.screens.Has(r) || !p.guard.knows(r):
		p.screens.TurnAway(w, r, http.StatusForbidden, &Notice{Title: "Not open",
			Why: "This page is for the person who started mcp-admin.", Do: "Open the link that it printed. Each link works once, in one browser; start it again for a new one."})
	default:
		p.screens.Serve(w, r, "http://"+r.Host, p.visitor)
	}
}
