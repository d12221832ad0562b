package call

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/audit"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
	"github.com/mcp-admin/mcp-admin-operator/server/seal"
)

// Request holds what a call asks for, and who asks. It has no database: what runs in a transaction reads through that.
type Request struct {
	Ctx      context.Context
	Token    access.Token
	Op       *Operation
	Catalog  *catalog.Catalog
	Settings *Settings
	// Model is the name of the call's model, as the call says it. Generic is set if an argument said it, and not the tool's
	// name.
	Model   string
	Generic bool
	// Scope is the model's, which the token need not be able to view; zero for an operation without a model.
	Scope access.Scope
	// Now is the moment that is now to all that the call asks for.
	Now time.Time
	// Given are the arguments as they were sent.
	Given Arguments
	// Raw is the JSON object of the arguments; nil if none was sent.
	Raw []byte
	// ID is the call's, under which the journal and the audit know it; IsPart is set if the call is part of another one, whose
	// id it has.
	ID     string
	IsPart bool
	// DryRun undoes what the call did.
	DryRun bool
	// Locks is set if the rows that the call reads are to stay as they are until the transaction ends.
	Locks bool
	// Restores is set if the call gives back values that the database held before: a Loose column takes them, even if its
	// declared type would not.
	Restores bool
	// Recorded is set if the journal has changes of the call; its parts share it.
	Recorded *bool
	// Changes gathers what the call changes, if other people may have to allow it; else it is nil. Its parts share it.
	Changes *Changes
	// TakesBack is the id of the oldest entry of the journal about a row that the call takes back; "" if it takes none back. It may be nil.
	TakesBack func(table *database.Table, row string) string
	// RestoredAs are values that the call gives back as the database kept them, by fields.
	RestoredAs map[string]database.Value
	// Record is the record for the audit; operations that write fill in what they know of IDs, Fields and Changed.
	Record audit.Record
	// Reading is what the audit's line about a call that reads cannot know from its answer.
	Reading Reading
}

// Reading tells of a call that reads.
type Reading struct {
	// RowsOf is the model of the rows in the answer; "" if it is the call's own.
	RowsOf string
	// IDs are the rows that the answer is about, as the API shows ids, if it has no ids itself.
	IDs []string
	// Took is how long a part of a call took; zero of a whole call.
	Took time.Duration
}

// Call is a request on its way to its answer.
type Call struct {
	Request
	// DB answers the call: the primary database, or Stale if both the operation and its model allow reads that are a little old.
	DB    Store
	Stale Store
	// Reports is where reports are answered.
	Reports reporter
	Cursors *seal.Sealer
	// Steps are transact's.
	Steps []Step
	// Confirmations keeps the questions of actions if the call is one of several steps; nil if it asks by itself.
	Confirmations *StepConfirmations
	// Rows is how many rows the answer shows beside those that the call changed.
	Rows int
	// Gate holds calls back that other people must allow; nil: nobody must. Hold is what it knows of this one; nil: it need not wait.
	// Parts of a call have neither: the whole is judged.
	Gate Gate
	Hold Hold
	// Elicited is set if the client can ask its person by a form, and holds what the person said. Confirmation is the confirmation_token
	// of the question that they said yes to; "" is none. Parts of a call have neither.
	Elicited     *Elicited
	Confirmation string
	// Asked is set if the answer is a question, so that nothing may be kept. Elicitation is the question, as a person is asked it;
	// nil if a form cannot ask it, or there is none.
	Asked       bool
	Elicitation *Elicitation
	// Waits is the approval of other people that the call waits for, if the answer says so; else "".
	Waits string
	// Resumed is set if the call waited for other people as a task, and runs now: what was confirmed when it began to wait may be older
	// than a confirmation lives.
	Resumed bool
	// Uncertain is set if a webhook may have done something though there is no answer.
	Uncertain bool
	// Unconfirmed is the error of a transaction that was committed, and that no standby confirmed; else nil. The operation goes on, so
	// that what it changed is recorded, and the error takes the place of its answer.
	Unconfirmed error
	// TellParts tells the audit of the call's parts once its transaction has ended, with the call's error; nil if it has none to tell of. An
	// error takes the place of the answer.
	TellParts func(error) error
	// ChecksItems makes a bulk check its constraints after each item.
	ChecksItems bool
	Forgotten   *atomic.Int64
	// Fetch is set if the call fetches the link of an export.
	Fetch *Fetch
	// link is the link that the answer has; nil if there is none.
	link *ResourceLink
	Kept *KeptAnswers
	// Shelf keeps what is the same for all tokens with the same rights; nil keeps nothing.
	Shelf *Shelf
	// Examples keeps values that descriptions show.
	Examples *Examples
	// room is the memory of the answer; nil if none was asked for.
	room *Room
	// kept is the answer, if it was kept; else nil.
	kept *KeptAnswer
}

// OutcomeOK is a record's outcome where there was no error.
const OutcomeOK = "ok"

// TellAudit writes the audit's line about the call. An error says that it could not be written, and that the endpoint wants such calls to
// fail.
func (req *Request) TellAudit(outcome string) error {
	r := &req.Record
	r.Token, r.Subject, r.Call = req.Token.Name(), req.Token.Subject(), req.ID
	r.Tool, r.Model, r.MadeUp, r.DryRun, r.Outcome = req.tool(), req.Model, req.madeUp(), req.DryRun, outcome
	if r.Operation == "" {
		r.Operation = req.Op.Name
	}
	return req.Settings.Wanted(req.Settings.Audit.Write(req.Ctx, r))
}

// Outcome is the outcome of a call whose operation went well.
func (c *Call) Outcome() string {
	if c.Unconfirmed != nil {
		return string(CodeUnavailable)
	}
	return OutcomeOK
}

// Ended takes the error of the call's transaction, and returns it unless the transaction is in the database all the same.
func (c *Call) Ended(err error) error {
	if err == nil || !database.Committed(err) {
		return err
	}
	c.Unconfirmed = err
	return nil
}

// TellInDoubt tells the audit of the parts that write, if the call may be in the database though it failed, or a part of it.
func TellInDoubt(parts []*Call, err error) {
	if code := database.AsError(err).Code; code != database.Partly && code != database.Uncertain {
		return
	}
	outcome := string(ResultOf(nil, err).Code)
	for _, p := range parts {
		if p.Op.Writes() {
			_ = p.TellAudit(outcome)
		}
	}
}

// OutcomeIntent is a record's outcome before something is done.
const OutcomeIntent = "intent"

// TellIntent writes a line about a call that is about to change something, if the endpoint wants no call without a line: once it is done,
// it is too late to fail.
func (req *Request) TellIntent() error {
	if !req.Settings.AuditRequired {
		return nil
	}
	known := req.Record.IDs // an operation finds its rows later
	defer func() { req.Record.IDs = known }()
	if id, sent := req.Given.Find(IDName); sent {
		req.Record.IDs = []string{PlainText(id)}
	}
	for _, id := range jsontext.Inside(req.Given.Value("ids")) {
		req.Record.IDs = append(req.Record.IDs, PlainText(id))
	}
	return req.TellAudit(OutcomeIntent)
}

// TellRead writes the audit's line about a call that read, with its answer, if the endpoint asks for such lines. Errors are as TellAudit's.
func (req *Request) TellRead(r *Result) error {
	level := req.Settings.AuditReads
	if level == "" {
		return nil
	}
	line := audit.Read{
		Token: req.Token.Name(), Subject: req.Token.Subject(), Tool: req.tool(), Model: req.Model, MadeUp: req.madeUp(), Operation: req.Op.Name,
		Question: audit.Question(req.Raw), Bytes: len(r.Text), Took: req.Settings.Now().Sub(req.Now), Outcome: OutcomeOK,
	}
	if req.IsPart {
		line.Call, line.Took = req.ID, req.Reading.Took
	}
	if r.IsError {
		line.Outcome = string(r.Code)
	} else {
		line.Shown = audit.ShownBy(r.Text, req.Op.OneRow, level == contract.AuditRows)
		line.Of = req.Reading.RowsOf
		if level == contract.AuditRows {
			line.IDs = append(line.IDs, req.Reading.IDs...)
		}
	}
	return req.Settings.Wanted(req.Settings.Audit.WriteRead(req.Ctx, &line))
}

// madeUp reports whether the call names a model that the token does not see.
func (req *Request) madeUp() bool { return req.Model != "" && req.Scope.Model() == nil }

// Run judges the call, reads its arguments and runs it. Package once runs a call that has an idempotency key.
func (c *Call) Run(raw []byte) ([]byte, error) {
	if err := c.Prepare(raw); err != nil {
		return nil, err
	}
	return c.Op.Run(c)
}

// Prepare judges the call, before anything of it is run or kept.
func (c *Call) Prepare(raw []byte) error {
	if err := c.Judge(raw); err != nil {
		return err
	}
	if !c.Op.Global && c.Op.Stale && c.Scope.Model().Declared.ReadsReplica {
		c.DB = c.Stale
	}
	if c.Op.Prepare != nil {
		if err := c.Op.Prepare(c); err != nil {
			return err
		}
	}
	return c.takeElicited()
}

// Judge finds the call's model, judges whether the token may use the operation on it, and keeps the arguments by their
// names.
func (c *Call) Judge(raw []byte) error {
	c.Raw = raw
	if c.Generic {
		if err := c.takeModel(raw); err != nil {
			return err
		}
	}
	if !c.Op.Global {
		if err := c.enter(c.Model); err != nil {
			return err
		}
	}
	if c.Generic {
		return nil
	}
	return c.Given.Parse(raw)
}

// enter finds the model of the call, and judges whether the token may use the operation on it.
func (req *Request) enter(model string) error {
	m := req.Catalog.Model(model)
	if m == nil {
		return req.ModelNotFound(model)
	}
	req.Scope = req.Token.Reach(m)
	if !req.Op.May(req.Scope) {
		return req.PermissionDenied(req.Op.Label, m)
	}
	if !m.Served() {
		return ModelWithheld(m)
	}
	if !req.Op.OfferedFor(req.Catalog, m) {
		return req.notOffered(m)
	}
	return nil
}

// tool is the name of the tool that was called.
func (req *Request) tool() string {
	if req.Generic || req.Op.Global {
		return req.Op.Name
	}
	return toolName(req.Op, req.Model)
}
