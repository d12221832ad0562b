package mcp

import (
	"bytes"
	"net/http"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/telemetry"
)

// respond parses the body, appends the answer to x.out and returns its HTTP status.
func (x *exchange) respond() (status int) {
	x.protocol = protocol{}
	if err := x.scanner.scan(x.in, &x.body); err != nil {
		x.appendError(nullID, codeParse, "Parse error: "+err.Error(), nil)
		return http.StatusBadRequest
	}
	if x.body.kind == '{' {
		m := &x.body.messages[0]
		if m.jsonrpc == nil && m.id == nil && m.params == nil {
			x.form, x.asked = telemetry.FormSimple, m
			method := ""
			if isString(m.method) {
				method = stringValue(m.method)
			}
			began := x.begin()
			status = x.traced(m, method, (*exchange).simple)
			x.end(began)
			return status
		}
	}
	x.form = telemetry.FormJSONRPC
	switch x.body.kind {
	case '{':
		return x.message(&x.body.messages[0])
	case '[':
		return x.batch()
	}
	return x.invalid(nullID, "the body must be an object")
}

// simple answers the simple form (docs/design/http.md, "Forms"): the bare result, or {"error": …} with 400.
func (x *exchange) simple(m *message, method string) (status int) {
	if !isString(m.method) {
		return x.badSimple(codeInvalidRequest, "method is required and must be a string")
	}
	switch method {
	case methodListTools:
		x.method = methodListTools
		if wait := x.overRate(methodListTools, 1); wait > 0 {
			return x.refuseRate(nil, wait)
		}
		if x.view.Style == "" {
			x.view.Style = contract.StylePerModel // the simple form's list, whatever the endpoint's style
		}
		return x.listTools(nil, m)
	case methodCallTool:
		x.method = methodCallTool
		if message := checkCall(m.name, m.arguments); message != "" {
			return x.badSimple(codeInvalidParams, message)
		}
		result := x.callTool(stringValue(m.name), m.arguments, nil)
		x.appendToolResult(nil, &result)
		return http.StatusOK
	default:
		x.method = methodOther
		return x.badSimple(codeMethodNotFound, "Unknown method: "+quoted(method))
	}
}

// badSimple appends the error of a request in the simple form. code is the one that JSON-RPC has for it.
func (x *exchange) badSimple(code int, message string) (status int) {
	x.noteError(code)
	x.out = appendPlainError(x.out, message)
	return http.StatusBadRequest
}

// checkCall says what is wrong with the members of tools/call; "" if nothing is.
func checkCall(name, arguments []byte) string {
	switch {
	case !isString(name):
		return "name is required and must be a string"
	case arguments != nil && !isObject(arguments) && !bytes.Equal(arguments, []byte("null")):
		return "arguments must be an object"
	}
	return ""
}
