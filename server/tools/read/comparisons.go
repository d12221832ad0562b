package read

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// wordMeasure is the member whose value is a measure of all rows.
const wordMeasure = "_measure"

// comparison is a value that is not written out: {"_field": path}, {"_measure": measure}, {"_values": {…}} or an expression.
type comparison struct {
	Field   *string         `json:"_field"`
	Measure json.RawMessage `json:"_measure"`
	Values  json.RawMessage `json:"_values"`
	// expression is the expression, an object of one operator.
	expression json.RawMessage
}

// word names the comparison in messages.
func (c *comparison) word() string {
	switch {
	case c.Field != nil:
		return "_field"
	case c.Measure != nil:
		return wordMeasure
	}
	return "an expression"
}

// readComparison reads a value that is a comparison; false if it is none.
func readComparison(t filterTarget, raw json.RawMessage) (c comparison, ok bool) {
	if len(raw) == 0 || raw[0] != '{' || t.field != nil && t.field.Column.Kind == database.JSON {
		return c, false
	}
	members := call.Members(raw)
	if len(members) != 1 || json.Unmarshal(raw, &c) != nil {
		return c, false
	}
	if computes(members[0].Name) {
		c.expression = raw
	}
	return c, c.Field != nil || c.Measure != nil || c.Values != nil || c.expression != nil
}

// comparisonLookups are the lookups that compare two columns; ne is the reverse of its operator.
var comparisonLookups = map[string]database.CompareOp{
	lookup.Exact: database.Equal, "ne": database.Equal,
	"gt": database.Greater, "gte": database.GreaterOrEqual, "lt": database.Less, "lte": database.LessOrEqual,
}

// compareTo compares a field with what a comparison means for the same row.
func (r *conditionReader) compareTo(s *RowSet, at place, t filterTarget, name string, with comparison) (database.Condition, error) {
	if with.Values != nil {
		return r.among(s, at, t, name, with.Values)
	}
	word := with.word()
	op, ok := comparisonLookups[name]
	if t.field == nil || !ok || !slices.Contains(t.lookups(), name) {
		return nil, r.invalid("%s goes with the lookups exact, ne, gt, gte, lt and lte, if the field has them; compare with a value here", word)
	}
	var other database.Ref
	var err error
	switch {
	case with.Field != nil:
		other, err = r.otherField(s, *with.Field)
	case with.Measure != nil:
		other, err = r.measure(s, with.Measure)
	default:
		other, err = r.expression(s, with.expression)
	}
	if err != nil {
		return nil, err
	}
	own := t.comparedWith(other.Column)
	if !database.Comparable(own, other.Column) {
		return nil, r.invalid("a field of type %s cannot be compared with %s of type %s; name one of the same type", own.Kind, word, other.Column.Kind)
	}
	if at.ref(own) == other {
		return nil, r.invalid(`_field names the field itself, and it means the same row: each row would be compared with itself; compare with another field, or with what all rows come to: {"_measure": {"avg": %q}}; inside the filters of a _measure or of related rows, {"_outer": %q} is the field of the row outside`, t.field.Name, t.field.Name)
	}
	condition := database.CompareRefs{Left: at.ref(own), Op: op, Right: other}
	if name == "ne" {
		return database.Not{Condition: condition}, nil
	}
	return condition, nil
}

// comparedWith is the field's column to compare with another one: codes are numbers beside numbers.
func (t filterTarget) comparedWith(other *database.Column) *database.Column {
	if t.field.HoldsCodes() && database.Comparable(t.field.Stored.Column, other) {
		return t.field.Stored.Column
	}
	return t.field.Column
}

// expression reads an expression about the rows of the set.
func (r *conditionReader) expression(s *RowSet, raw json.RawMessage) (database.Ref, error) {
	reader := &expressionReader{rows: s, argument: r.argument + ": " + r.key}
	field, err := reader.read(r.key, raw)
	if err != nil {
		return database.Ref{}, err
	}
	return database.Ref{Column: field.Column}, nil
}

// otherField finds the field that a comparison names.
func (r *conditionReader) otherField(s *RowSet, path string) (database.Ref, error) {
	at, name, err := s.lead(r.argument+": "+r.key, path, func(at place, rest string) bool { return singleField(at, rest) != nil })
	if none, ok := errors.AsType[errNoPath](err); ok {
		return database.Ref{}, none.unknown(r.argument+": "+r.key+": _field", path, "", none.at.comparedNames())
	}
	if err != nil {
		return database.Ref{}, err
	}
	return at.ref(singleField(at, name).Column), nil
}

// measure finds the one value that a measure of a model's rows has: of all those that the token sees, whatever else the call
// asks for, or of those that its own filters choose for each row outside. The model is that of the rows, or another one.
func (r *conditionReader) measure(s *RowSet, raw json.RawMessage) (database.Ref, error) {
	of := s.Scope
	given := call.Members(raw)
	if name, ok := given.Find("model"); ok {
		var err error
		if of, err = r.otherModel(s, "_measure", name); err != nil {
			return database.Ref{}, err
		}
		given = given.Without("model")
	}
	m := of.Model()
	if !call.FindOperation("aggregate").OfferedFor(m.Catalog(), m) {
		return database.Ref{}, r.invalid("_measure: aggregate is not offered for %s; compare with a value", m.Name)
	}
	rows := &RowSet{Scope: of, outer: s}
	sent := sentMeasure{argument: r.argument + ": " + r.key + ": _measure", raw: raw, given: given}
	sent.conditions = func(filters json.RawMessage) (database.And, error) {
		return r.inside(r.key+": _measure: filters", rows, filters)
	}
	measure, err := sent.read(rows)
	if err != nil {
		return database.Ref{}, err
	}
	grouping := &database.Grouping{From: of.Source(), Joins: rows.joins, Measures: []database.Measure{measure}, MinRows: m.Declared.MinGroupSize}
	if isOutsideAlone(measure.Ref.Column) { // a database takes such a measure for one of the statement outside
		return database.Ref{}, r.invalid(`_measure: this is a value of the row outside alone, and needs no measure; compute it with a field of %s, or give {"_field": path} or an expression`, m.Name)
	}
	if rows.outerRefs > 0 {
		return r.measureForEach(s, rows, grouping)
	}
	source := grouping.Source()
	join, err := s.join(&database.Join{From: source}, nil, of)
	return database.Ref{Join: join, Column: source.Table().Columns[0]}, err
}

// otherModel is a model that a measure or a set of values names. One that the token may not view looks like one that there is not.
func (r *conditionReader) otherModel(s *RowSet, word string, raw json.RawMessage) (access.Scope, error) {
	var name string
	if json.Unmarshal(raw, &name) == nil {
		if m := s.Scope.Model().Catalog().Model(name); m != nil {
			if of := s.Scope.Of(m); m.Served() && of.Has(access.View) {
				return of, nil
			}
		}
	}
	return access.Scope{}, r.invalid("%s: model: there is no model %s that you may view; find_models names them", word, lookup.Excerpt(raw))
}
