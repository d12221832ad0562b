package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server"
	"github.com/mcp-admin/mcp-admin-operator/server/mcp"
	"github.com/mcp-admin/mcp-admin-operator/server/source"
	"github.com/mcp-admin/mcp-admin-operator/server/telemetry"
)

// An endpoint is a target of the suite.
type endpoint struct {
	name string
	// start answers at a listener of its own until ctx ends; folder is a place for its files.
	start func(ctx context.Context, config *contract.Config, listener net.Listener, folder string) error
	// named reports whether it has the tools, prompts and resources that the suite asks for by name.
	named bool
}

var endpoints = []endpoint{
	{name: "database", start: startServer},
	{name: "fixture", start: startFixture, named: true},
}

// nameless are the scenarios that ask for nothing by name, but for single checks that the suite calls untestable if
// it is missing: any server can answer them.
var nameless = []string{
	"server-initialize", "server-session-lifecycle", "server-stateless", "ping", "logging-set-level", "server-sse-polling",
	"server-sse-multiple-streams", "tools-list", "prompts-list", "resources-list", "sep-2164-resource-not-found",
	"dns-rebinding-protection", "caching", "http-header-validation",
}

// counted are the results that count at this endpoint.
func (e endpoint) counted(results []result) (counted []result) {
	for _, r := range results {
		if !e.named && !slices.Contains(nameless, r.scenario) {
			continue
		}
		if !e.named {
			r.checks = slices.DeleteFunc(r.checks, check.untestable)
		}
		r.endpoint = e.name
		counted = append(counted, r)
	}
	return counted
}

// token is the text of the only token that the endpoints know.
const token = "mcp_conformance_____.0000000000000000000000000000000000000000000"

// serve starts the endpoint with the proxy in front of it, until ctx ends, and returns the proxy's URL.
func (e endpoint) serve(ctx context.Context, folder string) (url string, err error) {
	front, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	behind, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	// Its own origin is the origin that it is called at.
	url = "http://" + front.Addr().String() + "/mcp/"
	config := &contract.Config{
		Version: contract.Version, Layout: contract.Layout{Parts: 1}, Revision: 1,
		Endpoint: contract.Endpoint{
			Namespace: "test", Name: "conformance", URL: url, StatusKey: "status-key",
			SealKey:  base64.StdEncoding.EncodeToString([]byte("0123456789abcdef0123456789abcdef")),
			Database: contract.Database{Engine: contract.EngineSQLite, MaxConnections: 4, StatementTimeout: contract.Duration(10 * time.Second)},
			Limits:   contract.Limits{MaxBodyBytes: 4 << 20, MaxConcurrentRequests: 100, MaxResultBytes: 1 << 20, MaxExportRows: 100_000},
		},
		Tokens: []contract.Token{{
			Namespace: "test", Name: "conformance", Hashes: []string{contract.HashToken(token)},
			Rules: []contract.Rule{{Models: []string{contract.Wildcard}, Verbs: []string{contract.Wildcard}}},
		}},
	}
	if err := e.start(ctx, config, behind, folder); err != nil {
		return "", err
	}
	serveProxy(ctx, front, behind.Addr(), token)
	return url, nil
}

const tables = `
CREATE TABLE author (id INTEGER PRIMARY KEY, name VARCHAR(80) NOT NULL);
CREATE TABLE book (id INTEGER PRIMARY KEY, author_id INTEGER NOT NULL REFERENCES author (id), title VARCHAR(160) NOT NULL);
INSERT INTO author VALUES (1, 'Ursula K. Le Guin'), (2, 'Stanisław Lem');
INSERT INTO book VALUES (1, 1, 'The Dispossessed'), (2, 2, 'Solaris');
`

// fixed is a source that says the same for ever.
type fixed source.Update

// Run implements source.Source.
func (f fixed) Run(ctx context.Context, apply func(source.Update)) error {
	apply(source.Update(f))
	<-ctx.Done()
	return nil
}

// startServer starts a whole server over a SQLite database, and waits until it has read the schema.
func startServer(ctx context.Context, config *contract.Config, listener net.Listener, folder string) error {
	for _, name := range []string{"author", "book"} {
		config.Models = append(config.Models, contract.Model{
			Exposure: name, Name: name, Table: name, Expose: true, VerboseName: name, VerboseNamePlural: name + "s",
			DefaultPageSize: 100, MaxPageSize: 1000, MaxBulkItems: 1000,
		})
	}
	sql := filepath.Join(folder, "sql")
	if err := os.Mkdir(sql, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(sql, "tables.sql"), []byte(tables), 0o600); err != nil {
		return err
	}
	admin, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s := &server.Server{
		Source: fixed{Config: config}, Endpoint: []net.Listener{listener}, Admin: []net.Listener{admin}, Version: "conformance",
		SQLiteFile: filepath.Join(folder, "database"), SQLiteInitDir: sql, Log: slog.New(slog.DiscardHandler),
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	for deadline := time.Now().Add(10 * time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		response, err := http.Get("http://" + admin.Addr().String() + "/readyz")
		if err == nil && response.Body.Close() == nil && response.StatusCode == http.StatusOK {
			return nil
		}
		select {
		case err := <-ended:
			return fmt.Errorf("the server ended: %w", err)
		default:
		}
	}
	return errors.New("the server did not become ready")
}

// startFixture serves the real handler over the fixture.
func startFixture(ctx context.Context, config *contract.Config, listener net.Listener, folder string) error {
	catalogue, err := newFixture(ctx, config, folder)
	if err != nil {
		return err
	}
	s := &http.Server{
		ReadHeaderTimeout: 10 * time.Second,
		Handler: mcp.NewHandler(mcp.Options{
			Endpoint:        func() (mcp.Endpoint, bool) { return catalogue, true },
			DatabaseTrouble: func() {},
			Metrics:         telemetry.NewMetrics(),
			Log:             slog.New(slog.DiscardHandler),
			Version:         "conformance",
		}),
	}
	go func() {
		<-ctx.Done()
		_ = s.Close() // the program ends
	}()
	go func() { _ = s.Serve(listener) }()
	return nil
}
