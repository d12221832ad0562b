package mcp

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
)

// The methods that only JSON-RPC has, and the labels of what is none of them.
const (
	methodInitialize    = "initialize"
	methodPing          = "ping"
	notificationPrefix  = "notifications/"
	methodNotifications = "notifications"
	methodBatch         = "batch"
	methodOther         = "other"
)

// unsupportedVersion is the data of an error -32022.
var unsupportedVersion, _ = json.Marshal(map[string][]string{"supported": supportedVersions})

// batch answers an array of messages, in order.
func (x *exchange) batch() (status int) {
	x.method = methodBatch
	switch {
	case !x.protocol.supported:
		return x.refuseVersion(nullID)
	case !x.protocol.batches:
		return x.invalid(nullID, "this protocol version has no batches")
	case x.body.elements == 0:
		return x.invalid(nullID, "the batch is empty")
	case x.body.elements > maxBatch:
		return x.invalid(nullID, "a batch has at most 50 messages")
	}
	x.inBatch = true
	x.out = append(x.out, '[')
	for i := range x.body.messages {
		if x.ctx.Err() != nil {
			break // The client is gone; what is left would be done for nobody.
		}
		before := len(x.out)
		if before > 1 {
			x.out = append(x.out, ',')
		}
		if x.message(&x.body.messages[i]) == http.StatusAccepted {
			x.out = x.out[:before]
		}
	}
	x.method = methodBatch
	if len(x.out) == 1 {
		x.out = x.out[:0]
		return http.StatusAccepted
	}
	x.out = append(x.out, ']')
	return http.StatusOK
}

// message answers one message (decisions section 2). The status is that of a body that is this message alone; 202 is a
// notification, which has no answer.
func (x *exchange) message(m *message) (status int) {
	id := nullID
	if isString(m.id) || isInteger(m.id) {
		id = m.id
	}
	switch {
	case !m.object:
		return x.invalid(id, "a message must be an object")
	case m.id != nil && !isString(m.id) && !isInteger(m.id):
		return x.invalid(id, "id must be a string or an integer")
	case m.jsonrpc != nil && (!isString(m.jsonrpc) || stringValue(m.jsonrpc) != "2.0"):
		return x.invalid(id, `jsonrpc must be "2.0"`)
	case !isString(m.method):
		return x.invalid(id, "method is required and must be a string")
	}
	method := stringValue(m.method)
	if m.id == nil {
		x.method = methodNotifications
		if m.jsonrpc == nil && !strings.HasPrefix(method, notificationPrefix) {
			return x.invalid(id, "id is missing")
		}
	}
	switch {
	case !x.protocol.supported:
		return x.refuseVersion(id)
	case m.id == nil:
		return http.StatusAccepted
	}
	return x.request(id, method, m)
}

// request answers a request that is well-formed. Whatever becomes of it, the status is 200.
func (x *exchange) request(id []byte, method string, m *message) (status int) {
	x.method = methodOther
	if m.params != nil && !isObject(m.params) && !bytes.Equal(m.params, []byte("null")) {
		return x.fail(id, codeInvalidParams, "params must be an object")
	}
	switch method {
	case methodInitialize:
		x.method = methodInitialize
		if x.inBatch {
			return x.fail(id, codeInvalidRequest, "initialize cannot be part of a batch")
		}
		x.initialize(id, m)
	case methodPing:
		x.method = methodPing
		x.out = endResult(append(beginResult(x.out, id), "{}"...), id)
	case methodListTools:
		x.method = methodListTools
		x.listTools(id)
	case methodCallTool:
		x.method = methodCallTool
		return x.callToolRPC(id, m)
	default:
		return x.fail(id, codeMethodNotFound, "Method not found: "+quoted(method))
	}
	return http.StatusOK
}

// initialize appends what the server is and can do.
func (x *exchange) initialize(id []byte, m *message) {
	version := ""
	if isString(m.inside.protocolVersion) {
		version = stringValue(m.inside.protocolVersion)
	}
	x.out = beginResult(x.out, id)
	x.out = append(x.out, `{"protocolVersion":`...)
	x.out = appendString(x.out, []byte(negotiate(version)))
	x.out = append(x.out, `,"capabilities":{"tools":{}},"serverInfo":{"name":"mcp-admin-server","version":`...)
	x.out = appendString(x.out, []byte(x.handler.options.Version))
	x.out = append(x.out, '}')
	if instructions := x.snapshot.Instructions(x.token); instructions != "" {
		x.out = append(x.out, `,"instructions":`...)
		x.out = appendString(x.out, []byte(instructions))
	}
	x.out = append(x.out, '}')
	x.out = endResult(x.out, id)
}

func (x *exchange) callToolRPC(id []byte, m *message) (status int) {
	if message := checkCall(m.inside.name, m.inside.arguments); message != "" {
		return x.fail(id, codeInvalidParams, message)
	}
	name := stringValue(m.inside.name)
	result := x.callTool(name, m.inside.arguments)
	if result.UnknownTool {
		return x.fail(id, codeInvalidParams, "Unknown tool: "+quoted(name))
	}
	x.out = beginResult(x.out, id)
	x.out = appendContent(x.out, result.Text, result.IsError)
	x.out = endResult(x.out, id)
	return http.StatusOK
}

// fail appends the error of a request that is well-formed.
func (x *exchange) fail(id []byte, code int, message string) (status int) {
	x.out = appendError(x.out, id, code, message, nil)
	return http.StatusOK
}

// invalid appends the error of what is no request.
func (x *exchange) invalid(id []byte, message string) (status int) {
	x.out = appendError(x.out, id, codeInvalidRequest, "Invalid request: "+message, nil)
	return http.StatusBadRequest
}

func (x *exchange) refuseVersion(id []byte) (status int) {
	x.out = appendError(x.out, id, codeUnsupportedVersion, "Unsupported protocol version", unsupportedVersion)
	return http.StatusBadRequest
}
