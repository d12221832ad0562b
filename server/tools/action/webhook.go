package action

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/audit"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/write"
	"github.com/mcp-admin/mcp-admin-operator/server/webhook"
)

// webhooks calls the webhooks of all endpoints, where Settings name no other client.
var webhooks = webhook.New(webhook.Options{})

// webhookBody is the body that a webhook gets (docs/design/actions.md, "Webhooks").
type webhookBody struct {
	RequestID string            `json:"request_id"`
	Endpoint  string            `json:"endpoint"`
	Model     string            `json:"model"`
	Action    string            `json:"action"`
	IDs       []json.RawMessage `json:"ids"`
	Form      map[string]any    `json:"form"`
	Confirm   bool              `json:"confirm"`
	Token     string            `json:"token"`
	Subject   string            `json:"subject,omitempty"`
}

// runWebhook posts the rows that the caller may see. No transaction is open meanwhile, and the journal has the intent
// before and the outcome after: what a webhook did cannot be rolled back.
func (e *actionCall) runWebhook() ([]byte, error) {
	declared := e.declared.Webhook
	if declared.Problem != "" {
		return nil, call.Failf(call.CodeUnavailable, "%s is unavailable: its webhook is not set up; the status of MCPModelExposure %s says why", e.declared.Name, e.call.Scope.Model().Declared.Exposure)
	}
	p, err := e.findRows(e.call.DB, false)
	if err != nil {
		return nil, err
	}
	if err := e.noneFound(p); err != nil {
		return nil, err
	}
	question, err := e.ask(p)
	if err != nil {
		return nil, err
	}
	if question != nil {
		e.call.Asked = true
		return EncodePlainly(question)
	}
	done := func(bool) {}
	if e.call.Hold != nil {
		if done, err = e.call.Hold.Pass(e.aboutRows(p)); err != nil {
			return nil, err
		}
	}
	answer, err := e.callWebhook(p)
	done(err == nil && !e.call.Asked || e.call.Uncertain)
	return answer, err
}

// aboutRows are the rows that a webhook is called with: what it does to them nobody knows.
func (e *actionCall) aboutRows(p *actionPlan) []call.Change {
	about := make([]call.Change, len(p.rows))
	for i, r := range p.rows {
		about[i] = e.changeOf(r, "")
		about[i].Operation, about[i].Before, about[i].After = e.call.Record.Operation, r, r
	}
	return about
}

// callWebhook calls the action's webhook with the rows.
func (e *actionCall) callWebhook(p *actionPlan) ([]byte, error) {
	declared, id := e.declared.Webhook, rand.Text()
	body, err := json.Marshal(webhookBody{
		RequestID: id, Endpoint: e.call.Settings.Endpoint, Model: e.call.Scope.Model().Name, Action: e.declared.Name,
		IDs: idsOf(p.rows), Form: e.form(idsOf(p.rows)), Confirm: e.confirmed, Token: e.call.Token.Name(), Subject: e.call.Token.Subject(),
	})
	if err != nil {
		return nil, err
	}
	if err := e.intend(p, id); err != nil {
		return nil, err
	}
	// What was begun is brought to its end, though the caller may be gone: the outcome is wanted for the journal.
	e.call.Ctx = context.WithoutCancel(e.call.Ctx)
	answer, err := e.client().Post(e.call.Ctx, &webhook.Request{
		URL: declared.URL, Headers: declared.Headers, SigningKey: declared.SigningKey, Timeout: time.Duration(declared.Timeout), Body: body,
	})
	if err != nil {
		return nil, e.webhookFailed(p, id, err)
	}
	return e.webhookAnswered(p, id, answer)
}

func (e *actionCall) client() *webhook.Client {
	if e.call.Settings.Webhook != nil {
		return e.call.Settings.Webhook
	}
	return webhooks
}

// intend writes down what is about to be asked of the webhook. Where that cannot be done, it is not asked.
func (e *actionCall) intend(p *actionPlan, id string) error {
	if err := e.journalAll(p, "webhook called, request "+id); err != nil {
		return call.NotDone(err)
	}
	return e.call.Settings.Wanted(e.call.Settings.Audit.Write(e.call.Ctx, &audit.Record{
		Token: e.call.Token.Name(), Subject: e.call.Token.Subject(), Tool: e.call.Op.Name + "_" + e.call.Scope.Model().Name, Model: e.call.Scope.Model().Name,
		Operation: e.call.Record.Operation, Call: e.call.ID, IDs: e.call.Record.IDs, Outcome: call.OutcomeIntent,
	}))
}

// webhookFailed says why there is no answer, and whether anything may have happened all the same.
func (e *actionCall) webhookFailed(p *actionPlan, id string, err error) error {
	var failure *webhook.Error
	if !errors.As(err, &failure) {
		return err
	}
	_ = e.journalAll(p, fmt.Sprintf("webhook %s, request %s", failure.Message, id)) // The audit's line tells of it, too.
	message := fmt.Sprintf("the webhook of %s %s", e.declared.Name, failure.Message)
	if e.call.Uncertain = failure.Sent; failure.Sent {
		return call.Failf(call.CodeUnavailable, "%s; it is not known what it did: look at the rows before you try again (request %s)", message, id)
	}
	return call.Failf(call.CodeUnavailable, "%s; nothing was changed", message)
}

// webhookAnswered is the outcome: a page to confirm where the answer is HTML, else the result.
func (e *actionCall) webhookAnswered(p *actionPlan, id string, answer *webhook.Answer) ([]byte, error) {
	if answer.Form == webhook.HTML {
		_ = e.journalAll(p, "webhook asked for confirmation, request "+id)
		e.call.Asked = true
		question, err := e.question(p, &ConfirmationPage{ContentType: "text/html", Content: string(answer.Body)})
		if err != nil {
			return nil, err
		}
		return EncodePlainly(question)
	}
	result, err := resultOf(answer)
	if err != nil {
		return nil, err
	}
	e.call.Record.Changed = len(p.rows)
	message := e.done(p)
	if err := e.journalAll(p, "webhook answered, request "+id); err != nil {
		message += "; the history could not be written, and tells of the call only that it was begun" // A second call would do it twice.
	}
	return e.outcome(p, len(p.rows), message, result)
}

// resultOf returns the answer as JSON. An answer that is no JSON becomes a string.
func resultOf(answer *webhook.Answer) (json.RawMessage, error) {
	if answer.Form == webhook.JSON && json.Valid(answer.Body) {
		return answer.Body, nil
	}
	if len(answer.Body) == 0 {
		return nil, nil
	}
	return json.Marshal(string(answer.Body))
}

// journalAll writes one line about each row into the audit table, where there is one that can be written.
func (e *actionCall) journalAll(p *actionPlan, message string) error {
	if e.call.Catalog.Audit() == nil || e.call.Catalog.ReadOnly() {
		return nil
	}
	return e.call.Own().Transact(e.call.Ctx, e.call.Settings.StatementTimeout, func(tx database.Tx) error {
		for _, r := range p.rows {
			if err := write.Record(&e.call.Request, tx, e.changeOf(r, message)); err != nil {
				return err
			}
		}
		return nil
	})
}
