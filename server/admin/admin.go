// Package admin is the operations that tools perform: list, get, create and their kin. It knows models, rows and
// permissions, and neither HTTP nor SQL: a call becomes a plan over a Scope, which package database answers.
//
// A call comes in through Admin.Call, which finds its operation in the table of operations.go and judges whether the
// token may use it. The file of the operation's name has the rest of the way. Those that read (list, get, related,
// autocomplete, history) take their arguments (arguments.go, keys.go, filters.go), make a Select of them, and append its
// rows to the answer (page.go, kin.go). Those that write read data (data.go, inlines.go) before the database is asked,
// and then do all in one transaction: write.go adds and changes rows and reads them back through the row policy,
// deletion.go deletes them with what dependents.go finds to go along, and journal.go writes the audit. An action (action
// and the files that begin with it) first finds out what it would do, and does it, or asks (confirm.go). What goes wrong is
// a toolError (errors.go, violations.go). The tools_ files are what tools/list shows, the guides_ files and prompts.go the
// texts for agents.
package admin

import (
	"context"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/audit"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/seal"
	"github.com/mcp-admin/mcp-admin-operator/server/webhook"
)

// Admin performs the tools of one catalog on one database. It is never changed once it is made.
type Admin struct {
	catalog  *catalog.Catalog
	db       database.DB
	settings Settings
	cursors  *seal.Sealer
	tools    toolPieces
	// resources are the models' entries of resources/list, by Model.Index; nil for a model that is not advertised.
	resources [][]byte
}

// Settings are what the operations need beside models and rows.
type Settings struct {
	// Endpoint is the endpoint's namespace and name, for webhooks.
	Endpoint string
	// SealKey is the key of cursors and confirmation tokens.
	SealKey []byte
	// MaxResultBytes is the size at which the rows of an answer are cut off.
	MaxResultBytes int
	// Audit is told of every change and refusal; it may be nil.
	Audit *audit.Log
	// Webhook calls the webhooks of actions; nil is the client that refuses the machine's own addresses.
	Webhook *webhook.Client
}

// New returns the operations over a catalog. db may be nil where no model of the catalog is served.
func New(c *catalog.Catalog, db database.DB, settings Settings) *Admin {
	return &Admin{catalog: c, db: db, settings: settings, cursors: seal.New(settings.SealKey, cursorPurpose), tools: encodeTools(c), resources: encodeResources(c)}
}

// Result is a tool's answer.
type Result struct {
	// Text is compact JSON, the payload of content[0].text.
	Text []byte
	// IsError is whether Text is an error: {"error": message, "code": code, …}.
	IsError bool
	// Code is the error's; "" where IsError is false.
	Code Code
	// Message is the error's; "" where IsError is false.
	Message string
	// UnknownTool is whether the name is no tool's at all, which JSON-RPC tells apart.
	UnknownTool bool
	// DatabaseAway is whether the database could not be reached, SchemaChanged whether it no longer has what the catalog
	// was built from. One that is busy is neither.
	DatabaseAway, SchemaChanged bool
	// Cause is what went wrong underneath, for the log; never for the caller.
	Cause error
}

// operation is one of the tools that a model has.
type operation struct {
	// name stands before the model's in a tool's name.
	name string
	// may is whether a token may use the operation on a model at all, label what a refusal calls it.
	may   func(access.Scope) bool
	label string
	// writes is whether it changes anything: the audit is told of each call.
	writes bool
	// offered is whether a served model has the operation, whoever asks; nil is always.
	offered func(*catalog.Catalog, *catalog.Model) bool
	// useful is whether a token that may use it can do anything with it on a model that offers it: lists leave it out
	// otherwise, and a call is told what is missing. nil is always.
	useful func(*catalog.Catalog, access.Scope) bool
	run    func(*call) ([]byte, error)
	// define returns the tool as tools/list shows it.
	define func(*catalog.Model) definition
	// many is whether it is told of with what changes many rows at once, rather than one row.
	many bool
	// advice is what prompts say about using it well: a sentence that goes on after the tool's name.
	advice string
}

// call is one call of a model's tool on its way to its answer.
type call struct {
	*Admin
	ctx   context.Context
	token *access.Token
	op    *operation
	// scope is that of the model; it may not be one that the token may view.
	scope access.Scope
	// raw are the arguments: a JSON object, or nil.
	raw []byte
	// record is what the audit is told; operations that write fill in what they know of IDs, Fields, Changed and DryRun.
	record audit.Record
}

const findModels = "find_models"

// outcomeOK is a record's outcome where there was no error.
const outcomeOK = "ok"

// Call performs a tool. arguments is a JSON object, or nil for none. The checks come in the order of
// docs/design/tools.md, "Order of checks": the model is known, the token may, the arguments fit, the row is there.
func (a *Admin) Call(ctx context.Context, token *access.Token, tool string, arguments []byte) Result {
	if tool == findModels {
		return result(a.findModels(token, arguments))
	}
	name, model, _ := strings.Cut(tool, "_")
	op := findOperation(name)
	if op == nil || model == "" {
		r := result(nil, unknownTool(tool))
		r.UnknownTool = true
		return r
	}
	return a.callModel(ctx, token, op, model, arguments)
}

// callModel performs an operation on a model, and tells the audit of what changes something or is refused.
func (a *Admin) callModel(ctx context.Context, token *access.Token, op *operation, model string, arguments []byte) Result {
	c := &call{Admin: a, ctx: ctx, token: token, op: op, raw: arguments}
	r := result(c.perform(model))
	if op.writes || r.Code == CodePermissionDenied {
		c.record.Token, c.record.Tool, c.record.Model = token.Name(), op.name+"_"+model, model
		if c.record.Operation == "" {
			c.record.Operation = op.name
		}
		if c.record.Outcome = outcomeOK; r.IsError {
			c.record.Outcome = string(r.Code)
		}
		a.settings.Audit.Write(ctx, &c.record)
	}
	return r
}

func (c *call) perform(model string) ([]byte, error) {
	m := c.catalog.Model(model)
	if m == nil {
		return nil, modelNotFound(model)
	}
	c.scope = c.token.Reach(m)
	if !c.op.may(c.scope) {
		return nil, permissionDenied(c.op.label, m)
	}
	if !m.Served() {
		return nil, modelWithheld(m)
	}
	if !c.op.offeredFor(c.catalog, m) {
		return nil, c.notOffered(m)
	}
	return c.op.run(c)
}
