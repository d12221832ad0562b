package call

import "encoding/json"

// StepConfirmations are the questions of the actions among the steps of one call. They are asked together, once all steps
// were run: what a later step would do may depend on those before it.
type StepConfirmations struct {
	// Elicits is set if the caller's person is asked, whatever the steps themselves say. Confirmed and Shown come from the caller.
	Elicits   bool
	Confirmed bool
	Shown     string
	// TokenRequired is set if one of the actions needs the page's token.
	TokenRequired bool
	Asked         []StepQuestion
	// Size is how long the questions are together.
	Size int
}

// StepQuestion is the question of one step. bound is all that the action would do.
type StepQuestion struct {
	Message, Page string
	// Plain is the page as plain text.
	Plain    string
	Affected int
	Bound    json.RawMessage
}

// MaxSteps is the most steps of one call, MaxExpected the most values that a step may expect.
const (
	MaxSteps    = 100
	MaxExpected = 50
)

// Step is one step as it was sent.
type Step struct {
	Tool  string
	Op    *Operation
	Model string
	// Arguments are the arguments of the tool.
	Arguments json.RawMessage
	// Expect are values that must stand at places of the answer, by their paths; without them there is no expectation.
	Expect map[string]json.RawMessage
}

// Admitted is admit for an operation of which every call can be a step.
func Admitted(*Call) error { return nil }
