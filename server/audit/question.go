package audit

import (
	"bytes"

	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
)

// maxQuestion is the most bytes of a question.
const maxQuestion = 2000

// toldWhole lists the arguments that a line repeats. They name fields, relations and measures, or say how much is asked for, and
// compare rows with nothing.
var toldWhole = map[string]bool{
	"fields": true, "field": true, "relation": true, "group_by": true, "measures": true, "order_by": true, "top": true, "fill": true, "segments": true, "model": true,
	"limit": true, "offset": true, "length": true, "total": true, "format": true, "max_bytes": true, "time_zone": true, "export": true,
	"include_inlines": true, "include_related": true,
}

// valued lists the members within these arguments that compare rows with values.
var valued = map[string]bool{"filters": true, "having": true}

// Question returns the arguments of a call, a JSON object, without the values that rows are compared with or found by: a question mark
// stands for each. The names of fields and lookups stay.
func Question(arguments []byte) string {
	if len(arguments) == 0 {
		return "{}"
	}
	question := appendMembers(make([]byte, 0, min(len(arguments), maxQuestion)), arguments, func(name string) bool { return toldWhole[name] })
	if len(question) > maxQuestion {
		return string(bytes.ToValidUTF8(question[:maxQuestion], nil)) + "…"
	}
	return string(question)
}

// appendMembers appends an object. If whole reports true for the name of a member, its value is repeated; else its values are hidden.
func appendMembers(dst, object []byte, whole func(name string) bool) []byte {
	dst = append(dst, '{')
	for quoted, value := range jsontext.Inside(object) {
		if dst[len(dst)-1] != '{' {
			dst = append(dst, ',')
		}
		name, _ := jsontext.ReadString(quoted)
		dst = append(append(dst, quoted...), ':')
		if whole(name) {
			dst = appendTold(dst, value)
		} else {
			dst = appendAsked(dst, value)
		}
		if len(dst) > maxQuestion {
			break
		}
	}
	return append(dst, '}')
}

// appendTold repeats a value, and hides what rows are compared with in it.
func appendTold(dst, value []byte) []byte {
	switch value[0] {
	case '{':
		return appendMembers(dst, value, func(name string) bool { return !valued[name] })
	case '[':
		dst = append(dst, '[')
		for _, element := range jsontext.Inside(value) {
			if dst[len(dst)-1] != '[' {
				dst = append(dst, ',')
			}
			dst = appendTold(dst, element)
		}
		return append(dst, ']')
	}
	return append(dst, value...)
}

// appendAsked hides a value behind a question mark. Objects and arrays keep their form; an array has one question mark for all of its
// plain values.
func appendAsked(dst, value []byte) []byte {
	switch value[0] {
	case '{':
		return appendMembers(dst, value, func(string) bool { return false })
	case '[':
		dst = append(dst, '[')
		marked := false
		for _, element := range jsontext.Inside(value) {
			plain := element[0] != '{' && element[0] != '['
			if plain && marked {
				continue
			}
			if dst[len(dst)-1] != '[' {
				dst = append(dst, ',')
			}
			dst = appendAsked(dst, element)
			marked = marked || plain
		}
		return append(dst, ']')
	}
	return append(dst, `"?"`...)
}
