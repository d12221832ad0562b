// Package admin is the operations that tools perform: list, get, describe and their kin. It knows models, rows and
// permissions, and neither HTTP nor SQL: a call becomes a plan over a Scope, which package database answers.
package admin

import (
	"context"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// Admin performs the tools of one catalog on one database. It is never changed once it is made.
type Admin struct {
	catalog *catalog.Catalog
	db      database.DB
	tools   toolPieces
	// resources are the models' entries of resources/list, by Model.Index; nil for a model that is not advertised.
	resources [][]byte
}

// New returns the operations over a catalog. db may be nil where no model of the catalog is served.
func New(c *catalog.Catalog, db database.DB) *Admin {
	return &Admin{catalog: c, db: db, tools: encodeTools(c), resources: encodeResources(c)}
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
	// verb is what a token must be granted on the model; label what a refusal calls it.
	verb  access.Verbs
	label string
	// run performs the operation; nil where the server offers it for no model.
	run func(*Admin, context.Context, access.Scope, []byte) ([]byte, error)
	// define returns the tool as tools/list shows it, needsKey whether a model without a key has none.
	define   func(*catalog.Model) definition
	needsKey bool
	// many is whether it is told of with what changes many rows at once, rather than one row.
	many bool
	// advice is what prompts say about using it well: a sentence that goes on after the tool's name.
	advice string
}

const findModels = "find_models"

// operations are in the order in which tools/list has them (decisions section 4).
var operations = []operation{
	{name: "list", verb: access.View, label: "view", run: (*Admin).list, define: defineList,
		advice: "narrow with filters and search, order with order_by, and ask only for the fields that you need"},
	{name: "get", verb: access.View, label: "view", run: (*Admin).get, define: defineGet, needsKey: true,
		advice: "one row by its id, as list rows show it"},
	{name: "create", verb: access.Add, label: "add"},
	{name: "update", verb: access.Change, label: "change"},
	{name: "delete", verb: access.Delete, label: "delete"},
	{name: "describe", verb: access.View, label: "view", run: (*Admin).describe, define: defineDescribe,
		advice: "fields, types and relationships: look here before you filter"},
	{name: "actions", verb: access.View, label: "view", many: true},
	{name: "action", verb: access.View, label: "view", many: true},
	{name: "bulk", verb: access.View, label: "view", many: true},
	{name: "related", verb: access.View, label: "view"},
	{name: "history", verb: access.View, label: "view"},
	{name: "autocomplete", verb: access.View, label: "view"},
}

func (o *operation) offeredFor(m *catalog.Model) bool {
	return o.run != nil && (!o.needsKey || len(m.Key) > 0)
}

// Call performs a tool. arguments is a JSON object, or nil for none. The checks come in the order of decisions section
// 5: the model is known, the token may, the arguments fit, the row is there.
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
	return result(a.callModel(ctx, token, op, model, arguments))
}

func (a *Admin) callModel(ctx context.Context, token *access.Token, op *operation, model string, arguments []byte) ([]byte, error) {
	m := a.catalog.Model(model)
	if m == nil {
		return nil, modelNotFound(model)
	}
	if !token.Verbs(m).Has(op.verb) {
		return nil, permissionDenied(op.label, m)
	}
	if !m.Served() {
		return nil, modelWithheld(m)
	}
	if !op.offeredFor(m) {
		return nil, notOffered(op.name, m)
	}
	scope, ok := token.Scope(m)
	if !ok {
		return nil, permissionDenied("view", m)
	}
	return op.run(a, ctx, scope, arguments)
}

// offered are the operations that the token may use on a model; none on one that is not served.
func offered(token *access.Token, m *catalog.Model) []*operation {
	var some []*operation
	for i := range operations {
		if op := &operations[i]; m.Served() && op.offeredFor(m) && token.Verbs(m).Has(op.verb) {
			some = append(some, op)
		}
	}
	return some
}

func findOperation(name string) *operation {
	for i := range operations {
		if operations[i].name == name {
			return &operations[i]
		}
	}
	return nil
}

// Tools are the names of the tools that a served model has for a token that may do everything.
func Tools(m *catalog.Model) []string {
	var names []string
	for i := range operations {
		if operations[i].offeredFor(m) {
			names = append(names, operations[i].name+"_"+m.Name)
		}
	}
	return names
}
