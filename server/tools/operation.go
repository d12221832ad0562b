package tools

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
)

// operation is something that can be done with a model: an entry of contract's table, and what runs it. A tool's name, such
// as list_book, is one face of it: whoever has an operation can run it with a call that has the model's scope and the
// arguments by name.
type operation struct {
	*contract.Operation
	// may reports whether a token may use the operation on a model at all; nil is one of its verbs. label is its name in a
	// refusal; "" is the first verb.
	may   func(access.Scope) bool
	label string
	// offeredTo reports whether a global operation is of use to the token on an advertised model; nil means always.
	offeredTo func(*catalog.Catalog, access.Scope) bool
	// stale is set if the rows that it shows may be a little old: it then reads from a replica, if its model says so.
	stale bool
	// many is set if prompts tell of it with what changes many rows at once, rather than one row.
	many bool
	// admit judges a call that is to be a step of transact, before any step is run; nil if no call can be.
	admit func(*call) error
	// prepare judges what a call of a global operation is made of, before anything of it is run or kept; it may be nil.
	prepare func(*call) error
	// steps is the argument whose elements are calls of other tools, which count as what they cost; "" if there is none.
	steps string
	// note is what find_models says of it, beside its name, in a list of models' own tools.
	note string
	// bit is the operation's in an operationSet.
	bit operationSet
	// counted is the argument whose elements count as a call each; "" if the call itself is one.
	counted string
	// extra are the arguments that cost calls beside: one for each row that they hold, or one if they are true.
	extra []string
	// description is what tools/list says, of any model's rows if the model is nil; advice what prompts say about using it
	// well: a sentence that goes on after the tool's name.
	description func(*catalog.Model) string
	advice      string

	// outputSchema is the schema of its answers, except errors. The model is nil if it may be any.
	outputSchema func(*catalog.Model) schema

	// inputSchema, names, run and keyed follow from the operation's arguments; withArguments sets them. names may be nil, and keyed
	// is set if calls can have an idempotency key.
	keyed       bool
	inputSchema func(*catalog.Model, defining) schema
	names       func(access.Scope) string
	values      func(access.Scope) []string
	run         func(*call) ([]byte, error)
	// optional are the arguments that not every model or token has; shortens is set if an argument is shorter in a list that has
	// the model's create tool.
	optional []optionalArgument
	shortens bool
}

// optionalArgument is an argument that not every model or token has.
type optionalArgument struct {
	name    string
	offered func(*catalog.Model) bool
	useful  func(access.Scope) bool
}

// usable reports whether a token can use the argument on a model.
func (a *optionalArgument) usable(scope access.Scope) bool {
	return (a.offered == nil || a.offered(scope.Model())) && (a.useful == nil || a.useful(scope))
}

// declared are the operations by name: each file of an operation adds its own when the program starts (withArguments).
var declared = map[string]*operation{}

// globals and operations are all operations, of no single model and of models, in the order of contract's table (arrange).
var globals, operations []*operation

// arrange puts the declared operations into the order of contract's table.
func arrange() {
	globals, operations = inOrder(contract.GlobalOperations()), inOrder(contract.ModelOperations())
}

func inOrder(entries []*contract.Operation) []*operation {
	all := make([]*operation, len(entries))
	for i, entry := range entries {
		op := declared[entry.Name]
		if op == nil {
			panic("no package declares the operation " + entry.Name)
		}
		if op.may == nil {
			op.may = hasAny(entry.Verbs)
		}
		if op.label == "" && len(entry.Verbs) > 0 {
			op.label = entry.Verbs[0]
		}
		op.bit = 1 << i
		all[i] = op
	}
	return all
}

// operationSet is a set of operations of models.
type operationSet uint32

// has reports whether one of the operations of these names is in the set.
func (set operationSet) has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return set&findOperation(name).bit != 0 })
}

// findOperation returns the operation of that name that models have, or nil.
func findOperation(name string) *operation {
	for _, op := range operations {
		if op.Name == name {
			return op
		}
	}
	return nil
}

// parseName returns the operation and the model that a tool's name says; nil if it is no tool's name. The name of an
// operation alone names its generic tool, whose model is an argument. It never is a model's tool: those have a _.
func parseName(tool string) (op *operation, model string) {
	for _, op := range globals {
		if op.Name == tool {
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
func toolName(op *operation, model string) string { return op.Name + "_" + model }

// Label returns the operation in a tool's name, which is the caller's and may be anything, as one of a bounded set.
func Label(tool string) string {
	op, _ := parseName(tool)
	if op == nil {
		return "other"
	}
	label, _, _ := strings.Cut(op.Name, "_")
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

// elements counts the elements of an array, or of all arrays of an object; true counts as one.
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

// AboutOneRow reports whether the answer of the tool of that name is about one row.
func AboutOneRow(tool string) bool {
	op, _ := parseName(tool)
	return op != nil && op.OneRow
}

// shape is how the tool of an operation differs from list to list.
type shape struct {
	// besideCreate leaves out what the tool create_ of the same model says.
	besideCreate bool
	// without names the arguments that the caller cannot use; values are the values of the argument that has some. Both are
	// joined by commas.
	without, values string
}

// leavesOut reports whether the tool has no argument of that name.
func (s *shape) leavesOut(argument string) bool {
	return s.without != "" && slices.Contains(strings.Split(s.without, ","), argument)
}

// shapeFor is the shape of a model's tool for a token, but for besideCreate.
func (o *operation) shapeFor(scope access.Scope) shape {
	var s shape
	for i := range o.optional {
		if a := &o.optional[i]; a.useful != nil && !a.usable(scope) {
			s.without = joined(s.without, a.name)
		}
	}
	if o.values != nil {
		if values := o.values(scope); len(values) < len(bulkOperations(scope.Model())) {
			s.values = strings.Join(values, ",")
		}
	}
	return s
}

func joined(list, name string) string {
	if list == "" {
		return name
	}
	return list + "," + name
}

// defining says what a tool's definition has: its shape, with structured the schema of its answers, and with keeps the argument
// idempotency_key.
type defining struct {
	shape
	structured, keeps bool
}

// define returns the operation's tool for a model as tools/list shows it; m is nil for the generic tool, and for a global
// operation.
func (o *operation) define(m *catalog.Model, how defining) definition {
	hints := hintsOf[o.Effect]
	// A write moves the row's version: done twice it is not what it is done once.
	hints.IdempotentHint = hints.IdempotentHint && (!o.Writes() || m != nil && m.Version == nil)
	d := definition{Name: o.Name, Description: o.description(m), InputSchema: o.inputSchema(m, how), Annotations: hints.brief()}
	if how.structured {
		output := o.outputSchema(m)
		if o.keyed {
			output = orReplayed(output)
		}
		d.OutputSchema = &output
	}
	if m != nil {
		d.Name = toolName(o, m.Name)
		// What is the same in the tools of every model is left out if it says nothing: a list has thousands of them. A
		// call refuses unknown arguments all the same.
		d.InputSchema.AdditionalProperties = nil
	}
	return d
}

func has(verbs access.Verbs) func(access.Scope) bool {
	return func(s access.Scope) bool { return s.Has(verbs) }
}

// hasAny reports whether a token has one of the verbs.
func hasAny(names []string) func(access.Scope) bool {
	return func(s access.Scope) bool {
		return slices.ContainsFunc(names, func(name string) bool { return s.Has(access.VerbsOf(name)) })
	}
}

// mayWrite reports whether the token may change rows in any way.
func mayWrite(s access.Scope) bool {
	return s.Has(access.Add) || s.Has(access.Change) || s.Has(access.Delete)
}

// offeredFor reports whether a served model has the operation: its exposure lists it, and its table allows it.
func (o *operation) offeredFor(c *catalog.Catalog, m *catalog.Model) bool {
	if len(m.Operations) > 0 && !slices.Contains(m.Operations, o.Name) {
		return false
	}
	offered := needs[o.Needs].offered
	return offered == nil || offered(c, m)
}

// usable reports whether a token can do anything with the operation, on a model that offers it.
func (o *operation) usable(c *catalog.Catalog, scope access.Scope) bool {
	useful := needs[o.Needs].useful
	return o.may(scope) && (useful == nil || useful(c, scope))
}

// isOfferedTo reports whether the operation is of use to a token on a model, which is served and has it.
func (o *operation) isOfferedTo(c *catalog.Catalog, scope access.Scope) bool {
	m := scope.Model()
	return m.Served() && o.offeredFor(c, m) && o.usable(c, scope)
}

// offeredTo are the operations that are of use to a token on a model; none on one that is not served.
func offeredTo(c *catalog.Catalog, token access.Token, m *catalog.Model) []*operation {
	var some []*operation
	scope := token.Reach(m)
	for _, op := range operations {
		if op.isOfferedTo(c, scope) {
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
