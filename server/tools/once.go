package tools

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
	"github.com/mcp-admin/mcp-admin-operator/server/seal"
)

// keyName is the argument of calls that are to happen once, however often they are sent (docs/design/transact.md, "Once").
const keyName = "idempotency_key"

// maxKey is the most characters of a key.
const maxKey = 128

// keyArgument is the argument of the operations that can happen once. The call takes it before the operation reads its
// arguments.
func keyArgument[A any]() argument[A] {
	return argument[A]{name: keyName, into: func(*A) any { return new(string) }}
}

// keyHelp describes the argument, once in a list.
const keyHelp = "a text of your choice: if an answer is lost, the same call with the same key happens once and answers the same"

// onceCall is a call with an idempotency key, and the row that is kept of it.
type onceCall struct {
	call  *call
	table *database.Table
	// id is the row's: it stands for the endpoint, the caller and the key. request stands for the tool and its arguments.
	id, request string
	// webhook is the webhook of the call's action; nil if it has none.
	webhook *contract.WebhookAction
}

// runOnce judges the call, reads its arguments and runs it: if it has an idempotency key, unless it was run before.
func runOnce(c *call, raw []byte) ([]byte, error) {
	if err := c.prepare(raw); err != nil {
		return nil, err
	}
	once, err := c.takeKey()
	switch {
	case err != nil:
		return nil, err
	case once != nil:
		return once.run()
	}
	return c.op.run(c)
}

// takeKey takes the idempotency key out of the arguments; nil if there is none.
func (c *call) takeKey() (*onceCall, error) {
	raw, sent := c.given[keyName]
	if !sent || !c.op.Writes() {
		return nil, nil
	}
	var key string
	if err := decode(keyName, raw, &key); err != nil {
		return nil, err
	}
	if n := len([]rune(key)); n < 1 || n > maxKey {
		return nil, invalid("%s must have 1 to %d characters", keyName, maxKey)
	}
	table := c.catalog.Idempotency()
	switch {
	case table != nil:
	case c.catalog.IdempotencyProblem() != "":
		return nil, failf(CodeUnavailable, "%s cannot be kept: the endpoint's table of answers cannot be used, and the endpoint's status says why; nothing was changed", keyName)
	default:
		return nil, invalid("%s cannot be kept: this endpoint has no table of answers (spec.idempotency); call without it, and look at the rows before you try again", keyName)
	}
	if dry := c.given["dry_run"]; string(dry) == "true" {
		return nil, invalid("%s and dry_run do not go together: a dry run keeps nothing", keyName)
	}
	delete(c.given, keyName)
	request, err := c.requestHash()
	if err != nil {
		return nil, err
	}
	return &onceCall{call: c, table: table, id: hashOf(c.settings.Endpoint, c.token.Caller(), key), request: request}, nil
}

// requestHash stands for the operation, the model and the arguments, however they were written.
func (c *call) requestHash() (string, error) {
	given, err := json.Marshal(c.given)
	if err != nil {
		return "", err
	}
	if given, err = canonical(given); err != nil {
		return "", err
	}
	return hashOf(c.op.Name, c.model, string(given)), nil
}

// hashOf returns a hash of texts, each with its length.
func hashOf(texts ...string) string {
	h := sha256.New()
	for _, text := range texts {
		_, _ = fmt.Fprintf(h, "%d %s", len(text), text) // a hash takes everything
	}
	return hex.EncodeToString(h.Sum(nil))
}

// errTaken ends a transaction whose key another call has used before.
var errTaken = errors.New("the key was used before")

// maxClaims is how often a call tries again because the row of its key went away.
const maxClaims = 5

// run runs the call, or answers what it answered when its key was first used. The row of the key is added first, in the
// transaction of the change: a second call with the same key waits there for the end of the first.
func (o *onceCall) run() ([]byte, error) {
	if o.webhook = o.call.webhookOf(); o.webhook != nil {
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
	return nil, failf(CodeConflict, "other calls with this %s got in the way each time, and nothing was changed; try again", keyName)
}

// checkItems reports whether the call is a bulk that keeps what succeeds, and some item of it broke a constraint that is
// checked on commit. Run again, it finds out which (bulk does so itself if the transaction is its own).
func (o *onceCall) checkItems(err error) bool {
	var told *toolError
	c := o.call
	again := c.op.Name == "bulk" && !c.checksItems && string(c.given["atomic"]) != "true" && errors.As(err, &told) && told.Validation != nil
	c.checksItems = c.checksItems || again
	return again
}

// perform adds the key's row, runs the call, and keeps its answer, all in one transaction.
func (o *onceCall) perform() (answer []byte, err error) {
	c := o.call
	own := c.db
	defer func() { c.db = own }()
	err = c.inTransaction(func(tx database.Tx) error {
		c.asked = false
		if err := o.claim(tx); err != nil {
			return err
		}
		c.db = openTransaction{Tx: tx}
		defer func() { c.db = own }()
		var err error
		if answer, err = c.op.run(c); err != nil {
			return err
		}
		if c.asked {
			return errAsked
		}
		return o.keep(tx, answer)
	})
	switch {
	case errors.Is(err, errAsked):
		return answer, nil
	case err != nil:
		if !c.op.Global {
			err = explain(c.scope, err)
		}
		return nil, err
	}
	c.forget()
	return answer, nil
}

// claim adds the key's row, without an answer.
func (o *onceCall) claim(tx database.Tx) error {
	row := database.Insert{Into: o.source()}
	for _, cell := range []struct{ name, value string }{
		{"id", o.id}, {"token", o.call.token.Caller()}, {"call", o.call.id}, {"request", o.request},
	} {
		row.Set = append(row.Set, database.Assignment{Column: o.table.Column(cell.name), Value: cell.value})
	}
	row.Set = append(row.Set, database.Assignment{Column: o.table.Column("at"), How: database.AssignNow})
	_, err := tx.Insert(o.call.ctx, &row, nil)
	var failure *database.Error
	if errors.As(err, &failure) && failure.Code == database.Violated && failure.Violation.Kind == database.UniqueViolation {
		return errTaken
	}
	if err != nil {
		return err
	}
	return o.call.kept.takeCall(o.call.token.Caller(), time.Now())
}

// keep stores the answer in the key's row, or an empty text if it is not kept.
func (o *onceCall) keep(tx database.Tx, answer []byte) error {
	if !o.call.kept.takeAnswer(o.call.token.Caller(), len(answer), time.Now()) {
		answer = nil
	}
	plan := &database.Update{In: o.source(), Where: o.mine(),
		Set: []database.Assignment{{Column: o.table.Column("answer"), Value: o.sealer().Seal(answer, o.bound())}}}
	n, err := tx.Update(o.call.ctx, plan)
	if err == nil && n != 1 {
		return failf(CodeInternal, "the row of the %s went away; nothing was changed", keyName)
	}
	return err
}

func (o *onceCall) source() database.Source { return o.call.token.Unscoped(o.table) }

func (o *onceCall) mine() database.Condition {
	return database.Compare{Column: o.table.Column("id"), Op: database.Equal, Value: o.id}
}

// answerPurpose is the purpose for which the key of kept answers is derived. They are sealed, so that the table shows
// nothing of what the audit table would not hold.
const answerPurpose = "answer"

func (o *onceCall) sealer() *seal.Sealer { return seal.New(o.call.settings.SealKey, answerPurpose) }

// bound returns what a kept answer is bound to: its row, and what the token may see now. What it may no longer see, an old
// answer does not show it.
func (o *onceCall) bound() []byte {
	h := sha256.New()
	for _, m := range o.call.catalog.Models() {
		scope := o.call.token.Reach(m)
		if !scope.Has(access.View) {
			continue
		}
		_, _ = fmt.Fprintf(h, "%q %q", m.Name, scope.Fingerprint()) // a hash takes everything
		for _, f := range scope.Fields() {
			_, _ = fmt.Fprintf(h, " %q %t", f.Name, f.Masked)
		}
	}
	return h.Sum([]byte(o.id))
}

// keptAnswer is a key's row.
type keptAnswer struct {
	At, Call, Request string
	Answer            *string
}

// find reads the key's row; nil if there is none.
func (o *onceCall) find() (*keptAnswer, error) {
	plan := &database.Select{From: o.source(), Where: o.mine(), Limit: 1, Order: []database.Order{{Column: o.table.Column("id")}}}
	for _, name := range []string{"at", "call", "request", "answer"} {
		plan.Output = append(plan.Output, database.Output{Name: name, Columns: []*database.Column{o.table.Column(name)}})
	}
	rows, _, err := readAll[keptAnswer](o.call.ctx, o.call.db, plan)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0], nil
}

// replayed is the answer if there is none to show: it was not kept, or the endpoint's key or the token's rights changed since.
type replayed struct {
	Success  bool   `json:"success"`
	Replayed bool   `json:"replayed"`
	Call     string `json:"call"`
	Notice   string `json:"notice"`
}

// orReplayed is the schema of an answer that may come again, as it was or without what it showed.
func orReplayed(answer schema) schema {
	forms := answer.AnyOf
	if len(answer.Properties) > 0 {
		forms = []schema{answer}
	}
	for _, form := range forms {
		form.Properties["replayed"] = schema{Type: types{"boolean"}}
	}
	return oneOf(append(slices.Clone(forms), payloadSchema[replayed]())...)
}

// replay answers what was answered when the key was first used. Without an answer or an error the key is free again.
func (o *onceCall) replay() ([]byte, error) {
	kept, err := o.find()
	switch {
	case err != nil || kept == nil:
		return nil, err
	case kept.Request != o.request:
		return nil, failf(CodeConflict, "this %s was used for another call, with another tool or other arguments; nothing was changed: take a new key for what is new", keyName)
	case kept.Answer == nil:
		return nil, outcomeUnknown()
	}
	if by := undoneBy(*kept.Answer); by != "" {
		return nil, failf(CodeConflict, "this call was made before, and your call %s has taken it back since, or a part of it; nothing was changed: take a new %s to make it again", by, keyName)
	}
	answer, ok := o.sealer().Open(*kept.Answer, o.bound())
	if ok && len(answer) > 1 && answer[len(answer)-1] == '}' {
		return append(answer[:len(answer)-1], `,"replayed":true}`...), nil
	}
	why := "because what you may see has changed since"
	if ok {
		why = "because it was too large, or too many of yours are kept"
	}
	return json.Marshal(replayed{Success: true, Replayed: true, Call: kept.Call,
		Notice: "this call was made before and took hold; what it answered cannot be shown, " + why + ": read the rows"})
}

// The answers are kept for a day at least. keptFor is longer, because the clocks of the server and of the database differ.
const (
	keptFor      = 25 * time.Hour
	forgetEvery  = time.Minute
	forgetAtOnce = 500
	forgetWithin = 10 * time.Second
)

// forget removes answers that are too old, in small pieces, beside the call that it follows: once a minute at most.
func (c *call) forget() {
	last := c.forgotten.Load()
	if now := time.Now(); now.Unix()-last < int64(forgetEvery/time.Second) || !c.forgotten.CompareAndSwap(last, now.Unix()) {
		return
	}
	table, token, db := c.catalog.Idempotency(), c.token, c.db
	at := table.Column("at")
	before, err := lookup.ParseValue(at, json.RawMessage(time.Now().Add(-keptFor).UTC().Format(timeBefore(at))))
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx), forgetWithin)
	go func() {
		defer cancel()
		for removePiece(ctx, db, token.Unscoped(table), database.Compare{Column: at, Op: database.Less, Value: before}) == forgetAtOnce { //nolint:revive // the condition does the work
		}
	}()
}

// timeBefore is the layout of a time, as JSON, in a column of times.
func timeBefore(at *database.Column) string {
	if at.Kind == database.Timestamp {
		return `"2006-01-02T15:04:05"`
	}
	return `"2006-01-02T15:04:05Z"`
}

// removePiece removes some of the rows that meet a condition, and returns how many; 0 if that failed: the next call tries again.
func removePiece(ctx context.Context, db store, from database.Source, where database.Condition) (removed int64) {
	id := from.Table().Column("id")
	plan := &database.Select{From: from, Where: where, Limit: forgetAtOnce, Order: []database.Order{{Column: id}},
		Output: []database.Output{{Name: "id", Columns: []*database.Column{id}}}}
	rows, _, err := readAll[struct{ ID string }](ctx, db, plan)
	if err != nil || len(rows) == 0 {
		return 0
	}
	in := database.In{Column: id}
	for _, r := range rows {
		in.Values = append(in.Values, r.ID)
	}
	err = db.transact(ctx, forgetWithin, func(tx database.Tx) (err error) {
		removed, err = tx.Delete(ctx, &database.Delete{From: from, Where: in})
		return err
	})
	if err != nil {
		return 0
	}
	return removed
}
