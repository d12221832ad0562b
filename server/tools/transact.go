package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

const transactName = "transact"

// transactOperation runs calls of other tools as the steps of one transaction (docs/design/transact.md, "Transact").
var transactOperation = withArguments(transactName, operation{
	steps: "steps", offeredTo: mayTransact, prepare: (*call).readSteps,
	description: func(*catalog.Model) string {
		return "Several calls as one: the steps run in order in one transaction, all or nothing, and each sees what those before it did. At least one must change something."
	},
	outputSchema: func(*catalog.Model) schema {
		return oneOf(payloadSchema[transacted](), payloadSchema[confirmationRequest]())
	},
}, (*call).transactSteps,
	argument[transactArguments]{name: "steps", into: func(a *transactArguments) any { return &a.steps }, required: always,
		schema: func(*catalog.Model) schema { return stepsSchema }},
	argument[transactArguments]{name: "dry_run", into: func(a *transactArguments) any { return &a.dryRun }, help: dryRunHelp},
	argument[transactArguments]{name: "confirm", into: func(a *transactArguments) any { return &a.confirm },
		help: "as in action, for all steps"},
	argument[transactArguments]{name: "confirmation_token", into: func(a *transactArguments) any { return &a.token },
		help: "that of the page"},
	argument[transactArguments]{name: keyName, into: func(*transactArguments) any { return new(string) }, help: keyHelp},
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
	for _, op := range operations {
		if op.admit != nil && op.Writes() && op.offeredFor(c, m) && op.usable(c, scope) {
			return true
		}
	}
	return false
}

// transaction is one call of transact on its way. The results of its steps are the last run's.
type transaction struct {
	call *call
	// sent are the steps as the caller sent them.
	sent  json.RawMessage
	steps []step
	// done are the calls of the steps that were run, and answers what they answered; size is how long these are together.
	done    []*call
	answers []json.RawMessage
	size    int
	// references is how many references were followed, referred how many bytes the values are long that they named.
	references, referred int
	// confirmations are the questions of actions.
	confirmations stepConfirmations
	// question is the question for the caller; nil if there is none.
	question *confirmationRequest
	// failed is the step at which the last run ended; -1 if it was none.
	failed int
}

// transactSteps runs the steps in one transaction, or nothing of them.
func (c *call) transactSteps(a *transactArguments) ([]byte, error) {
	c.dryRun = a.dryRun
	t := &transaction{call: c, sent: a.steps, steps: c.steps, failed: -1}
	t.confirmations.confirmed, t.confirmations.shown = a.confirm, a.token
	switch err := t.run(); {
	case t.question != nil:
		c.asked = true
		return encodePlainly(t.question)
	case err != nil:
		return nil, err
	}
	t.tellSteps()
	return t.answer()
}

// answer is the answer to the whole. The steps' own are large, and no copy of them is made beside it.
func (t *transaction) answer() ([]byte, error) {
	frame, err := encodePlainly(transacted{Success: true, Results: []json.RawMessage{}, DryRun: t.call.dryRun, Call: t.call.recordedAs()})
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
	caller := c.ctx
	defer func() { c.ctx = caller }()
	if timeout := c.settings.StatementTimeout; timeout > 0 {
		limited, cancel := context.WithTimeout(caller, timeout)
		defer cancel()
		c.ctx = limited
	}
	err := c.inTransaction(t.runSteps)
	if err != nil && caller.Err() == nil && errors.Is(c.ctx.Err(), context.DeadlineExceeded) && database.AsError(err).Code == database.Cancelled {
		err = &database.Error{Code: database.Timeout, Message: "the steps took too long together", Cause: err}
	}
	if err != nil && t.failed >= 0 {
		return t.stepFailed(err)
	}
	return err
}

// runSteps runs the steps in a transaction.
func (t *transaction) runSteps(tx database.Tx) error {
	t.done, t.answers, t.size, t.references, t.referred, t.question = nil, nil, 0, 0, 0, nil
	t.confirmations.asked, t.confirmations.size = nil, 0
	for i := range t.steps {
		t.failed = i
		if err := t.runStep(tx, &t.steps[i]); err != nil {
			return err
		}
	}
	t.failed = -1
	var err error
	if t.question, err = t.ask(); t.question != nil {
		return errAsked
	}
	return err
}

// runStep runs one step, and keeps its answer. What it expects of rows stays so until the end: they are locked.
func (t *transaction) runStep(tx database.Tx, s *step) error {
	p := t.call.part(tx, s.op, s.model)
	p.locks, p.confirmations = len(s.expect) > 0, &t.confirmations
	t.done = append(t.done, p)
	given, err := t.resolve(s.arguments)
	if err != nil {
		return err
	}
	answer, err := p.run(given)
	p.given = nil // they are large; p itself is kept for the audit
	if err != nil {
		return err
	}
	if err := s.expectAnswer(answer); err != nil {
		return err
	}
	// A step that answers alone may answer what its call would: the rows are bounded there, and not what stands around them.
	if t.size += len(answer); t.size+t.confirmations.size > t.call.settings.MaxResultBytes && len(t.answers) > 0 {
		return failf(CodeTooLarge, "the answers of the steps, and what their actions ask, are larger than %d bytes together; ask for less in the steps (limit, fields, max_bytes), or read in calls of their own, before or after",
			t.call.settings.MaxResultBytes)
	}
	t.answers = append(t.answers, answer)
	return nil
}

// tellSteps tells the audit of the steps that changed something.
func (t *transaction) tellSteps() {
	for _, p := range t.done {
		if !p.op.Writes() {
			continue
		}
		if p.dryRun = t.call.dryRun; p.dryRun {
			p.record.Changed = 0
		}
		t.call.record.Changed += p.record.Changed
		p.tellAudit(outcomeOK)
	}
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

// stepFailed is the error of the step at which all ended; the audit gets it.
func (t *transaction) stepFailed(err error) error {
	failed := &stepError{t.failed, t.steps[t.failed].tool, err}
	if p := t.done[len(t.done)-1]; len(t.done) == t.failed+1 {
		if told := result(nil, err); p.op.Writes() || told.Code == CodePermissionDenied {
			p.record.Changed = 0
			p.tellAudit(string(told.Code))
		}
	}
	return failed
}

// amend adds the step to what the caller is told of its error.
func (e *stepError) amend(told *toolError) *toolError {
	at := *told
	if at.payload != nil {
		head := at.payload[:len(at.payload)-len("}")]
		at.payload = fmt.Appendf(head[:len(head):len(head)], `,"step":%d}`, e.step)
		return &at
	}
	at.Step = &e.step
	at.Message = e.name() + ": " + told.Message
	if told.Validation != nil && told.Validation.missing && e.step > 0 {
		at.Message += "; a row of an earlier step is " + referenceForm
	}
	if !strings.Contains(told.Message, "nothing was ") {
		at.Message += "; nothing was changed"
	}
	return &at
}
