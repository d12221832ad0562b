package mcp

import "strconv"

// The codes of JSON-RPC and of MCP; decisions sections 1 to 3.
const (
	codeParse              = -32700
	codeInvalidRequest     = -32600
	codeMethodNotFound     = -32601
	codeInvalidParams      = -32602
	codeUnsupportedVersion = -32022
)

var nullID = []byte("null")

// beginResult appends what stands before a result. The id is written as it was sent; without one the answer is of the
// simple form, which is the bare result.
func beginResult(dst, id []byte) []byte {
	if id == nil {
		return dst
	}
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = append(dst, id...)
	return append(dst, `,"result":`...)
}

// endResult appends what stands after a result.
func endResult(dst, id []byte) []byte {
	if id == nil {
		return dst
	}
	return append(dst, '}')
}

// appendError appends a JSON-RPC error. data is raw JSON or nil.
func appendError(dst, id []byte, code int, message string, data []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = append(dst, id...)
	dst = append(dst, `,"error":{"code":`...)
	dst = strconv.AppendInt(dst, int64(code), 10)
	dst = append(dst, `,"message":`...)
	dst = appendString(dst, []byte(message))
	if data != nil {
		dst = append(dst, `,"data":`...)
		dst = append(dst, data...)
	}
	return append(dst, "}}"...)
}

// appendPlainError appends the error object of the simple form, and of everything that is refused before a form is known.
func appendPlainError(dst []byte, message string) []byte {
	dst = append(dst, `{"error":`...)
	dst = appendString(dst, []byte(message))
	return append(dst, '}')
}

// appendContent appends a tool's result object: text is the compact JSON that the tool made.
func appendContent(dst, text []byte, isError bool) []byte {
	dst = append(dst, `{"content":[{"type":"text","text":`...)
	dst = appendString(dst, text)
	dst = append(dst, "}]"...)
	if isError {
		dst = append(dst, `,"isError":true`...)
	}
	return append(dst, '}')
}
