package connect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// mergeJSON puts a configuration into a JSON file of a client, which may have comments: each entry of its objects replaces
// the entry of the same name, and each item of its lists the item with the same id. Nothing else changes.
func mergeJSON(held, configuration []byte, _ server) ([]byte, error) {
	if len(bytes.TrimSpace(held)) == 0 {
		return configuration, nil
	}
	file, err := hujson.Parse(held)
	if err != nil {
		return nil, fmt.Errorf("it is no JSON: %w", err)
	}
	root, ok := file.Value.(*hujson.Object)
	if !ok {
		return nil, errors.New("it holds no JSON object")
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(configuration, &members); err != nil {
		return nil, err
	}
	unit := indentOf(root)
	for _, name := range sortedKeys(members) {
		if err := mergeMember(root, name, members[name], unit); err != nil {
			return nil, err
		}
	}
	return file.Pack(), nil
}

func mergeMember(root *hujson.Object, name string, value json.RawMessage, unit string) error {
	existing := memberOf(root, name)
	if existing == nil {
		return setMember(root, name, value, unit, 1)
	}
	switch existing := existing.Value.(type) {
	case *hujson.Object:
		var entries map[string]json.RawMessage
		if err := json.Unmarshal(value, &entries); err != nil {
			return fmt.Errorf("%q is an object there, and must not be one", name)
		}
		for _, entry := range sortedKeys(entries) {
			if err := setMember(existing, entry, entries[entry], unit, 2); err != nil {
				return err
			}
		}
		return nil
	case *hujson.Array:
		var items []json.RawMessage
		if err := json.Unmarshal(value, &items); err != nil {
			return fmt.Errorf("%q is a list there, and must not be one", name)
		}
		for _, item := range items {
			if err := setItem(existing, item, unit); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("%q is neither an object nor a list there", name)
}

func memberOf(o *hujson.Object, name string) *hujson.Value {
	for i := range o.Members {
		if literal, ok := o.Members[i].Name.Value.(hujson.Literal); ok && literal.String() == name {
			return &o.Members[i].Value
		}
	}
	return nil
}

// setMember gives an object a member, in the place of the one with that name or at the end.
func setMember(o *hujson.Object, name string, value json.RawMessage, unit string, depth int) error {
	parsed, err := indented(value, unit, depth)
	if err != nil {
		return err
	}
	if existing := memberOf(o, name); existing != nil {
		existing.Value = parsed.Value
		return nil
	}
	before, after := around(o.AfterExtra, unit, depth)
	parsed.BeforeExtra = hujson.Extra(" ")
	if n := len(o.Members); n > 0 && o.Members[n-1].Value.AfterExtra != nil {
		parsed.AfterExtra = hujson.Extra{} // which stands for a comma after the last one
	}
	o.AfterExtra = after
	o.Members = append(o.Members, hujson.ObjectMember{Name: hujson.Value{BeforeExtra: before, Value: hujson.String(name)}, Value: parsed})
	return nil
}

// setItem gives a list an item, in the place of the one with its id or at the end.
func setItem(a *hujson.Array, item json.RawMessage, unit string) error {
	const depth = 2
	parsed, err := indented(item, unit, depth)
	if err != nil {
		return err
	}
	id := idOf(parsed)
	for i := range a.Elements {
		if id != "" && idOf(a.Elements[i]) == id {
			a.Elements[i].Value = parsed.Value
			return nil
		}
	}
	before, after := around(a.AfterExtra, unit, depth)
	parsed.BeforeExtra = before
	if n := len(a.Elements); n > 0 && a.Elements[n-1].AfterExtra != nil {
		parsed.AfterExtra = hujson.Extra{} // which stands for a comma after the last one
	}
	a.AfterExtra = after
	a.Elements = append(a.Elements, parsed)
	return nil
}

// around returns the texts before and after something that is added at the end of an object or list. What stood at that
// end, a comment perhaps, comes before it.
func around(end hujson.Extra, unit string, depth int) (before, after hujson.Extra) {
	kept := strings.TrimRight(string(end), " \t\r\n")
	return hujson.Extra(kept + "\n" + strings.Repeat(unit, depth)), hujson.Extra("\n" + strings.Repeat(unit, depth-1))
}

// indented is a value as it stands at a depth.
func indented(value json.RawMessage, unit string, depth int) (hujson.Value, error) {
	var b bytes.Buffer
	if err := json.Indent(&b, value, strings.Repeat(unit, depth), unit); err != nil {
		return hujson.Value{}, err
	}
	return hujson.Parse(b.Bytes())
}

func idOf(v hujson.Value) string {
	if o, ok := v.Value.(*hujson.Object); ok {
		if id := memberOf(o, "id"); id != nil {
			if literal, ok := id.Value.(hujson.Literal); ok {
				return literal.String()
			}
		}
	}
	return ""
}

// indentOf is by how much the members of a file's object are indented.
func indentOf(root *hujson.Object) string {
	if len(root.Members) > 0 {
		before := string(root.Members[0].Name.BeforeExtra)
		if line := before[strings.LastIndexByte(before, '\n')+1:]; strings.Contains(before, "\n") && strings.TrimLeft(line, " \t") == "" && line != "" {
			return line
		}
	}
	return "  "
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
