package access

import (
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// A Cause tells the operator why a text lets nobody in. The caller is never told.
type Cause struct {
	// Token is the MCPToken's namespace and name, PublicID the part of the text that may be shown; each "" if not known.
	Token, PublicID string
	// Reason is a condition's reason, such as Expired or Inactive, or one of the reasons below.
	Reason string
}

// The reasons that are no condition's.
const (
	// CauseUnknown is a text that no MCPToken has, or had lately.
	CauseUnknown = "Unknown"
	// CauseOtherText is a text of an MCPToken that has another one now, or a forged one with its public part.
	CauseOtherText = "OtherText"
	// causeExpired is the reason of a token whose time is over, as its condition says.
	causeExpired = "Expired"
)

// WhyRefused says why a text lets nobody in. It goes through all tokens, so it must not be called for each refusal, nor before
// the caller has its answer: the time that it takes depends on the text.
func (d *Directory) WhyRefused(shown Bearer, now time.Time) Cause {
	cause := Cause{PublicID: contract.PublicTokenID(shown.Text), Reason: CauseUnknown}
	if found := d.find(shown.Sum); found != nil && found.holder.expired(now) {
		cause.Token, cause.Reason = found.holder.name, causeExpired
		return cause
	}
	if cause.PublicID == "" {
		return cause
	}
	for _, part := range d.parts {
		if part.from == nil {
			continue
		}
		for i := range part.from.Tokens {
			if t := &part.from.Tokens[i]; t.PublicID == cause.PublicID {
				cause.Token, cause.Reason = t.Namespace+"/"+t.Name, CauseOtherText
				if t.Refused != "" {
					cause.Reason = t.Refused
				}
				return cause
			}
		}
	}
	return cause
}

// NextExpiry returns when the next token expires; the zero time if none of those in force does.
func (d *Directory) NextExpiry(now time.Time) time.Time {
	var next time.Time
	for _, part := range d.parts {
		for _, e := range part.entries {
			if at := e.holder.expiry; at != nil && at.After(now) && (next.IsZero() || at.Before(next)) {
				next = *at
			}
		}
	}
	return next
}
