package read

import (
	"encoding/json"
	"errors"

	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// wordOuter is the member whose value is a path from the row outside (docs/design/asking.md, "Conditions").
const wordOuter = "_outer"

// outside finds the field of the row outside to which a path leads.
func (s *RowSet) outside(argument string, raw json.RawMessage) (*catalog.Field, error) {
	path, ok := jsontext.ReadString(raw)
	if !ok {
		return nil, call.Invalid("%s: %s must be a field or relation__field of the row outside, not %s", argument, wordOuter, lookup.Excerpt(raw))
	}
	if s.outer == nil {
		return nil, call.Invalid(`%s: there is no row outside here; %s goes into the filters of a _measure, or into a condition on related rows ("relation__any": {…}, {"count": relation, "filters": {…}})`, argument, wordOuter)
	}
	at, name, err := s.outer.lead(argument, path, func(at place, rest string) bool { return singleField(at, rest) != nil })
	if none, ok := errors.AsType[errNoPath](err); ok {
		return nil, none.unknown(argument+": "+wordOuter, path, "", none.at.comparedNames())
	}
	if err != nil {
		return nil, err
	}
	s.outerRefs++
	return computedField(database.Outer{Of: at.ref(singleField(at, name).Column)}.Column()), nil
}

// isOutsideAlone reports whether a column has a value of the row outside, and none of its own rows.
func isOutsideAlone(c *database.Column) bool {
	if c == nil {
		return false
	}
	if _, is := c.Expression.(database.Outer); is {
		return true
	}
	alone, operands := true, 0
	c.Reads(func(of database.Ref) { alone, operands = alone && isOutsideAlone(of.Column), operands+1 })
	return alone && operands > 0
}

// measureForEach is the value of a measure for each row outside. If its filters only say that fields equal fields of that row, the
// groups of those fields are computed once, and joined; else it is computed for each row.
func (r *conditionReader) measureForEach(outside, rows *RowSet, g *database.Grouping) (database.Ref, error) {
	measure := &g.Measures[0]
	if keys, rest := equalToOuter(measure.Where); len(keys) == rows.outerRefs && !countsRows(measure.Func) {
		join := &database.Join{Through: keys[0].outer.Join}
		for _, key := range keys {
			if key.outer.Join != join.Through {
				return r.measureOfEach(outside, rows, g)
			}
			g.Keys = append(g.Keys, database.GroupKey{Ref: key.own})
			join.Ours = append(join.Ours, key.outer.Column)
		}
		g.Where, measure.Where = rest, nil
		join.From = g.Source()
		columns := join.From.Table().Columns
		join.Theirs = columns[:len(keys)]
		joined, err := outside.join(join, nil, rows.Scope)
		return database.Ref{Join: joined, Column: columns[len(keys)]}, err
	}
	return r.measureOfEach(outside, rows, g)
}

// measureOfEach computes the value with a subquery for each row outside.
func (r *conditionReader) measureOfEach(outside, rows *RowSet, g *database.Grouping) (database.Ref, error) {
	measure := g.Measures[0]
	if measure.Func == database.Percentile || measure.Func == database.Texts {
		return database.Ref{}, r.invalid(`_measure: median, percentile and texts of rows that are chosen for each row outside need filters of the form {"field": {%q: "field"}} alone`, wordOuter)
	}
	where := measure.Where
	measure.Where = nil
	value := database.RelatedValue{Rows: database.Exists{From: g.From, Joins: g.Joins, Where: where}, Measure: measure, MinRows: g.MinRows}
	field, err := outside.compute(computedValue{field: computedField(value.Column(r.key)), of: rows.Scope})
	if err != nil {
		return database.Ref{}, err
	}
	return database.Ref{Column: field.Column}, nil
}

// countsRows reports whether a measure of no rows is 0, and not null.
func countsRows(f database.MeasureFunc) bool {
	return f == database.CountRows || f == database.Count || f == database.CountDistinct
}

// outerKey is a column whose values must equal those of a column of the row outside.
type outerKey struct{ own, outer database.Ref }

// equalToOuter takes the conditions that columns equal columns of the row outside out of a measure's condition, as far as a join of
// groups has the same result.
func equalToOuter(where database.Condition) (keys []outerKey, rest database.Condition) {
	all, ok := where.(database.And)
	if !ok {
		return nil, where
	}
	var others database.And
	for _, c := range all {
		if key, ok := keyOf(c); ok {
			keys = append(keys, key)
		} else {
			others = append(others, c)
		}
	}
	if len(others) > 0 {
		rest = others
	}
	return keys, rest
}

// keyOf reads a condition as an outerKey; false if it is none.
func keyOf(c database.Condition) (outerKey, bool) {
	equal, ok := c.(database.CompareRefs)
	if !ok || equal.Op != database.Equal {
		return outerKey{}, false
	}
	outer, ok := equal.Right.Column.Expression.(database.Outer)
	return outerKey{own: equal.Left, outer: outer.Of}, ok && joinsGroups(equal.Left.Column, outer.Of.Column)
}

// joinsGroups reports whether values of two stored columns that are equal are also equal as groups, and the other way round.
func joinsGroups(a, b *database.Column) bool {
	if a.Kind != b.Kind || a.NativeType != b.NativeType || a.Expression != nil || b.Expression != nil {
		return false
	}
	switch a.Kind {
	case database.Integer, database.UUID:
		return true
	case database.Text:
		return a.Collation == b.Collation && !a.LooseCollation && !b.LooseCollation && !a.Padded && !b.Padded
	}
	return false
}
