package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
)

// argument is one argument of an operation whose arguments are read into an A. The tool's schema, what a call may send
// and how it is read follow from it.
type argument[A any] struct {
	name string
	// help is its description. A model's own tool leaves it out if it is common to all models: find_models says it once.
	help   string
	common bool
	// unlisted is set if a model's own tool takes the argument without listing it: find_models tells of it, and the schema is
	// open for it.
	unlisted bool
	// schema is its whole schema, of any model's row if the model is nil; without it, the schema of the type that the
	// argument is read into is used. besideCreate is a shorter one, in a list that has the model's create tool too.
	schema, besideCreate func(*catalog.Model) schema
	// names returns what the token's own tools/list adds to the help, as it names what other tokens may not see. One
	// argument of an operation may have it.
	names func(access.Scope) string
	// values are the values of the argument's enum that a token may use; nil means all. One argument of an operation may
	// have it.
	values func(access.Scope) []string
	// offered reports whether a model has the argument, required whether a call must send it. A nil offered means always, a nil
	// required never. lacks is the error of a call that sends it to a model without it.
	offered, required func(*catalog.Model) bool
	lacks             string
	// empty is set if a call may send it to a model that does not have it: the answer then has nothing for it.
	empty bool
	// useful reports whether a token can do anything with it on a model that has it; nil means always. Lists leave it out
	// otherwise.
	useful func(access.Scope) bool
	// hint is what a call that lacks a required argument is told beside that; it may be nil.
	hint func(*call) string
	// into returns where the value is stored: a pointer to one of the types that decode knows.
	into func(*A) any
}

// always is required for an argument that every call must send.
func always(*catalog.Model) bool { return true }

// withArguments declares the operation of that name of contract's table, with its arguments and what runs once they are
// read.
func withArguments[A any](name string, o operation, run func(*call, *A) ([]byte, error), list ...argument[A]) *operation {
	if o.Operation = contract.FindOperation(name); o.Operation == nil {
		panic("contract has no operation " + name)
	}
	o.inputSchema = func(m *catalog.Model, how defining) schema { return schemaOf(list, m, how) }
	for _, arg := range list {
		if arg.names != nil {
			o.names = arg.names
		}
		if arg.values != nil {
			o.values = arg.values
		}
		o.shortens = o.shortens || arg.besideCreate != nil
		if arg.offered != nil || arg.useful != nil {
			o.optional = append(o.optional, optionalArgument{arg.name, arg.offered, arg.useful})
		}
	}
	o.run = func(c *call) ([]byte, error) {
		var a A
		if err := readArguments(c, list, &a); err != nil {
			return nil, err
		}
		return run(c, &a)
	}
	o.keyed = slices.ContainsFunc(list, func(arg argument[A]) bool { return arg.name == keyName })
	declared[name] = &o
	return &o
}

// noArguments are the arguments of an operation that takes none.
type noArguments struct{}

// schemaOf is the schema of an operation's tool for a model; without a model, of what the generic tool takes.
func schemaOf[A any](list []argument[A], m *catalog.Model, how defining) schema {
	properties := map[string]schema{}
	var required []string
	for i := range list {
		arg := &list[i]
		if m != nil && (arg.unlisted || arg.offered != nil && !arg.offered(m)) || how.leavesOut(arg.name) || arg.name == keyName && !how.keeps {
			continue
		}
		s := arg.define(m, how.besideCreate)
		if arg.values != nil && how.values != "" {
			s.Enum = anyNames(strings.Split(how.values, ","))
		}
		if m != nil && arg.names != nil {
			s.Description += namesMark
		}
		properties[arg.name] = s
		if arg.required != nil && arg.required(m) {
			required = append(required, arg.name)
		}
	}
	return closed(properties, required...)
}

// define is the argument's schema.
func (arg *argument[A]) define(m *catalog.Model, besideCreate bool) schema {
	var s schema
	switch {
	case besideCreate && arg.besideCreate != nil:
		s = arg.besideCreate(m)
	case arg.schema != nil:
		s = arg.schema(m)
	default:
		s = schemaOfType(arg.into(new(A)))
	}
	if s.Description == "" && (m == nil || !arg.common) {
		s.Description = arg.help
	}
	return s
}

// readArguments reads what a call sent into a.
func readArguments[A any](c *call, list []argument[A], a *A) error {
	m, given := c.scope.Model(), c.given
	known := 0
	for i := range list {
		arg := &list[i]
		raw, sent := given[arg.name]
		switch {
		case !sent:
			continue
		case arg.offered == nil || arg.empty || arg.offered(m):
		case arg.lacks != "":
			return invalid("%s is not for %s, which has no %s; leave it out", arg.name, m.Name, arg.lacks)
		default:
			continue
		}
		known++
		if err := decode(arg.name, raw, arg.into(a)); err != nil {
			return err
		}
	}
	if known < len(given) {
		return unknownArgument(c, list)
	}
	for i := range list {
		arg := &list[i]
		if _, sent := given[arg.name]; sent || arg.required == nil || !arg.required(m) {
			continue
		}
		message := arg.name + " parameter is required"
		if arg.hint != nil {
			message += "; " + arg.hint(c)
		}
		return invalid("%s", message)
	}
	return nil
}

func unknownArgument[A any](c *call, list []argument[A]) error {
	var names []string
	if c.generic {
		names = append(names, modelParameter)
	}
	for i := range list {
		arg := &list[i]
		if arg.offered != nil && !arg.offered(c.scope.Model()) || arg.name == keyName && c.catalog.Idempotency() == nil {
			continue
		}
		names = append(names, arg.name)
	}
	return c.given.only(c.tool(), names...)
}

// arguments are the arguments that a call sent, by name, as JSON. A null counts as absent.
type arguments map[string]json.RawMessage

// parse reads a JSON object; nil and null are an empty one.
func (a *arguments) parse(raw []byte) error {
	if len(raw) == 0 {
		return nil
	}
	if err := json.Unmarshal(raw, a); err != nil {
		return invalid("arguments must be a JSON object")
	}
	for name, value := range *a {
		if isNull(value) {
			delete(*a, name)
		}
	}
	return nil
}

// only is an error if there are arguments beside the known ones of what, a tool or an item.
func (a arguments) only(what string, known ...string) error {
	for _, name := range slices.Sorted(maps.Keys(a)) {
		switch {
		case slices.Contains(known, name):
		case name == keyName:
			return invalid("%s is for calls that change something; leave it out", keyName)
		case len(known) == 0:
			return invalid("unknown argument %q; %s takes no arguments", name, what)
		default:
			return invalid("unknown argument %q; the arguments are %s", name, strings.Join(known, ", "))
		}
	}
	return nil
}

func isNull(raw json.RawMessage) bool { return bytes.Equal(raw, []byte("null")) }

// count is a number of rows in an argument: an integer that is not negative.
type count struct {
	n    int
	sent bool
}

// or returns the number, or another one if none was sent.
func (c count) or(absent int) int {
	if c.sent {
		return c.n
	}
	return absent
}

// decode reads an argument's value. A json.RawMessage is kept unread, for the operation.
func decode(name string, raw json.RawMessage, into any) error {
	switch into := into.(type) {
	case *json.RawMessage:
		*into = raw
	case *bool:
		if *into = string(raw) == "true"; !*into && string(raw) != "false" {
			return invalid("%s must be true or false, not %s", name, lookup.Excerpt(raw))
		}
	case *count:
		n, err := strconv.Atoi(string(raw))
		if err != nil || n < 0 {
			return invalid("%s must be an integer of at least 0, not %s", name, lookup.Excerpt(raw))
		}
		*into = count{n, true}
	case *pageCursor:
		if err := decode(name, raw, (*string)(into)); err != nil {
			return err
		}
		if *into == "" {
			return invalid("%s must not be empty: leave it out to start at the first page, or send next_cursor as it was given", name)
		}
	case *string:
		if json.Unmarshal(raw, into) != nil {
			return invalid("%s must be a string, not %s", name, lookup.Excerpt(raw))
		}
	case *[]string:
		var list []*string
		if json.Unmarshal(raw, &list) != nil || slices.Contains(list, nil) {
			return invalid("%s must be an array of strings, not %s", name, lookup.Excerpt(raw))
		}
		for _, s := range list {
			*into = append(*into, *s)
		}
	default:
		panic(fmt.Sprintf("the argument %s is read into %T", name, into))
	}
	return nil
}

// schemaOfType is the schema of what decode reads into the type.
func schemaOfType(into any) schema {
	switch into.(type) {
	case *bool:
		return schema{Type: types{"boolean"}}
	case *count:
		return schema{Type: types{"integer"}}
	case *string, *pageCursor:
		return schema{Type: types{"string"}}
	case *[]string:
		return schema{Type: types{"array"}, Items: &schema{Type: types{"string"}}}
	}
	return schema{Type: types{"object"}}
}
