package mcp

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
)

// The labels, in metrics, of requests that name no known method.
const (
	notificationPrefix  = "notifications/"
	methodNotifications = "notifications"
	methodBatch         = "batch"
	methodOther         = "other"
)

// maxBatchAnswer is the size in bytes at which a batch performs no further request. So a batch's answer is hardly larger
// than one request's.
const maxBatchAnswer = 1 << 20

// The error of a request of a batch that is not performed.
const (
	tokenRefused = "Invalid or missing authentication token"
	batchIsFull  = "Not performed: the answers of this batch are too large; send the rest in another"
)

// batch answers an array of messages, in order.
func (x *exchange) batch() (status int) {
	x.method = methodBatch
	x.protocol = protocolOf(x.header, nil)
	switch {
	case x.protocol.refused != 0:
		return x.refuseVersion(nullID)
	case !x.protocol.batches:
		return x.invalid(nullID, "this protocol version has no batches; send each message by itself")
	case x.body.elements == 0:
		return x.invalid(nullID, "the batch is empty")
	case x.body.elements > maxBatch:
		return x.invalid(nullID, "a batch has at most 50 messages; send the rest in another")
	}
	x.inBatch = true
	x.out = append(x.out, '[')
	for i := range x.body.messages {
		if x.ctx.Err() != nil {
			break // The client is gone; nobody would read the rest.
		}
		before := len(x.out)
		if before > 1 {
			x.out = append(x.out, ',')
		}
		if x.messageOfBatch(i, before) == http.StatusAccepted {
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

// messageOfBatch answers one message of a batch; size is the size of the answers before it. The token may have been
// revoked, or have expired, since the batch began.
func (x *exchange) messageOfBatch(i, size int) (status int) {
	m := &x.body.messages[i]
	switch {
	case i > 0 && !x.readmit():
		return x.refuseMessage(m, tokenRefused)
	case size > maxBatchAnswer:
		return x.refuseMessage(m, batchIsFull)
	}
	return x.message(m)
}

// message answers one message (docs/design/http.md, "Forms"). The status is for a body that is this message alone. 202
// is for a notification, which has no answer.
func (x *exchange) message(m *message) (status int) {
	began := x.begin()
	status = x.answerTo(m)
	x.end(began)
	return status
}

// answerTo answers one message.
func (x *exchange) answerTo(m *message) (status int) {
	x.asked = m
	id := m.replyID()
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
	x.protocol = protocolOf(x.header, &m.inside.meta)
	switch {
	case x.protocol.refused != 0:
		return x.refuseVersion(id)
	case m.id == nil:
		return http.StatusAccepted
	}
	return x.traced(m, method, (*exchange).request)
}

// idText is the message's id as text, without quotes.
func (m *message) idText() string {
	if isString(m.id) {
		return stringValue(m.id)
	}
	return string(m.id)
}

// replyID returns the id for the answer to a message.
func (m *message) replyID() []byte {
	if isString(m.id) || isInteger(m.id) {
		return m.id
	}
	return nullID
}

// refuseMessage answers one message of a batch that is not performed.
func (x *exchange) refuseMessage(m *message, why string) (status int) {
	if m.object && m.id == nil {
		return http.StatusAccepted
	}
	return x.fail(m.replyID(), codeRefused, why)
}

// request answers a well-formed request. In the initialize era the status is always 200.
func (x *exchange) request(m *message, name string) (status int) {
	id, method := m.replyID(), methods[name]
	x.method = methodOther
	if method != nil {
		x.method = method.label
	}
	if x.protocol.modern {
		var repeated []byte
		if method != nil && method.name != nil {
			repeated = method.name(&m.inside)
		}
		if status := x.admit(id, name, repeated, &m.inside.meta); status != 0 {
			return status
		}
	}
	switch {
	case method == nil, x.protocol.modern && !method.modern, !x.protocol.modern && !method.legacy:
		x.fail(id, codeMethodNotFound, "Method not found: "+quoted(name))
		if x.protocol.modern {
			return http.StatusNotFound
		}
		return http.StatusOK
	case m.params != nil && !isObject(m.params) && !bytes.Equal(m.params, []byte("null")):
		return x.fail(id, codeInvalidParams, "params must be an object")
	}
	if method.label != methodCallTool { // its calls are counted by what they hold
		if wait := x.overRate(method.label, 1); wait > 0 {
			return x.refuseRate(id, wait)
		}
	}
	return method.run(x, id, m)
}

// fail appends the error of a well-formed request.
func (x *exchange) fail(id []byte, code int, message string) (status int) {
	x.appendError(id, code, message, nil)
	return http.StatusOK
}

// invalid appends the error of a message that is not a request.
func (x *exchange) invalid(id []byte, message string) (status int) {
	x.appendError(id, codeInvalidRequest, "Invalid request: "+message, nil)
	return http.StatusBadRequest
}

// refuseVersion appends the error of a message that follows no known version.
func (x *exchange) refuseVersion(id []byte) (status int) {
	if x.protocol.refused == codeHeaderMismatch {
		return x.mismatch(id, "MCP-Protocol-Version must be the version in params._meta")
	}
	data := append([]byte(`{"supported":`), supportedVersionsJSON...)
	data = append(data, `,"requested":`...)
	data = append(jsontext.AppendString(data, quoted(x.protocol.requested)), '}')
	x.appendError(id, codeUnsupportedVersion, "Unsupported protocol version", data)
	return http.StatusBadRequest
}
