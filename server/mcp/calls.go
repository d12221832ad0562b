package mcp

import (
	"log/slog"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// logCall writes a line for a call, at the level at which each request has one. It holds no value of a row or an argument.
func (x *exchange) logCall(name string, result *call.Result, start time.Time) {
	options := &x.handler.options
	if !options.Log.Enabled(x.ctx, slog.LevelDebug) {
		return
	}
	outcome := call.OutcomeOK
	if result.IsError {
		outcome = string(result.Code)
	}
	options.Log.Debug("Call", "token", x.token.Caller(), "tool", quoted(name), "outcome", outcome, "rows", result.Rows,
		"seconds", options.Now().Sub(start).Seconds())
}
