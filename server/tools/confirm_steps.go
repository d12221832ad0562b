package tools

import (
	"encoding/json"
	"strings"
)

// stepConfirmations are the questions of the actions among the steps of one call. They are asked together, once all steps
// were run: what a later step would do may depend on those before it.
type stepConfirmations struct {
	// confirmed and shown come from the caller.
	confirmed bool
	shown     string
	// tokenRequired is set if one of the actions needs the page's token.
	tokenRequired bool
	asked         []stepQuestion
	// size is how long the questions are together.
	size int
}

// stepQuestion is the question of one step. bound is all that the action would do.
type stepQuestion struct {
	message, page string
	affected      int
	bound         json.RawMessage
}

// add keeps the question of an action that a step is about to run, if it has one.
func (s *stepConfirmations) add(e *actionCall, p *actionPlan) error {
	if e.declared.Confirm == nil || e.confirmed && !e.needsToken(p) {
		return nil
	}
	q := stepQuestion{message: e.message(p), affected: len(p.rows)}
	var err error
	if q.page, err = e.page(p, q.message); err != nil {
		return err
	}
	if q.bound, err = e.bound(p); err != nil {
		return err
	}
	s.tokenRequired = s.tokenRequired || e.needsToken(p)
	s.asked, s.size = append(s.asked, q), s.size+len(q.message)+len(q.page)+len(q.bound)
	return nil
}

// ask returns the question for the caller before the steps are kept; nil if there is none. A token of a page that does not
// match what would be done now is a conflict with a new page.
func (t *transaction) ask() (*confirmationRequest, error) {
	s := &t.confirmations
	if len(s.asked) == 0 || t.call.dryRun || s.confirmed && s.shown == "" && !s.tokenRequired {
		return nil, nil
	}
	bound, err := t.bound()
	if err != nil {
		return nil, err
	}
	if s.confirmed && s.shown != "" && t.call.isConfirmation(s.shown, bound) {
		return nil, nil
	}
	question := t.page(t.call.sealConfirmation(bound))
	if !s.confirmed {
		return question, nil
	}
	message := "confirmation_token does not match what would be done now; look at the new page, then call again with its token"
	if s.shown == "" {
		message = "an action of the steps needs the confirmation_token of the page; look at the page, then call again with its token"
	}
	return nil, staleToken(message, question)
}

// bound is who would do what: all steps as they were sent, and what each action would do.
func (t *transaction) bound() ([]byte, error) {
	steps, err := canonical(t.sent)
	if err != nil {
		return nil, err
	}
	actions := make([]json.RawMessage, len(t.confirmations.asked))
	for i, q := range t.confirmations.asked {
		actions[i] = q.bound
	}
	return json.Marshal([]any{transactName, t.call.token.Caller(), json.RawMessage(steps), actions})
}

// page asks about all actions on one page.
func (t *transaction) page(token string) *confirmationRequest {
	q := &confirmationRequest{RequiresConfirmation: true, Action: transactName, Token: token,
		MissingIDs: []json.RawMessage{}, SkippedIDs: []json.RawMessage{}}
	var messages, pages []string
	for _, asked := range t.confirmations.asked {
		messages, pages = append(messages, asked.message), append(pages, asked.page)
		q.AffectedCount += asked.affected
	}
	q.Message = strings.Join(messages, " ") + " Nothing was changed: to go on, call again with the same steps, confirm: true and this confirmation_token."
	q.Page = confirmationPage{ContentType: "text/html", Content: strings.Join(pages, "<hr>\n")}
	return q
}
