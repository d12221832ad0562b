package steps

import (
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// expectCount is the expectation about the number of rows that a step is about; every other one is about the value at a
// place of the step's answer.
const expectCount = "count"

// countMembers are the members of answers that tell how many rows a step was about. An answer that has none of them is
// about one row.
var countMembers = []string{"count", "affected_count", "success_count"}

// expectAnswer is a conflict if a step's answer is not as the step expects it: all is undone then.
func expectAnswer(s *call.Step, answer json.RawMessage) error {
	for _, path := range slices.Sorted(maps.Keys(s.Expect)) {
		found, there := valueAt(answer, path)
		if path == expectCount {
			found, there = countOf(answer), true
		}
		switch {
		case !there:
			return call.Failf(call.CodeConflict, "%s was expected to be %s, but the answer has no such value; %s",
				lookup.Excerpt([]byte(path)), lookup.Excerpt(s.Expect[path]), whatIsThere(answer, path))
		case !equalValues(found, s.Expect[path]):
			return call.Failf(call.CodeConflict, "%s was expected to be %s, but it is %s; nothing was changed: look at the rows as they are, and send steps that fit them", lookup.Excerpt([]byte(path)), lookup.Excerpt(s.Expect[path]), lookup.Excerpt(found))
		}
	}
	return nil
}

// countOf is how many rows an answer is about.
func countOf(answer json.RawMessage) json.RawMessage {
	object := call.Members(answer)
	for _, name := range countMembers {
		if n, there := object.Find(name); there {
			return n
		}
	}
	return json.RawMessage("1")
}

// memberNames are the names of an answer's members, for a message.
func memberNames(answer json.RawMessage) string {
	return strings.Join(call.Members(answer).Names(), ", ")
}

// equalValues reports whether two JSON values are equal. A number equals a text of the same number: decimals are texts in
// answers.
func equalValues(a, b json.RawMessage) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	isNumber := func(raw json.RawMessage) bool { return raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9' }
	if isNumber(a) || isNumber(b) {
		x, y := numberIn(a), numberIn(b)
		return x != nil && y != nil && x.Cmp(y) == 0
	}
	x, err := call.Canonical(a)
	if err != nil {
		return false
	}
	y, err := call.Canonical(b)
	return err == nil && string(x) == string(y)
}

// numberIn is the number that a JSON number or text says; nil if it says none, or one so large that nobody would compare
// it.
func numberIn(raw json.RawMessage) *big.Rat {
	text := call.PlainText(raw)
	if _, exponent, scientific := strings.Cut(strings.ToLower(text), "e"); scientific {
		if n, err := strconv.Atoi(exponent); err != nil || n < -400 || n > 400 {
			return nil
		}
	}
	if len(text) > 1000 || strings.ContainsAny(text, "/_xXpP") {
		return nil
	}
	number, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil
	}
	return number
}
