package action

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/seal"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/write"
)

// ErrAsked undoes a transaction in which a question was all that came out.
var ErrAsked = errors.New("asked")

// ConfirmationLife is how long a confirmation_token is good for.
const ConfirmationLife = 10 * time.Minute

// ConfirmationRequest is action_'s answer where it asks first: nothing was changed.
type ConfirmationRequest struct {
	Success              bool              `json:"success"`
	RequiresConfirmation bool              `json:"requires_confirmation"`
	Action               string            `json:"action"`
	Message              string            `json:"message"`
	AffectedCount        int               `json:"affected_count"`
	Page                 ConfirmationPage  `json:"confirmation_page"`
	Token                string            `json:"confirmation_token"`
	MissingIDs           []json.RawMessage `json:"missing_ids"`
	SkippedIDs           []json.RawMessage `json:"skipped_ids"`
	// Notice says that the page does not name all rows.
	Notice string `json:"notice,omitempty"`
	// plain is the page as plain text, for a form; "" if it is not the server's own.
	plain string
}

// ConfirmationPage is the page that a person is shown before an action runs.
type ConfirmationPage struct {
	ContentType string `json:"content_type"`
	Content     string `json:"content"`
}

// staleConfirmation is the error about a confirmation_token that does not match what would be done now.
type staleConfirmation struct {
	Error string    `json:"error"`
	Code  call.Code `json:"code"`
	ConfirmationRequest
}

// ask returns the question that the caller is to answer first; nil where the action can go ahead. Confirmation is a guard
// rail and no permission: what the action would do was evaluated all the same.
func (e *actionCall) ask(p *actionPlan) (*ConfirmationRequest, error) {
	if steps := e.call.Confirmations; steps != nil {
		return nil, add(steps, e, p)
	}
	e.call.Elicitation = nil // an earlier attempt may have left one
	switch {
	case !e.confirmed && e.declared.Confirm == nil:
		return nil, nil
	case !e.confirmed:
		question, err := e.question(p, nil)
		if err == nil {
			e.call.Elicitation = question.Elicit()
		}
		return question, err
	case e.shown == "" && !e.needsToken(p):
		return nil, nil
	}
	if same, err := e.matches(p); same || err != nil {
		return nil, err
	}
	question, err := e.question(p, nil)
	if err != nil {
		return nil, err
	}
	message := "confirmation_token does not match what would be done now; look at the new page, then call again with its token"
	if e.shown == "" {
		message = e.declared.Name + " needs the confirmation_token of its page" + e.whyToken() + "; look at the page, then call again with its token"
	}
	e.call.Elicitation = question.Elicit()
	return nil, StaleToken(message, question)
}

// needsToken reports whether confirm alone does not do: the action demands the page's token, or it would do more than the
// call says, as rows go or change besides the rows that it names.
func (e *actionCall) needsToken(p *actionPlan) bool {
	return e.declared.Confirm != nil && (e.declared.Confirm.TokenRequired || len(p.along) > 0)
}

// whyToken says, for a message, why the page has to be seen; "" if the action demands it.
func (e *actionCall) whyToken() string {
	if e.declared.Confirm == nil || e.declared.Confirm.TokenRequired {
		return ""
	}
	return ", as other rows go or change with those that you name"
}

// question asks whether to do it; page is a webhook's own, nil for the standard one.
func (e *actionCall) question(p *actionPlan, page *ConfirmationPage) (*ConfirmationRequest, error) {
	message, plain := e.message(p), ""
	if page == nil {
		shown := e.page(p, message)
		content, err := shown.html()
		if err != nil {
			return nil, err
		}
		page, plain = &ConfirmationPage{ContentType: "text/html", Content: content}, shown.plain()
	}
	token, err := e.seal(p)
	if err != nil {
		return nil, err
	}
	return &ConfirmationRequest{
		Notice:               rowsNotNamed(e.call.Scope.Model(), len(p.rows)),
		RequiresConfirmation: true, Action: e.declared.Name, AffectedCount: len(p.rows), Page: *page, Token: token,
		Message:    message + " Nothing was changed: to go on, call again with the same arguments, confirm: true and this confirmation_token.",
		MissingIDs: notNil(p.missing), SkippedIDs: notNil(p.skipped), plain: plain,
	}, nil
}

// rowsNotNamed says that a page does not name all of so many rows; "" if it does.
func rowsNotNamed(m *catalog.Model, rows int) string {
	if rows <= maxPageRows {
		return ""
	}
	return fmt.Sprintf("the page names the first %d of %s: ask with fewer ids to see each of them", maxPageRows, write.Counted(m, rows))
}

// message is the action's own question, or the standard one.
func (e *actionCall) message(p *actionPlan) string {
	m := e.call.Scope.Model()
	count := write.Counted(m, len(p.rows))
	if e.declared == call.DeleteSelected {
		if p.deletion.WhyFinal() == "" {
			return "Delete " + count + "? The tool undo can take this back, as long as nobody changes what it concerns."
		}
		return "Delete " + count + "? This cannot be undone."
	}
	standard := fmt.Sprintf("Run %s on %s?", e.declared.Name, count)
	if e.declared.Question == nil || e.declared.Confirm.Message == "" {
		return standard
	}
	given := map[string]any{}
	for _, d := range e.declared.Parameters {
		given[d.Name] = ""
		if raw, there := e.parameters.raw[d.Name]; there {
			given[d.Name] = call.PlainText(raw)
		}
	}
	text, err := e.declared.Question.Render(map[string]any{"count": len(p.rows), "model": m.Declared.VerboseName, "action": e.declared.Name, "parameters": given})
	if err != nil {
		return standard // The question is asked all the same.
	}
	return text
}

// confirmations is the purpose of the key of confirmation_token.
const confirmations = "confirmation"

// seal makes a confirmation_token: when it expires, bound to all that would be done.
func (e *actionCall) seal(p *actionPlan) (string, error) {
	bound, err := e.bound(p)
	return SealConfirmation(e.call, bound), err
}

// matches reports whether the confirmation_token that the caller shows is for what would be done, and in time.
func (e *actionCall) matches(p *actionPlan) (bool, error) {
	bound, err := e.bound(p)
	return err == nil && IsConfirmation(e.call, e.shown, bound), err
}

// SealConfirmation is the confirmation_token of what is bound to it: it holds when it expires.
func SealConfirmation(c *call.Call, bound []byte) string {
	expires := binary.BigEndian.AppendUint64(nil, uint64(c.Settings.Now().Add(ConfirmationLife).Unix()))
	return seal.New(c.Settings.SealKey, confirmations).Seal(expires, bound)
}

// IsConfirmation reports whether a confirmation_token was made for this, and has not expired.
func IsConfirmation(c *call.Call, token string, bound []byte) bool {
	expires, ok := seal.New(c.Settings.SealKey, confirmations).Open(token, bound)
	return ok && len(expires) == 8 && (c.Resumed || uint64(c.Settings.Now().Unix()) < binary.BigEndian.Uint64(expires))
}

// StaleToken is the conflict of a confirmation_token that is missing or of another page, with the present page.
func StaleToken(message string, question *ConfirmationRequest) error {
	payload, err := EncodePlainly(staleConfirmation{message, call.CodeConflict, *question})
	if err != nil {
		return err
	}
	return &call.ToolError{Message: message, Code: call.CodeConflict, Payload: payload}
}

// bound is who would do what to which rows, with which parameters, and what would go along.
func (e *actionCall) bound(p *actionPlan) ([]byte, error) {
	along := make([]string, len(p.along))
	for i, c := range p.along {
		along[i] = fmt.Sprintf("%d %s %d", c.Count, c.What, c.Fate)
	}
	return json.Marshal([]any{e.call.Token.Caller(), e.call.Scope.Model().Name, e.declared.Name, idsOf(p.rows), p.skipped, along, e.parameters.raw})
}

// EncodePlainly writes JSON in which < and > are themselves: agents read pages as they stand there.
func EncodePlainly(v any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}

// add keeps the question of an action that a step is about to run, if it has one.
func add(s *call.StepConfirmations, e *actionCall, p *actionPlan) error {
	if e.declared.Confirm == nil || e.confirmed && !e.needsToken(p) && !s.Elicits {
		return nil
	}
	q := call.StepQuestion{Message: e.message(p), Affected: len(p.rows)}
	shown := e.page(p, q.Message)
	q.Plain = shown.plain()
	var err error
	if q.Page, err = shown.html(); err != nil {
		return err
	}
	if q.Bound, err = e.bound(p); err != nil {
		return err
	}
	s.TokenRequired = s.TokenRequired || e.needsToken(p)
	s.Asked, s.Size = append(s.Asked, q), s.Size+len(q.Message)+len(q.Page)+len(q.Plain)+len(q.Bound)
	return nil
}
