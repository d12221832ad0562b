package tools

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// operation is something that can be done with a model. A tool's name, such as list_book, is one face of it: whoever has
// an operation can run it with a call that has the model's scope and the arguments by name.
type operation struct {
	// name stands before the model's in a tool's name.
	name string
	// global is set for an operation that is of no model: its name is its tool's whole name, and rights are its own affair. It
	// is listed if it is of use to the token on any model that is advertised; a nil offeredTo means always.
	global    bool
	offeredTo func(*catalog.Catalog, access.Scope) bool
	// may reports whether a token may use the operation on a model at all; label is what a refusal calls it.
	may   func(access.Scope) bool
	label string
	// hints are what clients are told of its effects. What is not read-only is a write: the audit is told of each call.
	hints annotations
	// stale is set if the rows that it shows may be a little old: it then reads from a replica, if its model says so.
	stale bool
	// offered reports whether a served model has the operation, whoever asks; nil means always.
	offered func(*catalog.Catalog, *catalog.Model) bool
	// useful reports whether a token that may use it can do anything with it on a model that offers it. Lists leave it out
	// otherwise, and a call is told what is missing. nil means always.
	useful func(*catalog.Catalog, access.Scope) bool
	// many is set if prompts tell of it with what changes many rows at once, rather than one row.
	many bool
	// admit judges a call that is to be a step of transact, before any step is run; nil if no call can be.
	admit func(*call) error
	// steps is the argument whose elements are calls of other tools, which count as what they cost; "" if there is none.
	steps string
	// counted is the argument whose elements count as a call each; "" if the call itself is one.
	counted string
	// extra are the arguments that cost calls beside: one for each row that they hold, or one if they are true.
	extra []string
	// description is what tools/list says, of any model's rows if the model is nil; advice what prompts say about using it
	// well: a sentence that goes on after the tool's name.
	description func(*catalog.Model) string
	advice      string

	// outputSchema is that of its answers, but for errors. The model is nil if it may be any.
	outputSchema func(*catalog.Model) schema

	// inputSchema, names and run follow from the operation's arguments; withArguments sets them. names may be nil.
	inputSchema func(m *catalog.Model, besideCreate bool) schema
	names       func(access.Scope) string
	run         func(*call) ([]byte, error)
}

// operations are in the order in which tools/list has them (docs/design/tools.md, "Which tools a token gets"). The operations look each other up,
// which is why the table is filled here.
var operations []*operation

func init() {
	globals = []*operation{&findModelsOperation, &transactOperation, &undoOperation}
	operations = []*operation{
		&listOperation, &getOperation, &createOperation, &updateOperation, &deleteOperation, &describeOperation,
		&actionsOperation, &actionOperation, &bulkOperation, &relatedOperation, &historyOperation, &autocompleteOperation, &aggregateOperation, &reportOperation,
	}
}

// findOperation returns the operation of that name that models have, or nil.
func findOperation(name string) *operation {
	for _, op := range operations {
		if op.name == name {
			return op
		}
	}
	return nil
}

// globals are the operations that are of no model, in the order in which tools/list has them, before those of models.
var globals []*operation

// parseName returns the operation and the model that a tool's name says; nil if it is no tool's name. The name of an
// operation alone is that of its generic tool, whose model is an argument. It never is a model's tool: those have a _.
func parseName(tool string) (op *operation, model string) {
	for _, op := range globals {
		if op.name == tool {
			return op, ""
		}
	}
	name, model, ofModel := strings.Cut(tool, "_")
	if ofModel && model == "" {
		return nil, ""
	}
	return findOperation(name), model
}

// toolName is the name of the tool that performs an operation on the model of that name.
func toolName(op *operation, model string) string { return op.name + "_" + model }

// Label returns the operation in a tool's name, which is the caller's and may be anything, as one of a bounded set.
func Label(tool string) string {
	op, _ := parseName(tool)
	if op == nil {
		return "other"
	}
	label, _, _ := strings.Cut(op.name, "_")
	return label
}

// Cost is how many calls a tool's call counts for.
func Cost(tool string, arguments []byte) int {
	op, _ := parseName(tool)
	if op == nil || op.counted == "" && len(op.extra) == 0 && op.steps == "" {
		return 1
	}
	var given map[string]json.RawMessage
	if json.Unmarshal(arguments, &given) != nil {
		return 1 // The tool itself says what is wrong.
	}
	if op.steps != "" {
		return costOfSteps(given[op.steps])
	}
	cost := max(1, elements(given[op.counted]))
	for _, name := range op.extra {
		cost += elements(given[name])
	}
	return cost
}

// costOfSteps is how many calls the steps count for together.
func costOfSteps(raw json.RawMessage) int {
	var steps []struct {
		Tool      string
		Arguments json.RawMessage
	}
	if json.Unmarshal(raw, &steps) != nil {
		return 1
	}
	cost := 0
	for _, s := range steps[:min(len(steps), maxSteps)] { // more are refused
		if op, _ := parseName(s.Tool); op != nil && op.steps == "" {
			cost += Cost(s.Tool, s.Arguments)
		}
	}
	return max(cost, 1)
}

// elements are those of an array, or of all arrays of an object; true counts as one.
func elements(raw json.RawMessage) int {
	var array []json.RawMessage
	var object map[string]json.RawMessage
	switch {
	case string(raw) == "true":
		return 1
	case json.Unmarshal(raw, &array) == nil:
		return len(array)
	case json.Unmarshal(raw, &object) != nil:
		return 0
	}
	n := 0
	for _, member := range object {
		array = nil
		if json.Unmarshal(member, &array) == nil {
			n += len(array)
		}
	}
	return n
}

// Operations returns the names of the operations that a model may have.
func Operations() []string {
	names := make([]string, len(operations))
	for i, op := range operations {
		names[i] = op.name
	}
	return names
}

// Viewing returns the names of the operations that show rows, and neither change them nor tell of what could.
func Viewing() []string {
	var names []string
	for _, op := range operations {
		if !op.writes() && !op.many {
			names = append(names, op.name)
		}
	}
	return names
}

// writes reports whether the operation changes anything.
func (o *operation) writes() bool { return !o.hints.ReadOnlyHint }

// defining says what a tool's definition has: structured adds the schema of its answers, and besideCreate leaves out what
// the tool create_ of the same model says.
type defining struct{ besideCreate, structured bool }

// define returns the operation's tool for a model as tools/list shows it; m is nil for the generic tool, and for a global
// operation.
func (o *operation) define(m *catalog.Model, how defining) definition {
	hints := o.hints
	// A write moves the row's version: done twice it is not what it is done once.
	hints.IdempotentHint = hints.IdempotentHint && (!o.writes() || m != nil && m.Version == nil)
	d := definition{Name: o.name, Description: o.description(m), InputSchema: o.inputSchema(m, how.besideCreate), Annotations: hints}
	if how.structured {
		output := o.outputSchema(m)
		d.OutputSchema = &output
	}
	if m != nil {
		d.Name = toolName(o, m.Name)
		// What is the same in the tools of every model is left out where it says nothing: a list has thousands of them. A
		// call refuses unknown arguments all the same.
		d.InputSchema.AdditionalProperties, d.Annotations = nil, hints.brief()
	}
	return d
}

func has(verbs access.Verbs) func(access.Scope) bool {
	return func(s access.Scope) bool { return s.Has(verbs) }
}

// mayWrite reports whether the token may change rows in any way.
func mayWrite(s access.Scope) bool {
	return s.Has(access.Add) || s.Has(access.Change) || s.Has(access.Delete)
}

// What a model must have to be offered an operation.

func hasKey(_ *catalog.Catalog, m *catalog.Model) bool { return len(m.Key) > 0 }

func canCreate(_ *catalog.Catalog, m *catalog.Model) bool { return m.WhyNoCreate() == "" }
func canUpdate(_ *catalog.Catalog, m *catalog.Model) bool { return m.WhyNoUpdate() == "" }
func canDelete(_ *catalog.Catalog, m *catalog.Model) bool { return m.WhyNoDelete() == "" }

func canBulk(_ *catalog.Catalog, m *catalog.Model) bool { return len(bulkOperations(m)) > 0 }

func hasRelations(_ *catalog.Catalog, m *catalog.Model) bool {
	return len(m.Key) > 0 && len(m.Relations) > 0
}

func hasHistory(c *catalog.Catalog, m *catalog.Model) bool {
	return len(m.Key) > 0 && m.IsTable() && !m.Audits && c.Audit() != nil && c.Audit().Privileges.Has(database.MaySelect)
}

// offeredFor reports whether a served model has the operation: its exposure lists it, and its table allows it.
func (o *operation) offeredFor(c *catalog.Catalog, m *catalog.Model) bool {
	if len(m.Operations) > 0 && !slices.Contains(m.Operations, o.name) {
		return false
	}
	return o.offered == nil || o.offered(c, m)
}

// usable reports whether a token can do anything with the operation, on a model that offers it.
func (o *operation) usable(c *catalog.Catalog, scope access.Scope) bool {
	return o.may(scope) && (o.useful == nil || o.useful(c, scope))
}

// What a token needs beyond the verb, so that it can do anything with an operation.

func canAct(c *catalog.Catalog, scope access.Scope) bool { return len(actionsOf(c, scope)) > 0 }

func canFollow(_ *catalog.Catalog, scope access.Scope) bool { return len(scope.Relations()) > 0 }

// canWrite reports whether bulk_ has an operation that the token may use.
func canWrite(_ *catalog.Catalog, scope access.Scope) bool {
	return slices.ContainsFunc(bulkOperations(scope.Model()), func(name string) bool { return findOperation(name).may(scope) })
}

// offeredTo are the operations that are of use to a token on a model; none on one that is not served.
func offeredTo(c *catalog.Catalog, token access.Token, m *catalog.Model) []*operation {
	var some []*operation
	scope := token.Reach(m)
	for _, op := range operations {
		if m.Served() && op.offeredFor(c, m) && op.usable(c, scope) {
			some = append(some, op)
		}
	}
	return some
}

// Names are the names of the tools that a served model has for a token that may do everything.
func Names(c *catalog.Catalog, m *catalog.Model) []string {
	var names []string
	for _, op := range operations {
		if op.offeredFor(c, m) {
			names = append(names, toolName(op, m.Name))
		}
	}
	return names
}
