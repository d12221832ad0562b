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

	"github.com/mcp-admin/mcp-admin-operator/contract/tracing"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/audit"
	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
	"github.com/mcp-admin/mcp-admin-operator/server/rate"
	"github.com/mcp-admin/mcp-admin-operator/server/telemetry"
)

// Options are the settings of a Handler. What may be left out says so.
type Options struct {
	// Endpoint returns the present endpoint; false if there is no Config to answer from.
	Endpoint func() (Endpoint, bool)
	// DatabaseTrouble is called when a call found that the database was away, or that its tables had changed since the
	// snapshot was built. It must not block.
	DatabaseTrouble func()
	Metrics         *telemetry.Metrics
	// Tracer has a span for each request; nil has none.
	Tracer *tracing.Tracer
	Log    *slog.Logger
	// Used is called with each request's token, as namespace/name; it may be nil.
	Used func(token string, now time.Time)
	// RefusedUse is called with each token that a caller shows genuinely and that is not in force; it may be nil.
	RefusedUse func(cause access.Cause, address string, now time.Time)
	// Verifier checks what others have issued to callers; nil if nobody is let in by that.
	Verifier Verifier
	// Audit gets lines about callers that are refused, and tokens that call too often; it may be nil.
	Audit *audit.Log
	// Version is the server's own, for initialize.
	Version string
	// Now is the clock by which tokens expire and rates fill again; nil is time.Now.
	Now func() time.Time
	// Memory is how many bytes the process may use; 0 is the runtime's soft limit (GOMEMLIMIT), or 256 MiB if it has none.
	Memory int64
	// PieceTime is how long one piece of a body or of an answer may take; 0 is 15 seconds.
	PieceTime time.Duration
}

// Handler is the endpoint and its health page; everything else is 404. Safe for concurrent use.
type Handler struct {
	options Options
	// serverInfo is the server's name and version, in JSON.
	serverInfo []byte
	// rates are the calls that each token has left, budgets what requests hold. Both outlive a snapshot.
	rates   rate.Limits
	budgets *budgets
	// origins are the origins of the newest settings.
	origins atomic.Pointer[origins]
	// resource is the resource of the newest settings.
	resource atomic.Pointer[resource]
	// ambiguous reminds of callers for whom there are two tokens.
	ambiguous reminder
	refusals  refusals
}

// NewHandler returns a handler.
func NewHandler(options Options) *Handler {
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.PieceTime == 0 {
		options.PieceTime = defaultPieceTime
	}
	h := &Handler{options: options, serverInfo: serverInfo(options.Version), budgets: newBudgets(options.Memory)}
	h.refusals.options = &h.options
	return h
}

func serverInfo(version string) []byte {
	info := jsontext.AppendString([]byte(`{"name":"mcp-admin-server","version":`), version)
	return append(info, '}')
}

// The paths below the base path. Each is answered directly, with and without a slash at the end.
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
	x.handler, x.ctx, x.header, x.address, x.inBatch, x.form, x.method, x.retryAfter, x.moves = h, r.Context(), r.Header, r.RemoteAddr, false, telemetry.FormNone, "", 0, false
	a := answer{w: w, patience: h.options.PieceTime}
	defer func() {
		switch cause := recover(); cause {
		case nil:
		case http.ErrAbortHandler:
			a.broken = true
		default:
			h.panicked(cause, &a)
		}
		took := h.options.Now().Sub(start)
		h.options.Metrics.Request(x.form, x.method, a.status, took)
		if h.options.Log.Enabled(r.Context(), slog.LevelDebug) {
			h.logRequest(r, x, a.status, took)
		}
		x.release()
		if a.broken {
			panic(http.ErrAbortHandler) // the client must see that the answer is not whole
		}
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
	if strings.HasPrefix(path, wellKnownPath) {
		if open {
			h.wellKnown(a, r, endpoint.Settings())
		} else {
			a.refuse(http.StatusNotFound, "Not found")
		}
		return
	}
	if !open {
		// The base path is not known yet, but a request for the health page shows by the end of its path.
		if strings.HasSuffix(strings.TrimSuffix(path, "/"), healthPath) {
			h.health(a, r)
			return
		}
		refuseClosed(a)
		return
	}
	x.endpoint = endpoint
	below, inBase := strings.CutPrefix(path, endpoint.Settings().BasePath)
	if link, isExport := strings.CutPrefix(below, exportsPath); inBase && isExport {
		h.export(a, r, x, from, link)
		return
	}
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

// health tells everybody whether the service is up.
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
	if from == foreignOrigin {
		a.refuse(http.StatusForbidden, "Origin not allowed")
		return
	}
	x.shown = access.ReadBearer(authorization(r.Header))
	if !h.authenticate(a, r, x) {
		return
	}
	view, problem := viewOf(r.URL.RawQuery)
	if problem != "" {
		a.refuse(http.StatusBadRequest, problem)
		return
	}
	x.view = view
	if !h.readBody(a, r, x) {
		return
	}
	// A body may take a minute to arrive. A token that was revoked meanwhile must be refused, and changed limits apply
	// as they are now.
	endpoint, open := h.options.Endpoint()
	if !open {
		refuseClosed(a)
		return
	}
	if x.endpoint = endpoint; !h.authenticate(a, r, x) {
		return
	}
	status, ok := h.answer(x)
	if !ok {
		refuseBusy(a)
		return
	}
	switch status {
	case http.StatusTooManyRequests:
		a.header("Retry-After", retryAfterHeader(x.retryAfter))
	case http.StatusServiceUnavailable:
		a.header("Retry-After", retryAfter)
	}
	x.sendElsewhere(a)
	x.describeEncoding(a)
	a.send(status, x.out[:x.listAt], x.shared.Plain, x.out[x.listAt:])
}

// answer makes the answer in x.out and x.shared; false if the server, or the token, has too much to do. When it returns, it has
// given back what the request held, except the memory of the answer itself: a slow reader delays nobody else.
func (h *Handler) answer(x *exchange) (status int, ok bool) {
	before := time.Time{}
	if h.options.Tracer.Active() != nil {
		before = time.Now()
	}
	if !h.budgets.enter(x) {
		return 0, false
	}
	if !before.IsZero() {
		x.waited = time.Since(before)
	}
	x.takeBuffer()
	status = x.respond()
	x.compress()
	h.budgets.made(x)
	return status, true
}

// readBody reads the body into x.in; if it cannot, it answers and returns false. A body that is still arriving takes
// none of the places in which requests are answered, so a slow one delays nobody else.
func (h *Handler) readBody(a *answer, r *http.Request, x *exchange) bool {
	x.arriving = arrival{w: a.w, body: r.Body, patience: h.options.PieceTime}
	status, message := x.read(r, x.endpoint.Settings().Limits.MaxBodyBytes)
	switch status {
	case 0:
		return true
	case http.StatusServiceUnavailable:
		a.header("Connection", "close")
		refuseBusy(a)
		return false
	case http.StatusRequestEntityTooLarge:
		a.header("Connection", "close") // The rest of the body is not worth reading.
	}
	a.refuse(status, message)
	return false
}

// refuseBusy answers that the server has too much to do.
func refuseBusy(a *answer) {
	a.header("Retry-After", retryAfter)
	a.refuse(http.StatusServiceUnavailable, "Too many requests at once")
}

// noteUse tells that a token was used.
func (h *Handler) noteUse(token string) {
	if h.options.Used != nil {
		h.options.Used(token, h.options.Now())
	}
}

// refuseClosed answers if there is no Config to answer from.
func refuseClosed(a *answer) {
	a.header("Retry-After", retryAfter)
	a.refuse(http.StatusServiceUnavailable, "The endpoint has no configuration yet")
}

// panicked answers 500 and logs the place of the panic. Its text may quote a row or a statement, so only the runtime's
// own texts are logged.
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
	if !x.token.IsNobody() {
		token = x.token.Caller()
	}
	h.options.Log.Debug("Request", "httpMethod", r.Method, "path", withoutLink(r.URL.Path), "status", status, "form", string(x.form),
		"method", x.method, "token", token, "seconds", took.Seconds())
}
