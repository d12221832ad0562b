package steps

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract/tracing"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/action"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/write"
)

// TransactName is the name of the tool that runs several calls as one.
const TransactName = "transact"

// TransactOperation runs calls of other tools as the steps of one transaction (docs/design/transact.md, "Transact").
var TransactOperation = call.WithArguments(TransactName, call.Operation{
	Steps: "steps", OfferedTo: mayTransact, Prepare: readSteps,
	Description: func(*catalog.Model) string {
		return "Several calls as one: the steps run in order in one transaction, all or nothing, and each sees what those before it did. At least one must change something."
	},
	OutputSchema: func(*catalog.Model) call.Schema {
		return call.OneOf(call.PayloadSchema[transacted](), call.PayloadSchema[action.ConfirmationRequest]())
	},
}, transactSteps,
	call.Argument[transactArguments]{Name: "steps", Into: func(a *transactArguments) any { return &a.steps }, Required: call.Always,
		Schema: func(*catalog.Model) call.Schema { return stepsSchema }},
	call.Argument[transactArguments]{Name: "dry_run", Into: func(a *transactArguments) any { return &a.dryRun }, Help: write.DryRunHelp},
	call.Argument[transactArguments]{Name: "confirm", Into: func(a *transactArguments) any { return &a.confirm },
		Help: "as in action, for all steps"},
	call.Argument[transactArguments]{Name: "confirmation_token", Into: func(a *transactArguments) any { return &a.token },
		Help: "that of the page"},
	call.Argument[transactArguments]{Name: call.KeyName, Into: func(*transactArguments) any { return new(string) }, Help: call.KeyHelp},
)

type transactArguments struct {
	steps           json.RawMessage
	token           string
	dryRun, confirm bool
}

// transacted is transact's payload: the answers of the steps, in order.
type transacted struct {
	Success bool              `json:"success"`
	Results []json.RawMessage `json:"results"`
	DryRun  bool              `json:"dry_run,omitempty"`
	// Call is the call's id, by which the journal knows what all steps changed.
	Call string `json:"call,omitempty"`
}

// mayTransact reports whether the token may write anything with a step on the model.
func mayTransact(c *catalog.Catalog, scope access.Scope) bool {
	m := scope.Model()
	for _, op := range call.Operations {
		if op.Admit != nil && op.Writes() && op.OfferedFor(c, m) && op.Usable(c, scope) {
			return true
		}
	}
	return false
}

// transaction is one call of transact on its way. The results of its steps are the last run's.
type transaction struct {
	call *call.Call
	// sent are the steps as the caller sent them.
	sent  json.RawMessage
	steps []call.Step
	// done are the calls of the steps that were run, and answers what they answered; size is how long these are together.
	done    []*call.Call
	answers []json.RawMessage
	size    int
	// references is how many references were followed, referred how many bytes the values are long that they named.
	references, referred int
	// confirmations are the questions of actions.
	confirmations call.StepConfirmations
	// question is the question for the caller; nil if there is none.
	question *action.ConfirmationRequest
	// failed is the step at which the last run ended; -1 if it was none.
	failed int
}

// transactSteps runs the steps in one transaction, or nothing of them.
func transactSteps(c *call.Call, a *transactArguments) ([]byte, error) {
	c.DryRun = a.dryRun
	t := &transaction{call: c, sent: a.steps, steps: c.Steps, failed: -1}
	c.TellParts = t.tellSteps
	t.confirmations.Confirmed, t.confirmations.Shown = a.confirm, a.token
	if c.Elicited != nil { // the person says it, and not the agent
		t.confirmations.Elicits = true
		t.confirmations.Confirmed, t.confirmations.Shown = c.Confirmation != "", c.Confirmation
	}
	switch err := t.run(); {
	case t.question != nil:
		c.Asked = true
		return action.EncodePlainly(t.question)
	case err != nil:
		return nil, err
	}
	return t.answer()
}

// answer is the answer to the whole. The steps' own are large, and no copy of them is made beside it.
func (t *transaction) answer() ([]byte, error) {
	frame, err := action.EncodePlainly(transacted{Success: true, Results: []json.RawMessage{}, DryRun: t.call.DryRun, Call: t.call.RecordedAs()})
	if err != nil {
		return nil, err
	}
	before, after, _ := bytes.Cut(frame, []byte("[]"))
	out := append(make([]byte, 0, len(frame)+t.size+len(t.answers)), before...)
	out = append(out, '[')
	for i, answer := range t.answers {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, answer...)
	}
	return append(append(out, ']'), after...), nil
}

// run runs all steps in a transaction, and all of them again if others got in their way. The whole has the time that one
// statement has: so long, at most, the rows that it wrote keep others waiting.
func (t *transaction) run() error {
	c := t.call
	caller := c.Ctx
	defer func() { c.Ctx = caller }()
	if timeout := c.Settings.StatementTimeout; timeout > 0 {
		limited, cancel := context.WithTimeout(caller, timeout)
		defer cancel()
		c.Ctx = limited
	}
	err := write.InTransaction(c, t.runSteps)
	if err != nil && caller.Err() == nil && errors.Is(c.Ctx.Err(), context.DeadlineExceeded) && database.AsError(err).Code == database.Cancelled {
		err = &database.Error{Code: database.Timeout, Message: "the steps took too long together", Cause: err}
	}
	if err != nil && t.failed >= 0 && !database.CouldNotBegin(err) {
		return &stepError{t.failed, t.steps[t.failed].Tool, err}
	}
	return err
}

// runSteps runs the steps in a transaction.
func (t *transaction) runSteps(tx database.Tx) error {
	t.done, t.answers, t.size, t.references, t.referred, t.question = nil, nil, 0, 0, 0, nil
	t.confirmations.Asked, t.confirmations.Size = nil, 0
	for i := range t.steps {
		t.failed = i
		if err := t.runStep(tx, &t.steps[i]); err != nil {
			return err
		}
	}
	t.failed = -1
	var err error
	if t.question, err = t.ask(); t.question != nil {
		return action.ErrAsked
	}
	return err
}

// runStep runs one step. What it expects of rows stays so until the end: they are locked.
func (t *transaction) runStep(tx database.Tx, s *call.Step) error {
	p := t.call.Part(tx, s.Op, s.Model)
	p.Locks, p.Confirmations = len(s.Expect) > 0, &t.confirmations
	t.done = append(t.done, p)
	var span tracing.Span
	if p.Ctx, span = tracing.Child(p.Ctx, "step "+s.Op.Name); span.Recording() {
		span.Set(tracing.Step.Int(t.failed), tracing.Operation.String(s.Op.Name))
		defer span.End()
	}
	err := t.answerStep(p, s)
	if span.Recording() {
		if m := p.Scope.Model(); m != nil {
			span.Set(tracing.Model.String(m.Name))
		}
		if err != nil {
			told := call.ResultOf(nil, err)
			span.Set(tracing.Outcome.String(string(told.Code)))
			span.Fail(tracing.ToolError)
		}
	}
	return err
}

// answerStep runs a step's call, and keeps its answer.
func (t *transaction) answerStep(p *call.Call, s *call.Step) error {
	given, err := t.resolve(s.Arguments)
	if err != nil {
		return err
	}
	began := p.Settings.Now()
	answer, err := p.Run(given)
	p.Reading.Took = p.Settings.Now().Sub(began)
	p.Given = call.Arguments{} // they are large; p itself is kept for the audit
	if err != nil {
		return err
	}
	if err := expectAnswer(s, answer); err != nil {
		return err
	}
	// A step that answers alone may answer what its call would: the rows are bounded there, and not what stands around them.
	if t.size += len(answer); t.size+t.confirmations.Size > t.call.Settings.MaxResultBytes && len(t.answers) > 0 {
		return call.Failf(call.CodeTooLarge, "the answers of the steps, and what their actions ask, are larger than %d bytes together; ask for less in the steps (limit, fields, max_bytes), or read in calls of their own, before or after",
			t.call.Settings.MaxResultBytes)
	}
	t.answers = append(t.answers, answer)
	return nil
}

// tellSteps tells the audit of the steps once the call has ended: of those that changed something, and of what the others read; of a call
// that failed at a step, of that one; of one of which a part may be in the database, of those that write. An error says that the answer may
// not be shown: what was read has no line.
func (t *transaction) tellSteps(err error) (failed error) {
	if err != nil || t.question != nil {
		call.TellInDoubt(t.done, err)
		t.tellFailed(err)
		return nil
	}
	for i, p := range t.done {
		if !p.Op.Writes() {
			t.call.Rows += p.AnsweredRows()
			if p.TellRead(&call.Result{Text: t.answers[i]}) != nil {
				failed = call.Failf(call.CodeUnavailable, "the steps were done and stay (call %s), but their answer is not shown: the audit line about what a step read cannot be written, and this endpoint answers no call without one; do not send them again", t.call.ID)
			}
			continue
		}
		if p.DryRun = t.call.DryRun; p.DryRun {
			p.Record.Changed = 0
		}
		t.call.Record.Changed += p.Record.Changed
		_ = p.TellAudit(t.call.Outcome())
	}
	return failed
}

// stepError is the error of one step of several.
type stepError struct {
	step int
	tool string
	err  error
}

func (e *stepError) Error() string { return fmt.Sprintf("%s: %v", e.name(), e.err) }
func (e *stepError) Unwrap() error { return e.err }

// name is the step's number, and its tool if it names one.
func (e *stepError) name() string {
	if e.tool == "" {
		return fmt.Sprintf("step %d", e.step)
	}
	return fmt.Sprintf("step %d (%s)", e.step, e.tool)
}

// tellFailed tells the audit of the step at which all ended, if it was one.
func (t *transaction) tellFailed(err error) {
	var at *stepError
	if !errors.As(err, &at) || len(t.done) != at.step+1 {
		return
	}
	p, told := t.done[at.step], call.ResultOf(nil, at.err)
	if p.Op.Writes() || told.Code == call.CodePermissionDenied {
		p.Record.Changed = 0
		_ = p.TellAudit(string(told.Code))
	}
}

// Amend adds the step to what the caller is told of its error.
func (e *stepError) Amend(told *call.ToolError) *call.ToolError {
	at := *told
	if at.Payload != nil {
		head := at.Payload[:len(at.Payload)-len("}")]
		at.Payload = fmt.Appendf(head[:len(head):len(head)], `,"step":%d}`, e.step)
		return &at
	}
	at.Step = &e.step
	at.Message = e.name() + ": " + told.Message
	if told.Validation != nil && told.Validation.Missing && e.step > 0 {
		at.Message += "; a row of an earlier step is " + referenceForm
	}
	if !strings.Contains(told.Message, "nothing was ") {
		at.Message += "; nothing was changed"
	}
	return &at
}
