// Package server runs a server: it takes what a source says, keeps the database's schema in view, joins both into the
// snapshot that requests are answered from, and serves the endpoint and the admin port until its context ends.
//
// Package cmd imports it, with the source that suits the command; nothing else does.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/audit"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/identity"
	"github.com/mcp-admin/mcp-admin-operator/server/mcp"
	"github.com/mcp-admin/mcp-admin-operator/server/source"
	"github.com/mcp-admin/mcp-admin-operator/server/telemetry"
)

// Server is one server before it runs. All fields are required, except the ones that say otherwise.
type Server struct {
	// Source tells what to answer from.
	Source source.Source
	// Endpoint is where agents are answered, Admin the port of probes, metrics and status, each on one or more addresses. Run
	// closes them all.
	Endpoint, Admin []net.Listener
	// TLS reports whether the endpoint's port speaks TLS, with the source's certificate; the admin port never does.
	TLS bool
	// SQLiteFile is the file of a SQLite database, SQLiteInitDir a folder of SQL files to fill a new one; both may be "".
	SQLiteFile, SQLiteInitDir string
	// DuckDBPath is the file or folder that DuckDB reads; it may be "".
	DuckDBPath string
	// CountFor is how long a list counts its rows exactly where nothing asks for it; 0 is database.TotalBudget. With more of it, no
	// answer depends on how busy the machine is.
	CountFor time.Duration
	// LocalWebhooks lets webhooks be on this machine itself, for trying them out: everywhere else it would lead into the
	// server's own pod.
	LocalWebhooks bool
	// InPod says that the machine's localhost is a pod's, where nobody else's programs run: the admin port shows the values of calls that
	// wait to who comes from there.
	InPod bool
	// PodAddresses are the pod's own, which webhooks may not have; nil are the addresses of the machine's network
	// interfaces.
	PodAddresses []netip.Addr
	// Version is the program's, as initialize tells it.
	Version string
	Log     *slog.Logger
	// Audit gets a line for each call that changed something or was refused, whatever the level of Log; nil: there are none.
	Audit *audit.Log
	// API is where the tokens of ServiceAccounts are checked; nil if there is no cluster, whose tokens nobody shows then.
	API *identity.API
	// StateDir is a folder in which the issuers' keys outlive the process; "" stores none.
	StateDir string
	// DrainDelay is how long requests are still accepted after Run was told to end, while readiness already says no, so
	// that whoever routes here hears of it first; 0 is not at all.
	DrainDelay time.Duration
	// Environment has OpenTelemetry's variables; nil is the process's own.
	Environment func(string) string
	// Profiles has the admin port serve profiles of the process.
	Profiles bool
	// Pages are what the admin port serves below /ui/; nil is nothing. They see to it themselves who may read them.
	Pages http.Handler
	// OpenDatabase opens a database of one of contract's engines; nil opens the real ones.
	OpenDatabase func(engine string, settings database.Settings) database.DB
	// Now is the clock by which tokens expire, rates fill again and filters mean now; nil is time.Now.
	Now func() time.Time

	// patience is that with agents' connections; zero is the usual one, which tests have no time for.
	patience patience
}

// patience is how long a client may take on a connection: for a request's headers, and for all of it.
type patience struct{ header, request time.Duration }

// drainTimeout is how long requests under way may take after the drain delay, before they are cut off.
const drainTimeout = 20 * time.Second

// Run serves until ctx ends, then drains and returns nil. An error says why it cannot go on.
func (s *Server) Run(ctx context.Context) error {
	metrics := telemetry.NewMetrics()
	core := newCore(s, metrics)
	defer core.close()
	defer core.tracer.Close()
	defer core.sender.Close()
	defer core.notices.sender.Close()
	usage := access.NewUsage(time.Now())
	handler := mcp.NewHandler(mcp.Options{
		Endpoint:        core.endpoint,
		DatabaseTrouble: core.lookAgain,
		Metrics:         metrics,
		Tracer:          core.tracer,
		Log:             s.Log,
		Audit:           core.audit,
		Verifier:        core.verifier,
		Used:            usage.Touch,
		RefusedUse:      usage.Refuse,
		Now:             s.Now,
		Version:         s.Version,
		PieceTime:       s.patience.request,
	})
	metrics.ReadFrom(func(now time.Time) telemetry.Reading {
		r := core.reading(now)
		r.Places, r.Budgets = handler.Shares()
		return r
	})
	endpoint := newHTTPServer(core.admin.partWhileDraining(handler), s.Log)
	if s.patience != (patience{}) {
		endpoint.ReadHeaderTimeout, endpoint.ReadTimeout = s.patience.header, s.patience.request
	}

	// The admin port's long polls, the source and the schema's watch go on while requests drain: a revocation counts
	// for those, too.
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	admin := newHTTPServer(core.admin.handler(usage, core.waiting, metrics, s.Profiles, s.Pages), s.Log)
	admin.WriteTimeout = adminWriteTimeout
	admin.BaseContext = func(net.Listener) context.Context { return background }

	failed := make(chan error, 3+len(s.Endpoint)+len(s.Admin))
	var running sync.WaitGroup
	start := func(what string, run func() error) {
		running.Go(func() {
			if err := run(); err != nil && !errors.Is(err, http.ErrServerClosed) {
				failed <- fmt.Errorf("%s: %w", what, err)
			}
		})
	}
	serve := endpoint.Serve
	if core.certificate != nil { // over TLS agents get HTTP/2 if they know it
		endpoint.TLSConfig = core.certificate.tlsConfig()
		serve = func(listener net.Listener) error { return endpoint.ServeTLS(listener, "", "") }
	}
	for _, listener := range s.Endpoint {
		start("the endpoint's port", func() error { return serve(listener) })
	}
	for _, listener := range s.Admin {
		start("the admin port", func() error { return admin.Serve(listener) })
	}
	start("the source", func() error { return s.Source.Run(background, core.apply) })
	start("the database", func() error { core.watchSchema(background); return nil })
	start("the questions", func() error { core.watchQuestions(background); return nil })
	start("the issuers", func() error { core.watchIssuers(background); return nil })
	start("the audit", func() error { core.watchAudit(background); return nil })
	s.Log.Info("Listening", "endpoint", addressesOf(s.Endpoint), "admin", addressesOf(s.Admin))

	var err error
	select {
	case <-ctx.Done():
		s.drain(core, endpoint)
	case err = <-failed:
		_ = endpoint.Close()
	}
	stop()
	_ = admin.Close()
	running.Wait()
	return err
}

// addressesOf is where listeners listen, separated by commas.
func addressesOf(listeners []net.Listener) string {
	var all []string
	for _, listener := range listeners {
		all = append(all, listener.Addr().String())
	}
	return strings.Join(all, ",")
}

// partWhileDraining asks clients, with each answer that is given while the server drains, to let go of the connection:
// one that were kept would be closed in the end, perhaps at the moment at which its client sends the next request.
func (p *adminPort) partWhileDraining(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.draining.Load() {
			w.Header().Set("Connection", "close") // over HTTP/2 it is a GOAWAY
		}
		next.ServeHTTP(w, r)
	})
}

// drain lets the requests under way end.
func (s *Server) drain(core *core, endpoint *http.Server) {
	s.Log.Info("Ending; requests under way are answered first")
	core.admin.draining.Store(true)
	time.Sleep(s.DrainDelay)
	ctx, cancel := context.WithTimeout(context.Background(), drainTimeout)
	defer cancel()
	if err := endpoint.Shutdown(ctx); err != nil {
		s.Log.Warn("Requests were cut off", "error", err)
		_ = endpoint.Close()
	}
}

// The time that things may take on a connection. A request's headers and body come quickly or not at all; the idle
// timeout is longer than usual proxies' own, so that it is they who hang up.
const (
	readHeaderTimeout = 10 * time.Second
	readTimeout       = time.Minute
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 32 << 10
	// The longest long poll; the endpoint's own answers have a deadline of their own (package mcp).
	adminWriteTimeout = maxWait + 30*time.Second
)

func newHTTPServer(handler http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}
