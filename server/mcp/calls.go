package mcp

import (
	"encoding/json"
	"log/slog"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// logCall writes a line for a call, at the level at which each request has one. It holds no value of a row or an argument.
func (x *exchange) logCall(name, outcome string, result *call.Result, start time.Time) {
	options := &x.handler.options
	if !options.Log.Enabled(x.ctx, slog.LevelDebug) {
		return
	}
	options.Log.Debug("Call", "token", x.token.Caller(), "tool", quoted(name), "outcome", outcome, "rows", rowsOf(name, result),
		"seconds", options.Now().Sub(start).Seconds())
}

// rowsOf is how many rows a call's answer shows, or tells to have changed; 0 if it is not about rows.
func rowsOf(name string, result *call.Result) int {
	var answer struct {
		Count         *int `json:"count"`
		SuccessCount  *int `json:"success_count"`
		AffectedCount *int `json:"affected_count"`
	}
	if result.IsError || json.Unmarshal(result.Text, &answer) != nil {
		return 0
	}
	switch {
	case call.AboutOneRow(name):
		return 1
	case answer.Count != nil:
		return *answer.Count
	case answer.SuccessCount != nil:
		return *answer.SuccessCount
	case answer.AffectedCount != nil:
		return *answer.AffectedCount
	}
	return 0
}
