package token

import (
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// Situation is what decides about a generated token.
type Situation struct {
	Now time.Time
	// Active reports whether the MCPToken is valid and active.
	Active bool
	// Paused reports whether the MCPToken is paused, so that its Secret is not written.
	Paused bool
	// Expiry is the moment from which the token is refused; nil is never.
	Expiry *time.Time
	// Exists reports whether the Secret exists. A Secret that is missing or changed must have been read from the API
	// server, not from a cache: a late cache must never replace a living token.
	Exists bool
	// Issued reports whether a token was issued before, as far as the MCPToken's status tells.
	Issued bool
	// Text and Hash are what the Secret and its HashAnnotation say.
	Text, Hash string
}

// Action is what is to be done about a generated token.
type Action int

// The actions.
const (
	// Do nothing: the token is not in force, and its Secret, if there is one, stays as it is.
	Nothing Action = iota
	// Keep the text; the Secret's other content follows the MCPToken and its endpoint.
	Keep
	// Issue a new text. If there was another one, that one is refused from the next Config on.
	Issue
)

// Decision is what to do, why, and when to ask again.
type Decision struct {
	Action Action
	// Reissued reports whether a token was issued before; Why is for people.
	Reissued bool
	Why      string
	// LookAgain is when the decision changes with time; zero is never.
	LookAgain time.Time
}

// Decide is the whole token policy (docs/design/controllers.md, "Token lifecycle"). A Secret that is missing, or whose
// text is not the issued one, gets a new text: the old one is lost, and a text that somebody else put there must not
// become a token.
func Decide(s Situation) Decision {
	if !s.Active {
		return Decision{Action: Nothing, Why: "the token is not active"}
	}
	if s.Expiry != nil && !s.Now.Before(*s.Expiry) {
		return Decision{Action: Nothing, Why: "the token is expired"}
	}
	if s.Paused {
		return Decision{Action: Nothing, Why: "the token is paused"}
	}
	d := Decision{Action: Issue}
	if s.Expiry != nil {
		d.LookAgain = *s.Expiry
	}
	switch {
	case !s.Exists:
		d.Reissued, d.Why = s.Issued, "its Secret is gone"
	case s.Text == "":
		d.Reissued, d.Why = true, "the Secret holds no token"
	case contract.PublicTokenID(s.Text) == "" || contract.HashToken(s.Text) != s.Hash:
		d.Reissued, d.Why = true, "the Secret's token was changed by somebody else"
	default:
		d.Action, d.Why = Keep, "the token is as it was issued"
	}
	return d
}
