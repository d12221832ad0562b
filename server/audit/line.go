package audit

import (
	"encoding/json"
	"strings"
	"sync"
	"time"
)

// Line is a line as a Receiver gets it.
type Line struct {
	At time.Time
	// Text is the line in the format of the endpoint, without its end.
	Text []byte
	About
	// From is nil if nobody knows where the call came from.
	From *Caller
}

// About is what most lines tell, under the names that Record has. Tool and Model are none that a caller made up.
type About struct{ Token, Subject, Tool, Model, Operation, Call, Outcome string }

// Refused reports whether the line is of a caller that was not let in, or that may not do what it asked for.
func (l *Line) Refused() bool { return denied(l.Outcome) || l.Outcome == OutcomeRefused }

// denied reports whether an outcome says that somebody may not do what they asked for.
func denied(outcome string) bool { return outcome == "permission_denied" || outcome == "token_refused" }

// about implements entry.
func (r *Record) about() About {
	tool, model := known(r.MadeUp, r.Tool, r.Model, r.Operation)
	return About{r.Token, cut(r.Subject), cut(tool), cut(model), cut(r.Operation), r.Call, r.Outcome}
}

// about implements entry.
func (r *Read) about() About {
	tool, model := known(r.MadeUp, r.Tool, r.Model, r.Operation)
	return About{r.Token, cut(r.Subject), cut(tool), cut(model), cut(r.Operation), r.Call, r.Outcome}
}

// known is the tool and the model that a call names; of names that a caller made up only the operation in the tool's name. Receivers keep
// an index of names: what anybody may send would fill it.
func known(madeUp bool, tool, model, operation string) (knownTool, knownModel string) {
	if !madeUp {
		return tool, model
	}
	operation, _, _ = strings.Cut(operation, ":")
	return operation, ""
}

// about implements entry.
func (r *Refused) about() About {
	return About{Token: r.Token, Subject: cut(r.Subject), Operation: OperationAuthenticate, Outcome: OutcomeRefused}
}

// unanswered is what is true of a call that is not answered because its line could not be written: nobody saw a row.
func (r *Read) unanswered() *Read {
	unseen := *r
	unseen.Shown, unseen.Bytes, unseen.Outcome = Shown{}, 0, outcomeUnavailable
	return &unseen
}

// outcomeUnavailable is the code of a call that is not answered because its line could not be written.
const outcomeUnavailable = "unavailable"

// draft is a line that is being written. Drafts are used again.
type draft struct {
	text members
	// events writes lines of OCSF into the text.
	events *json.Encoder
}

var drafts = sync.Pool{New: func() any {
	d := &draft{}
	d.events = json.NewEncoder(&d.text)
	return d
}}

// maxDraft is the most memory that a draft keeps, in bytes.
const maxDraft = 64 << 10

func (d *draft) release() {
	if cap(d.text.json) <= maxDraft {
		d.text.json = d.text.json[:0]
		drafts.Put(d)
	}
}

// newline ends a line.
var newline = []byte{'\n'}

// write writes what is told into the text, with the line's end.
func (d *draft) write(m *moment, told entry) error {
	if m.settings.OCSF {
		return d.events.Encode(told.event(m))
	}
	d.text.begin(m.at)
	told.tell(&d.text, m.from)
	d.text.end()
	return nil
}
