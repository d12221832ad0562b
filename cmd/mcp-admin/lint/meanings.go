package lint

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/contract/spelling"
)

// What an exposure says of meanings is checked as far as the files alone can tell: against its other lists. What only the schema of the
// database can tell, such as whether a column exists, is in the exposure's status.

// hintMeanings adds what is without effect in an exposure, or names what the exposure does not declare.
func (l *linter) hintMeanings(object string, m *contract.Model) {
	warn := func(message, path string, at ...any) {
		l.at(object, severityWarning, fmt.Sprintf(path, at...), message)
	}
	for i, o := range m.Overrides {
		unseen := unseen(m, o.Name)
		if o.Reads != "" && unseen != "" {
			warn("it has no effect: the field is "+unseen+"; remove reads.", "spec.fields.overrides[%d].reads", i)
		}
		if o.Examples && !m.ShowsRows() {
			warn("it has no effect: spec.operations has neither list nor get, so that values are not to be seen; remove examples.", "spec.fields.overrides[%d].examples", i)
		}
	}
	for i, r := range m.Relations {
		for j, name := range r.Columns {
			if unseen := unseen(m, name); unseen != "" {
				warn(fmt.Sprintf("nobody can follow the relation: %s is %s; show the column, or remove the relation.", name, unseen), "spec.relations[%d].columns[%d]", i, j)
			}
		}
	}
	for i, declared := range m.Measures {
		if why := wrongMeasure(m, declared.Means); why != "" {
			warn(why, "spec.measures[%d].measure", i)
		}
	}
	for i, q := range m.Questions {
		if len(m.Operations) > 0 && !slices.Contains(m.Operations, q.Tool) {
			warn(fmt.Sprintf("spec.operations does not have %s, so that nobody is shown the question; its tools are %s.", q.Tool, strings.Join(m.Operations, ", ")), "spec.questions[%d].call.tool", i)
		}
		if why := wrongArguments(m, q.Arguments); why != "" {
			warn(why, "spec.questions[%d].call.arguments", i)
		}
	}
}

// unseen says why callers do not see a column as it is; "" if the exposure does not say that they do not.
func unseen(m *contract.Model, name string) string {
	switch {
	case slices.Contains(m.Exclude, name):
		return "hidden"
	case slices.ContainsFunc(m.Masked, func(masked contract.MaskedField) bool { return masked.Name == name }):
		return "masked"
	}
	return ""
}

// ofGroups are the measures that look at other groups of a call.
var ofGroups = []string{"running", "moving", "previous", "change", "rank"}

// wrongMeasure says what is wrong with a declared measure of measures; "" if it is one of rows, or right.
func wrongMeasure(m *contract.Model, means json.RawMessage) string {
	var given map[string]json.RawMessage
	if json.Unmarshal(means, &given) != nil {
		return ""
	}
	for _, function := range slices.Sorted(maps.Keys(given)) {
		if slices.Contains(ofGroups, function) {
			return function + " is of the groups of a call, so that it cannot be declared; declare the measure that it is of."
		}
		var of []string
		if function == "share" {
			of = make([]string, 1)
			_ = json.Unmarshal(given[function], &of[0])
		}
		if function == "ratio" || function == "difference" {
			_ = json.Unmarshal(given[function], &of)
		}
		for _, name := range of {
			if why := undeclared("measure", name, m.Measures); why != "" {
				return function + " is of other declared measures: " + why
			}
		}
	}
	return ""
}

// wrongArguments says which measures and segments of a question's call are not declared; "" if all are.
func wrongArguments(m *contract.Model, arguments json.RawMessage) string {
	var given struct {
		Measures json.RawMessage `json:"measures"`
		Segments []string        `json:"segments"`
	}
	_ = json.Unmarshal(arguments, &given) // other forms are the server's to judge
	var names []string
	if json.Unmarshal(given.Measures, &names) != nil {
		var named map[string]json.RawMessage
		_ = json.Unmarshal(given.Measures, &named)
		for _, member := range slices.Sorted(maps.Keys(named)) {
			var name string
			if json.Unmarshal(named[member], &name) == nil {
				names = append(names, name)
			}
		}
	}
	for _, name := range names {
		if why := undeclared("measure", name, m.Measures); why != "" {
			return why
		}
	}
	for _, name := range given.Segments {
		if why := undeclared("segment", name, m.Segments); why != "" {
			return why
		}
	}
	return ""
}

// undeclared says that a name is not declared; "" if it is.
func undeclared(what, name string, all []contract.Declared) string {
	names := make([]string, len(all))
	for i, d := range all {
		names[i] = d.Name
	}
	if slices.Contains(names, name) {
		return ""
	}
	message := fmt.Sprintf("there is no %s %q in spec.%ss", what, name, what)
	if i := spelling.Nearest(name, names); i >= 0 {
		message += "; the nearest is " + names[i]
	} else if len(names) > 0 {
		message += "; there are " + strings.Join(names, ", ")
	}
	return message + "."
}
