package steps

import (
	"encoding/json"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/tools/action"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// ask returns the question for the caller before the steps are kept; nil if there is none. A token of a page that does not
// match what would be done now is a conflict with a new page.
func (t *transaction) ask() (*action.ConfirmationRequest, error) {
	s := &t.confirmations
	t.call.Elicitation = nil // an earlier attempt may have left one
	if len(s.Asked) == 0 || t.call.DryRun || s.Confirmed && s.Shown == "" && !s.TokenRequired {
		return nil, nil
	}
	bound, err := t.bound()
	if err != nil {
		return nil, err
	}
	if s.Confirmed && s.Shown != "" && action.IsConfirmation(t.call, s.Shown, bound) {
		return nil, nil
	}
	question := t.page(action.SealConfirmation(t.call, bound))
	t.call.Elicitation = question.Elicit()
	if !s.Confirmed {
		return question, nil
	}
	message := "confirmation_token does not match what would be done now; look at the new page, then call again with its token"
	if s.Shown == "" {
		message = "an action of the steps needs the confirmation_token of the page; look at the page, then call again with its token"
	}
	return nil, action.StaleToken(message, question)
}

// bound is who would do what: all steps as they were sent, and what each action would do.
func (t *transaction) bound() ([]byte, error) {
	steps, err := call.Canonical(t.sent)
	if err != nil {
		return nil, err
	}
	actions := make([]json.RawMessage, len(t.confirmations.Asked))
	for i, q := range t.confirmations.Asked {
		actions[i] = q.Bound
	}
	return json.Marshal([]any{TransactName, t.call.Token.Caller(), json.RawMessage(steps), actions})
}

// page asks about all actions on one page.
func (t *transaction) page(token string) *action.ConfirmationRequest {
	q := &action.ConfirmationRequest{RequiresConfirmation: true, Action: TransactName, Token: token,
		MissingIDs: []json.RawMessage{}, SkippedIDs: []json.RawMessage{}}
	var messages []string
	for _, asked := range t.confirmations.Asked {
		messages = append(messages, asked.Message)
		q.AffectedCount += asked.Affected
	}
	q.Message = strings.Join(messages, " ") + " Nothing was changed: to go on, call again with the same steps, confirm: true and this confirmation_token."
	q.PageOf(t.confirmations.Asked)
	return q
}
