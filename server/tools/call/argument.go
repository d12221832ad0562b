package call

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
)

// Argument is one argument of an operation whose arguments are read into an A. The tool's schema, what a call may send
// and how it is read follow from it.
type Argument[A any] struct {
	Name string
	// Help is its description. A model's own tool leaves it out if it is common to all models: find_models says it once.
	Help   string
	Common bool
	// Unlisted is set if a model's own tool takes the argument without listing it: find_models tells of it, and the schema is
	// open for it.
	Unlisted bool
	// Schema is its whole schema, of any model's row if the model is nil; without it, the schema of the type that the
	// argument is read into is used. BesideCreate is a shorter one, in a list that has the model's create tool too.
	Schema, BesideCreate func(*catalog.Model) Schema
	// Names returns what the token's own tools/list adds to the help, as it names what other tokens may not see. One
	// argument of an operation may have it.
	Names func(access.Scope) string
	// Values are the values of the argument's enum that a token may use; nil means all. One argument of an operation may
	// have it.
	Values func(access.Scope) []string
	// Offered reports whether a model has the argument, required whether a call must send it. A nil offered means always, a nil
	// required never. Lacks is the error of a call that sends it to a model without it.
	Offered, Required func(*catalog.Model) bool
	Lacks             string
	// Empty is set if a call may send it to a model that does not have it: the answer then has nothing for it.
	Empty bool
	// Useful reports whether a token can do anything with it on a model that has it; nil means always. Lists leave it out
	// otherwise.
	Useful func(access.Scope) bool
	// Hint adds a sentence to the error about a missing required argument; it may be nil.
	Hint func(*Call) string
	// Into returns where the value is stored: a pointer to one of the types that decode knows.
	Into func(*A) any
}

// Always is required for an argument that every call must send.
func Always(*catalog.Model) bool { return true }

// WithArguments declares the operation of that name of contract's table, with its arguments and what runs once they are
// read.
func WithArguments[A any](name string, o Operation, run func(*Call, *A) ([]byte, error), list ...Argument[A]) *Operation {
	if o.Operation = contract.FindOperation(name); o.Operation == nil {
		panic("contract has no operation " + name)
	}
	o.inputSchema = func(m *catalog.Model, how Defining) Schema { return schemaOf(list, m, how) }
	for _, arg := range list {
		if arg.Names != nil {
			o.Names = arg.Names
		}
		if arg.Values != nil {
			o.Values = arg.Values
		}
		o.Shortens = o.Shortens || arg.BesideCreate != nil
		if arg.Offered != nil || arg.Useful != nil {
			o.Optional = append(o.Optional, OptionalArgument{arg.Name, arg.Offered, arg.Useful, arg.Unlisted})
		}
	}
	o.Run = func(c *Call) ([]byte, error) {
		var a A
		if err := readArguments(c, list, &a); err != nil {
			return nil, err
		}
		return run(c, &a)
	}
	o.keyed = slices.ContainsFunc(list, func(arg Argument[A]) bool { return arg.Name == KeyName })
	declared[name] = &o
	return &o
}

// NoArguments are the arguments of an operation that takes none.
type NoArguments struct{}

// schemaOf is the schema of an operation's tool for a model; without a model, of what the generic tool takes.
func schemaOf[A any](list []Argument[A], m *catalog.Model, how Defining) Schema {
	properties := map[string]Schema{}
	var required []string
	for i := range list {
		arg := &list[i]
		if m != nil && (arg.Unlisted || arg.Offered != nil && !arg.Offered(m)) || how.leavesOut(arg.Name) || arg.Name == KeyName && !how.Keeps {
			continue
		}
		s := arg.define(m, how.BesideCreate)
		if arg.Values != nil && how.Values != "" {
			s.Enum = AnyNames(strings.Split(how.Values, ","))
		}
		if m != nil && arg.Names != nil {
			s.Description += namesMark
		}
		properties[arg.Name] = s
		if arg.Required != nil && arg.Required(m) {
			required = append(required, arg.Name)
		}
	}
	return ClosedObject(properties, required...)
}

// define is the argument's schema.
func (arg *Argument[A]) define(m *catalog.Model, besideCreate bool) Schema {
	var s Schema
	switch {
	case besideCreate && arg.BesideCreate != nil:
		s = arg.BesideCreate(m)
	case arg.Schema != nil:
		s = arg.Schema(m)
	default:
		s = schemaOfType(arg.Into(new(A)))
	}
	if s.Description == "" && (m == nil || !arg.Common) {
		s.Description = arg.Help
	}
	return s
}

// readArguments reads what a call sent into a.
func readArguments[A any](c *Call, list []Argument[A], a *A) error {
	m, given := c.Scope.Model(), c.Given
	known := 0
	for i := range list {
		arg := &list[i]
		raw, sent := given.Find(arg.Name)
		switch {
		case !sent:
			continue
		case arg.Offered == nil || arg.Empty || arg.Offered(m):
		case arg.Lacks != "":
			return Invalid("%s is not for %s, which has no %s; leave it out", arg.Name, m.Name, arg.Lacks)
		default:
			continue
		}
		known++
		if err := Decode(arg.Name, raw, arg.Into(a)); err != nil {
			return err
		}
	}
	if known < len(given.Members) {
		return unknownArgument(c, list)
	}
	for i := range list {
		arg := &list[i]
		if arg.Required == nil || !arg.Required(m) {
			continue
		}
		if _, sent := given.Find(arg.Name); sent {
			continue
		}
		message := arg.Name + " parameter is required"
		if arg.Hint != nil {
			message += "; " + arg.Hint(c)
		}
		return Invalid("%s", message)
	}
	return nil
}

func unknownArgument[A any](c *Call, list []Argument[A]) error {
	var names []string
	if c.Generic {
		names = append(names, ModelParameter)
	}
	for i := range list {
		arg := &list[i]
		if arg.Offered != nil && !arg.Offered(c.Scope.Model()) || arg.Name == KeyName && c.Catalog.Idempotency() == nil {
			continue
		}
		if arg.Unlisted && arg.Useful != nil && !arg.Useful(c.Scope) {
			continue
		}
		names = append(names, arg.Name)
	}
	return c.Given.Only(c.tool(), names...)
}

// Arguments are the arguments that a call sent, by name, as JSON. A null counts as absent.
type Arguments struct{ jsontext.Members }

// Parse reads a JSON object within JSON that was read before; nil and null are an empty one.
func (a *Arguments) Parse(raw []byte) error {
	if len(raw) == 0 {
		return nil
	}
	given, ok := jsontext.ReadObject(bytes.Clone(raw)) // the memory of a request is used again
	if !ok {
		return Invalid("arguments must be a JSON object")
	}
	a.Members = slices.DeleteFunc(given, func(m jsontext.NamedValue) bool { return IsNull(m.Value) })
	return nil
}

// OneArgument are arguments of which there is one.
func OneArgument(name string, value json.RawMessage) Arguments {
	return Arguments{jsontext.Members{{Name: name, Value: value}}}
}

// Take takes the argument of that name out of them; false if there is none.
func (a *Arguments) Take(name string) (json.RawMessage, bool) {
	value, sent := a.Find(name)
	if sent {
		a.Members = a.Without(name)
	}
	return value, sent
}

// Only is an error if there are arguments beside the known ones of what, a tool or an item.
func (a Arguments) Only(what string, known ...string) error {
	for _, name := range a.Names() {
		switch {
		case slices.Contains(known, name):
		case name == KeyName:
			return Invalid("%s is for calls that change something; leave it out", KeyName)
		case name == "fields" && slices.Contains(known, "group_by"):
			return Invalid("unknown argument %q: define it in group_by or measures; fields is an argument of list; the arguments are %s", name, strings.Join(known, ", "))
		case len(known) == 0:
			return Invalid("unknown argument %q; %s takes no arguments", name, what)
		default:
			return Invalid("unknown argument %q; the arguments are %s", name, strings.Join(known, ", "))
		}
	}
	return nil
}

// IsNull reports whether a JSON value is null.
func IsNull(raw json.RawMessage) bool { return bytes.Equal(raw, []byte("null")) }

// Count is a number of rows in an argument: an integer that is not negative.
type Count struct {
	N    int
	Sent bool
}

// Or returns the number, or another one if none was sent.
func (c Count) Or(absent int) int {
	if c.Sent {
		return c.N
	}
	return absent
}

// Decode reads an argument's value. A json.RawMessage is kept unread, for the operation.
func Decode(name string, raw json.RawMessage, into any) error {
	switch into := into.(type) {
	case *json.RawMessage:
		*into = raw
	case *bool:
		if *into = string(raw) == "true"; !*into && string(raw) != "false" {
			return Invalid("%s must be true or false, not %s", name, lookup.Excerpt(raw))
		}
	case *Count:
		n, err := strconv.Atoi(string(raw))
		if err != nil || n < 0 {
			return Invalid("%s must be an integer of at least 0, not %s", name, lookup.Excerpt(raw))
		}
		*into = Count{n, true}
	case *PageCursor:
		if err := Decode(name, raw, (*string)(into)); err != nil {
			return err
		}
		if *into == "" {
			return Invalid("%s must not be empty: leave it out to start at the first page, or send next_cursor as it was given", name)
		}
	case *string:
		text, ok := jsontext.ReadString(raw)
		if !ok {
			return Invalid("%s must be a string, not %s", name, lookup.Excerpt(raw))
		}
		*into = text
	case *[]string:
		list, ok := jsontext.ReadStrings(raw)
		if !ok {
			return Invalid("%s must be an array of strings, not %s", name, lookup.Excerpt(raw))
		}
		*into = list
	case *Items:
		return decodeItems(name, raw, into)
	default:
		panic(fmt.Sprintf("the argument %s is read into %T", name, into))
	}
	return nil
}

// schemaOfType is the schema of what decode reads into the type.
func schemaOfType(into any) Schema {
	switch into.(type) {
	case *bool:
		return Schema{Type: Types{"boolean"}}
	case *Count:
		return Schema{Type: Types{"integer"}}
	case *string, *PageCursor:
		return Schema{Type: Types{"string"}}
	case *[]string:
		return Schema{Type: Types{"array"}, Items: &Schema{Type: Types{"string"}}}
	case *Items:
		return Schema{Type: Types{"array"}, Items: &Schema{Type: Types{"string", "object"}}}
	}
	return Schema{Type: Types{"object"}}
}

// PageCursor is the argument cursor: a next_cursor that was given before. It is never empty if it was sent.
type PageCursor string
