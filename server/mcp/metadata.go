package mcp

import (
	"encoding/base64"
	"net/http"
	"strings"
)

// The headers that repeat what a modern request's body says, so that proxies can route by them.
const (
	methodHeader = "Mcp-Method"
	nameHeader   = "Mcp-Name"
)

// The form in which a header carries a value with characters that headers do not allow: MCP 2026-07-28, Streamable
// HTTP, "Value Encoding".
const (
	encodedPrefix = "=?base64?"
	encodedSuffix = "?="
)

// admit checks what 2026-07-28 demands of every request: its metadata (Overview, "_meta") and the headers that repeat
// it (Streamable HTTP, "Server Validation"). name is the raw member that Mcp-Name repeats; if it is not a string, the
// method itself reports it. A status other than 0 means a refusal, which was appended.
func (x *exchange) admit(id []byte, method string, name []byte, meta *metadata) (status int) {
	switch {
	case !isString(meta.protocolVersion):
		return x.badMetadata(id, "params._meta must hold "+protocolVersionKey+", a string")
	case !isObject(meta.clientCapabilities):
		return x.badMetadata(id, "params._meta must hold "+clientCapabilitiesKey+", an object")
	case len(x.header[versionHeader]) == 0:
		return x.mismatch(id, "MCP-Protocol-Version is missing")
	}
	if values := x.header[methodHeader]; len(values) != 1 || values[0] != method {
		return x.mismatch(id, "Mcp-Method must be the body's method")
	}
	if isString(name) && !namesSame(x.header[nameHeader], name) {
		if strings.HasPrefix(method, tasksPrefix) {
			return x.mismatch(id, "Mcp-Name must be the body's params.taskId")
		}
		return x.mismatch(id, "Mcp-Name must be the body's params.name or params.uri")
	}
	return 0
}

// namesSame reports whether Mcp-Name has the value of the raw string in the body.
func namesSame(values []string, raw []byte) bool {
	if len(values) != 1 {
		return false
	}
	value, ok := headerValue(values[0])
	return ok && value == stringValue(raw)
}

// headerValue decodes a header's value; false if it has bytes that it must not have, or claims to be base64 and is not.
func headerValue(value string) (string, bool) {
	for i := range len(value) {
		if c := value[i]; (c < ' ' || c > '~') && c != '\t' {
			return "", false
		}
	}
	inside, ok := strings.CutPrefix(value, encodedPrefix)
	if !ok || !strings.HasSuffix(inside, encodedSuffix) {
		return value, true
	}
	decoded, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(inside, encodedSuffix))
	return string(decoded), err == nil
}

// badMetadata appends the error of a request whose _meta is wrong. It is the only error of that code with its own
// status.
func (x *exchange) badMetadata(id []byte, message string) (status int) {
	x.fail(id, codeInvalidParams, message)
	return http.StatusBadRequest
}

func (x *exchange) mismatch(id []byte, message string) (status int) {
	x.fail(id, codeHeaderMismatch, "Header mismatch: "+message)
	return http.StatusBadRequest
}
