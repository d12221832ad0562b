package jsontext

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// The functions below read JSON as encoding/json reads it into a map, a slice or a string, but copy nothing: values are
// parts of data.

// ReadObject returns the members of an object by their names; of several of one name the last counts. null has none, and the
// map is nil. It returns false for anything else.
func ReadObject(data []byte) (map[string]json.RawMessage, bool) {
	if !json.Valid(data) {
		return nil, false
	}
	switch data[SkipSpace(data, 0)] {
	case '{':
	case 'n':
		return nil, true
	default:
		return nil, false
	}
	members := map[string]json.RawMessage{}
	for quoted, value := range Inside(data) {
		name, _ := ReadString(quoted) // a member's name: it cannot fail
		members[name] = value
	}
	return members, true
}

// ReadStrings returns the elements of an array of strings; false for anything else.
func ReadStrings(data []byte) ([]string, bool) {
	if !json.Valid(data) || data[SkipSpace(data, 0)] != '[' {
		return nil, false
	}
	var list []string
	for _, value := range Inside(data) {
		text, ok := ReadString(value)
		if !ok {
			return nil, false
		}
		list = append(list, text)
	}
	return list, true
}

// ReadString returns the text of a string; false for anything else. There are no spaces around it.
func ReadString(data []byte) (text string, ok bool) {
	if len(data) < 2 || data[0] != '"' {
		return "", false
	}
	if inside := data[1 : len(data)-1]; data[len(data)-1] == '"' && isPlain(inside) {
		return string(inside), true
	}
	return text, json.Unmarshal(data, &text) == nil
}

// isPlain reports whether each character between a string's quotes stands for itself.
func isPlain(inside []byte) bool {
	return bytes.IndexFunc(inside, func(r rune) bool { return r == '"' || r == '\\' || r < ' ' || r == utf8.RuneError }) < 0
}

// AppendCompact appends JSON without the spaces between its parts.
func AppendCompact(dst, data []byte) []byte {
	for at := SkipSpace(data, 0); at < len(data); at = SkipSpace(data, at) {
		end := at + 1
		if data[at] == '"' {
			end = endOfString(data, at)
		}
		dst = append(dst, data[at:end]...)
		at = end
	}
	return dst
}
