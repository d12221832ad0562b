package steps

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// stepMember is the member that makes an object in a step's arguments a reference: {"_step": n, "path": "object.id"} is the
// value at that place of what step n answered.
const stepMember = "_step"

// The bounds of what references may add to arguments: each reads an answer, and may repeat a piece of it. The bytes are the
// values'. What a step's references add is gone when the step has run.
const (
	maxReferences      = 1000
	maxReferenceLength = 4 << 10
	maxStepReferred    = 256 << 10
	maxCallReferred    = 1 << 20
)

// Referred is the most bytes that references in a request's body may add to the arguments of one of its calls at a time.
func Referred(body []byte) int {
	if bytes.Contains(body, []byte(`"`+stepMember+`"`)) {
		return maxStepReferred
	}
	return 0
}

// mayRefer reports whether there may be a reference, or a literal, in a piece of JSON.
func mayRefer(raw []byte) bool {
	return bytes.Contains(raw, []byte(`"`+stepMember+`"`)) || bytes.Contains(raw, []byte(`"`+literalMember+`"`))
}

// resolve returns a step's arguments with the values that references name in their places. Only what a step answered can be
// named, which is cut to what the token may see; the tool then judges the value as if the caller had sent it.
func (t *transaction) resolve(raw json.RawMessage) (json.RawMessage, error) {
	if !mayRefer(raw) {
		return raw, nil
	}
	var resolved []byte
	// copied is how much of raw was copied, open where the objects and arrays begin that are still open, added the bytes of values.
	copied, open, added := 0, []int(nil), 0
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '{', '[':
			open = append(open, i)
		case '}', ']':
			open = open[:len(open)-1]
		case '"':
			end := jsontext.End(raw, i)
			resolver := t.resolverOf(raw, i, end)
			if resolver == nil {
				i = end - 1
				continue
			}
			start := open[len(open)-1]
			end = jsontext.End(raw, start)
			value, more, err := resolver(raw[start:end], start < copied)
			if err != nil {
				return nil, err
			}
			if added += more; added > maxStepReferred || t.referred+added > maxCallReferred {
				return nil, call.Failf(call.CodeTooLarge, "the values that references name are larger than %d bytes in one step, or than %d in all steps together; refer to single values, such as results.0.id", maxStepReferred, maxCallReferred)
			}
			resolved = append(append(resolved, raw[copied:start]...), value...)
			copied, open, i = end, open[:len(open)-1], end-1
		}
	}
	t.referred += added
	return append(resolved, raw[copied:]...), nil
}

// resolver returns the value for which an object stands, and how many bytes that adds to the arguments. An object that is
// nested holds another that stands for a value.
type resolver func(object json.RawMessage, nested bool) (value json.RawMessage, added int, err error)

// resolverOf returns what resolves an object that has a member whose name is the string at these offsets; nil if the string
// is no such name.
func (t *transaction) resolverOf(raw json.RawMessage, start, end int) resolver {
	if behind := jsontext.SkipSpace(raw, end); behind >= len(raw) || raw[behind] != ':' {
		return nil
	}
	switch string(raw[start:end]) {
	case `"` + stepMember + `"`:
		return t.refer
	case `"` + literalMember + `"`:
		return literal
	}
	return nil
}

// literal is the resolver of what stands for itself.
func literal(object json.RawMessage, nested bool) (json.RawMessage, int, error) {
	value, _ := jsontext.Member(object, literalMember)
	n := 0
	for range jsontext.Inside(object) {
		n++
	}
	if n != 1 || nested {
		return nil, 0, call.Invalid(`a literal is {"%s": value}, and has no other members, not %s`, literalMember, lookup.Excerpt(object))
	}
	return value, 0, nil
}

// refer returns the value that a reference names. A nested one holds another.
func (t *transaction) refer(raw json.RawMessage, nested bool) (json.RawMessage, int, error) {
	if t.references++; t.references > maxReferences {
		return nil, 0, call.Invalid("there are too many references; one call takes at most %d", maxReferences)
	}
	if err := t.call.Ctx.Err(); err != nil {
		return nil, 0, &database.Error{Code: database.Cancelled, Message: "cancelled", Cause: err}
	}
	var path string
	var reference jsontext.Members
	if len(raw) <= maxReferenceLength {
		reference = call.Members(raw)
	}
	n, err := strconv.Atoi(string(reference.Value(stepMember)))
	if err != nil || nested || len(reference) != 2 || json.Unmarshal(reference.Value("path"), &path) != nil || path == "" {
		return nil, 0, call.Invalid(`a reference is {"_step": the number of a step, the first being 0, "path": "object.id"}, not %s`, lookup.Excerpt(raw))
	}
	if n < 0 || n >= len(t.answers) {
		return nil, 0, call.Invalid("a reference names step %d; only the steps before this one have answered, of which the first is 0", n)
	}
	value, there := valueAt(t.answers[n], path)
	if !there {
		return nil, 0, call.Invalid("what step %d answered has no %s; %s", n, lookup.Excerpt([]byte(path)), whatIsThere(t.answers[n], path))
	}
	return value, len(value), nil
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

// valueAt is the value at a place of a JSON document: the names of members and the indexes of elements, joined by dots. It is
// a part of the document; nothing is copied.
func valueAt(document json.RawMessage, path string) (json.RawMessage, bool) {
	for name := range strings.SplitSeq(path, ".") {
		value, there := jsontext.Member(document, name)
		if i, err := strconv.Atoi(name); !there && err == nil {
			value, there = jsontext.Element(document, i)
		}
		if !there {
			return nil, false
		}
		document = value
	}
	return document, true
}
