// Package tools performs the tools: list, get, create and the others. It knows models, rows and permissions, and neither
// HTTP nor SQL: a call becomes a plan over a Scope, which package database answers.
//
// A call comes in through Set.Call, which finds its operation in the table of operation.go and judges whether the token
// may use it. An operation is one value: its file, which has its name, declares its rights, its arguments and what runs
// it. The schema in tools/list, the checks of a call's arguments, its cost and its annotations follow from that value
// (operation.go, argument.go, schema.go, toollist.go).
//
// The operations that read (list, get, related, autocomplete, aggregate, history) make a Select of their arguments
// (keys.go, paths.go, conditions.go, filters.go) and append its rows to the answer (page.go, related_reader.go). Operations
// that write read data (data.go, inlines.go) before the database is asked, and then do everything in one transaction:
// write.go adds and changes rows and reads them back through the row policy, deletion.go deletes them with what cascade.go
// finds, and journal.go writes the audit. An action (action.go and the files that begin with action_) first finds out what
// it would do, and then does it or asks (confirm.go). What goes wrong is a toolError (errors.go, violations.go). prompts.go
// and the prompt_text files hold the texts for agents.
package tools

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/audit"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/seal"
	"github.com/mcp-admin/mcp-admin-operator/server/webhook"
)

// Set performs the tools of one catalog on one database. It is never changed once it is made.
type Set struct {
	catalog *catalog.Catalog
	db      database.DB
	// staleDB is where reads go that may be a little old; db if it has no replicas.
	staleDB  database.DB
	settings Settings
	cursors  *seal.Sealer
	toolList *toolList
	// forgotten is when kept answers that are too old were last removed, in seconds since 1970.
	forgotten *atomic.Int64
	// resources are the models' entries of resources/list, by Model.Index and kind.
	resources [][][]byte
}

// Settings are the operations' needs besides models and rows.
type Settings struct {
	// Endpoint is the endpoint's namespace and name, for webhooks.
	Endpoint string
	// SealKey is the key of cursors and confirmation tokens.
	SealKey []byte
	// StatementTimeout is the time after which a transaction is not run again; 0 is no limit.
	StatementTimeout time.Duration
	// MaxResultBytes is the most bytes of rows that a call may ask for.
	MaxResultBytes int
	// Catalogue says what tools/list shows.
	Catalogue contract.Catalogue
	// SessionSettings describe the caller to the database in each transaction.
	SessionSettings []contract.SessionSetting
	// Audit is called with every change and refusal; it may be nil.
	Audit *audit.Log
	// Kept counts what is kept for the keys of callers; nil is one of its own. It outlives a Set.
	Kept *KeptAnswers
	// Webhook calls the webhooks of actions; nil is the client that refuses the machine's own addresses.
	Webhook *webhook.Client
}

// The operations are declared when the program starts, by the packages that run them.
func init() { arrange() }

// New returns the operations over a catalog. db may be nil where no model of the catalog is served.
func New(c *catalog.Catalog, db database.DB, settings Settings) *Set {
	stale := db
	if replicated, ok := db.(database.Replicated); ok {
		stale = replicated.Replicas()
	}
	if settings.Kept == nil {
		settings.Kept = NewKeptAnswers()
	}
	return &Set{
		catalog: c, db: db, staleDB: stale, settings: settings, cursors: seal.New(settings.SealKey, cursorPurpose),
		toolList:  encodeTools(c, settings.Catalogue.StructuredContent),
		forgotten: &atomic.Int64{}, resources: encodeResources(c),
	}
}

// Result is a tool's answer.
type Result struct {
	// Text is compact JSON, the payload of content[0].text.
	Text []byte
	// Structured is set if the answer also has Text as structuredContent. An error has none: it has no outputSchema.
	Structured bool
	// IsError is set if Text is an error: {"error": message, "code": code, …}.
	IsError bool
	// Code is the error's; "" without one.
	Code Code
	// Message is the error's; "" without one.
	Message string
	// UnknownTool is set if no tool has the name, which JSON-RPC tells apart.
	UnknownTool bool
	// DatabaseAway is set if the database could not be reached, SchemaChanged if it no longer has what the catalog was
	// built from. A busy database sets neither.
	DatabaseAway, SchemaChanged bool
	// Cause is the underlying error, for the log; never for the caller.
	Cause error
}

// request holds what a call asks for, and who asks. It has no database: what runs in a transaction reads through that.
type request struct {
	ctx      context.Context
	token    access.Token
	op       *operation
	catalog  *catalog.Catalog
	settings *Settings
	// model is the name of the call's model, as the call says it. generic is set if an argument said it, and not the tool's
	// name.
	model   string
	generic bool
	// scope is the model's, which the token need not be able to view; zero for an operation without a model.
	scope access.Scope
	// given are the arguments as they were sent.
	given arguments
	// dryRun undoes what the call did.
	dryRun bool
	// id is the call's, under which the journal and the audit know it; isPart is set if the call is part of another one, whose
	// id it has.
	id     string
	isPart bool
	// recorded is set if the journal has changes of the call; its parts share it.
	recorded *bool
	// restores is set if the call gives back values that the database held before: a Loose column takes them, even if its
	// declared type would not.
	restores bool
	// restoredAs are values that the call gives back as the database kept them, by fields.
	restoredAs map[string]database.Value
	// locks is set if the rows that the call reads are to stay as they are until the transaction ends.
	locks bool
	// record is the record for the audit; operations that write fill in what they know of IDs, Fields and Changed.
	record audit.Record
}

// call is a request on its way to its answer.
type call struct {
	request
	// db is that of the set, unless the operation's reads may be a little old, and its model says so too.
	db    store
	stale store
	// reports is where reports are answered.
	reports reporter
	cursors *seal.Sealer
	// steps are transact's.
	steps []step
	// confirmations keeps the questions of actions if the call is one of several steps; nil if it asks by itself.
	confirmations *stepConfirmations
	// asked is set if the answer is a question, so that nothing may be kept.
	asked bool
	// uncertain is set if a webhook may have done something though there is no answer.
	uncertain bool
	// checksItems makes a bulk check its constraints after each item.
	checksItems bool
	forgotten   *atomic.Int64
	kept        *KeptAnswers
}

// outcomeOK is a record's outcome where there was no error.
const outcomeOK = "ok"

// Call performs a tool. arguments is a JSON object, or nil for none. The checks come in the order of
// docs/design/tools.md, "Order of checks": the model is known, the token may, the arguments fit, the row is there.
func (set *Set) Call(ctx context.Context, token access.Token, tool string, arguments []byte) Result {
	op, model := parseName(tool)
	if op == nil {
		r := result(nil, unknownTool(tool))
		r.UnknownTool = true
		return r
	}
	return set.perform(ctx, token, op, model, arguments)
}

// perform runs an operation on the model of that name, or on the one that the arguments name if it is "". It tells the
// audit of what changes something or is refused.
func (set *Set) perform(ctx context.Context, token access.Token, op *operation, model string, arguments []byte) Result {
	c := set.newCall(ctx, token, op)
	c.model, c.generic = model, model == "" && !op.Global
	r := result(runOnce(c, arguments))
	r.Structured = set.settings.Catalogue.StructuredContent && !r.IsError
	if op.Writes() || r.Code == CodePermissionDenied {
		outcome := outcomeOK
		if r.IsError {
			outcome = string(r.Code)
		}
		c.tellAudit(outcome)
	}
	return r
}

// tellAudit writes the audit's line about the call.
func (req *request) tellAudit(outcome string) {
	r := &req.record
	r.Token, r.Subject, r.Call = req.token.Name(), req.token.Subject(), req.id
	r.Tool, r.Model, r.DryRun, r.Outcome = req.tool(), req.model, req.dryRun, outcome
	if r.Operation == "" {
		r.Operation = req.op.Name
	}
	req.settings.Audit.Write(req.ctx, r)
}

func (set *Set) newCall(ctx context.Context, token access.Token, op *operation) *call {
	ctx = database.WithSession(ctx, token.Session(set.settings.SessionSettings))
	r := request{ctx: ctx, token: token, op: op, catalog: set.catalog, settings: &set.settings, recorded: new(bool)}
	if op.Writes() {
		r.id = newCallID()
	}
	return &call{request: r, db: ownTransactions{DB: set.db}, stale: ownTransactions{DB: set.staleDB}, reports: set.db, cursors: set.cursors, forgotten: set.forgotten, kept: set.settings.Kept}
}

// run judges the call, reads its arguments and runs it. A call with an idempotency key is run by runOnce.
func (c *call) run(raw []byte) ([]byte, error) {
	if err := c.prepare(raw); err != nil {
		return nil, err
	}
	return c.op.run(c)
}

// prepare judges the call, before anything of it is run or kept.
func (c *call) prepare(raw []byte) error {
	if err := c.judge(raw); err != nil {
		return err
	}
	if !c.op.Global && c.op.stale && c.scope.Model().Declared.ReadsReplica {
		c.db = c.stale
	}
	if c.op.prepare == nil {
		return nil
	}
	return c.op.prepare(c)
}

// judge finds the call's model, judges whether the token may use the operation on it, and keeps the arguments by their
// names.
func (c *call) judge(raw []byte) error {
	if c.generic {
		if err := c.takeModel(raw); err != nil {
			return err
		}
	}
	if !c.op.Global {
		if err := c.enter(c.model); err != nil {
			return err
		}
	}
	if c.generic {
		return nil
	}
	return c.given.parse(raw)
}

// enter finds the model of the call, and judges whether the token may use the operation on it.
func (req *request) enter(model string) error {
	m := req.catalog.Model(model)
	if m == nil {
		return req.modelNotFound(model)
	}
	req.scope = req.token.Reach(m)
	if !req.op.may(req.scope) {
		return req.permissionDenied(req.op.label, m)
	}
	if !m.Served() {
		return modelWithheld(m)
	}
	if !req.op.offeredFor(req.catalog, m) {
		return req.notOffered(m)
	}
	return nil
}

// tool is the name of the tool that was called.
func (req *request) tool() string {
	if req.generic || req.op.Global {
		return req.op.Name
	}
	return toolName(req.op, req.model)
}
