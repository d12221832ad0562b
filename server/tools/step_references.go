package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
)

// stepMember is the member that makes an object in a step's arguments a reference: {"_step": n, "path": "object.id"} is the
// value at that place of what step n answered.
const stepMember = "_step"

// The bounds of what references may make of one call's arguments: each reads an answer, and may repeat a piece of it.
const (
	maxReferences    = 1000
	maxStepArguments = 1 << 20
)

// resolve returns a step's arguments with the values that references name in their places. Only what a step answered can be
// named, which is cut to what the token may see; the tool then judges the value as if the caller had sent it.
func (t *transaction) resolve(raw json.RawMessage) (json.RawMessage, error) {
	if !mayRefer(raw) {
		return raw, nil
	}
	resolved, err := t.resolveValue(raw)
	if err == nil && len(resolved) > maxStepArguments {
		return nil, failf(CodeTooLarge, "with the values that its references name, the arguments are larger than %d bytes; refer to single values", maxStepArguments)
	}
	return resolved, err
}

// mayRefer reports whether there may be a reference in a piece of arguments.
func mayRefer(raw json.RawMessage) bool { return bytes.Contains(raw, []byte(`"`+stepMember+`"`)) }

func (t *transaction) resolveValue(raw json.RawMessage) (json.RawMessage, error) {
	if !mayRefer(raw) {
		return raw, nil
	}
	if raw = bytes.TrimSpace(raw); raw[0] == '[' {
		var list []json.RawMessage
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, err
		}
		for i := range list {
			var err error
			if list[i], err = t.resolveValue(list[i]); err != nil {
				return nil, err
			}
		}
		return json.Marshal(list)
	}
	if raw[0] != '{' {
		return raw, nil // a text that looks like one
	}
	object := members(raw)
	if _, refers := object[stepMember]; refers {
		return t.refer(raw, object)
	}
	for name, value := range object {
		resolved, err := t.resolveValue(value)
		if err != nil {
			return nil, err
		}
		object[name] = resolved
	}
	return json.Marshal(object)
}

// refer returns the value that a reference names.
func (t *transaction) refer(raw json.RawMessage, reference map[string]json.RawMessage) (json.RawMessage, error) {
	if t.references++; t.references > maxReferences {
		return nil, invalid("there are too many references; one call takes at most %d", maxReferences)
	}
	if err := t.call.ctx.Err(); err != nil {
		return nil, &database.Error{Code: database.Cancelled, Message: "cancelled", Cause: err}
	}
	var path string
	n, err := strconv.Atoi(string(reference[stepMember]))
	if err != nil || len(reference) != 2 || json.Unmarshal(reference["path"], &path) != nil || path == "" {
		return nil, invalid(`a reference is {"_step": the number of a step, the first being 0, "path": "object.id"}, not %s`, lookup.Excerpt(raw))
	}
	if n < 0 || n >= len(t.answers) {
		return nil, invalid("a reference names step %d; only the steps before this one have answered, of which the first is 0", n)
	}
	value, there := valueAt(t.answers[n], path)
	if !there {
		return nil, invalid("what step %d answered has no %s; %s", n, lookup.Excerpt([]byte(path)), whatIsThere(t.answers[n], path))
	}
	return value, nil
}

// whatIsThere says what a document has where a path leads to nothing.
func whatIsThere(document json.RawMessage, path string) string {
	so, rest := "", path
	for {
		name, behind, _ := strings.Cut(rest, ".")
		next, there := valueAt(document, name)
		if !there {
			break
		}
		document, so, rest = next, strings.TrimPrefix(so+"."+name, "."), behind
	}
	var list []json.RawMessage
	switch document = bytes.TrimSpace(document); {
	case strings.ContainsAny(rest, "[]/"):
		return "names and indexes are joined by dots, as in results.0.id"
	case document[0] == '{' && so == "":
		return "its members are " + memberNames(document)
	case document[0] == '{':
		return "the members of " + so + " are " + memberNames(document)
	case json.Unmarshal(document, &list) == nil:
		return fmt.Sprintf("%s has %d elements, of which the first is %s.0", so, len(list), so)
	}
	return so + " is " + lookup.Excerpt(document)
}

// valueAt is the value at a place of a JSON document: the names of members and the indexes of elements, joined by dots.
func valueAt(document json.RawMessage, path string) (json.RawMessage, bool) {
	for name := range strings.SplitSeq(path, ".") {
		switch document = bytes.TrimSpace(document); {
		case len(document) > 0 && document[0] == '{':
			value, there := members(document)[name]
			if !there {
				return nil, false
			}
			document = value
		case len(document) > 0 && document[0] == '[':
			var list []json.RawMessage
			i, err := strconv.Atoi(name)
			if err != nil || json.Unmarshal(document, &list) != nil || i < 0 || i >= len(list) {
				return nil, false
			}
			document = list[i]
		default:
			return nil, false
		}
	}
	return document, true
}
