package once

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/seal"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/action"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/write"
)

// onceCall is a call with an idempotency key, and the row that is kept of it.
type onceCall struct {
	call  *call.Call
	table *database.Table
	// id is the row's: it stands for the endpoint, the caller and the key. request stands for the tool and its arguments.
	id, request string
	// webhook is the webhook of the call's action; nil if it has none.
	webhook *contract.Webhook
}

// Run judges the call, reads its arguments and runs it. A call with an idempotency key that was run before gets its first answer. One
// that other people must allow waits for them.
func Run(c *call.Call, raw []byte) ([]byte, error) {
	answer, key, err := run(c, raw)
	if c.TellParts != nil {
		if failed := c.TellParts(err); err == nil && failed != nil {
			err = failed
			key.hideAnswer()
		}
	}
	if err == nil {
		err = c.Unconfirmed
	}
	if err == nil {
		return answer, nil
	}
	var waits *call.WaitsError
	if errors.As(err, &waits) {
		c.Asked, c.Waits = true, waits.Approval
		return waits.Answer, nil
	}
	return nil, err
}

// run also returns the call's key; nil if it has none.
func run(c *call.Call, raw []byte) (answer []byte, key *onceCall, err error) {
	if err := c.Prepare(raw); err != nil {
		return nil, nil, err
	}
	if c.Gate != nil {
		if err := c.Gate.Enter(c); err != nil {
			return nil, nil, err
		}
	}
	if c.Hold != nil {
		defer func() { c.Hold.Left(err) }()
	}
	if c.Op.Writes() {
		if err := c.TellIntent(); err != nil {
			return nil, nil, err
		}
	}
	if key, err = takeKey(c); err != nil {
		return nil, nil, err
	}
	if key != nil {
		answer, err = key.run()
		return answer, key, err
	}
	if answer, err = c.Op.Run(c); err != nil {
		return nil, nil, err
	}
	return c.WithForeseen(answer), nil, nil
}

// takeKey takes the idempotency key out of the arguments; nil if there is none.
func takeKey(c *call.Call) (*onceCall, error) {
	raw, sent := c.Given.Find(call.KeyName)
	if !sent || !c.Op.Writes() {
		return nil, nil
	}
	var key string
	if err := call.Decode(call.KeyName, raw, &key); err != nil {
		return nil, err
	}
	if n := len([]rune(key)); n < 1 || n > call.MaxKey {
		return nil, call.Invalid("%s must have 1 to %d characters", call.KeyName, call.MaxKey)
	}
	table := c.Catalog.Idempotency()
	switch {
	case table != nil:
	case c.Catalog.IdempotencyProblem() != "":
		return nil, call.Failf(call.CodeUnavailable, "%s cannot be kept: the endpoint's table of answers cannot be used, and the endpoint's status says why; nothing was changed", call.KeyName)
	default:
		return nil, call.Invalid("%s cannot be kept: this endpoint has no table of answers (spec.idempotency); call without it, and look at the rows before you try again", call.KeyName)
	}
	if dry := c.Given.Value("dry_run"); string(dry) == "true" {
		return nil, call.Invalid("%s and dry_run do not go together: a dry run keeps nothing", call.KeyName)
	}
	c.Given.Members = c.Given.Without(call.KeyName)
	request, err := requestHash(c)
	if err != nil {
		return nil, err
	}
	return &onceCall{call: c, table: table, id: call.HashOf(c.Settings.Endpoint, c.Token.Caller(), key), request: request}, nil
}

// requestHash stands for the operation, the model and the arguments, however they were written.
func requestHash(c *call.Call) (string, error) {
	given, err := json.Marshal(c.Given)
	if err != nil {
		return "", err
	}
	if given, err = call.Canonical(given); err != nil {
		return "", err
	}
	return call.HashOf(c.Op.Name, c.Model, string(given)), nil
}

// errTaken ends a transaction whose key another call has used before.
var errTaken = errors.New("the key was used before")

// maxClaims is how often a call tries again because the row of its key went away.
const maxClaims = 5

// run runs the call, or answers what it answered when its key was first used. The row of the key is added first, in the
// transaction of the change: a second call with the same key waits there for the end of the first.
func (o *onceCall) run() ([]byte, error) {
	if o.webhook = webhookOf(o.call); o.webhook != nil {
		return o.runWebhook()
	}
	for range maxClaims {
		answer, err := o.perform()
		if o.checkItems(err) {
			answer, err = o.perform()
		}
		if !errors.Is(err, errTaken) {
			return answer, err
		}
		if answer, err = o.replay(); answer != nil || err != nil {
			return answer, err
		}
	}
	o.count(call.KeyConflict)
	return nil, call.Failf(call.CodeConflict, "other calls with this %s got in the way each time, and nothing was changed; try again", call.KeyName)
}

// checkItems reports whether the call is a bulk that keeps what succeeds, and some item of it broke a constraint that is
// checked on commit. Run again, it finds out which (bulk does so itself if the transaction is its own).
func (o *onceCall) checkItems(err error) bool {
	var told *call.ToolError
	c := o.call
	again := c.Op.Name == "bulk" && !c.ChecksItems && string(c.Given.Value("atomic")) != "true" && errors.As(err, &told) && told.Validation != nil
	c.ChecksItems = c.ChecksItems || again
	return again
}

// perform adds the key's row, runs the call, and keeps its answer, all in one transaction.
func (o *onceCall) perform() (answer []byte, err error) {
	c := o.call
	own := c.DB
	defer func() { c.DB = own }()
	err = write.InTransaction(c, func(tx database.Tx) error {
		c.Asked, c.TellParts = false, nil
		if err := o.claim(tx); err != nil {
			return err
		}
		c.DB = call.OpenTransaction{Tx: tx}
		defer func() { c.DB = own }()
		var err error
		if answer, err = c.Op.Run(c); err != nil {
			return err
		}
		if c.Asked {
			return action.ErrAsked
		}
		return o.keep(tx, answer)
	})
	switch {
	case errors.Is(err, action.ErrAsked):
		return answer, nil
	case err != nil:
		c.Record.Changed = 0 // the operation may have gone well, and was undone with the key
		if e := database.AsError(err); e.Code == database.Partly || e.Code == database.Uncertain && !e.Whole {
			o.takeAnswerBack()
		}
		if !c.Op.Global {
			err = write.Explain(c.Scope, err)
		}
		return nil, err
	}
	o.count(call.KeyKept)
	forget(c)
	return answer, nil
}

// count counts what became of the key.
func (o *onceCall) count(result call.KeyResult) { o.call.Kept.Count(result, 1) }

// claim adds the key's row, without an answer.
func (o *onceCall) claim(tx database.Tx) error {
	row := database.Insert{Into: o.source()}
	for _, cell := range []struct{ name, value string }{
		{"id", o.id}, {"token", o.call.Token.Caller()}, {"call", o.call.ID}, {"request", o.request},
	} {
		row.Set = append(row.Set, database.Assignment{Column: o.table.Column(cell.name), Value: cell.value})
	}
	row.Set = append(row.Set, database.Assignment{Column: o.table.Column("at"), How: database.AssignNow})
	_, err := tx.Insert(o.call.Ctx, &row, nil)
	var failure *database.Error
	if errors.As(err, &failure) && failure.Code == database.Violated && failure.Violation.Kind == database.UniqueViolation {
		return errTaken
	}
	if err != nil {
		return err
	}
	return o.call.Kept.TakeCall(o.call.Token.Caller(), time.Now())
}

// keep stores the answer in the key's row, or an empty text if it is not kept.
func (o *onceCall) keep(tx database.Tx, answer []byte) error {
	if !o.call.Kept.TakeAnswer(o.call.Token.Caller(), len(answer), time.Now()) {
		answer = nil
	}
	n, err := tx.Update(o.call.Ctx, o.settingAnswer(o.sealer().Seal(answer, o.bound())))
	if err == nil && n != 1 {
		return call.Failf(call.CodeInternal, "the row of the %s went away; nothing was changed", call.KeyName)
	}
	return err
}

// takeAnswerBack makes the answer of a call unknown of which not all shards may have committed their part. The key's row is on one of them;
// it is added if that is one that has not.
func (o *onceCall) takeAnswerBack() {
	o.afterwards(func(tx database.Tx) error {
		n, err := tx.Update(o.call.Ctx, o.settingAnswer(nil))
		if err == nil && n == 0 {
			err = o.claim(tx)
		}
		return err
	})
}

// hideAnswer has a repetition told that the call took hold, and not what it answered; nothing if there is no key.
func (o *onceCall) hideAnswer() {
	if o == nil {
		return
	}
	o.afterwards(func(tx database.Tx) error {
		_, err := tx.Update(o.call.Ctx, o.settingAnswer(o.sealer().Seal(nil, o.bound())))
		return err
	})
}

// afterwards changes the key's row once the call has ended, also if its caller has left.
func (o *onceCall) afterwards(do func(tx database.Tx) error) {
	c := o.call
	caller := c.Ctx
	defer func() { c.Ctx = caller }()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(caller), call.ForgetWithin)
	defer cancel()
	c.Ctx = ctx
	_ = c.Own().Transact(ctx, c.Settings.StatementTimeout, do)
}

// settingAnswer sets the answer in the key's row.
func (o *onceCall) settingAnswer(to database.Value) *database.Update {
	return &database.Update{In: o.source(), Where: o.mine(), Set: []database.Assignment{{Column: o.table.Column("answer"), Value: to}}}
}

func (o *onceCall) source() database.Source { return o.call.Token.Unscoped(o.table) }

func (o *onceCall) mine() database.Condition {
	return database.Compare{Column: o.table.Column("id"), Op: database.Equal, Value: o.id}
}

// answerPurpose is the purpose for which the key of kept answers is derived. They are sealed, so that the table shows
// nothing of what the audit table would not hold.
const answerPurpose = "answer"

func (o *onceCall) sealer() *seal.Sealer { return seal.New(o.call.Settings.SealKey, answerPurpose) }

// bound returns what a kept answer is bound to: its row, and what the token may see now. What it may no longer see, an old
// answer does not show it.
func (o *onceCall) bound() []byte {
	return append([]byte(o.id), call.SightOf(o.call.Token, o.call.Catalog)...)
}

// keptAnswer is a key's row.
type keptAnswer struct {
	At, Call, Request string
	Answer            *string
}

// find reads the key's row; nil if there is none.
func (o *onceCall) find() (*keptAnswer, error) { return o.read(o.call.DB, false) }

// confirmed is find in a transaction that locks the row. If a database waits for standbys, its commit waits until they have the row:
// what is answered again must not be lost in a failover.
func (o *onceCall) confirmed() (kept *keptAnswer, err error) {
	c := o.call
	err = c.Own().Transact(c.Ctx, c.Settings.StatementTimeout, func(tx database.Tx) (err error) {
		kept, err = o.read(tx, true)
		return err
	})
	return kept, err
}

func (o *onceCall) read(from call.Reader, lock bool) (*keptAnswer, error) {
	plan := &database.Select{From: o.source(), Where: o.mine(), Limit: 1, Order: []database.Order{{Column: o.table.Column("id")}}, Lock: lock}
	for _, name := range []string{"at", "call", "request", "answer"} {
		plan.Output = append(plan.Output, database.Output{Name: name, Columns: []*database.Column{o.table.Column(name)}})
	}
	rows, _, err := call.ReadAll[keptAnswer](o.call.Ctx, from, plan)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0], nil
}

// replay answers what was answered when the key was first used. Without an answer or an error the key is free again.
func (o *onceCall) replay() ([]byte, error) {
	kept, err := o.confirmed()
	switch {
	case err != nil || kept == nil:
		return nil, err
	case kept.Request != o.request:
		o.count(call.KeyConflict)
		return nil, call.Failf(call.CodeConflict, "this %s was used for another call, with another tool or other arguments; nothing was changed: take a new key for what is new", call.KeyName)
	case kept.Answer == nil:
		return nil, outcomeUnknown()
	}
	if by := UndoneBy(*kept.Answer); by != "" {
		return nil, call.Failf(call.CodeConflict, "this call was made before, and your call %s has taken it back since, or a part of it; nothing was changed: take a new %s to make it again", by, call.KeyName)
	}
	o.count(call.KeyReplayed)
	answer, ok := o.sealer().Open(*kept.Answer, o.bound())
	if ok && len(answer) > 1 && answer[len(answer)-1] == '}' {
		return append(answer[:len(answer)-1], `,"replayed":true}`...), nil
	}
	why := "because what you may see has changed since"
	if ok {
		why = "because it was too large, or too many of yours are kept"
	}
	return json.Marshal(call.Replayed{Success: true, Replayed: true, Call: kept.Call,
		Notice: "this call was made before and took hold; what it answered cannot be shown, " + why + ": read the rows"})
}

// UndoneMark stands before the kept answer of a call that was taken back: undone:<the call that did it>:<answer>. The rest of
// the text is the answer as it was, for the case that this is taken back in turn.
const UndoneMark = "undone:"

// UndoneBy is the call that took back the call of a kept answer; "" if none did.
func UndoneBy(answer string) string {
	rest, marked := strings.CutPrefix(answer, UndoneMark)
	if !marked {
		return ""
	}
	call, _, _ := strings.Cut(rest, ":")
	return call
}
