package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"net"
	"net/http"
	"net/http/pprof" // what it adds to the default mux is served nowhere
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/telemetry"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/approval"
)

// maxWait is the longest that /status waits for a change.
const maxWait = time.Minute

// adminPort keeps the status that the admin port serves, and who may read it.
type adminPort struct {
	status *board
	// statusKey is the key of the newest Config there was: the status can be asked for while the endpoint is closed.
	statusKey atomic.Pointer[string]
	// draining is set once the server is to end.
	draining atomic.Bool
	// heeded is the manager's newest request to look at the database; look does so.
	heeded atomic.Pointer[string]
	look   func()
	// inPod says that who comes from within the pod had the right to: nobody else's programs run at its address.
	inPod bool
}

// handler serves the admin port (docs/design/http.md, "Admin port"), which the Service never shows:
//
//	GET /healthz  200 while the process lives
//	GET /readyz   200 once a Config was applied, the schema was seen, and there is a certificate if one is needed,
//	              until the process ends; else 503
//	GET /metrics  Prometheus
//	GET /status   contract.Status, for who shows the Config's StatusKey; ?seen=SERIAL&wait=20s waits for another;
//	              ?models=SERIAL leaves the models out if they are those; a ?look=TEXT that differs from the one
//	              before reads the database's schema again
//	GET /usage    contract.Usage, for the same; ?after=CURSOR has only what came since
//	GET /approvals  contract.ApprovalPage, for the same; ?after=CURSOR has only what changed since
//	GET /approvals/NAME/values  contract.ApprovalValues, for the same, and in a pod for who comes from within
//	GET /debug/pprof/  profiles of the process, if they were asked for when it started
//	/ui/          pages for people, if the program has any; they let in whom they know
func (p *adminPort) handler(usage *access.Usage, waiting *approval.Register, metrics *telemetry.Metrics, profiles bool, pages http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
	})
	mux.HandleFunc("GET /readyz", p.serveReady)
	mux.Handle("GET /metrics", metrics.Handler())
	mux.HandleFunc("GET /status", p.withStatusKey(p.serveStatus))
	mux.HandleFunc("GET /usage", p.withStatusKey(func(w http.ResponseWriter, r *http.Request) { serveUsage(w, r, usage) }))
	mux.HandleFunc("GET /approvals/{name}/values", p.withinPod(func(w http.ResponseWriter, r *http.Request) {
		values := waiting.Values(r.PathValue("name"), time.Now())
		if values == nil {
			writeJSON(w, http.StatusNotFound, map[string]string{"error": "No such call waits in this pod"})
			return
		}
		writeJSON(w, http.StatusOK, json.RawMessage(values))
	}))
	mux.HandleFunc("GET /approvals", p.withStatusKey(func(w http.ResponseWriter, r *http.Request) {
		writeJSON(w, http.StatusOK, waiting.Page(r.URL.Query().Get("after")))
	}))
	if pages != nil {
		mux.Handle("/ui/", pages)
	}
	if profiles {
		mux.HandleFunc("GET /debug/pprof/", pprof.Index)
		mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	}
	return mux
}

func (p *adminPort) serveReady(w http.ResponseWriter, _ *http.Request) {
	status, _ := p.status.get()
	var reason string
	switch {
	case p.draining.Load():
		reason = "the server is ending"
	case status.Ready:
		writeJSON(w, http.StatusOK, map[string]string{"status": "ready"})
		return
	case status.Refused != nil && status.Revision == 0:
		reason = "the only Config there is was refused"
	case status.Revision == 0:
		reason = "there is no Config yet"
	case status.Certificate != nil && !status.Certificate.InUse:
		reason = "the endpoint has no certificate: " + status.Certificate.Message
	default:
		reason = "the database's schema was not seen yet: " + status.Database.Reason
	}
	writeJSON(w, http.StatusServiceUnavailable, map[string]string{"status": "not ready", "reason": reason})
}

// withStatusKey lets only those through who show the StatusKey.
func (p *adminPort) withStatusKey(serve http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !p.mayReadStatus(r) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			writeJSON(w, http.StatusUnauthorized, map[string]string{"error": "Invalid or missing status key"})
			return
		}
		serve(w, r)
	}
}

// withinPod lets those through who come from within the pod, if this is one, and those who show the StatusKey. The API server leads there by
// "kubectl port-forward", for who has the right to create pods/portforward; nobody else's address is the pod's own localhost.
func (p *adminPort) withinPod(serve http.HandlerFunc) http.HandlerFunc {
	withKey := p.withStatusKey(serve)
	return func(w http.ResponseWriter, r *http.Request) {
		if p.inPod && isFromWithin(r) {
			serve(w, r)
			return
		}
		withKey(w, r)
	}
}

// forwarding are the headers by which a proxy, such as a service mesh's in the same pod, says that it speaks for somebody elsewhere.
var forwarding = []string{"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "X-Request-Id", "L5d-Client-Id"}

// isFromWithin reports whether both ends of a request's connection, and the host that it asks for, are the machine's own localhost.
func isFromWithin(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok || slices.ContainsFunc(forwarding, func(name string) bool { return r.Header.Get(name) != "" }) {
		return false
	}
	return isLocalhost(local.String()) && isLocalhost(r.RemoteAddr) && isLocalhost(r.Host)
}

// isLocalhost reports whether an address with its port is a loopback address. A host's name is none: a site in a browser could have it.
func isLocalhost(address string) bool {
	at, err := netip.ParseAddrPort(address)
	return err == nil && at.Addr().Unmap().IsLoopback()
}

func serveUsage(w http.ResponseWriter, r *http.Request, usage *access.Usage) {
	var after int64
	if text := r.URL.Query().Get("after"); text != "" {
		var err error
		if after, err = strconv.ParseInt(text, 10, 64); err != nil {
			writeJSON(w, http.StatusBadRequest, map[string]string{"error": "after must be the cursor of an answer"})
			return
		}
	}
	writeJSON(w, http.StatusOK, usage.After(after, time.Now()))
}

func (p *adminPort) serveStatus(w http.ResponseWriter, r *http.Request) {
	p.heed(r.URL.Query().Get("look"))
	var wait time.Duration
	if text := r.URL.Query().Get("wait"); text != "" {
		var err error
		if wait, err = time.ParseDuration(text); err != nil || wait < 0 {
			writeJSON(w, http.StatusBadRequest, map[string]string{"error": "wait must be a duration such as 20s"})
			return
		}
	}
	status, changed := p.status.get()
	if seen := r.URL.Query().Get("seen"); seen == status.Serial && wait > 0 {
		timeout := time.NewTimer(min(wait, maxWait))
		defer timeout.Stop()
		select {
		case <-changed:
			status, _ = p.status.get()
		case <-timeout.C:
		case <-r.Context().Done():
			return
		}
	}
	if r.URL.Query().Get("models") == status.ModelsSerial {
		status.Models = nil
	}
	writeJSON(w, http.StatusOK, status)
}

// heed looks at the database at once for a request that is not the one before.
func (p *adminPort) heed(request string) {
	if before := p.heeded.Swap(&request); request != "" && (before == nil || *before != request) {
		p.look()
	}
}

// mayReadStatus compares the key in constant time. Before the first Config there is none, and nobody may.
func (p *adminPort) mayReadStatus(r *http.Request) bool {
	key := p.statusKey.Load()
	scheme, shown, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if key == nil || !strings.EqualFold(scheme, "Bearer") {
		return false
	}
	a, b := sha256.Sum256([]byte(*key)), sha256.Sum256([]byte(shown))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) // An error means that the client is gone.
}
