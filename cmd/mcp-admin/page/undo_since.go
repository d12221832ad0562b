package page

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/rights"
)

// sincePlan is what taking back all of a token's changes since a time would do.
type sincePlan struct {
	// Tokens and Models are names to choose from.
	Tokens, Models []string
	// Token, Since and Model are what was asked for, Problem says why it cannot be understood.
	Token, Since, Model, Problem string
	// Plan is nil before a token and a time were chosen.
	Plan *reversal
}

// sinceAsked is what somebody wants to take back: all that a token has changed since a time, in one model or in all.
type sinceAsked struct {
	token types.NamespacedName
	since time.Time
	model string
}

// sinceOf reads what is asked for. The time may be a duration, back from now.
func (q *request) sinceOf(objects *rights.Objects) (*sinceAsked, error) {
	token, err := tokenIn(objects.Tokens, q.key().Namespace, strings.TrimSpace(q.FormValue("token")))
	if err != nil {
		return nil, err
	}
	asked := &sinceAsked{token: cluster.Key(token), model: strings.TrimSpace(q.FormValue("model"))}
	text := strings.TrimSpace(q.FormValue("since"))
	if back, err := time.ParseDuration(text); err == nil && back > 0 {
		asked.since = q.page.now().Add(-back).UTC().Truncate(time.Second)
		return asked, nil
	}
	if asked.since, err = time.Parse(time.RFC3339, text); err != nil {
		return nil, errors.New("since must be a time such as 2026-01-31T12:00:00Z, or how long ago, such as 30m or 12h")
	}
	return asked, nil
}

// arguments are those of undo, words the same on a command line, and what says it to people.
func (a *sinceAsked) arguments() map[string]any {
	arguments := map[string]any{"since": a.text()}
	if a.model != "" {
		arguments["model"] = a.model
	}
	return arguments
}

func (a *sinceAsked) words() []string {
	words := []string{"since=" + a.text()}
	if a.model != "" {
		words = append(words, "model="+a.model)
	}
	return words
}

func (a *sinceAsked) what() string {
	what := "all that MCPToken " + a.token.String() + " changed since " + a.text()
	if a.model != "" {
		what += " in " + a.model
	}
	return what
}

func (a *sinceAsked) text() string { return a.since.UTC().Format(time.RFC3339) }

// query leads to the screen about the same.
func (a *sinceAsked) query() url.Values {
	values := url.Values{"token": {a.token.String()}, "since": {a.text()}}
	if a.model != "" {
		values.Set("model", a.model)
	}
	return values
}

const takeBackPath = "take-back"

// journaled are the endpoint's objects, if it has a journal.
func (q *request) journaled() (*rights.Objects, error) {
	objects, err := q.source().Objects(q.Context(), q.key())
	if err == nil && objects.Endpoint.Spec.Audit == nil {
		err = errNoJournal
	}
	return objects, err
}

// sincePlan has the endpoint say, in a dry run, what taking all back would do.
func (q *request) sincePlan() (any, error) {
	q.Title = "Take back all since a time"
	objects, err := q.journaled()
	if err != nil {
		return nil, err
	}
	s := &sincePlan{Token: strings.TrimSpace(q.FormValue("token")), Since: strings.TrimSpace(q.FormValue("since")), Model: strings.TrimSpace(q.FormValue("model"))}
	for i := range objects.Tokens[:min(len(objects.Tokens), mostNames)] {
		s.Tokens = append(s.Tokens, cluster.Key(&objects.Tokens[i]).String())
	}
	slices.Sort(s.Tokens)
	for i := range objects.Exposures[:min(len(objects.Exposures), mostNames)] {
		s.Models = append(s.Models, objects.Exposures[i].EffectiveModel())
	}
	slices.Sort(s.Models)
	if s.Token == "" || s.Since == "" {
		return s, nil
	}
	asked, err := q.sinceOf(objects)
	if err != nil {
		s.Problem = sentenceCase(err.Error())
		return s, nil
	}
	b, err := q.takeBackAs(asked.token, asked.words(), objects)
	if err != nil {
		return nil, err
	}
	q.Title = "Take back all since a time: what it would do"
	q.alike(b.Command)
	s.Token, s.Since = asked.token.String(), asked.text()
	s.Plan = &reversal{takingBack: b, Token: s.Token}
	return s, q.tell(s.Plan, asked.token, asked.arguments())
}

// undoSince takes all back. If the token has changed more since the person looked, nothing happens: they decided about something else.
func (q *request) undoSince() (string, error) {
	objects, err := q.journaled()
	if err != nil {
		return "", err
	}
	asked, err := q.sinceOf(objects)
	if err != nil {
		return "", err
	}
	b, err := q.takeBackAs(asked.token, asked.words(), objects)
	if err == nil {
		err = b.obstacle()
	}
	if err != nil {
		return "", err
	}
	told, failure, err := q.askUndo(asked.token, asked.arguments(), true)
	if err != nil {
		return "", err
	}
	if seen := seenIn(told); failure.Error != "" || seen == "" || q.FormValue("seen") != seen {
		return "", &notDone{"what it would do is not what you saw any more", fmt.Sprintf("%s/%s?%s", q.pathOfEndpoint(), takeBackPath, asked.query().Encode()), "Look again"}
	}
	values, err := q.reverse(objects, asked.token, asked.arguments(), asked.what())
	if err != nil {
		return "", err
	}
	for name, value := range asked.query() {
		values[name] = value
	}
	return fmt.Sprintf("%s/%s/done?%s", q.pathOfEndpoint(), takeBackPath, values.Encode()), nil
}

// doneSince says what happened.
func (q *request) doneSince() (any, error) {
	objects, err := q.journaled()
	if err != nil {
		return nil, err
	}
	asked, err := q.sinceOf(objects)
	if err != nil {
		return nil, err
	}
	return q.undoneSince(asked.since, takeBackPath+"?"+asked.query().Encode())
}
