package read

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// measureFuncs are the functions of measures, by what a measure calls them.
var measureFuncs = map[string]database.MeasureFunc{
	"count": database.Count, "count_distinct": database.CountDistinct, "sum": database.Sum, "avg": database.Avg,
	"min": database.Min, "max": database.Max, "ratio": database.Ratio,
}

// AllRows is what counts rows instead of a field's values.
const AllRows = "*"

// measureName is what a measure may be called.
var measureName = regexp.MustCompile(`^[\pL_][\pL\pN_]{0,63}$`)

// namedMeasure is a measure as it was sent.
type namedMeasure struct {
	name string
	raw  json.RawMessage
}

// readMeasures reads the argument measures, in the order in which they were sent.
func (g *groupReader) readMeasures(raw json.RawMessage) error {
	if raw == nil {
		return nil
	}
	measures, ok := orderedMembers(raw)
	switch {
	case !ok:
		return call.Invalid(`measures must be an object of name to measure, such as {"n": {"count": "*"}}, not %s`, lookup.Excerpt(raw))
	case len(measures) > maxMeasures:
		return call.Invalid("measures: at most %d, not %d; ask for the others in another call", maxMeasures, len(measures))
	}
	for _, m := range measures {
		switch {
		case !measureName.MatchString(m.name):
			return call.Invalid("measures: %s cannot be a name; a name has at most 64 letters, digits and _, and begins with no digit", lookup.Excerpt([]byte(m.name)))
		case slices.Contains(g.members, m.name):
			return call.Invalid("measures: the name %s is taken; choose another", m.name)
		}
		sent := sentMeasure{argument: "measures: " + m.name, raw: m.raw, given: call.Members(m.raw)}
		sent.conditions = func(filters json.RawMessage) (database.And, error) {
			return g.rows.conditions(sent.argument+": filters", filters)
		}
		measure, err := sent.read(g.rows)
		if err != nil {
			return err
		}
		g.grouping.Measures, g.members = append(g.grouping.Measures, measure), append(g.members, m.name)
	}
	return g.resolveRatios(measures)
}

// orderedMembers are the members of a JSON object, in their order; false if it is none.
func orderedMembers(raw json.RawMessage) ([]namedMeasure, bool) {
	if len(raw) == 0 || raw[0] != '{' {
		return nil, false
	}
	var all []namedMeasure
	for quoted, value := range jsontext.Inside(raw) {
		name, _ := jsontext.ReadString(quoted) // a member's name: it cannot fail
		all = append(all, namedMeasure{name, value})
	}
	return all, true
}

// sentMeasure is one measure that a call sent.
type sentMeasure struct {
	// argument is where it stands, for messages.
	argument string
	raw      json.RawMessage
	// given are its members.
	given map[string]json.RawMessage
	// conditions reads its filters.
	conditions func(filters json.RawMessage) (database.And, error)
}

// read reads the measure of a set's rows. What a ratio is of is found later, once all measures are known.
func (m *sentMeasure) read(rows *RowSet) (measure database.Measure, err error) {
	functions := slices.DeleteFunc(slices.Sorted(maps.Keys(m.given)), func(name string) bool { return name == "filters" })
	if len(functions) != 1 {
		return measure, m.form()
	}
	var known bool
	if measure.Func, known = measureFuncs[functions[0]]; !known {
		return measure, m.form()
	}
	filters := m.given["filters"]
	if measure.Func == database.Ratio {
		if filters != nil {
			return measure, call.Invalid("%s: a ratio takes no filters; give them to the two measures that it divides", m.argument)
		}
		return measure, nil
	}
	path, ok := jsontext.ReadString(m.given[functions[0]])
	if !ok {
		return measure, m.form()
	}
	if filters != nil {
		where, err := m.conditions(filters)
		if err != nil {
			return measure, err
		}
		measure.Where = where
	}
	if path == AllRows && measure.Func == database.Count {
		measure.Func = database.CountRows
		return measure, nil
	}
	measure.Ref, err = m.column(rows, functions[0], measure.Func, path)
	return measure, err
}

// form says what a measure must be.
func (m *sentMeasure) form() error {
	return call.Invalid(`%s must be {"count": "*"}, {"count", "count_distinct", "sum", "avg", "min" or "max": field}, each with filters of its own if need be, or {"ratio": [name, name]}, not %s`,
		m.argument, lookup.Excerpt(m.raw))
}

// column finds what the measure's path leads to, and judges whether its function takes it.
func (m *sentMeasure) column(rows *RowSet, function string, of database.MeasureFunc, path string) (database.Ref, error) {
	at, field, err := rows.lead(m.argument, path, func(at place, rest string) bool { return singleField(at, rest) != nil })
	if none := (errNoPath{}); errors.As(err, &none) {
		return database.Ref{}, none.unknown(m.argument, path, "", comparedFields(none.at.scope))
	}
	if err != nil {
		return database.Ref{}, err
	}
	c := singleField(at, field).Column
	if !takes(of, c) {
		message := fmt.Sprintf("%s does not take %s, of type %s", function, path, c.Kind)
		if c.Kind == database.Text && (of == database.Sum || of == database.Avg) {
			message += "; if it holds numbers, group_by it with a count, and compute from the groups"
		}
		if fields := measuredFields(at.scope, of); len(fields) > 0 {
			message += fmt.Sprintf("; the fields of %s that it takes are %s", at.scope.Model().Name, strings.Join(fields, ", "))
		}
		return database.Ref{}, call.Invalid("%s: %s", m.argument, message)
	}
	return at.ref(c), nil
}

// takes reports whether a function of measures takes a column.
func takes(of database.MeasureFunc, c *database.Column) bool {
	switch of {
	case database.Sum, database.Avg:
		return c.Summable()
	case database.Min, database.Max:
		return c.HasExtremes()
	case database.CountDistinct:
		return lookup.HasEquality(c)
	}
	return true
}

// measuredFields are the names of the fields that a function of measures takes. Keys are left out if it adds: a sum of them
// means nothing.
func measuredFields(scope access.Scope, of database.MeasureFunc) []string {
	var names []string
	keys := ForeignKeys(scope)
	adds := of == database.Sum || of == database.Avg
	for _, f := range scope.Fields() {
		isKey := f.PrimaryKey || slices.Contains(keys, f.Column)
		if !f.Masked && takes(of, f.Column) && (!adds || !isKey) {
			names = append(names, f.Name)
		}
	}
	return names
}

// resolveRatios finds the measures that ratios are of.
func (g *groupReader) resolveRatios(sent []namedMeasure) error {
	for i := range g.grouping.Measures {
		measure := &g.grouping.Measures[i]
		if measure.Func != database.Ratio {
			continue
		}
		var names []string
		if json.Unmarshal(call.Members(sent[i].raw)["ratio"], &names) != nil || len(names) != 2 {
			return (&sentMeasure{argument: "measures: " + sent[i].name, raw: sent[i].raw}).form()
		}
		for j, place := range []*int{&measure.Dividend, &measure.Divisor} {
			*place = slices.IndexFunc(sent, func(m namedMeasure) bool { return m.name == names[j] })
			if *place < 0 || !g.isNumber(*place) {
				return call.Invalid("measures: %s: a ratio divides two other measures that are numbers, and %q is none; %s", sent[i].name, names[j], g.numbers(sent))
			}
		}
	}
	return nil
}

// isNumber reports whether a measure is a number, and no ratio.
func (g *groupReader) isNumber(i int) bool {
	m := &g.grouping.Measures[i]
	switch m.Func {
	case database.Ratio:
		return false
	case database.Min, database.Max:
		return m.Ref.Column.Summable()
	}
	return true
}

// numbers says of which measures a ratio can be.
func (g *groupReader) numbers(sent []namedMeasure) string {
	var names []string
	for i, m := range sent {
		if g.isNumber(i) {
			names = append(names, m.name)
		}
	}
	if len(names) == 0 {
		return "add both to measures"
	}
	return "those that are: " + strings.Join(names, ", ")
}

// ForeignKeys are the columns of the relations to one row.
func ForeignKeys(scope access.Scope) []*database.Column {
	var keys []*database.Column
	for _, r := range scope.Keys() {
		keys = append(keys, r.Ours...)
	}
	return keys
}
