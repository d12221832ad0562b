package read

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// mostGroupsBack is how many groups a measure may look back.
const mostGroupsBack = 1000

// derivedMeasure is a measure of other measures of its group, or of the groups before it (docs/design/aggregates.md, "Measures of
// measures").
type derivedMeasure struct {
	name, function string
	// of are the names of the measures that it is of.
	of []string
	// per are the members that groups must have in common to count as before.
	per []string
	// groups is how many groups it looks back: by of previous and change, last of moving.
	groups int
	// numbers are the numbers among its two operands, by their places; the others are of. digits are those of round.
	numbers map[int]string
	digits  int
}

// derivedForm says how many measures a function is of, and which members it may have beside.
type derivedForm struct {
	of      int
	back    string // the member that says how many groups it looks back; "" if it has none
	per     bool   // whether it may be per members of group_by
	windows bool   // whether it looks at other groups
}

var derivedForms = map[string]derivedForm{
	"ratio": {of: 2}, "difference": {of: 2}, "share": {of: 1, per: true},
	"add": {}, "sub": {}, "mul": {}, "div": {}, "round": {}, "bucket": {}, // see readOperands
	"mean": {of: 1, per: true, windows: true}, "running": {of: 1, per: true, windows: true}, "rank": {of: 1, per: true, windows: true},
	"moving": {of: 1, back: "last", per: true, windows: true}, "previous": {of: 1, back: "by", per: true, windows: true}, "change": {of: 1, back: "by", per: true, windows: true},
}

// derivedOperators are what measures compute of the values of others.
var derivedOperators = map[string]database.Operator{
	"ratio": database.Divide, "share": database.Divide, "difference": database.Subtract,
	"add": database.Add, "sub": database.Subtract, "mul": database.Multiply, "div": database.Divide, "round": database.Round, "bucket": database.Bucket,
}

// looksBack reports whether the measure depends on other groups. A share of all rows does not: they are a grouping of their own.
func (d *derivedMeasure) looksBack() bool {
	return derivedForms[d.function].windows || d.function == "share" && len(d.per) > 0
}

// readDerived reads a measure of other measures, with its members; nil if it is none.
func readDerived(argument string, sent namedMeasure, given jsontext.Members) (*derivedMeasure, error) {
	name, raw := "", sent.raw
	for _, m := range given {
		if _, ok := derivedForms[m.Name]; ok && name != "" {
			return nil, invalidDerived(argument, raw)
		} else if ok {
			name = m.Name
		}
	}
	if name == "" {
		return nil, nil
	}
	d, form := &derivedMeasure{name: sent.name, function: name, groups: 1}, derivedForms[name]
	if given.Value("filters") != nil {
		return nil, call.Invalid("%s: %s takes no filters; give them to the measures that it is of", argument, d.function)
	}
	value := given.Value(d.function)
	if _, ok := operators[name]; ok {
		return d, d.readOperands(argument, raw, value, given)
	}
	if text, isText := jsontext.ReadString(value); isText {
		d.of = []string{text}
	} else if list, isList := jsontext.ReadStrings(value); isList {
		d.of = list
	}
	if len(d.of) != form.of {
		return nil, invalidDerived(argument, raw)
	}
	for _, m := range given {
		switch member, value := m.Name, m.Value; {
		case member == d.function:
		case member == "per" && form.per:
			var ok bool
			if d.per, ok = jsontext.ReadStrings(value); !ok {
				return nil, call.Invalid("%s: per must be an array of names of group_by, not %s", argument, lookup.Excerpt(value))
			}
		case member == form.back && form.back != "":
			var err error
			if d.groups, err = strconv.Atoi(string(value)); err != nil || d.groups < 1 || d.groups > mostGroupsBack {
				return nil, call.Invalid("%s: %s must be a number of groups from 1 to %d, not %s", argument, member, mostGroupsBack, lookup.Excerpt(value))
			}
		default:
			return nil, invalidDerived(argument, raw)
		}
	}
	if form.back == "last" && given.Value("last") == nil {
		return nil, call.Invalid(`%s: moving needs "last", the number of groups that it is the average of`, argument)
	}
	return d, nil
}

// readOperands reads the two operands of arithmetic: names of measures, and numbers.
func (d *derivedMeasure) readOperands(argument string, raw, value json.RawMessage, given jsontext.Members) error {
	var parts []json.RawMessage
	if json.Unmarshal(value, &parts) != nil || len(parts) != 2 || len(given) > 1 {
		return invalidDerived(argument, raw)
	}
	d.numbers = map[int]string{}
	for i, part := range parts {
		text, isText := jsontext.ReadString(part)
		switch {
		case isText:
			d.of = append(d.of, text)
		case plainNumber.Match(part):
			d.numbers[i] = string(part)
		default:
			return invalidDerived(argument, raw)
		}
	}
	switch second, isNumber := d.numbers[1]; {
	case len(d.of) == 0:
		return invalidDerived(argument, raw)
	case d.function == "bucket" && !isWidth(parts[1]):
		return call.Invalid("%s: bucket: the width must be a number above 0 of at most 20 digits, not %s", argument, lookup.Excerpt(parts[1]))
	case d.function == "round":
		var err error
		if d.digits, err = strconv.Atoi(second); !isNumber || err != nil || d.digits < 0 || d.digits > maxRoundDigits {
			return call.Invalid("%s: round: the number of digits must be from 0 to %d, not %s", argument, maxRoundDigits, lookup.Excerpt(parts[1]))
		}
	}
	return nil
}

func invalidDerived(argument string, raw json.RawMessage) error {
	return call.Invalid(`%s must be {"ratio" or "difference": [measure, measure]}, {"add", "sub", "mul" or "div": [measure, measure or number]}, {"round": [measure, digits]}, {"bucket": [measure, width]}, {"share", "mean", "running", "rank", "previous" or "change": measure}, or {"moving": measure, "last": 3}, not %s; share, mean, running, rank, previous, change and moving may have "per": [members of group_by], and previous and change "by": a number of groups`,
		argument, lookup.Excerpt(raw))
}

// checkDerived judges what the measures of measures are of, once all measures are known.
func (g *groupReader) checkDerived() error {
	for _, d := range g.derived {
		argument := "measures: " + d.name
		for _, name := range d.of {
			if g.measure(name) == nil && g.find(name) == nil {
				return call.Invalid("%s: %s is of other measures, and %q is none; %s%s", argument, d.function, name, g.numbersFor(d), g.ofRowsInstead(d, name))
			}
			if !g.isNumber(name) && d.function != "previous" {
				return call.Invalid("%s: %s is of measures that are numbers, and %q is none; %s", argument, d.function, name, g.numbersFor(d))
			}
			if d.looksBack() && g.looksBack(name, 0) {
				return call.Invalid("%s: %s looks at other groups already; give %s a measure that does not", argument, name, d.function)
			}
			if g.dependsOn(name, d.name, 0) {
				return call.Invalid("%s: it depends on itself by %s; name other measures", argument, name)
			}
			if d.function == "share" && (g.measure(name) == nil || g.measure(name).Func == database.Ratio) {
				return call.Invalid("%s: share is of a measure of rows, such as a count or a sum; %s is of other measures", argument, name)
			}
			if d.function == "share" && d.looksBack() && !addsUp(g.measure(name).Func) {
				return call.Invalid("%s: share with per adds groups up, so it is of a count or a sum; %s is neither", argument, name)
			}
		}
		for _, name := range d.per {
			if !slices.Contains(g.keys(), name) {
				return call.Invalid("%s: per: %s is not in group_by", argument, name)
			}
		}
		if d.function == "share" && g.grouping.MinRows > 1 {
			return call.Invalid("%s: share is not offered for %s, as it would tell of the small groups that are left out", argument, g.rows.Scope.Model().Name)
		}
	}
	return nil
}

// addsUp reports whether the values of groups add up to the value of all their rows.
func addsUp(f database.MeasureFunc) bool {
	return f == database.CountRows || f == database.Count || f == database.Sum
}

// keys are the names of the groups' keys.
func (g *groupReader) keys() []string { return g.members[:len(g.grouping.Keys)] }

// measure returns the measure of rows of a name, or nil.
func (g *groupReader) measure(name string) *database.Measure {
	if place := slices.Index(g.ofRows, name); place >= 0 {
		return &g.grouping.Measures[place]
	}
	return nil
}

// settleRatios makes ratios of two measures of rows measures of rows themselves, as the database then rounds once.
func (g *groupReader) settleRatios() {
	g.derived = slices.DeleteFunc(g.derived, func(d *derivedMeasure) bool {
		ofRows := func(name string) bool {
			m := g.measure(name)
			return m != nil && m.Func != database.Ratio && m.Func != database.Deviation
		}
		if d.function != "ratio" || !ofRows(d.of[0]) || !ofRows(d.of[1]) {
			return false
		}
		g.addMeasure(d.name, database.Measure{Func: database.Ratio, Dividend: slices.Index(g.ofRows, d.of[0]), Divisor: slices.Index(g.ofRows, d.of[1])})
		return true
	})
}

// find returns the measure of measures of a name, or nil.
func (g *groupReader) find(name string) *derivedMeasure {
	for _, d := range g.derived {
		if d.name == name {
			return d
		}
	}
	return nil
}

// looksBack reports whether a measure depends on other groups. Measures are too few for more than so many steps.
func (g *groupReader) looksBack(name string, steps int) bool {
	d := g.find(name)
	return d != nil && steps <= maxMeasures && (d.looksBack() || slices.ContainsFunc(d.of, func(of string) bool { return g.looksBack(of, steps+1) }))
}

// dependsOn reports whether a measure is of another one, or of one that is.
func (g *groupReader) dependsOn(name, other string, steps int) bool {
	if name == other {
		return true
	}
	d := g.find(name)
	return d != nil && steps <= maxMeasures && slices.ContainsFunc(d.of, func(of string) bool { return g.dependsOn(of, other, steps+1) })
}

// isNumber reports whether a measure is a number.
func (g *groupReader) isNumber(name string) bool {
	if d := g.find(name); d != nil {
		return d.function != "previous" || g.isNumber(d.of[0])
	}
	m := g.measure(name)
	if m == nil || m.Func == database.Texts {
		return false
	}
	return m.Func != database.Min && m.Func != database.Max && m.Func != database.Avg || m.Ref.Column.Summable()
}

// ofRowsInstead says how to compute of the rows themselves, if a name that is no measure is a field.
func (g *groupReader) ofRowsInstead(d *derivedMeasure, name string) string {
	if !g.rows.base().has(name) {
		return ""
	}
	if d.function == "mean" {
		return fmt.Sprintf(`; for the average of a field send {"avg": %q}`, name)
	}
	if _, ok := operators[d.function]; ok {
		return fmt.Sprintf(`; to compute of each row, put it into a measure: {"sum": {%q: […]}}`, d.function)
	}
	return ""
}

// numbersFor lists, for an error text, the measures that d can compute with.
func (g *groupReader) numbersFor(d *derivedMeasure) string {
	var names []string
	for _, name := range g.members[len(g.grouping.Keys):] {
		if name != d.name && g.isNumber(name) && !g.dependsOn(name, d.name, 0) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "add it to measures"
	}
	return "those that are: " + strings.Join(names, ", ")
}
