package mcp

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"unicode/utf8"

	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// The codes of JSON-RPC and of MCP; docs/design/protocol.md, "Errors of the protocol".
const (
	codeParse              = -32700
	codeInvalidRequest     = -32600
	codeMethodNotFound     = -32601
	codeInvalidParams      = -32602
	codeRefused            = -32000 // the server's own code: the token is refused, must wait, or asks before the schema is known
	codeResourceNotRead    = -32002
	codeHeaderMismatch     = -32020
	codeMissingCapability  = -32021
	codeUnsupportedVersion = -32022
)

var nullID = []byte("null")

// How long a modern client may keep a result, in milliseconds. Lists change when the endpoint's objects do, but the
// server refuses what a token lost, whatever an old list says. So the time only spares a client a second request at the
// same moment.
const (
	uncached = -1 // This version has no such hint on this result.
	listTTL  = 10_000
)

var supportedVersionsJSON, _ = json.Marshal(supportedVersions) // they are strings: it cannot fail

// openResult appends what comes before a result's own members. It writes the id as it was sent. Without an id the
// answer has the simple form, which is the bare result. From 2026-07-28 on every result says its kind and who made it
// (Overview, "Result Responses" and "_meta"), and a result that can be cached says for how long (Caching).
func (x *exchange) openResult(id []byte, ttl int) { x.openResultOf(complete, id, ttl) }

// The kinds of results (MCP 2026-07-28, "resultType").
const (
	complete      = "complete"
	inputRequired = "input_required"
	taskCreated   = "task"
)

// openResultOf is openResult for a result of a kind.
func (x *exchange) openResultOf(kind string, id []byte, ttl int) {
	out := x.out
	if id != nil {
		out = append(out, `{"jsonrpc":"2.0","id":`...)
		out = append(out, id...)
		out = append(out, `,"result":`...)
	}
	out = append(out, '{')
	if x.protocol.modern {
		out = append(out, `"resultType":"`...)
		out = append(out, kind...)
		out = append(out, `",`...)
		if ttl != uncached {
			out = append(out, `"ttlMs":`...)
			out = strconv.AppendInt(out, int64(ttl), 10)
			out = append(out, `,"cacheScope":"private",`...)
		}
		out = append(out, `"_meta":{"io.modelcontextprotocol/serverInfo":`...)
		out = append(out, x.handler.serverInfo...)
		out = append(out, "},"...)
	}
	x.out = out
}

// closeResult appends what comes after a result's members.
func (x *exchange) closeResult(id []byte) (status int) {
	x.out = append(x.out, '}')
	if id != nil {
		x.out = append(x.out, '}')
	}
	return http.StatusOK
}

// appendToolResult appends a tool's result, and releases it; its text is the compact JSON that the tool made.
func (x *exchange) appendToolResult(id []byte, result *call.Result) {
	x.openResult(id, uncached)
	x.appendToolMembers(result)
	result.Release()
	x.closeResult(id)
}

// appendToolMembers appends what a tool's result has of its own.
func (x *exchange) appendToolMembers(result *call.Result) {
	x.out = append(x.out, `"content":[{"type":"text","text":`...)
	x.out = result.AppendQuoted(x.out)
	x.out = append(x.out, '}')
	if result.Link != nil && x.protocol.hasLinks() {
		x.appendLink(result.Link)
	}
	x.out = append(x.out, ']')
	if result.Structured {
		x.out = append(append(x.out, `,"structuredContent":`...), validUTF8(result.Text)...)
	}
	if result.IsError {
		x.out = append(x.out, `,"isError":true`...)
	}
}

// appendLink appends the content that a client shows as a link.
func (x *exchange) appendLink(link *call.ResourceLink) {
	x.out = jsontext.AppendString(append(x.out, `,{"type":"resource_link","uri":`...), link.URI)
	x.out = jsontext.AppendString(append(x.out, `,"name":`...), link.Name)
	x.out = jsontext.AppendString(append(x.out, `,"description":`...), link.Description)
	x.out = jsontext.AppendString(append(x.out, `,"mimeType":`...), link.MIMEType)
	x.out = append(x.out, '}')
}

// validUTF8 is a text without what is not UTF-8, as AppendQuoted writes it: a database may hold anything.
func validUTF8(text []byte) []byte {
	if utf8.Valid(text) {
		return text
	}
	return bytes.ToValidUTF8(text, []byte("\ufffd"))
}

// appendError appends a JSON-RPC error, and notes its code for the metrics and the span. data is raw JSON or nil.
func (x *exchange) appendError(id []byte, code int, message string, data []byte) {
	x.failure = code
	x.noteError(code)
	x.out = appendError(x.out, id, code, message, data)
}

// appendError appends a JSON-RPC error. data is raw JSON or nil.
func appendError(dst, id []byte, code int, message string, data []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = append(dst, id...)
	dst = append(dst, `,"error":{"code":`...)
	dst = strconv.AppendInt(dst, int64(code), 10)
	dst = append(dst, `,"message":`...)
	dst = jsontext.AppendString(dst, message)
	if data != nil {
		dst = append(dst, `,"data":`...)
		dst = append(dst, data...)
	}
	return append(dst, "}}"...)
}

// appendPlainError appends the error object of the simple form. It also serves every refusal before the form is known.
func appendPlainError(dst []byte, message string) []byte {
	dst = append(dst, `{"error":`...)
	dst = jsontext.AppendString(dst, message)
	return append(dst, '}')
}
