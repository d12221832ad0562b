package call

import "encoding/json"

// Elicitation is what a person is asked before a call goes on. A client that can ask its person by a form gets it in place of the
// answer, and makes the call again with what the person said (MCP 2026-07-28, Multi Round-Trip Requests).
type Elicitation struct {
	// Key is the name of the question, Message what the person reads, and Schema that of the form.
	Key, Message string
	Schema       json.RawMessage
	// Carried is what the repeated call has to bring again.
	Carried string
}

// Elicited is what a client that can ask its person brings with a call: nothing, if it did not ask yet.
type Elicited struct {
	// Carried is that of the question; "" if there was none, or the client does not say which one it was.
	Carried string
	// Results are what the person said, by the keys of the questions.
	Results map[string]ElicitResult
}

// ElicitResult is what a person said: accept with what the form holds, decline, or cancel.
type ElicitResult struct {
	Action  string
	Content map[string]json.RawMessage
}

// The actions of an ElicitResult.
const (
	Accept  = "accept"
	Decline = "decline"
	Cancel  = "cancel"
)

// ConfirmKey is the key of the question whether an action may run, and the name of its form's only field.
const ConfirmKey = "confirm"

// CodeDeclined is the error of a call that the caller's person did not want.
const CodeDeclined Code = "declined"

// takeElicited takes what the caller's person said. Whoever did not say yes to a question of this server is asked.
func (c *Call) takeElicited() error {
	if c.Elicited == nil || c.Elicited.Carried == "" {
		return nil
	}
	said := c.Elicited.Results[ConfirmKey]
	switch yes := string(said.Content[ConfirmKey]); {
	case said.Action == Cancel:
		return Failf(CodeDeclined, "the question whether to do this was closed without an answer: nothing was changed; make the call again only if your user wants it")
	case said.Action == Decline, said.Action == Accept && yes == "false":
		return Failf(CodeDeclined, "your user was asked whether to do this, and said no: nothing was changed; do not try to reach the same in another way")
	case said.Action == Accept && yes == "true":
		c.Confirmation = c.Elicited.Carried
	}
	return nil
}
