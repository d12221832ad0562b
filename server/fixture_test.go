package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqlite"
	"github.com/mcp-admin/mcp-admin-operator/server/source"
)

const (
	token     = "a-token-of-more-than-thirty-two-characters"
	statusKey = "the-status-key"
	bookshop  = `
create table book (book_id integer primary key, title text not null);
insert into book values (1, 'The Dispossessed'), (2, 'Solaris');
`
)

// config is a Config of one model and one token.
func config(revision int64) *contract.Config {
	return &contract.Config{
		Version: contract.Version, Layout: contract.Layout{Parts: 1}, Revision: revision,
		Endpoint: contract.Endpoint{
			Namespace: "shop", Name: "books", StatusKey: statusKey, URL: "http://books.example.com/mcp/",
			Database: contract.Database{Engine: contract.EngineSQLite, MaxConnections: 2, StatementTimeout: contract.Duration(time.Minute)},
			Limits:   contract.Limits{MaxBodyBytes: 1 << 16, MaxConcurrentRequests: 10, MaxResultBytes: 1 << 20},
		},
		Models: []contract.Model{
			{Exposure: "book", Name: "book", Table: "book", Expose: true, VerboseName: "book", VerboseNamePlural: "books", DefaultPageSize: 100, MaxPageSize: 1000, MaxBulkItems: 1000},
		},
		Tokens: []contract.Token{
			{Namespace: "shop", Name: "agent", Hashes: []string{contract.HashToken(token)}, Rules: []contract.Rule{{Models: []string{"*"}, Verbs: []string{"view"}}}},
		},
	}
}

// revoked is the Config without its token.
func revoked(revision int64) *contract.Config {
	c := config(revision)
	c.Tokens = nil
	return c
}

// manual is a source that says what the test says. applied follows each update that was.
type manual struct {
	updates chan source.Update
	applied chan struct{}
}

func (m manual) Run(ctx context.Context, apply func(source.Update)) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case u := <-m.updates:
			apply(u)
			m.applied <- struct{}{}
		}
	}
}

// flaky is a database that can be away.
type flaky struct {
	database.DB
	away   *atomic.Bool
	closed atomic.Bool
	reads  atomic.Int32
}

var errAway = &database.Error{Code: database.Unreachable, Reason: contract.ReasonUnreachable, Message: "db.example.com:5432 does not answer"}

func (f *flaky) Introspect(ctx context.Context) (*database.Schema, error) {
	f.reads.Add(1)
	if f.away.Load() {
		return nil, errAway
	}
	return f.DB.Introspect(ctx)
}

func (f *flaky) Select(ctx context.Context, plan *database.Select, out []byte) ([]byte, database.Page, error) {
	if f.away.Load() {
		return out, database.Page{}, errAway
	}
	return f.DB.Select(ctx, plan, out)
}

func (f *flaky) Ping(ctx context.Context) error {
	if f.away.Load() {
		return errAway
	}
	return f.DB.Ping(ctx)
}

func (f *flaky) Close() {
	f.closed.Store(true)
	f.DB.Close()
}

// opened is a database that the server opened.
type opened struct {
	engine   string
	settings database.Settings
	db       *flaky
}

// running is a server at work over a SQLite bookshop.
type running struct {
	t               *testing.T
	endpoint, admin string
	second          string // another address of the endpoint, if it has one
	source          manual
	// away reports whether the databases answer.
	away atomic.Bool
	stop context.CancelFunc
	done chan error

	mu     sync.Mutex
	opened []opened
}

func start(t *testing.T, configure func(*server.Server, *running)) *running {
	t.Helper()
	r := &running{t: t, source: manual{make(chan source.Update), make(chan struct{})}, done: make(chan error, 1)}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "bookshop.sql"), []byte(bookshop), 0o600); err != nil {
		t.Fatal(err)
	}
	endpoint, admin := listen(t), listen(t)
	r.endpoint, r.admin = "http://"+endpoint.Addr().String(), "http://"+admin.Addr().String()
	s := &server.Server{
		Source: r.source, Endpoint: []net.Listener{endpoint}, Admin: []net.Listener{admin},
		SQLiteFile: filepath.Join(t.TempDir(), "db.sqlite"), SQLiteInitDir: dir,
		Version: "1.2.3", Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	s.OpenDatabase = func(engine string, settings database.Settings) database.DB {
		sqliteSettings := settings
		sqliteSettings.SQLitePath, sqliteSettings.SQLiteInitDir = s.SQLiteFile, s.SQLiteInitDir
		db := &flaky{DB: sqlite.Open(sqliteSettings), away: &r.away}
		r.mu.Lock()
		r.opened = append(r.opened, opened{engine, settings, db})
		r.mu.Unlock()
		return db
	}
	if configure != nil {
		configure(s, r)
	}
	var ctx context.Context
	ctx, r.stop = context.WithCancel(context.Background())
	go func() { r.done <- s.Run(ctx) }()
	t.Cleanup(func() {
		r.stop()
		select {
		case err := <-r.done:
			if err != nil {
				t.Errorf("Run: %v", err)
			}
		case <-time.After(10 * time.Minute):
			t.Error("Run does not end")
		}
	})
	return r
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// apply tells the server what to answer from, and returns when it does.
func (r *running) apply(u source.Update) {
	r.source.updates <- u
	<-r.source.applied
}

// newest is the database that was opened last, and how many there were.
func (r *running) newest() (newest opened, count int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.opened) == 0 {
		return opened{}, 0
	}
	return r.opened[len(r.opened)-1], len(r.opened)
}

// post sends a body to the endpoint and returns the answer.
func (r *running) post(body string) (status int, answer string) {
	return r.do(http.MethodPost, r.endpoint+"/mcp/", token, body)
}

// get asks the admin port.
func (r *running) get(path string) (status int, answer string) {
	return r.do(http.MethodGet, r.admin+path, statusKey, "")
}

func (r *running) do(method, url, bearer, body string) (status int, answer string) {
	request, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+bearer)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	all, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err.Error()
	}
	return response.StatusCode, string(all)
}

// status returns the answer of /status, after waiting for another than seen for as long as wait ("" is not at all).
func (r *running) status(seen, wait string) contract.Status {
	code, answer := r.get(fmt.Sprintf("/status?seen=%s&wait=%s", seen, wait))
	var s contract.Status
	if code == 200 {
		if err := json.Unmarshal([]byte(answer), &s); err != nil {
			r.t.Errorf("%v in %s", err, answer)
		}
	}
	return s
}

// until waits for a status.
func (r *running) until(what string, reached func(contract.Status) bool) contract.Status {
	r.t.Helper()
	var s contract.Status
	for deadline := time.Now().Add(10 * time.Minute); time.Now().Before(deadline); {
		if s = r.status(s.Serial, "1s"); reached(s) {
			return s
		}
		if s.Serial == "" {
			time.Sleep(10 * time.Millisecond) // There is no Config, so no key.
		}
	}
	r.t.Fatalf("never %s: %+v", what, s)
	return s
}

func (r *running) untilReady() {
	r.t.Helper()
	r.until("ready", func(s contract.Status) bool { return s.Ready })
}
