package mcp

import (
	"net/http"
	"strconv"
	"time"
)

// sendTimeout is how long a client may take to read an answer. It begins when there is one: how long a statement may
// run is the endpoint's own setting.
const sendTimeout = 2 * time.Minute

// An answer writes one response, whole and once.
type answer struct {
	w http.ResponseWriter
	// status is 0 until the answer was sent.
	status int
}

// Header values that are the same on every answer; shared, so that they cost nothing.
var (
	jsonContent = []string{"application/json"}
	noStore     = []string{"no-store"}
)

// header sets a header of the answer; key is in canonical form.
func (a *answer) header(key, value string) { a.w.Header()[key] = []string{value} }

// send writes a status and a body of JSON; an empty body has no type.
func (a *answer) send(status int, body []byte) {
	a.status = status
	header := a.w.Header()
	header["Cache-Control"] = noStore
	if len(body) > 0 {
		header["Content-Type"] = jsonContent
	}
	header["Content-Length"] = []string{strconv.Itoa(len(body))}
	// A writer that knows no deadlines has no connection that could be held.
	_ = http.NewResponseController(a.w).SetWriteDeadline(time.Now().Add(sendTimeout))
	a.w.WriteHeader(status)
	_, _ = a.w.Write(body) // An error means that the client is gone, and there is nobody left to tell.
}

// refuse sends {"error": message}.
func (a *answer) refuse(status int, message string) { a.send(status, appendPlainError(nil, message)) }
