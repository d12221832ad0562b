package action

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/write"
)

// formMarkers are the fields of every form that an action sees, whatever the caller sends.
var formMarkers = []string{"post", "confirm", "apply", "action", "ids"}

// parameters are the values that a caller gives to an action, by name; one that was left out, or is null, is not there.
type parameters struct {
	raw    map[string]json.RawMessage
	values map[string]database.Value
}

// parameterList holds the parameters of a declared action or report.
type parameterList struct {
	// of names the action or report, argument the argument that holds them.
	of, argument string
	declared     []contract.Parameter
	// ignored are names that are passed over, as they override nothing.
	ignored []string
}

// parametersOf returns the parameters of an action.
func parametersOf(a *catalog.Action) parameterList {
	return parameterList{a.Name, "confirmation_data", a.Parameters, formMarkers}
}

// read reads an object of parameter name to value.
func (l parameterList) read(raw json.RawMessage) (parameters, error) {
	p := parameters{map[string]json.RawMessage{}, map[string]database.Value{}}
	given := map[string]json.RawMessage{}
	if raw != nil {
		if err := json.Unmarshal(raw, &given); err != nil {
			return p, call.Invalid("%s must be an object of parameter name to value, not %s", l.argument, lookup.Excerpt(raw))
		}
	}
	problems := &call.Violations{}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		i := slices.IndexFunc(l.declared, func(d contract.Parameter) bool { return d.Name == name })
		switch {
		case slices.Contains(l.ignored, name), i >= 0 && call.IsNull(given[name]):
			continue
		case i < 0:
			problems.Add(name, "%s has no such parameter; %s", l.of, l.names())
			continue
		}
		value, err := readParameter(&l.declared[i], given[name])
		if err != nil {
			problems.Add(name, "%s", err)
			continue
		}
		p.raw[name], p.values[name] = given[name], value
	}
	for _, d := range l.declared {
		if value, there := given[d.Name]; d.Required && (!there || call.IsNull(value)) {
			problems.Add(d.Name, "is required, in %s: %s", l.argument, describeParameter(&d))
		}
	}
	return p, problems.Err()
}

func readParameter(d *contract.Parameter, raw json.RawMessage) (database.Value, error) {
	if write.IsCut(raw) {
		return nil, errors.New("is the beginning of a value that was cut when it was read; read the rest with get, field, offset and length, and send the whole")
	}
	column := &database.Column{Kind: catalog.ParameterKinds[d.Type]}
	value, err := lookup.ParseValue(column, raw)
	if err != nil {
		return nil, err
	}
	if len(d.Choices) > 0 && !write.IsChoice(column, d.Choices, value) {
		return nil, fmt.Errorf("must be %s, not %s", describeParameter(d), lookup.Excerpt(raw))
	}
	return value, nil
}

// describeParameter says what a parameter's value may be.
func describeParameter(d *contract.Parameter) string {
	if len(d.Choices) == 0 {
		return "a value of type " + strings.ToLower(d.Type)
	}
	return "one of " + write.ChoiceNames(d.Choices)
}

func (l parameterList) names() string {
	if len(l.declared) == 0 {
		return "it takes none"
	}
	names := make([]string, len(l.declared))
	for i, d := range l.declared {
		names[i] = d.Name
	}
	return "its parameters are " + strings.Join(names, ", ")
}

// form returns the fields that the action sees: the markers where the caller has confirmed, then the parameters.
func (e *actionCall) form(ids []json.RawMessage) map[string]any {
	form := map[string]any{}
	for name, raw := range e.parameters.raw {
		form[name] = raw
	}
	for _, marker := range formMarkers {
		delete(form, marker)
	}
	if e.confirmed {
		form["post"], form["confirm"], form["apply"] = "yes", "yes", "yes"
	}
	form["action"], form["ids"] = e.declared.Name, ids
	return form
}
