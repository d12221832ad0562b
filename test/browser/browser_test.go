package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqlite"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
	"github.com/mcp-admin/mcp-admin-operator/test/node"
)

const bookshop = `
create table book (book_id integer primary key, title text not null);
insert into book values (1, 'The Dispossessed'), (2, 'Solaris');
`

// A result is a page's report of its conversation.
type result struct {
	Conversation struct {
		Value *struct {
			Tools []string
			Text  string
		}
		Error string
	}
	RefusedToken struct {
		Value *struct {
			Status    int
			Challenge string
			Body      map[string]string
		}
		Error string
	}
}

func TestPageOfAnotherOrigin(t *testing.T) {
	program, script := prepare(t)
	allowed, refused := newPage(t, script), newPage(t, script)
	token, text := harness.Viewer()
	endpoint := harness.Serve(t, harness.Database{SQLiteFile: newBookshop(t)},
		[]contract.Model{{Name: "book", Table: "book", Expose: true, SearchFields: []string{"title"}}}, []contract.Token{token},
		func(c *contract.Config) { c.Endpoint.AllowedOrigins = []string{allowed.origin} })

	t.Run("that is allowed talks with the endpoint", func(t *testing.T) {
		r := allowed.run(t, program, endpoint.URL, text)
		c := r.Conversation
		if c.Value == nil {
			t.Fatalf("the client failed: %s", c.Error)
		}
		if v := *c.Value; !slices.Contains(v.Tools, "list_book") || !strings.Contains(v.Text, `"Solaris"`) || strings.Contains(v.Text, "Dispossessed") {
			t.Errorf("%+v", v)
		}
		if u := r.RefusedToken; u.Value == nil || u.Value.Status != 401 || u.Value.Challenge != "Bearer" ||
			u.Value.Body["error"] != "Invalid or missing authentication token" {
			t.Errorf("an unknown token: %+v %s", u.Value, u.Error)
		}
	})
	t.Run("that is not allowed learns nothing", func(t *testing.T) {
		r := refused.run(t, program, endpoint.URL, text)
		for what, e := range map[string]string{"the client": r.Conversation.Error, "a bare request": r.RefusedToken.Error} {
			if !strings.Contains(e, "Failed to fetch") {
				t.Errorf("%s: %q", what, e)
			}
		}
	})
}

// prepare returns the browser, and the page's script with the SDK in it.
func prepare(t *testing.T) (program string, script []byte) {
	t.Helper()
	required := os.Getenv("MCP_TEST_BROWSER") != ""
	missing := func(what any) {
		t.Helper()
		if required {
			t.Fatal(what)
		}
		t.Skipf("%v (make browser sees to it where it can)", what)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	if program = FindChromium(); program == "" {
		if !required {
			missing("there is no Chromium")
		}
		if err := InstallChromium(ctx); err != nil {
			missing(err)
		}
		program = FindChromium()
	}
	if _, err := exec.LookPath("npm"); err != nil {
		missing("there is no npm")
	}
	if err := node.Install(ctx, "."); err != nil {
		missing(err)
	}
	bundle := filepath.Join(t.TempDir(), "page.js")
	esbuild := exec.CommandContext(ctx, filepath.Join("node_modules", ".bin", "esbuild"), "page.mjs", "--bundle", "--format=esm",
		"--platform=browser", "--log-level=warning", "--outfile="+bundle)
	if out, err := esbuild.CombinedOutput(); err != nil {
		t.Fatalf("esbuild: %v\n%s", err, out)
	}
	script, err := os.ReadFile(bundle)
	if err != nil {
		t.Fatal(err)
	}
	return program, script
}

// A page is an origin on this machine with one page on it.
type page struct {
	origin   string
	settings map[string]string
	results  chan result
}

func newPage(t *testing.T, script []byte) *page {
	t.Helper()
	p := &page{results: make(chan result, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, `<!doctype html><title>page</title><script type="module" src="/page.js"></script>`)
	})
	mux.HandleFunc("GET /page.js", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
		_, _ = w.Write(script)
	})
	mux.HandleFunc("GET /settings", func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(p.settings) })
	mux.HandleFunc("POST /result", func(w http.ResponseWriter, r *http.Request) {
		var told result
		if err := json.NewDecoder(r.Body).Decode(&told); err != nil {
			t.Errorf("the page told nonsense: %v", err)
		}
		w.WriteHeader(http.StatusNoContent)
		p.results <- told
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: mux}
	go func() { _ = server.Serve(listener) }() // ends with Close
	t.Cleanup(func() { _ = server.Close() })
	p.origin = "http://" + listener.Addr().String()
	return p
}

// run shows the page in a browser until it reports its result.
func (p *page) run(t *testing.T, program, url, token string) result {
	t.Helper()
	p.settings = map[string]string{"url": url, "token": token}
	ctx, end := context.WithTimeout(t.Context(), 10*time.Minute)
	shown := make(chan error, 1)
	go func() { shown <- show(ctx, program, p.origin+"/") }()
	defer end()
	select {
	case told := <-p.results:
		end()
		if err := <-shown; err != nil {
			t.Error(err)
		}
		return told
	case err := <-shown:
		t.Fatalf("the page told nothing: %v", errors.Join(err, ctx.Err()))
		return result{}
	}
}

// newBookshop makes a SQLite file with a few books.
func newBookshop(t *testing.T) string {
	t.Helper()
	init, file := t.TempDir(), filepath.Join(t.TempDir(), "bookshop.sqlite")
	if err := os.WriteFile(filepath.Join(init, "bookshop.sql"), []byte(bookshop), 0o600); err != nil {
		t.Fatal(err)
	}
	db := sqlite.Open(database.Settings{
		Database:   contract.Database{Engine: contract.EngineSQLite, MaxConnections: 1, StatementTimeout: contract.Duration(2 * time.Minute)},
		SQLitePath: file, SQLiteInitDir: init,
	})
	defer db.Close()
	if err := db.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	return file
}
