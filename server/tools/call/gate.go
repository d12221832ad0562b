package call

import (
	"encoding/json"
	"slices"
	"time"
)

// Gate holds calls back that other people must allow first (package approval has the only one).
type Gate interface {
	// Enter is asked once the call's arguments were read by name, before anything runs. If the call may have to wait, it sets the
	// call's Hold: from then on, whatever the call commits by its DB is judged first. An error is the call's.
	Enter(c *Call) error
}

// Hold is what a Gate knows of a call that may have to wait.
type Hold interface {
	// Pass is asked before something is done that no transaction can undo; changes are the rows that it is about. An error is the
	// call's. done must be called in the end: with false if nothing was done.
	Pass(changes []Change) (done func(happened bool), err error)
	// Foreseen are the policies that would hold the call back, after a dry run of it.
	Foreseen() []string
	// Left is told how the call's operation ended.
	Left(err error)
}

// WaitsAnswer is the answer of a call that waits until other people allow it.
type WaitsAnswer struct {
	Success  bool         `json:"success"`
	Code     Code         `json:"code"`
	Approval string       `json:"approval"`
	Policies []PolicyAsks `json:"policies"`
	Expires  time.Time    `json:"expires"`
	Rows     int          `json:"rows"`
	Message  string       `json:"message"`
}

// PolicyAsks is a policy that asks for an approval.
type PolicyAsks struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Approvals   int    `json:"approvals_needed"`
	// Given is how many people have allowed the call so far.
	Given int `json:"approvals_given,omitempty"`
}

// mayWait reports whether calls of an operation can need an approval.
func (o *Operation) mayWait() bool { return o.Writes() || o.Exports }

// reasonSchema describes the argument ReasonName.
var reasonSchema = Schema{Type: Types{"string"}, Description: "why it is needed, for the people who may have to allow it"}

// orWaits is the schema of an answer in whose place a call may have to wait.
func orWaits(answer Schema) Schema {
	forms := answer.AnyOf
	if len(answer.Properties) > 0 {
		forms = []Schema{answer}
	}
	for _, form := range forms {
		if _, dry := form.Properties[dryRun]; dry {
			form.Properties[foreseen] = Schema{Type: Types{"array"}, Items: &Schema{Type: Types{"string"}}}
		}
	}
	return OneOf(append(slices.Clone(forms), PayloadSchema[WaitsAnswer]())...)
}

// The members of an answer to a dry run: that it was one, and which policies would hold the call back.
const (
	dryRun   = "dry_run"
	foreseen = "would_need_approval"
)

// WithForeseen is the answer to a dry run with the policies that would hold the call back.
func (c *Call) WithForeseen(answer []byte) []byte {
	if !c.DryRun || c.Hold == nil || len(c.Hold.Foreseen()) == 0 {
		return answer
	}
	names, _ := json.Marshal(c.Hold.Foreseen()) // texts: it cannot fail
	answer = append(append(answer[:len(answer)-len("}")], `,"`+foreseen+`":`...), names...)
	return append(answer, '}')
}

// WaitsError ends a call that waits until other people allow it: nothing was changed. Approval is what it waits for, and Answer what
// the caller gets.
type WaitsError struct {
	Approval string
	Answer   []byte
}

func (e *WaitsError) Error() string { return "the call waits until other people allow it" }

// ReasonName is the argument by which a caller says why a call is needed, where other people may have to allow it.
const ReasonName = "approval_reason"

// The codes of calls that other people must allow, or did not allow.
const (
	CodeApprovalRequired Code = "approval_required"
	CodeApprovalDenied   Code = "approval_denied"
)

// Own is the store by which a call keeps what is no change of rows for anybody to allow: that a key or a link was used, and what a
// webhook was asked.
func (c *Call) Own() Store {
	if held, ok := c.DB.(interface{ Unheld() Store }); ok {
		return held.Unheld()
	}
	return c.DB
}
