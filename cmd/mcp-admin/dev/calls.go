package dev

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/output"
)

// callLog shows each call on a line for people: when, who, which tool, how many rows, how long. It has no values. What else
// the server says goes to another handler.
type callLog struct {
	slog.Handler
	mu     *sync.Mutex
	screen *output.Screen
}

// Enabled implements slog.Handler: calls are logged at the level of debugging.
func (l *callLog) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler.
func (l *callLog) Handle(ctx context.Context, record slog.Record) error {
	if record.Message != "Call" || record.Level != slog.LevelDebug {
		if l.Handler.Enabled(ctx, record.Level) {
			return l.Handler.Handle(ctx, record)
		}
		return nil
	}
	var token, tool, outcome string
	var rows int64
	var seconds float64
	record.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "token":
			token = a.Value.String()
		case "tool":
			tool = a.Value.String()
		case "outcome":
			outcome = a.Value.String()
		case "rows":
			rows = a.Value.Int64()
		case "seconds":
			seconds = a.Value.Float64()
		}
		return true
	})
	style := output.Good
	if outcome != "ok" {
		style = output.Bad
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := fmt.Fprintf(l.screen, "%s  %s  %-24s  %s  %s  %.1f ms\n", record.Time.Format("15:04:05"), token, tool,
		l.screen.Styled(style, outcome), output.Numbered(int(rows), "row"), seconds*1000)
	return err
}

// WithAttrs implements slog.Handler.
func (l *callLog) WithAttrs(attributes []slog.Attr) slog.Handler {
	return &callLog{l.Handler.WithAttrs(attributes), l.mu, l.screen}
}

// WithGroup implements slog.Handler.
func (l *callLog) WithGroup(name string) slog.Handler {
	return &callLog{l.Handler.WithGroup(name), l.mu, l.screen}
}
