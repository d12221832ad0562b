package call

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
)

// Operation is something that can be done with a model: an entry of contract's table, and what runs it. A tool's name, such
// as list_book, is one face of it: whoever has an operation can run it with a call that has the model's scope and the
// arguments by name.
type Operation struct {
	*contract.Operation
	// May reports whether a token may use the operation on a model at all; nil is one of its verbs. Label is its name in a
	// refusal; "" is the first verb.
	May   func(access.Scope) bool
	Label string
	// OfferedTo reports whether a global operation is of use to the token on an advertised model; nil means always.
	OfferedTo func(*catalog.Catalog, access.Scope) bool
	// Stale is set if the rows that it shows may be a little old: it then reads from a replica, if its model says so.
	Stale bool
	// Many is set if prompts tell of it with what changes many rows at once, rather than one row.
	Many bool
	// Admit judges a call that is to be a step of transact, before any step is run; nil if no call can be.
	Admit func(*Call) error
	// Prepare judges what a call of a global operation is made of, before anything of it is run or kept; it may be nil.
	Prepare func(*Call) error
	// Steps is the argument whose elements are calls of other tools, which count as what they cost; "" if there is none.
	Steps string
	// Note is what find_models says of it, beside its name, in a list of models' own tools.
	Note string
	// Bit is the operation's in an OperationSet.
	Bit OperationSet
	// Counted is the argument whose elements count as a call each; "" if the call itself is one.
	Counted string
	// Extra are the arguments that cost calls beside: one for each row that they hold, or one if they are true.
	Extra []string
	// Description is what tools/list says, of any model's rows if the model is nil; advice what prompts say about using it
	// well: a sentence that goes on after the tool's name.
	Description func(*catalog.Model) string
	Advice      string

	// OutputSchema is the schema of its answers, except errors. The model is nil if it may be any.
	OutputSchema func(*catalog.Model) Schema

	// inputSchema, names, run and keyed follow from the operation's arguments; WithArguments sets them. names may be nil, and keyed
	// is set if calls can have an idempotency key.
	keyed       bool
	inputSchema func(*catalog.Model, Defining) Schema
	Names       func(access.Scope) string
	Values      func(access.Scope) []string
	Run         func(*Call) ([]byte, error)
	// Optional are the arguments that not every model or token has; Shortens is set if an argument is shorter in a list that has
	// the model's create tool.
	Optional []OptionalArgument
	Shortens bool
}

// OptionalArgument is an argument that not every model or token has.
type OptionalArgument struct {
	Name    string
	offered func(*catalog.Model) bool
	useful  func(access.Scope) bool
	// unlisted is set if a model's own tool does not list it.
	unlisted bool
}

// Usable reports whether a token can use the argument on a model.
func (a *OptionalArgument) Usable(scope access.Scope) bool {
	return (a.offered == nil || a.offered(scope.Model())) && (a.useful == nil || a.useful(scope))
}

// declared are the operations by name: each file of an operation adds its own when the program starts (WithArguments).
var declared = map[string]*Operation{}

// The operations, in the order of contract's table (Arrange).
var (
	// Globals are the operations of no single model.
	Globals []*Operation
	// Operations are the operations of models.
	Operations []*Operation
)

// Arrange puts the declared operations into the order of contract's table.
func Arrange() {
	Globals, Operations = inOrder(contract.GlobalOperations()), inOrder(contract.ModelOperations())
}

func inOrder(entries []*contract.Operation) []*Operation {
	all := make([]*Operation, len(entries))
	for i, entry := range entries {
		op := declared[entry.Name]
		if op == nil {
			panic("no package declares the operation " + entry.Name)
		}
		if op.May == nil {
			op.May = hasAny(entry.Verbs)
		}
		if op.Label == "" && len(entry.Verbs) > 0 {
			op.Label = entry.Verbs[0]
		}
		op.Bit = 1 << i
		all[i] = op
	}
	return all
}

// OperationSet is a set of operations of models.
type OperationSet uint32

// Has reports whether one of the operations of these names is in the set.
func (set OperationSet) Has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return set&FindOperation(name).Bit != 0 })
}

// FindOperation returns the operation of that name that models have, or nil.
func FindOperation(name string) *Operation {
	for _, op := range Operations {
		if op.Name == name {
			return op
		}
	}
	return nil
}

// ParseName returns the operation and the model that a tool's name says; nil if it is no tool's name. The name of an
// operation alone names its generic tool, whose model is an argument. It never is a model's tool: those have a _.
func ParseName(tool string) (op *Operation, model string) {
	for _, op := range Globals {
		if op.Name == tool {
			return op, ""
		}
	}
	name, model, ofModel := strings.Cut(tool, "_")
	if ofModel && model == "" {
		return nil, ""
	}
	return FindOperation(name), model
}

// toolName is the name of the tool that performs an operation on the model of that name.
func toolName(op *Operation, model string) string { return op.Name + "_" + model }

// Label returns the operation in a tool's name, which is the caller's and may be anything, as one of a bounded set.
func Label(tool string) string {
	op, _ := ParseName(tool)
	if op == nil {
		return "other"
	}
	label, _, _ := strings.Cut(op.Name, "_")
	return label
}

// Cost is how many calls a tool's call counts for.
func Cost(tool string, arguments []byte) int {
	op, _ := ParseName(tool)
	if op == nil || op.Counted == "" && len(op.Extra) == 0 && op.Steps == "" {
		return 1
	}
	given, ok := jsontext.ReadObject(arguments)
	if !ok {
		return 1 // The tool itself says what is wrong.
	}
	if op.Steps != "" {
		return costOfSteps(given.Value(op.Steps))
	}
	cost := max(1, elements(given.Value(op.Counted)))
	for _, name := range op.Extra {
		cost += elements(given.Value(name))
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
	for _, s := range steps[:min(len(steps), MaxSteps)] { // more are refused
		if op, _ := ParseName(s.Tool); op != nil && op.Steps == "" {
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

// Shape is how the tool of an operation differs from list to list.
type Shape struct {
	// BesideCreate leaves out what the tool create_ of the same model says.
	BesideCreate bool
	// Without names the arguments that the caller cannot use; Values are the values of the argument that has some. Both are
	// joined by commas.
	Without, Values string
}

// leavesOut reports whether the tool has no argument of that name.
func (s *Shape) leavesOut(argument string) bool {
	return s.Without != "" && slices.Contains(strings.Split(s.Without, ","), argument)
}

// ShapeFor is the shape of a model's tool for a token, but for besideCreate.
func (o *Operation) ShapeFor(scope access.Scope) Shape {
	var s Shape
	for i := range o.Optional {
		if a := &o.Optional[i]; a.useful != nil && !a.unlisted && !a.Usable(scope) {
			s.Without = Joined(s.Without, a.Name)
		}
	}
	if o.Values != nil {
		if values := o.Values(scope); len(values) < len(BulkOperations(scope.Model())) {
			s.Values = strings.Join(values, ",")
		}
	}
	return s
}

// Joined adds a name to names that are joined by commas.
func Joined(list, name string) string {
	if list == "" {
		return name
	}
	return list + "," + name
}

// Defining says what a tool's definition has: its shape, with structured the schema of its answers, and with keeps the argument
// idempotency_key.
type Defining struct {
	Shape
	Structured, Keeps bool
	// Approves is set if calls may have to wait until other people allow them.
	Approves bool
}

// Define returns the operation's tool for a model as tools/list shows it; m is nil for the generic tool, and for a global
// operation.
func (o *Operation) Define(m *catalog.Model, how Defining) Definition {
	hints := hintsOf[o.Effect]
	// A write moves the row's version: done twice it is not what it is done once.
	hints.IdempotentHint = hints.IdempotentHint && (!o.Writes() || m != nil && m.Version == nil)
	d := Definition{Name: o.Name, Description: o.Description(m), InputSchema: o.inputSchema(m, how), Annotations: hints.brief()}
	if how.Structured {
		output := o.OutputSchema(m)
		if o.keyed {
			output = orReplayed(output)
		}
		if how.Approves && o.mayWait() {
			output = orWaits(output)
		}
		d.OutputSchema = &output
	}
	if how.Approves && o.Writes() {
		d.InputSchema.Properties[ReasonName] = reasonSchema
	}
	if m != nil {
		d.Name = toolName(o, m.Name)
		// What is the same in the tools of every model is left out if it says nothing: a list has thousands of them. A
		// call refuses unknown arguments all the same.
		d.InputSchema.AdditionalProperties = nil
	}
	return d
}

// Has returns what reports whether a token has all of the verbs on a model.
func Has(verbs access.Verbs) func(access.Scope) bool {
	return func(s access.Scope) bool { return s.Has(verbs) }
}

// hasAny reports whether a token has one of the verbs.
func hasAny(names []string) func(access.Scope) bool {
	return func(s access.Scope) bool {
		return slices.ContainsFunc(names, func(name string) bool { return s.Has(access.VerbsOf(name)) })
	}
}

// MayWrite reports whether the token may change rows in any way.
func MayWrite(s access.Scope) bool {
	return s.Has(access.Add) || s.Has(access.Change) || s.Has(access.Delete)
}

// OfferedFor reports whether a served model has the operation: its exposure lists it, and its table allows it.
func (o *Operation) OfferedFor(c *catalog.Catalog, m *catalog.Model) bool {
	if len(m.Operations) > 0 && !slices.Contains(m.Operations, o.Name) {
		return false
	}
	offered := needs[o.Needs].offered
	return offered == nil || offered(c, m)
}

// Usable reports whether a token can do anything with the operation, on a model that offers it.
func (o *Operation) Usable(c *catalog.Catalog, scope access.Scope) bool {
	useful := needs[o.Needs].useful
	return o.May(scope) && (useful == nil || useful(c, scope))
}

// IsOfferedTo reports whether the operation is of use to a token on a model, which is served and has it.
func (o *Operation) IsOfferedTo(c *catalog.Catalog, scope access.Scope) bool {
	m := scope.Model()
	return m.Served() && o.OfferedFor(c, m) && o.Usable(c, scope)
}

// OfferedTo are the operations that are of use to a token on a model; none on one that is not served.
func OfferedTo(c *catalog.Catalog, token access.Token, m *catalog.Model) []*Operation {
	var some []*Operation
	scope := token.Reach(m)
	for _, op := range Operations {
		if op.IsOfferedTo(c, scope) {
			some = append(some, op)
		}
	}
	return some
}

// Names are the names of the tools that a served model has for a token that may do everything.
func Names(c *catalog.Catalog, m *catalog.Model) []string {
	var names []string
	for _, op := range Operations {
		if op.OfferedFor(c, m) {
			names = append(names, toolName(op, m.Name))
		}
	}
	return names
}

// FindModels is the name of the tool that tells which models there are.
const FindModels = "find_models"

// ActionPrefix begins the action of an entry that a declared action made.
const ActionPrefix = "action:"

// CreatedAgain begins the message about a row that undo brought back. TookBack is in the message of an entry that took others
// about its row back, before the id of the oldest of them; a semicolon may follow.
const (
	CreatedAgain = "created again"
	TookBack     = "takes back the entries from "
)
