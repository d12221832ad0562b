package mcp

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

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
	a.w.WriteHeader(status)
	_, _ = a.w.Write(body) // An error means that the client is gone, and there is nobody left to tell.
}

// refuse sends {"error": message}.
func (a *answer) refuse(status int, message string) { a.send(status, appendPlainError(nil, message)) }

// originAllowed is whether a browser's page may ask: there is no Origin header, or it is the endpoint's own origin.
// What the Host header says is not asked, because a page that rebinds its name writes that too.
func originAllowed(header http.Header, endpointURL string) bool {
	values, present := header["Origin"]
	if !present {
		return true
	}
	if len(values) != 1 {
		return false
	}
	own, ok := originOf(endpointURL)
	other, err := url.Parse(values[0])
	if !ok || err != nil || other.Path != "" || other.User != nil || other.RawQuery != "" || other.Fragment != "" {
		return false
	}
	got, ok := originOf(values[0])
	return ok && got == own
}

// origin is a scheme, host and port as browsers compare them.
type origin struct{ scheme, host, port string }

func originOf(text string) (origin, bool) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return origin{}, false
	}
	o := origin{strings.ToLower(u.Scheme), strings.ToLower(u.Hostname()), u.Port()}
	if o.port == "" {
		switch o.scheme {
		case "http":
			o.port = "80"
		case "https":
			o.port = "443"
		}
	}
	return o, o.scheme != ""
}
