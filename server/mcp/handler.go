package mcp

import (
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/audit"
	"github.com/mcp-admin/mcp-admin-operator/server/rate"
	"github.com/mcp-admin/mcp-admin-operator/server/telemetry"
)

// Options are what a Handler needs. All but Now are required.
type Options struct {
	// Endpoint returns the endpoint of the moment; false where there is no Config to answer from.
	Endpoint func() (Endpoint, bool)
	// DatabaseTrouble is told when a call found the database away, or without what the snapshot was built from. It
	// must not block.
	DatabaseTrouble func()
	Metrics         *telemetry.Metrics
	Log             *slog.Logger
	// Audit is told of tokens that call too often; it may be nil.
	Audit *audit.Log
	// Version is the server's own, for initialize.
	Version string
	// Now is the clock by which tokens expire; nil is time.Now.
	Now func() time.Time
}

// Handler is the endpoint and its health page; everything else is 404. Safe for concurrent use.
type Handler struct {
	options Options
	// serverInfo is how the server names itself, in JSON.
	serverInfo []byte
	inFlight   atomic.Int64
	// rates are what each token has left, reading the bodies that are on their way. Both outlive any snapshot.
	rates   rate.Limits
	reading readers
	// origins are those of the newest settings.
	origins atomic.Pointer[origins]
}

// NewHandler returns a handler.
func NewHandler(options Options) *Handler {
	if options.Now == nil {
		options.Now = time.Now
	}
	return &Handler{options: options, serverInfo: serverInfo(options.Version)}
}

func serverInfo(version string) []byte {
	info := appendString([]byte(`{"name":"mcp-admin-server","version":`), []byte(version))
	return append(info, '}')
}

// The paths below the base path; each is answered directly with and without the last slash.
const (
	endpointPath = "/mcp"
	healthPath   = "/mcp/health"
)

// retryAfter is how many seconds a client is asked to wait after a 503.
const retryAfter = "1"

// ServeHTTP answers a request (docs/design/http.md, "Requests and answers").
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := h.options.Now()
	x := exchanges.Get().(*exchange)
	x.handler, x.ctx, x.header, x.inBatch, x.form, x.method, x.retryAfter = h, r.Context(), r.Header, false, telemetry.FormNone, "", 0
	a := answer{w: w}
	defer func() {
		if cause := recover(); cause != nil {
			h.panicked(cause, &a)
		}
		took := h.options.Now().Sub(start)
		h.options.Metrics.Request(x.form, x.method, a.status, took)
		if h.options.Log.Enabled(r.Context(), slog.LevelDebug) {
			h.logRequest(r, x, a.status, took)
		}
		x.release()
	}()
	h.route(&a, r, x)
}

// route decides by the path.
func (h *Handler) route(a *answer, r *http.Request, x *exchange) {
	path := r.URL.Path
	endpoint, open := h.options.Endpoint()
	from := foreignOrigin
	if open {
		from = h.crossOrigin(a, r.Header, endpoint.Settings())
	}
	if strings.HasPrefix(path, "/.well-known/") {
		a.refuse(http.StatusNotFound, "Not found")
		return
	}
	if !open {
		// Where the endpoint lies is not known, but what asks for the service's health is plain all the same.
		if strings.HasSuffix(strings.TrimSuffix(path, "/"), healthPath) {
			h.health(a, r)
			return
		}
		refuseClosed(a)
		return
	}
	x.endpoint = endpoint
	below, inBase := strings.CutPrefix(path, endpoint.Settings().BasePath)
	below = strings.TrimSuffix(below, "/")
	switch {
	case inBase && below == endpointPath:
		h.endpoint(a, r, x, from)
	case inBase && below == healthPath, strings.TrimSuffix(path, "/") == healthPath:
		h.health(a, r)
	default:
		a.refuse(http.StatusNotFound, "Not found")
	}
}

// health answers whoever asks whether the service is there.
func (h *Handler) health(a *answer, r *http.Request) {
	if r.Method != http.MethodGet {
		a.header("Allow", http.MethodGet)
		a.refuse(http.StatusMethodNotAllowed, "Method not allowed")
		return
	}
	a.send(http.StatusOK, []byte(`{"status":"ok","service":"mcp-admin-server"}`))
}

// endpoint answers a request to the endpoint. The order of the checks is part of the interface.
func (h *Handler) endpoint(a *answer, r *http.Request, x *exchange, from provenance) {
	if from == allowedOrigin && isPreflight(r) {
		a.allowPreflight()
		return
	}
	if r.Method != http.MethodPost {
		a.header("Allow", http.MethodPost)
		a.refuse(http.StatusMethodNotAllowed, "Method not allowed")
		return
	}
	settings := x.endpoint.Settings()
	if from == foreignOrigin {
		a.refuse(http.StatusForbidden, "Origin not allowed")
		return
	}
	if !h.authenticate(a, r, x) {
		return
	}
	if !h.readBody(a, r, x, &settings.Limits) {
		return
	}
	// A body may take a minute to come, and a token that was revoked meanwhile must not act any more.
	endpoint, open := h.options.Endpoint()
	if !open {
		refuseClosed(a)
		return
	}
	if x.endpoint = endpoint; !h.authenticate(a, r, x) {
		return
	}
	if h.inFlight.Add(1) > int64(settings.Limits.MaxConcurrentRequests) {
		h.inFlight.Add(-1)
		refuseBusy(a)
		return
	}
	h.options.Metrics.InFlight(1)
	defer func() {
		h.inFlight.Add(-1)
		h.options.Metrics.InFlight(-1)
	}()
	x.out = x.out[:0]
	status := x.respond()
	if status == http.StatusTooManyRequests {
		a.header("Retry-After", retryAfterHeader(x.retryAfter))
	}
	a.send(status, x.out)
}

// readBody reads the body into x.in; where it cannot, it answers and is false. The body of a request takes none of the
// places in which requests are answered: one that comes slowly keeps nobody else waiting.
func (h *Handler) readBody(a *answer, r *http.Request, x *exchange, limits *contract.Limits) bool {
	token := x.token.Name()
	if !h.reading.enter(token, limits.MaxConcurrentRequests) {
		refuseBusy(a)
		return false
	}
	defer h.reading.leave(token)
	status, message := x.read(r, limits.MaxBodyBytes)
	if status == 0 {
		return true
	}
	if status == http.StatusRequestEntityTooLarge {
		a.header("Connection", "close") // The rest of the body is not worth reading.
	}
	a.refuse(status, message)
	return false
}

// refuseBusy answers where as much is done at once as may be.
func refuseBusy(a *answer) {
	a.header("Retry-After", retryAfter)
	a.refuse(http.StatusServiceUnavailable, "Too many requests at once")
}

// authenticate finds the request's token in x.endpoint; where there is none, it answers and is false.
func (h *Handler) authenticate(a *answer, r *http.Request, x *exchange) bool {
	x.token = x.endpoint.Authenticate(authorization(r.Header), h.options.Now())
	if x.token == nil {
		a.header("Www-Authenticate", "Bearer")
		a.refuse(http.StatusUnauthorized, tokenRefused)
	}
	return x.token != nil
}

// refuseClosed answers where there is no Config to answer from.
func refuseClosed(a *answer) {
	a.header("Retry-After", retryAfter)
	a.refuse(http.StatusServiceUnavailable, "The endpoint has no configuration yet")
}

// authorization returns the one Authorization header; "" where there is none, or more than one.
func authorization(header http.Header) string {
	if values := header["Authorization"]; len(values) == 1 {
		return values[0]
	}
	return ""
}

// panicked answers 500 and logs where it happened. The panic's own text may quote a row or a statement, so only that
// of the runtime is logged.
func (h *Handler) panicked(cause any, a *answer) {
	what := fmt.Sprintf("%T", cause)
	if e, ok := cause.(runtime.Error); ok {
		what = e.Error()
	}
	h.options.Log.Error("A request panicked", "panic", what, "stack", string(debug.Stack()))
	if a.status == 0 {
		a.refuse(http.StatusInternalServerError, "Internal server error")
	}
}

func (h *Handler) logRequest(r *http.Request, x *exchange, status int, took time.Duration) {
	token := ""
	if x.token != nil {
		token = x.token.Name()
	}
	h.options.Log.Debug("Request", "httpMethod", r.Method, "path", r.URL.Path, "status", status, "form", string(x.form),
		"method", x.method, "token", token, "seconds", took.Seconds())
}
