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
	// status is 0 until the answer was sent, or its head.
	status int
	// broken is set if the answer broke off.
	broken bool
}

// Header values that are the same on every answer; shared, so that they cost nothing.
var (
	jsonContent = []string{"application/json"}
	noStore     = []string{"no-store"}
)

// header sets a header of the answer; key is in canonical form.
func (a *answer) header(key, value string) { a.w.Header()[key] = []string{value} }

// send writes a status and a body of JSON, which may have several parts; an empty body has no type.
func (a *answer) send(status int, body ...[]byte) {
	a.status = status
	size := 0
	for _, part := range body {
		size += len(part)
	}
	header := a.w.Header()
	header["Cache-Control"] = noStore
	if size > 0 {
		header["Content-Type"] = jsonContent
	}
	header["Content-Length"] = []string{strconv.Itoa(size)}
	deadlines := http.NewResponseController(a.w)
	// A writer without deadlines has no connection that a client could hold.
	patient := func() { _ = deadlines.SetWriteDeadline(time.Now().Add(a.patience)) }
	patient()
	a.w.WriteHeader(status)
	left := sendPiece // of the piece that the deadline is for
	for _, part := range body {
		for len(part) > 0 {
			if left == 0 {
				patient()
				left = sendPiece
			}
			piece := part[:min(len(part), left)]
			if _, err := a.w.Write(piece); err != nil {
				return // The client is gone; nobody is left to tell.
			}
			part, left = part[len(piece):], left-len(piece)
		}
	}
}

// sendHead sends the headers alone, as they would be of an answer of any length.
func (a *answer) sendHead() {
	a.status = http.StatusOK
	a.w.WriteHeader(http.StatusOK)
}

// refuse sends {"error": message}.
func (a *answer) refuse(status int, message string) { a.send(status, appendPlainError(nil, message)) }
