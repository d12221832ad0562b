package mcp

import (
	"bufio"
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/telemetry"
	"github.com/mcp-admin/mcp-admin-operator/server/tools"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// exportsPath is the path of exports below the base path; the text of a link follows. methodExport is what the metrics call the
// fetching of one.
const (
	exportsPath  = endpointPath + "/exports/"
	methodExport = "exports/get"
)

// rowsTrailer is the trailer with the number of rows of a file that is whole.
const rowsTrailer = "Export-Rows"

// refusedLink is the answer for every link that is not good, whatever is wrong with it.
const refusedLink = "This link is not valid any more: the link of an export is good once, and for five minutes at most. Ask for another"

// Exports hold connections to the database for as long as their readers take. They may have a quarter of them, and of that
// each token a quarter.
const (
	mostExports    = 8
	exportPatience = 5 * time.Second
	// exportMemory is what an export holds: its buffer, and a row of the usual size with its copies.
	exportMemory = 1 << 20
)

// exportsAtOnce is how many exports there may be at once.
func exportsAtOnce(settings *contract.Endpoint) int64 {
	return min(max(int64(settings.Database.MaxConnections)/4, 1), mostExports)
}

// export answers a request for a link of an export. Whoever has the link may fetch it: it is sealed, and good once.
func (h *Handler) export(a *answer, r *http.Request, x *exchange, from provenance, text string) {
	x.method = methodExport
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		a.header("Allow", http.MethodGet+", "+http.MethodHead)
		a.refuse(http.StatusMethodNotAllowed, "Method not allowed")
		return
	case from == foreignOrigin:
		a.refuse(http.StatusForbidden, "Origin not allowed")
		return
	case !r.ProtoAtLeast(1, 1):
		a.refuse(http.StatusHTTPVersionNotSupported, "HTTP/1.1 or later is needed: an older client could not tell a part of the file from all of it")
		return
	}
	link, ok := h.openLink(a, x, text)
	if !ok {
		return
	}
	f := &exportFile{answer: a, link: link}
	if r.Method == http.MethodHead {
		f.describe()
		a.sendHead()
		return
	}
	if wait := x.overRate(link.Tool(), 1); wait > 0 {
		a.header("Retry-After", retryAfterHeader(wait))
		x.sendElsewhere(a)
		a.refuse(http.StatusTooManyRequests, call.RateLimited(wait).Message)
		return
	}
	if !h.budgets.enterExport(x) {
		refuseBusy(a)
		return
	}
	// The wait may have taken seconds: a link that was good before them may not be any more.
	if x.endpoint, ok = h.options.Endpoint(); !ok {
		refuseClosed(a)
		return
	}
	if f.link, ok = h.openLink(a, x, text); !ok {
		return
	}
	h.serveExport(f, x)
}

// openLink opens a link and finds its token, with the rights that it has now. It answers and returns false if the link is not good.
func (h *Handler) openLink(a *answer, x *exchange, text string) (*call.ExportLink, bool) {
	link, ok := x.endpoint.OpenExport(text)
	if !ok {
		a.refuse(http.StatusNotFound, refusedLink)
		return nil, false
	}
	outcome, now := "", h.options.Now()
	x.token = h.tokenOfLink(x.endpoint, link, now)
	switch {
	case !now.Before(link.Expires):
		outcome = tools.OutcomeExpired
	case x.token.IsNobody() && x.endpoint.TokensIncomplete():
		refuseIncomplete(a)
		return nil, false
	case x.token.IsNobody():
		outcome = tools.OutcomeToken
	}
	if outcome != "" {
		x.endpoint.RefuseExport(x.ctx, link, outcome)
		a.refuse(http.StatusNotFound, refusedLink)
		return nil, false
	}
	x.holder = x.token.Caller()
	h.noteUse(x.token.Name())
	return link, true
}

// tokenOfLink returns the token that asked for a link, or nobody if it is not in force.
func (h *Handler) tokenOfLink(endpoint Endpoint, link *call.ExportLink, now time.Time) access.Token {
	var token access.Token
	if link.Credential.Claims == nil {
		token = endpoint.Recognise(link.Credential, now)
	} else if h.options.Verifier != nil && endpoint.HasIdentities() {
		if caller, _ := h.options.Verifier.Recheck(link.Credential.Claims, now); caller != nil {
			token, _ = endpoint.Identify(caller, now)
		}
	}
	if token.IsNobody() || token.Name() != link.Token {
		return access.Token{}
	}
	return token
}

// sendExport sends the file of a link. If it is not whole, the connection is broken, so that the client sees that.
func (h *Handler) sendExport(f *exportFile, x *exchange) {
	deadlines := http.NewResponseController(f.answer.w)
	_ = deadlines.SetReadDeadline(time.Time{}) // the connection's own would end the call; a writer without deadlines has no connection
	ctx, stop := context.WithCancel(x.onBehalf())
	defer stop()
	p := &pieces{to: f.answer.w, deadlines: deadlines, patience: f.answer.patience, admit: h.admission(ctx, x, f.link), stop: stop}
	f.buffer = bufio.NewWriterSize(p, sendBuffer)
	began := h.options.Now()
	rows, result := x.endpoint.Export(ctx, x.token, f.link, f)
	x.answered = telemetry.Operation{Tool: call.Label(f.link.Operation), Model: f.link.Model, Rows: rows, Bytes: p.written}
	if result.IsError {
		x.answered.Error = string(result.Code)
	}
	x.end(began)
	if result.IsError {
		x.note("tool", f.link.Tool(), result)
		f.fail(&result)
		return
	}
	f.answer.w.Header().Set(rowsTrailer, strconv.Itoa(rows))
}

// sendBuffer is how many bytes of a file are sent together.
const sendBuffer = 32 << 10

// exportFile is an answer that is a file. Its head is sent with the first write.
type exportFile struct {
	answer *answer
	link   *call.ExportLink
	buffer *bufio.Writer
}

// describe sets the headers of the file.
func (f *exportFile) describe() {
	name, mimeType := f.link.ExportFile()
	header := f.answer.w.Header()
	header["Content-Type"] = []string{mimeType + "; charset=utf-8"}
	header["Content-Disposition"] = []string{`attachment; filename="` + name + `"`}
	header["X-Content-Type-Options"] = []string{"nosniff"}
	header["Referrer-Policy"] = []string{"no-referrer"}
	header["Cache-Control"] = noStore
}

// Write implements io.Writer.
func (f *exportFile) Write(p []byte) (int, error) {
	if f.answer.status == 0 {
		f.describe()
		f.answer.w.Header()["Trailer"] = []string{rowsTrailer}
		f.answer.status = http.StatusOK
		f.answer.w.WriteHeader(http.StatusOK)
	}
	return f.buffer.Write(p)
}

// Flush implements call.File.
func (f *exportFile) Flush() error { return f.buffer.Flush() }

// fail answers that there is no file, or breaks off the one that was begun.
func (f *exportFile) fail(result *call.Result) {
	if f.answer.status != 0 {
		// What there is goes out first: a client that saw no answer at all would ask again, for a link that is used up.
		_ = f.buffer.Flush()
		_ = http.NewResponseController(f.answer.w).Flush()
		panic(http.ErrAbortHandler)
	}
	switch result.Code {
	case call.CodeUnavailable, call.CodeTimeout, call.CodeInternal, call.CodeRateLimited:
		f.answer.header("Retry-After", retryAfter)
		f.answer.refuse(http.StatusServiceUnavailable, "The export could not be made, and its link may be used up. Ask for another")
	default:
		f.answer.refuse(http.StatusNotFound, refusedLink)
	}
}

// withoutLink is a path for the log, which must not have the link that may stand in it.
func withoutLink(path string) string {
	if before, _, is := strings.Cut(path, exportsPath); is {
		return before + exportsPath
	}
	return path
}
