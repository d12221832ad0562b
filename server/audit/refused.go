package audit

import "context"

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

// tell implements entry.
func (r *Refused) tell(m *members, from *Caller) {
	m.given("token", r.Token)
	m.given("token_id", r.PublicID)
	m.given("subject", r.Subject)
	m.given("issuer", r.Issuer)
	m.text("operation", OperationAuthenticate)
	m.text("cause", r.Cause)
	m.given("condition", r.Condition)
	if r.More > 0 {
		m.number("more_refused", r.More)
	}
	m.text("outcome", OutcomeRefused)
	from.tell(m)
}
