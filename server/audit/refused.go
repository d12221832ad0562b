package audit

import (
	"context"
	"log/slog"
)

// What a line about a caller that was not let in has as its operation and outcome.
const (
	OperationAuthenticate = "authenticate"
	OutcomeRefused        = "refused"
)

// Refused describes a caller that was not let in. It holds no text of a token, and no hash.
type Refused struct {
	// Cause is the reason that the metric of refused callers has; Condition the reason in the MCPToken's condition, "" if it has none.
	Cause, Condition string
	// Token is the MCPToken's namespace and name, PublicID the part of what was shown that may be told; each "" if not known.
	Token, PublicID string
	// Subject and Issuer are whom somebody else issued a good token to, and who; "" if nobody did.
	Subject, Issuer string
	// More is how many callers before this one were refused and have no line.
	More int
}

// WriteRefused writes a line about a caller that was not let in. An error says that it could not be written to all outputs.
func (l *Log) WriteRefused(ctx context.Context, r *Refused) error {
	if l == nil {
		return nil
	}
	return l.write(ctx, r)
}

// attributes implements entry.
func (r *Refused) attributes(from *Caller) []slog.Attr {
	line := appendText(make([]slog.Attr, 0, 12), "token", r.Token)
	line = appendText(appendText(appendText(line, "token_id", r.PublicID), "subject", r.Subject), "issuer", r.Issuer)
	line = append(line, slog.String("operation", OperationAuthenticate), slog.String("cause", r.Cause))
	line = appendText(line, "condition", r.Condition)
	if r.More > 0 {
		line = append(line, slog.Int("more_refused", r.More))
	}
	return from.appendTo(append(line, slog.String("outcome", OutcomeRefused)))
}
