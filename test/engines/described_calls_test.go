package engines

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// bareWord is a text without quotes in an example of describe, exampleKey what the rows of a top are of, and examplePath a path.
var (
	bareWord    = regexp.MustCompile(`-?[\p{L}_][\w]*|-?\d+[a-z]+|\d{4}-\d\d(-\d\d)?`)
	exampleKey  = regexp.MustCompile(`"per": (\[.*?\])`)
	examplePath = regexp.MustCompile(`^[a-z]\w*__\w+$`)
)

// describedCalls makes the calls of which describe has the examples, for each model and token that has some.
func describedCalls(s *suite, t *testing.T) {
	for _, token := range []string{"root", "clerk", "viewer"} {
		for model, operations := range s.operations(t, token) {
			s.check(t, token+" "+model, func(t *testing.T) {
				described := s.ok(t, token, "describe_"+model, `{}`)
				asking, _ := described["asking"].(object)
				made := 0
				for _, part := range []string{"fields", "group_by", "measures", "having", "filters", "top"} {
					said, _ := asking[part].([]any)
					for _, line := range said {
						for _, example := range examplesIn(line.(string), part == "fields" || part == "group_by") {
							made++
							s.makeExample(t, token, model, operations, part, example)
						}
					}
				}
				if asking != nil && made < 5 {
					t.Errorf("describe has %d examples: %v", made, asking)
				}
			})
		}
	}
}

// makeExample makes the call that an example is a part of.
func (s *suite) makeExample(t *testing.T, token, model, operations, part, example string) {
	t.Helper()
	tool, arguments := "list_"+model, fmt.Sprintf(`{%q:%s,"limit":1}`, part, example)
	if part == "fields" {
		arguments = fmt.Sprintf(`{"fields":[%s],"limit":1}`, example)
	}
	switch {
	case part == "group_by":
		tool, arguments = "aggregate_"+model, fmt.Sprintf(`{"group_by":[%s],"limit":1}`, example)
	case part == "measures":
		tool, arguments = "aggregate_"+model, fmt.Sprintf(`{"measures":{"m":{"count":"*"},"n":{"count":"*"},"x":%s},"limit":1}`, example)
	case part == "having":
		tool, arguments = "aggregate_"+model, fmt.Sprintf(`{"measures":{"m":{"count":"*"},"n":{"count":"*"}},"having":%s}`, example)
	case part == "top" && slices.Contains(strings.Fields(operations), "aggregate"):
		keys := `[]`
		if per := exampleKey.FindStringSubmatch(example); per != nil {
			keys = per[1]
		}
		tool, arguments = "aggregate_"+model, fmt.Sprintf(`{"group_by":%s,"measures":{"n":{"count":"*"}},"order_by":["-n"],"top":%s}`, keys, example)
	case !slices.Contains(strings.Fields(operations), "list"):
		tool, arguments = "aggregate_"+model, fmt.Sprintf(`{"measures":{"n":{"count":"*"}},%s`, arguments[1:])
	}
	if payload, isError := s.call(t, token, tool, arguments); isError {
		t.Errorf("%s %s: %v", tool, arguments, payload["error"])
	}
}

// examplesIn are the objects of a line, and perhaps the paths, as JSON.
func examplesIn(line string, paths bool) (found []string) {
	depth, begin := 0, 0
	var outside strings.Builder
	for i, r := range line {
		switch {
		case r == '{':
			if depth++; depth == 1 {
				begin = i
			}
		case r == '}':
			if depth--; depth == 0 {
				text := strings.ReplaceAll(line[begin:i+1], "…", "")
				found = append(found, bareWord.ReplaceAllStringFunc(text, func(word string) string {
					if word == "true" {
						return word
					}
					return `"` + word + `"`
				}))
			}
		case depth == 0:
			outside.WriteRune(r)
		}
	}
	for _, word := range strings.FieldsFunc(outside.String(), func(r rune) bool { return strings.ContainsRune(" ,;:()[]", r) }) {
		if paths && examplePath.MatchString(word) && !strings.HasPrefix(word, "relation__") {
			found = append(found, `"`+word+`"`)
		}
	}
	return found
}
