package jsontext

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Members are the members of an object in the order of their names, each name once. They are never changed.
type Members []NamedValue

// NamedValue is one member of an object.
type NamedValue struct {
	Name  string
	Value json.RawMessage
}

// MembersOf reads an object that is known to be one. Of several members of one name the last counts. Values are parts of it;
// nothing is copied but names.
func MembersOf(object []byte) Members {
	var room [8]NamedValue // most objects have no more
	members := room[:0]
	for quoted, value := range Inside(object) {
		name, _ := ReadString(quoted) // a member's name: it cannot fail
		members = append(members, NamedValue{name, value})
	}
	slices.SortStableFunc(members, func(a, b NamedValue) int { return strings.Compare(a.Name, b.Name) })
	once := make(Members, 0, len(members))
	for i, m := range members {
		if i+1 == len(members) || members[i+1].Name != m.Name {
			once = append(once, m)
		}
	}
	return once
}

// MembersIn are the members that a map has.
func MembersIn(all map[string]json.RawMessage) Members {
	members := make(Members, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		members = append(members, NamedValue{name, all[name]})
	}
	return members
}

// Find returns the value of the member of that name; false if there is none.
func (m Members) Find(name string) (json.RawMessage, bool) {
	if len(m) > 16 {
		i, found := slices.BinarySearchFunc(m, name, func(one NamedValue, name string) int { return strings.Compare(one.Name, name) })
		if !found {
			return nil, false
		}
		return m[i].Value, true
	}
	for i := range m { // of a few, that is faster
		if m[i].Name == name {
			return m[i].Value, true
		}
	}
	return nil, false
}

// Value returns the value of the member of that name; nil if there is none.
func (m Members) Value(name string) json.RawMessage {
	value, _ := m.Find(name)
	return value
}

// Without returns the members without those that have one of the names.
func (m Members) Without(names ...string) Members {
	isOne := func(one NamedValue) bool { return slices.Contains(names, one.Name) }
	if !slices.ContainsFunc(m, isOne) {
		return m
	}
	return slices.DeleteFunc(slices.Clone(m), isOne)
}

// Names are the names, in their order.
func (m Members) Names() []string {
	names := make([]string, len(m))
	for i := range m {
		names[i] = m[i].Name
	}
	return names
}

// MarshalJSON implements json.Marshaler.
func (m Members) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, one := range m {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(AppendString(out, one.Name), ':')
		out = append(out, one.Value...)
	}
	return append(out, '}'), nil
}
