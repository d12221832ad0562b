package mcp

import (
	"strconv"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/telemetry"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// begin begins to measure a message, and returns the time.
func (x *exchange) begin() time.Time {
	x.method, x.answered = "", telemetry.Operation{}
	return x.handler.options.Now()
}

// end counts the message that was answered. One without a method is counted as a request alone.
func (x *exchange) end(began time.Time) {
	if x.method == "" {
		return
	}
	x.answered.Method, x.answered.Took = x.method, x.handler.options.Now().Sub(began)
	x.handler.options.Metrics.Operation(&x.answered)
}

// noteResult notes what a tool answered, or the reading of a resource.
func (x *exchange) noteResult(result *call.Result) {
	x.answered.Model, x.answered.Rows, x.answered.Bytes = result.Model, result.Rows, len(result.Text)
	if result.IsError {
		x.answered.Error = string(result.Code)
	}
}

// noteError notes the error of the protocol that a message is answered with. The error of a tool says more.
func (x *exchange) noteError(code int) {
	if x.answered.Error == "" {
		x.answered.Error = errorTypes[code]
	}
}

// errorTypes are the codes of JSON-RPC as the semantic conventions write them.
var errorTypes = texts(codeParse, codeInvalidRequest, codeMethodNotFound, codeInvalidParams, codeRefused, codeResourceNotRead,
	codeHeaderMismatch, codeMissingCapability, codeUnsupportedVersion)

func texts(codes ...int) map[int]string {
	m := make(map[int]string, len(codes))
	for _, code := range codes {
		m[code] = strconv.Itoa(code)
	}
	return m
}
