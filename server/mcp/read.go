package mcp

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
)

// firstRead is the room, in bytes, in which most bodies fit; firstReserve the most that is reserved because a request
// says that so much will come.
const (
	firstRead    = 4 << 10
	firstReserve = 64 << 10
)

// read reads the body into x.in. A status other than 0 refuses the request with the message.
func (x *exchange) read(r *http.Request, limit int64) (status int, message string) {
	if r.ContentLength > limit {
		return http.StatusRequestEntityTooLarge, "The body is too large"
	}
	if !isJSONContent(r.Header) {
		return http.StatusUnsupportedMediaType, "Content-Type must be application/json"
	}
	x.in = slices.Grow(x.in[:0], int(min(max(firstRead, r.ContentLength+1), firstReserve)))
	for {
		n, err := r.Body.Read(x.in[len(x.in):cap(x.in)])
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
		if len(x.in) == cap(x.in) {
			x.in = slices.Grow(x.in, cap(x.in))
		}
	}
}

// isJSONContent is whether the Content-Type is absent or says JSON, whatever its parameters.
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
