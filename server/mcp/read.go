package mcp

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"time"
)

// firstRead is the room, in bytes, in which most bodies fit. firstReserve is the most memory that is reserved only
// because a request announces a length.
const (
	firstRead    = 4 << 10
	firstReserve = 64 << 10
)

// An arrival is a body that is arriving.
type arrival struct {
	w    http.ResponseWriter
	body io.Reader
	// patience is how long a piece may take.
	patience time.Duration
	// got is how many bytes have arrived, due is how many must have arrived before the next piece begins.
	got, due int64
}

// read reads more of the body. The first piece must arrive within the connection's own deadline. From then on each
// piece sets a new deadline. When the body is complete there is none, because a call may take longer than a piece.
func (a *arrival) read(into []byte) (int, error) {
	if a.got >= readPiece && a.got >= a.due {
		a.due = a.got + readPiece
		a.setDeadline(time.Now().Add(a.patience))
	}
	n, err := a.body.Read(into)
	a.got += int64(n)
	if errors.Is(err, io.EOF) && a.due > 0 {
		a.setDeadline(time.Time{})
	}
	return n, err
}

func (a *arrival) setDeadline(at time.Time) {
	// A writer without deadlines has no connection that a client could hold.
	_ = http.NewResponseController(a.w).SetReadDeadline(at)
}

// read reads the body into x.in and takes its memory from the budget as it grows. A status other than 0 refuses the
// request with the message.
func (x *exchange) read(r *http.Request, limit int64) (status int, message string) {
	if r.ContentLength > limit {
		return http.StatusRequestEntityTooLarge, "The body is too large"
	}
	if message := checkContent(r.Header); message != "" {
		return http.StatusUnsupportedMediaType, message
	}
	x.holder, x.in = x.token.Caller(), x.in[:0]
	x.handler.noteUse(x.token.Name())
	if !x.growBody(min(max(firstRead, r.ContentLength+1), firstReserve), limit) {
		return http.StatusServiceUnavailable, ""
	}
	for {
		n, err := x.arriving.read(x.in[len(x.in):cap(x.in)])
		x.in = x.in[:len(x.in)+n]
		if int64(len(x.in)) > limit {
			return http.StatusRequestEntityTooLarge, "The body is too large"
		}
		if errors.Is(err, io.EOF) {
			return 0, ""
		}
		if err != nil {
			return http.StatusBadRequest, "The body could not be read"
		}
		if len(x.in) == cap(x.in) && !x.growBody(2*int64(cap(x.in)), limit) {
			return http.StatusServiceUnavailable, ""
		}
	}
}

// growBody makes room for a body of that many bytes, up to the limit, and reports whether the token's share allows it.
func (x *exchange) growBody(size, limit int64) bool {
	size = max(min(size, limit+1), int64(cap(x.in)))
	if !x.handler.budgets.grow(x, size) {
		return false
	}
	if size > int64(cap(x.in)) {
		x.in = append(make([]byte, 0, size), x.in...)
	}
	return true
}

// checkContent says why a body of that type and encoding is refused; "" if it is not.
func checkContent(header http.Header) string {
	if encodings := header["Content-Encoding"]; len(encodings) > 0 && (len(encodings) > 1 || !strings.EqualFold(encodings[0], "identity")) {
		return "Content-Encoding is not supported; send the JSON as it is"
	}
	if !isJSONContent(header) {
		return "Content-Type must be application/json"
	}
	return ""
}

// isJSONContent reports whether the Content-Type is absent or JSON, with any parameters.
func isJSONContent(header http.Header) bool {
	values := header["Content-Type"]
	switch len(values) {
	case 0:
		return true
	case 1:
		if values[0] == "application/json" {
			return true
		}
		media, _, _ := strings.Cut(values[0], ";")
		media = strings.ToLower(strings.TrimSpace(media))
		return media == "application/json" || strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json")
	}
	return false
}
