package rotation

import "time"

// Situation holds everything that decides about a generated token.
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
	// State is the state in the Secret's annotations; Text is the text that the Secret has for State.Hash, "" if it has
	// none.
	State State
	Text  string

	// NextText is the text whose hash is State.Next; "" if it is not known, since it was lost with another manager.
	NextText string
	// Programmed reports whether every server pod lets State.Next in.
	Programmed bool
	// Every is the longest time that a text is in use, 0 is without end; Overlap how long the one before works on.
	Every, Overlap time.Duration
	// Spread, from 0 to 1, is how far the rotation is brought forward, as a share of a tenth of Every.
	Spread float64
	// Request asks for one rotation with each new value.
	Request string
	// Fixed reports whether the Secret is immutable, so that its text cannot be replaced.
	Fixed bool
}

// Action is the next step for a generated token.
type Action int

// The actions.
const (
	// Do nothing: the token is not in force, and its Secret, if there is one, does not change.
	Nothing Action = iota
	// Keep the text; the Secret's other content follows the MCPToken and its endpoint.
	Keep
	// Issue a new text at once. If there was another one, that one is refused from the next Config on.
	Issue
	// Prepare a next text: its hash goes into the Secret's annotations and the Config, and the text is not shown to anybody
	// until every server pod lets it in.
	Prepare
	// Rotate: the next text goes into the Secret, and the one from before works on until State.PreviousUntil.
	Rotate
)

// Decision says what to do, why, and when to ask again.
type Decision struct {
	Action Action
	// State is the state to write into the Secret's annotations. The caller fills in what it makes: Hash if the action is
	// Issue, Next if it is Prepare.
	State State
	// Reissued reports whether a token was issued before; Why is for people.
	Reissued bool
	Why      string
	// LookAgain is when the decision changes with time; zero is never.
	LookAgain time.Time
	// NextRotation is when the text is replaced; zero if no time is set.
	NextRotation time.Time
}

// Decide is the whole token policy (docs/design/tokens.md, "Token lifecycle"). A Secret that is missing, or does
// not hold the issued text, gets a new text: the old one is lost, and a text that somebody else put there must not
// become a token.
func Decide(s Situation) Decision {
	d := Decision{Action: Nothing, State: s.State}
	switch {
	case !s.Active:
		d.Why = "the token is not active"
		return d
	case s.Expiry != nil && !s.Now.Before(*s.Expiry):
		d.Why = "the token is expired"
		return d
	case s.Paused:
		d.Why = "the token is paused"
		return d
	case !s.Exists || s.Text == "":
		d.Action, d.Reissued, d.Why = Issue, s.Issued || s.Exists, "its Secret is gone"
		if s.Exists {
			d.Why = "its Secret does not hold the token that was issued"
		}
		d.State = State{IssuedAt: s.Now, RotatedFor: s.Request}
	default:
		s.rotate(&d)
	}
	if s.Every > 0 && !s.Fixed {
		d.NextRotation = s.due(d.State.IssuedAt)
	}
	d.lookAgain(s)
	return d
}

// rotate decides about a token that is as it was issued.
func (s Situation) rotate(d *Decision) {
	d.Action, d.Why = Keep, "the token is as it was issued"
	requested := s.Request != "" && s.Request != s.State.RotatedFor
	due := requested || s.Every > 0 && !s.Now.Before(s.due(s.State.IssuedAt))
	switch {
	case !due:
		d.State.Next = "" // nobody asks for it any longer
	case s.Fixed:
		d.State.Next, d.Why = "", "the token's Secret is immutable, so that it cannot be rotated"
	case s.State.overlaps(s.Now):
		d.Why = "the text before still works; the next rotation waits until its overlap is over"
	case s.State.Next == "" || s.NextText == "":
		d.Action, d.Why = Prepare, "a rotation is due"
	case !s.Programmed:
		d.Why = "the next text waits until every server pod lets it in"
	default:
		d.Action, d.Why = Rotate, "every server pod lets the next text in"
		d.State = State{
			Hash: s.State.Next, Previous: s.State.Hash, PreviousUntil: s.Now.Add(s.Overlap),
			IssuedAt: s.Now, RotatedFor: s.Request,
		}
	}
}

// due returns when a text that was issued at a moment has to be replaced.
func (s Situation) due(issued time.Time) time.Time {
	return issued.Add(s.Every - time.Duration(s.Spread*float64(s.Every/10))).UTC().Truncate(time.Second)
}

// lookAgain sets when the decision changes with time: the first of what is still to come.
func (d *Decision) lookAgain(s Situation) {
	for _, moment := range []time.Time{d.State.PreviousUntil, d.NextRotation, value(s.Expiry)} {
		if moment.After(s.Now) && (d.LookAgain.IsZero() || moment.Before(d.LookAgain)) {
			d.LookAgain = moment
		}
	}
}

func value(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}
