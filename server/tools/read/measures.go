package read

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// measureFuncs are the functions of measures, by what a measure calls them.
var measureFuncs = map[string]database.MeasureFunc{
	"count": database.Count, "count_distinct": database.CountDistinct, "sum": database.Sum, "avg": database.Avg,
	"min": database.Min, "max": database.Max, "median": database.Percentile, "percentile": database.Percentile, "stddev": database.Deviation, "texts": database.Texts,
}

// otherMeasures are functions as other programs call them.
var otherMeasures = map[string]string{"average": "avg", "mean": "avg", "total": "sum", "nunique": "count_distinct", "distinct_count": "count_distinct",
	"percentile_cont": "percentile", "percentile_disc": "percentile", "quantile": "percentile", "std": "stddev", "stdev": "stddev", "stddev_samp": "stddev", "stddev_pop": "stddev",
	"standard_deviation": "stddev", "group_concat": "texts", "string_agg": "texts", "listagg": "texts", "array_agg": "texts", "concat": "texts"}

// ofRelated reports whether a function is one of values of related rows: those that look at the places of rows are not.
func ofRelated(function string) bool {
	of, ok := measureFuncs[function]
	return ok && of != database.Percentile && of != database.Texts
}

// plainFraction is the fraction of a percentile.
var plainFraction = regexp.MustCompile(`^(0(\.[0-9]{1,6})?|1(\.0)?)$`)

// AllRows is what counts rows instead of a field's values.
const AllRows = "*"

// maxMeasureName is how many characters a measure's name may have.
const maxMeasureName = 64

// isMeasureName reports whether a measure may be called that. A regular expression with all letters of Unicode would keep 1.3 MB.
func isMeasureName(name string) bool {
	n := 0
	for _, r := range name {
		if r != '_' && !unicode.IsLetter(r) && (n == 0 || !unicode.IsNumber(r)) {
			return false
		}
		n++
	}
	return n > 0 && n <= maxMeasureName
}

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
	if declared, isList := jsontext.ReadStrings(raw); isList {
		for _, name := range declared {
			quoted, _ := json.Marshal(name) // a text: it cannot fail
			measures, ok = append(measures, namedMeasure{name, quoted}), true
		}
	}
	switch {
	case !ok:
		return call.Invalid(`measures must be an object of name to measure, such as {"n": {"count": "*"}}, or a list of measures that describe names, not %s`, lookup.Excerpt(raw))
	case len(measures) > maxMeasures:
		return call.Invalid("measures: at most %d, not %d; ask for the others in another call", maxMeasures, len(measures))
	}
	g.grouping.Measures = slices.Grow(g.grouping.Measures, len(measures))
	for _, m := range measures {
		switch {
		case !isMeasureName(m.name):
			return call.Invalid("measures: %s cannot be a name; a name has at most 64 letters, digits and _, and begins with no digit", lookup.Excerpt([]byte(m.name)))
		case slices.Contains(g.members, m.name):
			return call.Invalid("measures: the name %s is taken; choose another", m.name)
		}
		g.members = append(g.members, m.name)
		argument := "measures: " + m.name
		if declared, isText := jsontext.ReadString(m.raw); isText {
			if err := g.declared(argument, m.name, declared); err != nil {
				return err
			}
			continue
		}
		given, _ := jsontext.ReadObject(m.raw)
		derived, err := readDerived(argument, m, given)
		if err != nil {
			return err
		}
		if derived != nil {
			g.derived = append(g.derived, derived)
			continue
		}
		measure, err := g.ofRowsSent(argument, m.raw, given)
		if err != nil {
			return err
		}
		g.addMeasure(m.name, measure)
	}
	if err := g.checkDerived(); err != nil {
		return err
	}
	g.settleRatios()
	return nil
}

// ofRowsSent reads a measure of rows, with its members.
func (g *groupReader) ofRowsSent(argument string, raw json.RawMessage, given jsontext.Members) (database.Measure, error) {
	sent := sentMeasure{argument: argument, others: measuresOfMeasures, raw: raw, given: given}
	sent.conditions = func(filters json.RawMessage) (database.And, error) {
		return g.rows.conditions(argument+": filters", filters)
	}
	return sent.read(g.rows)
}

// addMeasure adds a measure of rows.
func (g *groupReader) addMeasure(name string, m database.Measure) {
	g.ofRows, g.grouping.Measures = append(g.ofRows, name), append(g.grouping.Measures, m)
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

// measuresOfMeasures says which measures are of other ones.
const measuresOfMeasures = `; or of other measures {"ratio" or "difference": [name, name]}, {"add", "sub", "mul" or "div": [name, name or number]}, {"round": [name, digits]}, {"share", "mean", "running", "previous", "change" or "rank": name}, {"moving": name, "last": 3}`

// sentMeasure is one measure that a call sent.
type sentMeasure struct {
	// argument is where it stands, for messages.
	argument string
	// others says what a measure may be beside one of rows, for messages.
	others string
	raw    json.RawMessage
	// given are its members.
	given jsontext.Members
	// conditions reads its filters.
	conditions func(filters json.RawMessage) (database.And, error)
}

// read reads the measure of a set's rows.
func (m *sentMeasure) read(rows *RowSet) (measure database.Measure, err error) {
	functions := m.given.Without("filters")
	for _, function := range functions {
		if instead, ok := otherMeasures[strings.ToLower(function.Name)]; ok {
			return measure, call.Invalid("%s: there is no %q; send %q", m.argument, function.Name, instead)
		}
	}
	if len(functions) != 1 {
		return measure, m.form()
	}
	function, of := functions[0].Name, functions[0].Value
	var known bool
	if measure.Func, known = measureFuncs[function]; !known {
		return measure, m.form()
	}
	if measure.Func == database.Percentile {
		measure.Fraction = "0.5"
	}
	if function == "percentile" {
		var parts []json.RawMessage
		if json.Unmarshal(of, &parts) != nil || len(parts) != 2 || !plainFraction.Match(parts[1]) {
			return measure, call.Invalid(`%s: percentile must be [field, fraction], with a fraction from 0 to 1 of at most 6 digits, such as [field, 0.9], not %s`, m.argument, lookup.Excerpt(of))
		}
		of, measure.Fraction = parts[0], string(parts[1])
	}
	if measured := rows.Scope.Model(); measure.Func == database.Texts && measured.Declared.MinGroupSize > 1 {
		return measure, call.Invalid("%s: texts is not offered for %s, as it would show values that too few rows have; group_by the field", m.argument, measured.Name)
	}
	path, ok := jsontext.ReadString(of)
	if !ok && !isExpression(of) {
		return measure, m.form()
	}
	if filters := m.given.Value("filters"); filters != nil {
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
	if isExpression(of) {
		measure.Ref, err = rows.measuredExpression(m.argument, function, measure.Func, of)
		return measure, err
	}
	err = rows.measured(m.argument, function, path, &measure)
	if none, ok := errors.AsType[errNoPath](err); ok {
		err = none.unknown(m.argument, path, "", comparedFields(none.at.scope))
	}
	return measure, err
}

// form says what a measure must be.
func (m *sentMeasure) form() error {
	return call.Invalid(`%s must be {"count": "*"}, {"count", "count_distinct", "sum", "avg", "min", "max", "median", "stddev" or "texts": field or {"mul": [field, field]}}, {"percentile": [field, 0.9]}, each with filters of its own if need be%s, not %s`,
		m.argument, m.others, lookup.Excerpt(m.raw))
}

// measured finds the value to which a path leads, and judges whether the measure's function takes it. If the path names nothing, the
// error is an errNoPath.
func (s *RowSet) measured(argument, function, path string, m *database.Measure) error {
	of := m.Func
	if of == database.CountDistinct { // also of a piece of a date or a text
		if key, err := readKey(s, argument, path); err == nil && key.Part != database.WholeValue && key.Part != database.PrefixPart {
			m.Ref, m.Part, m.Zone = key.Ref, key.Part, key.Zone
			return nil
		}
	}
	at, field, err := s.lead(argument, path, func(at place, rest string) bool { return singleField(at, rest) != nil })
	if err != nil {
		return err
	}
	f := singleField(at, field)
	c := f.Column
	if !takes(of, c) {
		message := fmt.Sprintf("%s does not take %s, of type %s", function, path, c.Kind)
		if f.HoldsCodes() {
			message = fmt.Sprintf("%s does not take %s, whose numbers are codes; count or group_by it", function, path)
		} else if c.Kind == database.Text && computesNumbers(of) {
			message += fmt.Sprintf("; if it holds numbers, %s", s.numberForm(function, path))
		}
		if fields := MeasuredFields(at.scope, of); len(fields) > 0 {
			message += fmt.Sprintf("; the fields of %s that it takes are %s", at.scope.Model().Name, strings.Join(fields, ", "))
		}
		return call.Invalid("%s: %s", argument, message)
	}
	m.Ref = at.ref(c)
	return nil
}

// numberForm says how to compute with the numbers that texts hold: a value of related rows takes a path alone.
func (s *RowSet) numberForm(function, path string) string {
	form := fmt.Sprintf(`{%q: {"number": %q}}`, function, path)
	if s.depth > 0 {
		return fmt.Sprintf("ask aggregate of %s for %s", s.Scope.Model().Name, form)
	}
	return "send " + form
}

// measuredExpression is measured for an expression.
func (s *RowSet) measuredExpression(argument, function string, of database.MeasureFunc, raw json.RawMessage) (database.Ref, error) {
	reader := &expressionReader{rows: s, argument: argument}
	field, err := reader.read(function, raw)
	if err == nil && !takes(of, field.Column) {
		err = call.Invalid("%s: %s does not take an expression of type %s", argument, function, field.Column.Kind)
	}
	if err != nil {
		return database.Ref{}, err
	}
	return database.Ref{Column: field.Column}, nil
}

// takes reports whether a function of measures takes a column.
func takes(of database.MeasureFunc, c *database.Column) bool {
	switch of {
	case database.Sum, database.Deviation, database.Percentile:
		return c.Summable()
	case database.Avg:
		return c.HasMean()
	case database.Texts:
		return c.Kind == database.Text || c.Kind == database.Enum && c.Computed == database.Stored
	case database.Min, database.Max:
		return c.HasExtremes()
	case database.CountDistinct:
		return lookup.HasEquality(c)
	}
	return true
}

// computesNumbers reports whether a function computes with numbers.
func computesNumbers(of database.MeasureFunc) bool {
	return of == database.Sum || of == database.Avg || of == database.Deviation || of == database.Percentile
}

// MeasuredFields are the names of the fields that a function of measures takes. Keys are left out if it adds: a sum of them
// means nothing.
func MeasuredFields(scope access.Scope, of database.MeasureFunc) []string {
	var names []string
	keys := ForeignKeys(scope)
	adds := computesNumbers(of)
	for _, f := range scope.Fields() {
		isKey := f.PrimaryKey || slices.Contains(keys, f.Column)
		if !f.Masked && takes(of, f.Compared().Column) && (!adds || !isKey) {
			names = append(names, f.Name)
		}
	}
	return names
}

// ForeignKeys are the columns of the relations to one row.
func ForeignKeys(scope access.Scope) []*database.Column {
	var keys []*database.Column
	for _, r := range scope.Keys() {
		keys = append(keys, r.Ours...)
	}
	return keys
}
