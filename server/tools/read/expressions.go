package read

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// The bounds of expressions (docs/design/asking.md, "Bounds").
const (
	maxExpressionLevels = 3
	maxOperands         = 8
	maxRoundDigits      = 12
)

// The operators of expressions, and the units of a time between two moments.
var (
	operators = map[string]database.Operator{"add": database.Add, "sub": database.Subtract, "mul": database.Multiply, "div": database.Divide, "round": database.Round, "bucket": database.Bucket}
	units     = map[string]database.Unit{"days": database.Days, "hours": database.Hours, "seconds": database.Seconds}
	// otherOperators are operators as other programs call them.
	otherOperators = map[string]string{"plus": "add", "sum_of": "add", "+": "add", "subtract": "sub", "minus": "sub", "-": "sub", "multiply": "mul", "times": "mul",
		"product": "mul", "*": "mul", "divide": "div", "/": "div", "$multiply": "mul", "$add": "add", "$subtract": "sub", "$divide": "div", "day": "days", "hour": "hours",
		"datediff": "days", "minutes": "seconds"}
)

// wordNumber is the expression for the number that a text holds.
const wordNumber = "number"

// isLength names what other programs call the length of a text.
var isLength = map[string]bool{"length": true, "len": true, "char_length": true, "character_length": true, "strlen": true}

// computes reports whether a word is one of an expression about the row itself.
func computes(word string) bool {
	_, isOperator := operators[word]
	_, isUnit := units[word]
	return isOperator || isUnit || word == wordOuter || word == wordNumber
}

// expressionReader reads an expression about the rows of a set (docs/design/asking.md, "Expressions").
type expressionReader struct {
	rows *RowSet
	// argument is where the expression is, for messages; level how many expressions it is in.
	argument string
	level    int
}

// isExpression reports whether a value is meant as an expression: an object.
func isExpression(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '{' }

// read reads an expression, an object of one operator, and gives its value a name.
func (r *expressionReader) read(name string, raw json.RawMessage) (*catalog.Field, error) {
	given := call.Members(raw)
	functions := given.Without("filters", "as")
	if len(functions) != 1 {
		return nil, r.form(raw)
	}
	function, value, filters := functions[0].Name, functions[0].Value, given.Value("filters")
	if function == wordOuter {
		return r.rows.outside(r.argument, value)
	}
	if function == wordMeasure {
		return nil, r.factor(value)
	}
	if _, ok := measureFuncs[function]; ok {
		path, ok := jsontext.ReadString(value)
		if !ok {
			return nil, r.form(raw)
		}
		return r.rows.relatedOf(r.argument, name, function, path, filters)
	}
	if filters != nil {
		return nil, call.Invalid("%s: %s takes no filters; give them to the count or sum of related rows in it", r.argument, function)
	}
	if r.level++; r.level > maxExpressionLevels {
		return nil, call.Invalid("%s: expressions may be at most %d levels deep", r.argument, maxExpressionLevels)
	}
	defer func() { r.level-- }()
	arithmetic, err := r.computed(function, raw, value)
	if err != nil {
		return nil, err
	}
	return r.rows.compute(computedValue{field: computedField(arithmetic.Column(name))})
}

// factor says where to compute with a measure of all rows: in it.
func (r *expressionReader) factor(measure json.RawMessage) error {
	for _, m := range call.Members(measure) {
		if path, ok := jsontext.ReadString(m.Value); ok && takesExpressions(m.Name) {
			return call.Invalid(`%s: a _measure is no operand; put the factor into it: {"_measure": {%q: {"mul": [%q, 3]}}}`, r.argument, m.Name, path)
		}
	}
	return call.Invalid(`%s: a _measure is no operand; put the factor into it, as in {"_measure": {"avg": {"mul": [field, 3]}}}`, r.argument)
}

// takesExpressions reports whether a measure's function takes a number that is computed.
func takesExpressions(function string) bool {
	of, ok := measureFuncs[function]
	return ok && of != database.Texts && function != "percentile" && !countsRows(of)
}

// form says what an expression must be.
func (r *expressionReader) form(raw json.RawMessage) error {
	return call.Invalid(`%s must be {"add"|"sub"|"mul"|"div": [a, b]}, {"round": [a, digits]}, {"bucket": [a, width]}, {"days"|"hours"|"seconds": [from, to]}, {"number": text field}, or of related rows {"count": relation} or {"sum"|"avg"|"min"|"max": "relation__field"}, with filters of its own if need be, not %s`,
		r.argument, lookup.Excerpt(raw))
}

// computed reads the value of the expression's operator.
func (r *expressionReader) computed(function string, raw, value json.RawMessage) (database.Arithmetic, error) {
	if function == wordNumber {
		return r.textNumber(raw, value)
	}
	return r.arithmetic(function, raw, value)
}

// textNumber reads {"number": path}: the number that a text holds, null if it holds none, read as a field whose exposure says
// reads: Decimal.
func (r *expressionReader) textNumber(raw, value json.RawMessage) (a database.Arithmetic, err error) {
	if _, isPath := jsontext.ReadString(value); !isPath {
		return a, r.form(raw)
	}
	text, path, err := r.operand(value)
	if err != nil {
		return a, err
	}
	if c := text.Column; c.Kind != database.Text || c.Expression != nil {
		return a, call.Invalid("%s: number: %s is of type %s, and only texts of the database's are read as numbers; send the field itself", r.argument, path, c.Kind)
	}
	text.Column = text.Column.ReadAs(database.Decimal)
	return database.Arithmetic{Operator: database.Add, Left: text, Right: database.Operand{Number: "0"}}, nil
}

func (r *expressionReader) arithmetic(function string, raw, value json.RawMessage) (a database.Arithmetic, err error) {
	unit, isTime := units[function]
	operator, known := operators[function]
	if !known && !isTime {
		if instead, ok := otherOperators[strings.ToLower(function)]; ok {
			return a, call.Invalid("%s: there is no %q; send %q", r.argument, function, instead)
		}
		if isLength[strings.ToLower(function)] {
			return a, call.Invalid("%s: the length of a text cannot be computed; leave it out, or count from the texts of list", r.argument)
		}
		return a, r.form(raw)
	}
	most := 2
	if function == "add" || function == "mul" {
		most = maxOperands
	}
	var parts []json.RawMessage
	if json.Unmarshal(value, &parts) != nil || len(parts) < 2 || len(parts) > most {
		return a, r.form(raw)
	}
	if isTime {
		return r.elapsed(unit, parts)
	}
	a.Operator = operator
	if a.Left, err = r.number(parts[0]); err != nil {
		return a, err
	}
	if operator == database.Round {
		if a.Digits, err = strconv.Atoi(string(parts[1])); err != nil || a.Digits < 0 || a.Digits > maxRoundDigits {
			return a, call.Invalid("%s: round: the number of digits must be from 0 to %d, not %s", r.argument, maxRoundDigits, lookup.Excerpt(parts[1]))
		}
		return a, nil
	}
	if operator == database.Bucket && !isWidth(parts[1]) {
		return a, call.Invalid("%s: bucket: the width must be a number above 0 of at most 20 digits, not %s", r.argument, lookup.Excerpt(parts[1]))
	}
	for i, part := range parts[1:] {
		if i > 0 { // a, b, c is (a, b), c
			a.Left = database.Operand{Ref: database.Ref{Column: a.Column(function)}}
		}
		if a.Right, err = r.number(part); err != nil {
			return a, err
		}
	}
	return a, nil
}

// number reads an operand that must be a number.
func (r *expressionReader) number(raw json.RawMessage) (database.Operand, error) {
	if number := string(raw); plainNumber.MatchString(number) {
		return database.Operand{Number: number}, nil
	}
	o, field, err := r.operand(raw)
	if err == nil && !o.Column.Summable() {
		instead := ""
		if kind := o.Column.Kind; kind == database.Date || kind.IsMoment() {
			instead = fmt.Sprintf(`; of dates there is the time between two, {"days", "hours" or "seconds": [from, to]}, such as {"days": [%q, {"_now": "0d"}]}`, field)
		}
		err = call.Invalid("%s: %s is of type %s, and only numbers can be computed with%s", r.argument, field, o.Column.Kind, instead)
	}
	return o, err
}

// isWidth reports whether a value is a number that buckets can be wide.
func isWidth(raw json.RawMessage) bool {
	return plainNumber.Match(raw) && raw[0] != '-' && strings.Trim(string(raw), "0.") != ""
}

// plainNumber is a number that every engine takes.
var plainNumber = regexp.MustCompile(`^-?[0-9]{1,20}(\.[0-9]{1,12})?$`)

// elapsed reads the time between two moments.
func (r *expressionReader) elapsed(unit database.Unit, parts []json.RawMessage) (a database.Arithmetic, err error) {
	a.Operator, a.Unit = database.Elapsed, unit
	sides := []*database.Operand{&a.Left, &a.Right}
	for i, side := range sides {
		if _, isFixed, err := r.rows.calendar.Moment(parts[i], nil); err != nil {
			return a, call.Invalid("%s: %s", r.argument, err)
		} else if isFixed {
			continue
		}
		var field string
		if *side, field, err = r.operand(parts[i]); err != nil {
			return a, err
		}
		if kind := side.Column.Kind; kind != database.Date && !kind.IsMoment() {
			return a, call.Invalid(`%s: %s is of type %s, and days, hours and seconds are between fields of dates or timestamps, "2026-01-31", or {"_now": "0d"}`, r.argument, field, kind)
		}
	}
	for i, side := range sides {
		if side.Column == nil {
			side.Moment, _, _ = r.rows.calendar.Moment(parts[i], sides[1-i].Column) // it was read before
		}
	}
	return a, nil
}

// operand reads an operand that is a path or another expression; name is what to call it in messages.
func (r *expressionReader) operand(raw json.RawMessage) (o database.Operand, name string, err error) {
	if isExpression(raw) {
		name = lookup.Excerpt(raw)
		field, err := r.read(name, raw)
		if err != nil {
			return o, name, err
		}
		o.Column = field.Column
		return o, name, nil
	}
	path, ok := jsontext.ReadString(raw)
	if !ok {
		return o, "", call.Invalid("%s: a value to compute with must be a field, relation__field, a number of at most 20 digits, or an expression, not %s", r.argument, lookup.Excerpt(raw))
	}
	at, field, err := r.rows.lead(r.argument, path, func(at place, rest string) bool { return singleField(at, rest) != nil })
	if none, ok := errors.AsType[errNoPath](err); ok {
		return o, path, none.unknown(r.argument, path, " to compute with", comparedFields(none.at.scope))
	}
	if err != nil {
		return o, path, err
	}
	o.Ref = at.ref(singleField(at, field).Column)
	return o, path, nil
}

// named reads a value that the call gives a name, such as {"as": "total", "mul": ["price", "quantity"]}, which other arguments of
// the call may use.
func (s *RowSet) named(argument string, raw json.RawMessage) (*catalog.Field, error) {
	name, ok := jsontext.ReadString(call.Members(raw).Value("as"))
	if !ok || !isMeasureName(name) {
		return nil, call.Invalid(`%s: %s needs a name: "as": "name", with at most 64 letters, digits and _, and no digit at its beginning`, argument, lookup.Excerpt(raw))
	}
	if s.base().has(name) {
		return nil, call.Invalid(`%s: as: the name %s is taken; choose another`, argument, name)
	}
	reader := &expressionReader{rows: s, argument: argument + ": " + name}
	field, err := reader.read(name, raw)
	if err != nil {
		return nil, err
	}
	s.names = append(s.names, field)
	return field, nil
}
