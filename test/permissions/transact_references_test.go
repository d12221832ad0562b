package permissions

import (
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"strconv"
	"strings"
)

// resolve puts what the steps before answered in the places of references; false if one of them names nothing.
func (o *outcome) resolve(value any) (any, bool) {
	switch value := value.(type) {
	case map[string]any:
		if number, refers := value["_step"]; refers {
			n, err := strconv.Atoi(fmt.Sprint(number))
			if err != nil || n >= len(o.answers) {
				stepped.missed++
				return nil, false
			}
			found, there := at(o.answers[n], fmt.Sprint(value["path"]))
			if there {
				stepped.carried++
			} else {
				stepped.missed++
			}
			return found, there
		}
		resolved := map[string]any{}
		for name, member := range value {
			var ok bool
			if resolved[name], ok = o.resolve(member); !ok {
				return nil, false
			}
		}
		return resolved, true
	case []any:
		resolved := make([]any, len(value))
		for i := range value {
			var ok bool
			if resolved[i], ok = o.resolve(value[i]); !ok {
				return nil, false
			}
		}
		return resolved, true
	}
	return value, true
}

// at returns the value at a place of an answer.
func at(answer any, path string) (any, bool) {
	for name := range strings.SplitSeq(path, ".") {
		switch value := answer.(type) {
		case map[string]any:
			var there bool
			if answer, there = value[name]; !there {
				return nil, false
			}
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(value) {
				return nil, false
			}
			answer = value[i]
		default:
			return nil, false
		}
	}
	return answer, true
}

// holds reports whether an answer is as a step expects it.
func (o *outcome) holds(expect, answer map[string]any) bool {
	for path, wanted := range expect {
		found, there := at(answer, path)
		if path == "count" {
			found, there = countIn(answer), true
		}
		if !there || !equal(found, wanted) {
			stepped.unmet++
			return false
		}
	}
	stepped.held += len(expect)
	return true
}

// countIn is how many rows an answer is about.
func countIn(answer map[string]any) any {
	for _, name := range []string{"count", "affected_count", "success_count"} {
		if n, ok := answer[name]; ok {
			return n
		}
	}
	return json.Number("1")
}

// equal reports whether two values of JSON are the same; numbers may be written as texts.
func equal(a, b any) bool {
	isNumber := func(v any) bool {
		_, number := v.(json.Number)
		_, integer := v.(int)
		return number || integer
	}
	if a == nil || b == nil {
		return a == b
	}
	if isNumber(a) || isNumber(b) {
		x, okX := new(big.Rat).SetString(fmt.Sprint(a))
		y, okY := new(big.Rat).SetString(fmt.Sprint(b))
		return okX && okY && x.Cmp(y) == 0
	}
	return reflect.DeepEqual(a, b)
}
