package page

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

//go:embed templates static
var files embed.FS

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

// Page is the page for one person's browser.
type Page struct {
	Options
	guard     *guard
	mux       *http.ServeMux
	templates map[string]*template.Template
}

// New returns the page. It can be opened once, by its Link.
func New(o Options) (*Page, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	p := &Page{Options: o, guard: newGuard(o.Base), mux: http.NewServeMux(), templates: map[string]*template.Template{}}
	names := []string{"opened", "refused"}
	for _, s := range screens() {
		names = append(names, s.name)
		p.mux.HandleFunc("GET /"+s.path, func(w http.ResponseWriter, r *http.Request) { p.show(w, r, &s) })
		if s.act != nil {
			p.mux.HandleFunc("POST /"+s.path, func(w http.ResponseWriter, r *http.Request) { p.act(w, r, &s) })
		}
	}
	for _, d := range downloads() {
		p.mux.HandleFunc("GET /"+d.path, func(w http.ResponseWriter, r *http.Request) { p.send(w, r, &d) })
	}
	p.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		p.refuse(w, p.request(r, nil), errNoScreen)
	})
	for _, name := range names {
		t, err := template.New("layout.html").Funcs(functions(p.guard.root, p.guard.base)).ParseFS(files, "templates/layout.html", "templates/parts.html", "templates/"+name+".html")
		if err != nil {
			return nil, err
		}
		p.templates[name] = t
	}
	return p, nil
}

// Link is the URL that opens the page, once. The origin is that of the listener, such as http://127.0.0.1:8080.
func (p *Page) Link(origin string) string { return origin + p.guard.link() }

// maxForm bounds a form, in bytes.
const maxForm = 64 << 10

// ServeHTTP implements http.Handler.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	headers(w.Header())
	path, below := strings.CutPrefix(r.URL.Path, p.Base)
	key, opens := strings.CutPrefix(path, "open/")
	rest, inside := strings.CutPrefix(r.URL.Path, p.guard.root)
	name, static := strings.CutPrefix(path, "static/")
	switch {
	case !local(r):
		http.Error(w, "This page answers only at the address that mcp-admin printed.", http.StatusMisdirectedRequest)
	case !below:
		http.NotFound(w, r)
	case static && r.Method == http.MethodGet:
		http.ServeFileFS(w, r, files, "static/"+name)
	case opens && r.Method == http.MethodGet && p.guard.opens(key):
		http.SetCookie(w, p.guard.cookie())
		// The browser goes on from a page of this site: after a link on another site, a redirection would come without the cookie.
		w.Header().Set("Refresh", "0;url="+p.guard.root+p.Start)
		p.render(w, http.StatusOK, "opened", &view{request: p.request(r, nil), Title: "Opened", Data: p.guard.root + p.Start})
	case !inside || !p.guard.knows(r):
		p.render(w, http.StatusForbidden, "refused", &view{request: p.request(r, nil), Outside: true, Title: "Not open", Data: &refusal{
			Why: "This page is for the person who started mcp-admin.", Do: "Open the link that it printed. Each link works once, in one browser; start it again for a new one."}})
	case r.Method == http.MethodPost && !p.mayPost(w, r):
		http.Error(w, "This form was not sent from this page. Go back, load the page again, and send it once more.", http.StatusForbidden)
	default:
		inner := r.Clone(r.Context())
		inner.URL.Path, inner.URL.RawPath = "/"+rest, ""
		p.mux.ServeHTTP(w, inner)
	}
}

func (p *Page) mayPost(w http.ResponseWriter, r *http.Request) bool {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	return p.guard.ours(r)
}

// request is one request for a screen, and what the screen says beside its data.
type request struct {
	*http.Request
	page   *Page
	screen *screen
	// Title is the screen's; Commands do the same in a terminal; Unseen says what could not be looked at.
	Title    string
	Commands []string
	Unseen   []string
	// Refresh has the browser reload the part of the page that changes.
	Refresh bool
}

func (p *Page) request(r *http.Request, s *screen) *request {
	return &request{Request: r, page: p, screen: s}
}

func (q *request) source() Source { return q.page.Source }

// key is the endpoint that the path names; empty if it names none.
func (q *request) key() types.NamespacedName {
	return types.NamespacedName{Namespace: q.PathValue("namespace"), Name: q.PathValue("name")}
}

// alike adds a command line to those that do the same; "" is none.
func (q *request) alike(line string) {
	if line != "" {
		q.Commands = append(q.Commands, line)
	}
}

// command adds a command of mcp-admin about the endpoint to those that do the same.
func (q *request) command(name string, args ...string) {
	q.alike(q.source().Command(name, q.key(), args...))
}

// view is what a template gets.
type view struct {
	*request
	Title string
	Data  any
	// Outside reports whether the reader was not let in: nothing is told, the session's path least of all.
	Outside bool
}

// tab leads to a screen.
type tab struct {
	Name, Path string
	Current    bool
}

func (p *Page) show(w http.ResponseWriter, r *http.Request, s *screen) {
	q := p.request(r, s)
	data, err := s.show(q)
	if err != nil {
		p.refuse(w, q, err)
		return
	}
	p.render(w, http.StatusOK, s.name, &view{request: q, Title: q.Title, Data: data})
}

func (p *Page) act(w http.ResponseWriter, r *http.Request, s *screen) {
	q := p.request(r, s)
	path, err := s.act(q)
	if err != nil {
		p.refuse(w, q, err)
		return
	}
	http.Redirect(w, r, p.guard.root+path, http.StatusSeeOther)
}

func (p *Page) send(w http.ResponseWriter, r *http.Request, d *download) {
	q := p.request(r, nil)
	w.Header().Set("Content-Type", d.contentType)
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", q.key().Name+"-"+d.file))
	if err := d.write(q, w); err != nil {
		w.Header().Del("Content-Disposition")
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		p.refuse(w, q, err)
	}
}

// render sends a screen, whole or not at all.
func (p *Page) render(w http.ResponseWriter, code int, name string, v *view) {
	var b bytes.Buffer
	if err := p.templates[name].Execute(&b, v); err != nil {
		http.Error(w, "The page could not be made: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	_, _ = w.Write(b.Bytes()) // the browser has gone if it fails
}

// Root is the path of the first screen, CSRF what each form sends.
func (v *view) Root() string  { return v.page.guard.root }
func (v *view) CSRF() string  { return v.page.guard.form }
func (v *view) Place() string { return v.page.Source.Place() }

// Endpoint is the endpoint that the screen is about; "" if it is about none.
func (v *view) Endpoint() string {
	if v.screen == nil || v.key().Name == "" {
		return ""
	}
	return v.key().String()
}

// Key is the endpoint that the screen is about.
func (v *view) Key() types.NamespacedName { return v.key() }

// Tabs lead to the screens of the same rank: of all endpoints, or of one.
func (v *view) Tabs() []tab {
	if v.screen == nil {
		return nil
	}
	var tabs []tab
	about := strings.HasPrefix(v.screen.path, ofEndpoint)
	for _, s := range screens() {
		if s.tab == "" || strings.HasPrefix(s.path, ofEndpoint) != about || s.changes && v.source().Cluster() == nil {
			continue
		}
		path := strings.NewReplacer("{namespace}", url.PathEscape(v.key().Namespace), "{name}", url.PathEscape(v.key().Name), "{$}", "").Replace(s.path)
		tabs = append(tabs, tab{s.tab, v.Root() + path, v.screen.path == s.path || v.screen.tab == "" && s.path != ofEndpoint && strings.HasPrefix(v.screen.path, s.path)})
	}
	return tabs
}

var errNoScreen = errors.New("there is no such page")
