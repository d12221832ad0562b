// Package tools performs the tools: list, get, create and the others. It knows models, rows and permissions, and neither
// HTTP nor SQL: a call becomes a plan over a Scope, which package database answers.
//
// A call comes in through Set.Call, which finds its operation in the table (package call) and has it run once (package
// once). The operations live in rooms, each with a doc.go that says where to begin: call is below all of them, then read,
// write, approval, action, once and steps, of which none imports a later one. This package is above them: it has what describes the
// tools to agents, which are the lists (toollist.go, catalogue.go, find.go, describe.go), the prompts (prompts.go and the
// prompt_text files), the resources and the instructions.
package tools

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract/tracing"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/seal"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/once"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/read"
)

// Set performs the tools of one catalog on one database. It is never changed once it is made.
type Set struct {
	catalog *catalog.Catalog
	db      database.DB
	// staleDB is where reads go that may be a little old; db if it has no replicas.
	staleDB  database.DB
	settings call.Settings
	cursors  *seal.Sealer
	toolList *toolList
	// forgotten is when kept answers that are too old were last removed, in seconds since 1970.
	forgotten *atomic.Int64
	// resources are the models' entries of resources/list, by Model.Index and kind.
	resources [][][]byte
	// shelf keeps what is made for all tokens with the same rights.
	shelf *call.Shelf
	// examples keeps values that descriptions show.
	examples *call.Examples
}

// The operations are declared when the program starts, by the packages that run them.
func init() { call.Arrange() }

// New returns the operations over a catalog. db may be nil where no model of the catalog is served.
func New(c *catalog.Catalog, db database.DB, settings call.Settings) *Set {
	stale := db
	if replicated, ok := db.(database.Replicated); ok {
		stale = replicated.Replicas()
	}
	if settings.Kept == nil {
		settings.Kept = call.NewKeptAnswers()
	}
	if settings.Now == nil {
		settings.Now = time.Now
	}
	return &Set{
		catalog: c, db: db, staleDB: stale, settings: settings, cursors: seal.New(settings.SealKey, read.CursorPurpose),
		toolList:  encodeTools(c, settings.Catalogue.StructuredContent),
		forgotten: &atomic.Int64{}, resources: encodeResources(c), shelf: call.NewShelf(), examples: call.NewExamples(),
	}
}

// Call performs a tool. arguments is a JSON object, or nil for none. The checks come in the order of
// docs/design/tools.md, "Order of checks": the model is known, the token may, the arguments fit, the row is there.
func (set *Set) Call(ctx context.Context, token access.Token, tool string, arguments []byte) call.Result {
	return set.CallElicited(ctx, token, tool, arguments, nil)
}

// CallElicited performs a tool as Call does, for a client that can ask its person, with what the person said; nil is any other client.
func (set *Set) CallElicited(ctx context.Context, token access.Token, tool string, arguments []byte, elicited *call.Elicited) call.Result {
	op, model := call.ParseName(tool)
	if op == nil {
		r := call.ResultOf(nil, call.UnknownTool(tool))
		r.UnknownTool = true
		return r
	}
	c := set.newCall(ctx, token, op)
	c.Elicited = elicited
	return set.perform(c, model, arguments)
}

// perform runs an operation on the model of that name, or on the one that the arguments name if it is "". It tells the
// audit of what changes something or is refused, and of what reads if the endpoint asks for that.
func (set *Set) perform(c *call.Call, model string, arguments []byte) call.Result {
	c.Model, c.Generic = model, model == "" && !c.Op.Global
	r := c.ResultOf(once.Run(c, arguments))
	if span := tracing.Of(c.Ctx); span.Recording() {
		describeCall(span, c, model)
	}
	r.Structured = set.settings.Catalogue.StructuredContent && !r.IsError
	if err := tell(c, &r); err != nil {
		r.Release()
		return call.ResultOf(nil, err)
	}
	return r
}

// tell writes the audit's line about a call that has its answer. An error takes the place of the answer. What was changed is changed,
// and is answered: its first line was written before it (once.Run).
func tell(c *call.Call, r *call.Result) error {
	switch {
	case c.Op.Writes() || r.Code == call.CodePermissionDenied:
		outcome := call.OutcomeOK
		switch {
		case c.Waits != "":
			outcome, c.Record.Changed = string(call.CodeApprovalRequired), 0 // what was changed was undone
		case r.IsError:
			outcome = string(r.Code)
		}
		_ = c.TellAudit(outcome)
		return nil
	case r.Link != nil:
		return c.TellAudit(call.OutcomeIntent)
	}
	return c.TellRead(r)
}

// describeCall says in a span what was called. The name of a model that the token may not see, or that is none, is not told: a caller
// may have put anything there.
func describeCall(span tracing.Span, c *call.Call, model string) {
	tool := c.Op.Name
	if m := c.Scope.Model(); m != nil {
		span.Set(tracing.Model.String(m.Name))
		if model == m.Name {
			tool += "_" + model
		}
	}
	span.Rename("tools/call " + tool)
	span.Set(tracing.AIOperation.String(tracing.ExecuteTool), tracing.ToolName.String(tool), tracing.Operation.String(c.Op.Name))
	if c.Op.Writes() {
		span.Set(tracing.Call.String(c.ID), tracing.Changed.Int(c.Record.Changed))
	}
}

func (set *Set) newCall(ctx context.Context, token access.Token, op *call.Operation) *call.Call {
	ctx = database.WithSession(ctx, token.Session(set.settings.SessionSettings))
	r := call.Request{Ctx: ctx, Token: token, Op: op, Catalog: set.catalog, Settings: &set.settings, Now: set.settings.Now(), Recorded: new(bool)}
	if op.Writes() {
		r.ID = call.NewCallID()
	}
	return &call.Call{Request: r, DB: call.OwnTransactions{DB: set.db}, Stale: call.OwnTransactions{DB: set.staleDB}, Reports: set.db, Cursors: set.cursors, Forgotten: set.forgotten, Kept: set.settings.Kept, Gate: set.settings.Gate, Shelf: set.shelf, Examples: set.examples}
}
