package audit

import (
	"bytes"

	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
)

// maxQuestion is the most bytes of a question.
const maxQuestion = 2000

// toldWhole are arguments that name fields, relations and measures, or say how much is asked for: they hold nothing to compare rows with.
var toldWhole = map[string]bool{
	"fields": true, "field": true, "relation": true, "group_by": true, "measures": true, "order_by": true, "top": true, "fill": true, "segments": true, "model": true,
	"limit": true, "offset": true, "length": true, "total": true, "format": true, "max_bytes": true, "time_zone": true, "export": true,
	"include_inlines": true, "include_related": true,
}

// valued are members of what is told whole that have values to compare with.
var valued = map[string]bool{"filters": true, "having": true}

// Question is what a call asked: its arguments, which are a JSON object, with a question mark for each value that rows are compared
// with or found by. Names of fields and lookups stay.
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

// appendMembers appends an object; whole reports whether the value of a member is told.
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

// appendTold appends a value, but for what rows are compared with in it.
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

// appendAsked appends a question mark for each value; of an array one for all values in it that are neither objects nor arrays.
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
