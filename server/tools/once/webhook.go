package once

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/action"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// What a webhook did cannot be undone with a transaction. So the key's row is committed before the webhook is called, and
// the answer is stored in it afterwards. A row without an answer belongs to a call under way, or to a call whose end nobody
// knows.

// webhookGrace is how long after a webhook's own timeout the answer of the call is waited for.
const webhookGrace = 5 * time.Second

// keyPoll is how often a call looks whether the first call with its key has ended.
const keyPoll = 200 * time.Millisecond

func outcomeUnknown() error {
	return call.Failf(call.CodeUnavailable, "the first call with this %s was begun, and its outcome is not known: look at the rows, and take a new key if it has to be done again", call.KeyName)
}

// webhookOf is the webhook that the call's action calls; nil if it calls none.
func webhookOf(c *call.Call) *contract.Webhook {
	var name string
	if c.Op.Name != "action" || json.Unmarshal(c.Given.Value("action"), &name) != nil {
		return nil
	}
	declared, err := action.FindAction(c, name)
	if err != nil {
		return nil // the call itself says what is wrong
	}
	return declared.Webhook
}

// runWebhook writes down that the webhook is about to be called, calls it, and keeps the answer.
func (o *onceCall) runWebhook() ([]byte, error) {
	c := o.call
	for range maxClaims {
		err := c.Own().Transact(c.Ctx, c.Settings.StatementTimeout, o.claim)
		if err == nil {
			return o.callWebhook()
		}
		if !errors.Is(err, errTaken) {
			if database.Committed(err) {
				_ = c.Own().Transact(c.Ctx, c.Settings.StatementTimeout, o.release) // as after a call that was not made
			}
			return nil, call.NotDone(err)
		}
		if answer, err := o.awaitAnswer(); answer != nil || err != nil {
			return answer, err
		}
	}
	return nil, outcomeUnknown()
}

// callWebhook runs the call. Where nothing was asked of the webhook, or it only asked for confirmation, the key is free
// again.
func (o *onceCall) callWebhook() ([]byte, error) {
	c := o.call
	answer, err := c.Op.Run(c)
	switch {
	case c.Uncertain:
		return nil, err
	case err != nil, c.Asked:
		_ = c.Own().Transact(c.Ctx, c.Settings.StatementTimeout, o.release) // Otherwise the key says that the outcome is not known.
		return answer, err
	}
	// Without it a repeated call learns that the outcome is not known, and does nothing either.
	_ = c.Own().Transact(c.Ctx, c.Settings.StatementTimeout, func(tx database.Tx) error { return o.keep(tx, answer) })
	o.count(call.KeyKept)
	forget(c)
	return answer, nil
}

// release removes the key's row.
func (o *onceCall) release(tx database.Tx) error {
	_, err := tx.Delete(o.call.Ctx, &database.Delete{From: o.source(), Where: o.mine()})
	return err
}

// awaitAnswer waits for the answer of the first call with the key, as long as its webhook can take. Without an answer or an
// error the key is free again.
func (o *onceCall) awaitAnswer() ([]byte, error) {
	longest := time.Duration(o.webhook.Timeout) + webhookGrace
	for end := time.Now().Add(longest); time.Now().Before(end); {
		kept, err := o.find()
		if err != nil || kept == nil {
			return nil, err
		}
		if kept.Answer != nil || kept.Request != o.request || kept.olderThan(longest+webhookGrace) {
			break
		}
		select {
		case <-time.After(keyPoll):
		case <-o.call.Ctx.Done():
			return nil, outcomeUnknown()
		}
	}
	return o.replay()
}

// olderThan reports whether the row was surely added longer ago than that, by the clocks of the server and the database.
func (k *keptAnswer) olderThan(age time.Duration) bool {
	at, err := time.Parse(time.RFC3339, k.At)
	if err != nil {
		at, err = time.Parse("2006-01-02T15:04:05", k.At)
	}
	return err == nil && time.Since(at) > age
}
