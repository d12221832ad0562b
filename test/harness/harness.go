// Package harness runs a whole server in the test's own process, over a real database, and asks it over HTTP.
package harness

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server"
	"github.com/mcp-admin/mcp-admin-operator/server/audit"
	"github.com/mcp-admin/mcp-admin-operator/server/source"
	"github.com/mcp-admin/mcp-admin-operator/test/project"
)

// Endpoint is a running server.
type Endpoint struct {
	// URL is the address that agents call.
	URL string
	// Log has the server's log.
	Log    *Log
	t      testing.TB
	admin  string
	last   source.Update
	source *manual
	// schemas are the answers' schemas; each answer that Call gets is held against its own.
	schemas listedSchemas
}

// Log keeps the output of a server or a command, for a test to read meanwhile. Safe for concurrent use.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
	// full is set while no audit line can be written.
	full atomic.Bool
}

// Full has audit lines fail, as on a disk that is full, or not any more.
func (l *Log) Full(is bool) { l.full.Store(is) }

// auditLines is the part of the log that audit lines go to.
type auditLines struct{ *Log }

// Write implements io.Writer.
func (l auditLines) Write(p []byte) (int, error) {
	if l.full.Load() {
		return 0, syscall.ENOSPC
	}
	return l.Log.Write(p)
}

// Write implements io.Writer.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String is all of it.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Reset forgets it.
func (l *Log) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.Reset()
}

// Lines are the lines that hold a text.
func (l *Log) Lines(containing string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []string
	for line := range strings.Lines(l.text.String()) {
		if strings.Contains(line, containing) {
			found = append(found, strings.TrimSuffix(line, "\n"))
		}
	}
	return found
}

// Database says where a server's database is: a SQLite file, what DuckDB reads, or a connection Secret.
type Database struct {
	SQLiteFile string
	// DuckDBPath is what DuckDB reads.
	DuckDBPath string
	Connection source.Secret
	// apart are the foreign keys that it lacks, as its rows lie on several shards or servers.
	apart []leftOut
}

// manual is a source that the test controls. applied follows each update.
type manual struct {
	updates chan source.Update
	applied chan struct{}
}

// Run implements source.Source.
func (m *manual) Run(ctx context.Context, apply func(source.Update)) error {
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

const statusKey = "status-key"

// Serve runs a server over the database until the test ends, and returns once it has read the schema. It fills in what
// the models and tokens leave out. If configure is given, it changes the Config before it is used.
func Serve(t testing.TB, database Database, models []contract.Model, tokens []contract.Token, configure ...func(*contract.Config)) *Endpoint {
	t.Helper()
	return ServeAs(t, func(*server.Server) {}, database, models, tokens, configure...)
}

// ServeAs is Serve with a server that prepare changes before it runs.
func ServeAs(t testing.TB, prepare func(*server.Server), database Database, models []contract.Model, tokens []contract.Token, configure ...func(*contract.Config)) *Endpoint {
	t.Helper()
	config := &contract.Config{
		Version: contract.Version, Layout: contract.Layout{Parts: 1}, Revision: 1, Models: slices.Clone(models), Tokens: tokens,
		Endpoint: contract.Endpoint{
			Namespace: "test", Name: "test", StatusKey: statusKey,
			SealKey:  base64.StdEncoding.EncodeToString([]byte("0123456789abcdef0123456789abcdef")),
			Database: contract.Database{MaxConnections: 4, StatementTimeout: contract.Duration(2 * time.Minute)},
			Limits:   contract.Limits{MaxBodyBytes: 4 << 20, MaxConcurrentRequests: 200, MaxResultBytes: 1 << 20, MaxExportRows: 100_000},
			// Each answer is then held against the schema that its tool lists.
			Catalogue: contract.Catalogue{StructuredContent: true},
		},
	}
	if database.SQLiteFile != "" {
		config.Endpoint.Database.Engine = contract.EngineSQLite
	}
	if database.DuckDBPath != "" {
		config.Endpoint.Database.Engine = contract.EngineDuckDB
	}
	complete(config.Models)
	for _, change := range configure {
		change(config)
	}
	for _, key := range database.apart {
		key.declare(config.Models)
	}
	if err := config.Validate(); err != nil {
		t.Fatal(err)
	}
	endpoint, admin := listen(t), listen(t)
	e := &Endpoint{
		URL: "http://" + endpoint.Addr().String() + "/mcp/", Log: &Log{},
		t: t, admin: "http://" + admin.Addr().String(),
		source: &manual{make(chan source.Update), make(chan struct{})},
	}
	if config.Endpoint.URL == "" {
		config.Endpoint.URL = e.URL
	}
	s := &server.Server{
		Source: e.source, Endpoint: []net.Listener{endpoint}, Admin: []net.Listener{admin}, SQLiteFile: database.SQLiteFile, DuckDBPath: database.DuckDBPath,
		CountFor: time.Minute, LocalWebhooks: true, Version: "test", Log: slog.New(slog.NewJSONHandler(e.Log, nil)), Audit: audit.NewLog(auditLines{e.Log}),
	}
	prepare(s)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	e.apply(source.Update{Config: config, Connection: database.Connection})
	e.waitReady(e.admin)
	return e
}

// complete fills in what the models leave out, and sorts them.
func complete(models []contract.Model) {
	slices.SortFunc(models, func(a, b contract.Model) int { return cmp.Compare(a.Name, b.Name) })
	for i := range models {
		m := &models[i]
		m.Exposure, m.VerboseName, m.VerboseNamePlural = m.Name, m.Name, m.Name+"s"
		m.DefaultPageSize, m.MaxPageSize, m.MaxBulkItems = cmp.Or(m.DefaultPageSize, 100), cmp.Or(m.MaxPageSize, 1000), cmp.Or(m.MaxBulkItems, 1000)
	}
}

func (e *Endpoint) apply(u source.Update) {
	e.last = u
	e.schemas.forget()
	e.source.updates <- u
	<-e.source.applied
}

// Apply puts a changed Config in force. When it returns, calls are answered from it.
func (e *Endpoint) Apply(change func(*contract.Config)) {
	e.t.Helper()
	// A copy of its own: the server compares what it is given with what it has, which must not change under it.
	config := e.Config()
	config.Revision++
	change(config)
	complete(config.Models)
	if err := config.Validate(); err != nil {
		e.t.Fatal(err)
	}
	next := e.last
	next.Config = config
	e.apply(next)
}

// Config is a copy of the Config in force.
func (e *Endpoint) Config() *contract.Config {
	e.t.Helper()
	var config contract.Config
	text, err := json.Marshal(e.last.Config)
	if err == nil {
		err = json.Unmarshal(text, &config)
	}
	if err != nil {
		e.t.Fatal(err)
	}
	return &config
}

// Update tells the server of changed Secrets.
func (e *Endpoint) Update(change func(*source.Update)) {
	next := e.last
	change(&next)
	e.apply(next)
}

// Status returns the server's report to the controllers.
func (e *Endpoint) Status() contract.Status {
	e.t.Helper()
	var s contract.Status
	if text := e.ask(e.admin + "/status"); json.Unmarshal([]byte(text), &s) != nil {
		e.t.Fatalf("no status: %s", text)
	}
	return s
}

// Usage returns the server's report on the tokens' use.
func (e *Endpoint) Usage() contract.Usage {
	e.t.Helper()
	var u contract.Usage
	if text := e.ask(e.admin + "/usage"); json.Unmarshal([]byte(text), &u) != nil {
		e.t.Fatalf("no usage: %s", text)
	}
	return u
}

// Approvals returns what changed of the calls that wait for other people since a cursor.
func (e *Endpoint) Approvals(after string) contract.ApprovalPage {
	e.t.Helper()
	var page contract.ApprovalPage
	if text := e.ask(e.admin + "/approvals?after=" + after); json.Unmarshal([]byte(text), &page) != nil {
		e.t.Fatalf("no approvals: %s", text)
	}
	return page
}

// Metrics returns the server's metrics, as Prometheus reads them.
func (e *Endpoint) Metrics() string {
	e.t.Helper()
	response, err := http.Get(e.admin + "/metrics")
	if err != nil {
		e.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		e.t.Fatal(err)
	}
	return string(text)
}

// FreeAddress is an address of localhost on which nobody listened a moment ago.
func FreeAddress(t testing.TB) string {
	t.Helper()
	address, err := project.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	return address
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func (e *Endpoint) waitReady(admin string) {
	e.t.Helper()
	for deadline := time.Now().Add(10 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		response, err := http.Get(admin + "/readyz")
		if err == nil {
			_ = response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return
			}
		}
		if time.Now().After(deadline) {
			e.t.Fatalf("the server is not ready: %s", e.ask(admin+"/status"))
		}
	}
}

// ask returns a report of the admin port.
func (e *Endpoint) ask(url string) string {
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return err.Error()
	}
	request.Header.Set("Authorization", "Bearer "+statusKey)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body) // part of it is enough for a message
	return string(body)
}

// Post sends a body with a token and returns the status and body of the answer.
func (e *Endpoint) Post(token, body string) (int, string) {
	e.t.Helper()
	return e.PostTo("", token, body)
}

// PostTo is Post to the endpoint's URL with a query: "", or "?" and parameters.
func (e *Endpoint) PostTo(query, token, body string) (int, string) {
	e.t.Helper()
	request, err := http.NewRequest(http.MethodPost, e.URL+query, strings.NewReader(body))
	if err != nil {
		e.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		e.t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		e.t.Fatal(err)
	}
	return response.StatusCode, string(answer)
}

// Call calls a tool and returns its text, and whether it is an error.
func (e *Endpoint) Call(token, tool, arguments string) (text string, isError bool) {
	e.t.Helper()
	status, body := e.Post(token, fmt.Sprintf(`{"method":"tools/call","name":%q,"arguments":%s}`, tool, arguments))
	var answer struct {
		Content           []struct{ Type, Text string }
		StructuredContent json.RawMessage
		IsError           bool
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil || status != http.StatusOK || len(answer.Content) != 1 || answer.Content[0].Type != "text" {
		e.t.Fatalf("%s %s: %d %s", tool, arguments, status, body)
	}
	text = answer.Content[0].Text
	if err := e.checkStructured(token, tool, text, answer.StructuredContent, answer.IsError); err != nil {
		e.t.Errorf("%s %s: %v", tool, arguments, err)
	}
	return text, answer.IsError
}

// Viewer is a token that may view everything, and its text.
func Viewer() (contract.Token, string) {
	const text = "mcp_viewerviewerview.0000000000000000000000000000000000000000000"
	return contract.Token{Namespace: "test", Name: "viewer", Hashes: []string{contract.HashToken(text)},
		Rules: []contract.Rule{{Models: []string{"*"}, Verbs: []string{"view"}}}}, text
}
