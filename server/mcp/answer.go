package mcp

import (
	"net/http"
	"strconv"
	"time"
)

// The size of the pieces of an answer and of a body. Each piece has its own deadline: a slow network is served, but a
// client that stops reading or sending holds nothing for long.
const (
	sendPiece        = 128 << 10
	readPiece        = 64 << 10
	defaultPieceTime = 15 * time.Second
)

// An answer writes one response, as a whole and only once.
type answer struct {
	w http.ResponseWriter
	// patience is how long a piece may take.
	patience time.Duration
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
	deadlines := http.NewResponseController(a.w)
	for first := true; first || len(body) > 0; first = false {
		// A writer without deadlines has no connection that a client could hold.
		_ = deadlines.SetWriteDeadline(time.Now().Add(a.patience))
		if first {
			a.w.WriteHeader(status)
		}
		piece := body[:min(len(body), sendPiece)]
		body = body[len(piece):]
		if _, err := a.w.Write(piece); err != nil {
			return // The client is gone; nobody is left to tell.
		}
	}
}

// refuse sends {"error": message}.
func (a *answer) refuse(status int, message string) { a.send(status, appendPlainError(nil, message)) }
