package telemetry

import (
	"io"
	"log/slog"
)

// NewLogger returns a logger that writes one JSON object a line. Requests are logged at slog.LevelDebug only, and
// never with their bodies.
func NewLogger(w io.Writer, level slog.Leveler) *slog.Logger {
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level}))
}
