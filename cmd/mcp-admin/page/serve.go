package page

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

//go:embed templates static
var files embed.FS

// Screens are the page's screens, for everybody whom their server lets in. They check no session: the server does, and says who is there.
type Screens struct {
	base, root string
	now        func() time.Time
	mux        *http.ServeMux
	templates  map[string]*template.Template
}

// Visitor is somebody who was let in.
type Visitor struct {
	// Source reads as this person.
	Source Source
	// Form is the secret that each form of this person's pages sends.
	Form string
	// Logout is the path of the form that ends the session; "" is none.
	Logout string
}

// Notice is told to somebody who is not let in.
type Notice struct {
	Title, Why, Do string
	// Link leads on, by its Label; "" is none.
	Link, Label string
}

// NewScreens returns the screens. Both paths end in "/": the files without anything secret are below the base, the screens below the
// root, which is the base or below it. A now that is nil is time.Now.
func NewScreens(base, root string, now func() time.Time) (*Screens, error) {
	if now == nil {
		now = time.Now
	}
	p := &Screens{base: base, root: root, now: now, mux: http.NewServeMux(), templates: map[string]*template.Template{}}
	names := []string{"opened", "refused", "notice"}
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
		t, err := template.New("layout.html").Funcs(functions(root, base)).ParseFS(files, "templates/layout.html", "templates/parts.html", "templates/"+name+".html")
		if err != nil {
			return nil, err
		}
		p.templates[name] = t
	}
	return p, nil
}

// Static serves a file that is the same for everybody, and reports whether the request is for one.
func (p *Screens) Static(w http.ResponseWriter, r *http.Request) bool {
	name, static := strings.CutPrefix(r.URL.Path, p.base+"static/")
	if static && r.Method == http.MethodGet {
		http.ServeFileFS(w, r, files, "static/"+name)
		return true
	}
	return false
}

// Opened tells a browser that it is let in, and sends it on to a path of this site. It goes on from a page of this site: after a link
// on another site, a redirection would come without the cookie.
func (p *Screens) Opened(w http.ResponseWriter, r *http.Request, path string) {
	w.Header().Set("Refresh", "0;url="+path)
	p.render(w, http.StatusOK, "opened", &view{request: p.request(r, nil), Title: "Opened", Data: path, Outside: true})
}

// TurnAway tells somebody who is not let in why. Nothing else is told.
func (p *Screens) TurnAway(w http.ResponseWriter, r *http.Request, code int, n *Notice) {
	p.render(w, code, "notice", &view{request: p.request(r, nil), Outside: true, Title: n.Title, Data: n})
}

// Has reports whether a request's path is below the screens' root.
func (p *Screens) Has(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, p.root) }

// maxForm bounds a form, in bytes.
const maxForm = 64 << 10

// who is the key of the Visitor in a request's context.
type who struct{}

// Serve answers a request below the root. The origin is the only one from which forms are accepted.
func (p *Screens) Serve(w http.ResponseWriter, r *http.Request, origin string, v *Visitor) {
	if r.Method == http.MethodPost && !Ours(w, r, origin, v.Form) {
		http.Error(w, "This form was not sent from this page. Go back, load the page again, and send it once more.", http.StatusForbidden)
		return
	}
	inner := r.Clone(context.WithValue(r.Context(), who{}, v))
	inner.URL.Path, inner.URL.RawPath = "/"+strings.TrimPrefix(r.URL.Path, p.root), ""
	p.mux.ServeHTTP(w, inner)
}

// request is one request for a screen, and what the screen says beside its data.
type request struct {
	*http.Request
	page    *Screens
	visitor *Visitor
	screen  *screen
	// Title is the screen's; Commands do the same in a terminal; Unseen says what could not be looked at.
	Title    string
	Commands []string
	Unseen   []string
	// Refresh has the browser reload the part of the page that changes.
	Refresh bool
	// allApprovals are the approvals of what the screen is about, read once.
	allApprovals func() ([]v1alpha1.MCPApproval, error)
}

func (p *Screens) request(r *http.Request, s *screen) *request {
	visitor, _ := r.Context().Value(who{}).(*Visitor) // nil for somebody who is not let in
	q := &request{Request: r, page: p, visitor: visitor, screen: s}
	q.allApprovals = sync.OnceValues(q.readApprovals)
	return q
}

func (q *request) source() Source { return q.visitor.Source }

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
	// Waiting is how many calls wait there.
	Waiting int
}

func (p *Screens) show(w http.ResponseWriter, r *http.Request, s *screen) {
	q := p.request(r, s)
	go q.allApprovals() //nolint:errcheck // the tabs ask for it once the screen is made: meanwhile it is read
	data, err := s.show(q)
	if err != nil {
		p.refuse(w, q, err)
		return
	}
	p.render(w, http.StatusOK, s.name, &view{request: q, Title: q.Title, Data: data})
}

func (p *Screens) act(w http.ResponseWriter, r *http.Request, s *screen) {
	q := p.request(r, s)
	path, err := s.act(q)
	if err != nil {
		p.refuse(w, q, err)
		return
	}
	http.Redirect(w, r, p.root+path, http.StatusSeeOther)
}

func (p *Screens) send(w http.ResponseWriter, r *http.Request, d *download) {
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
func (p *Screens) render(w http.ResponseWriter, code int, name string, v *view) {
	var b bytes.Buffer
	if err := p.templates[name].Execute(&b, v); err != nil {
		http.Error(w, "The page could not be made: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	_, _ = w.Write(b.Bytes()) // the browser has gone if it fails
}

// Root is the path of the first screen, CSRF what each form sends, Logout the path of the form that ends the session.
func (v *view) Root() string   { return v.page.root }
func (v *view) CSRF() string   { return v.visitor.Form }
func (v *view) Logout() string { return v.visitor.Logout }
func (v *view) Place() string  { return v.source().Place() }

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
		t := tab{Name: s.tab, Path: v.Root() + path, Current: v.screen.path == s.path || v.screen.tab == "" && s.path != ofEndpoint && strings.HasPrefix(v.screen.path, s.path)}
		if s.counts {
			t.Waiting = v.waiting()
		}
		tabs = append(tabs, t)
	}
	return tabs
}

var errNoScreen = errors.New("there is no such page")
