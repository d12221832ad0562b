package monitoring

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"
)

// sigmaRule is a document of a file of Sigma rules: it selects lines, or counts those that another one selects (SigmaHQ's specification
// 2, rules and correlations).
type sigmaRule struct {
	Title, ID, Name, Status, Description, Author, Date, Level string
	References, Fields, Falsepositives                        []string
	Logsource                                                 struct{ Product, Service string }
	Detection                                                 map[string]any
	Correlation                                               *struct {
		Type, Timespan string
		Rules          []string
		GroupBy        []string `json:"group-by"`
		Condition      struct{ GTE int }
	}
}

// readSigma returns the documents of the files, by the files' names.
func readSigma(t *testing.T) map[string][]sigmaRule {
	t.Helper()
	files, err := filepath.Glob(root + "/config/monitoring/sigma/*.yml")
	if err != nil || len(files) < 4 {
		t.Fatalf("there are %d files of Sigma rules: %v", len(files), err)
	}
	all := map[string][]sigmaRule{}
	for _, file := range files {
		for _, document := range strings.Split(read(t, file), "\n---\n") {
			var r sigmaRule
			if err := yaml.UnmarshalStrict([]byte(document), &r); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			all[filepath.Base(file)] = append(all[filepath.Base(file)], r)
		}
	}
	return all
}

// line is an audit line.
type line = map[string]any

// selects reports whether a rule selects a line. Conditions are names with "and" and "not", which is all that the rules use.
func (r *sigmaRule) selects(t *testing.T, l line) bool {
	t.Helper()
	condition, _ := r.Detection["condition"].(string)
	holds, negate := true, false
	for _, word := range strings.Fields(condition) {
		switch word {
		case "and":
		case "not":
			negate = true
		default:
			fields, ok := r.Detection[word].(map[string]any)
			if !ok {
				t.Fatalf("%s: the condition names %s, which is no map", r.Title, word)
			}
			one := true
			for field, wants := range fields {
				one = one && matches(t, field, wants, l)
			}
			holds, negate = holds && one != negate, false
		}
	}
	return holds
}

// matches reports whether a line has one of the wanted values in a field, by the modifier in its name.
func matches(t *testing.T, field string, wants any, l line) bool {
	t.Helper()
	name, modifier, _ := strings.Cut(field, "|")
	has, ok := l[name]
	if !ok {
		return false
	}
	values, ok := wants.([]any)
	if !ok {
		values = []any{wants}
	}
	for _, want := range values {
		text, pattern := fmt.Sprint(has), fmt.Sprint(want)
		found := false
		switch modifier {
		case "":
			found = strings.EqualFold(text, pattern)
		case "startswith":
			found = strings.HasPrefix(strings.ToLower(text), strings.ToLower(pattern))
		case "re":
			found = regexp.MustCompile(pattern).MatchString(text)
		case "gte":
			number, isNumber := has.(float64)
			least, isLeast := want.(float64)
			found = isNumber && isLeast && number >= least
		default:
			t.Fatalf("%s has a modifier that no rule should need", field)
		}
		if found {
			return true
		}
	}
	return false
}

// fires reports whether the rules of a file find something in lines, which are in the order of their times.
func fires(t *testing.T, rules []sigmaRule, lines []line) bool {
	t.Helper()
	last := rules[len(rules)-1]
	var selected []line
	for _, l := range lines {
		if rules[0].selects(t, l) {
			selected = append(selected, l)
		}
	}
	if last.Correlation == nil {
		return len(selected) > 0
	}
	span, err := time.ParseDuration(last.Correlation.Timespan)
	if err != nil {
		t.Fatal(err)
	}
	times := map[string][]time.Time{}
	for _, l := range selected {
		group := ""
		for _, field := range last.Correlation.GroupBy {
			group += fmt.Sprint(l[field], "\n")
		}
		at, err := time.Parse(time.RFC3339Nano, fmt.Sprint(l["time"]))
		if err != nil {
			t.Fatal(err)
		}
		of := append(times[group], at)
		for at.Sub(of[0]) > span {
			of = of[1:]
		}
		if times[group] = of; len(of) >= last.Correlation.Condition.GTE {
			return true
		}
	}
	return false
}
