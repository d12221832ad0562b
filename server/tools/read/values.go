package read

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// wordValues is the member that makes a value the set of values that a field of other rows has.
const wordValues = "_values"

// among compares a field with the values of a model's field: of all rows that the token sees, or of those that meet the set's own
// filters. The model is that of the rows, or another one.
func (r *conditionReader) among(s *RowSet, at place, t filterTarget, name string, raw json.RawMessage) (database.Condition, error) {
	if t.field == nil || at.members != nil || name != "in" && name != lookup.Exact || !slices.Contains(t.lookups(), "in") {
		return nil, r.invalid(`%s is a set of values, and goes with the lookup in of a field of rows; none of them is "_not": {"field__in": …}`, wordValues)
	}
	given, ok := jsontext.ReadObject(raw)
	path, isText := jsontext.ReadString(given.Value("field"))
	for _, m := range given {
		ok = ok && slices.Contains([]string{"model", "field", "filters"}, m.Name)
	}
	if !ok || !isText {
		return nil, r.invalid(`%s must be {"model": name, "field": path, "filters": {…}}, the last of them if need be, not %s`, wordValues, lookup.Excerpt(raw))
	}
	of := s.Scope
	if model, ok := given.Find("model"); ok {
		var err error
		if of, err = r.otherModel(s, wordValues, model); err != nil {
			return nil, err
		}
	}
	m := of.Model()
	if !call.FindOperation("list").OfferedFor(m.Catalog(), m) {
		return nil, r.invalid("%s: list is not offered for %s; send the values themselves", wordValues, m.Name)
	}
	rows := &RowSet{Scope: of}
	argument := r.argument + ": " + r.key + ": " + wordValues
	there, field, err := rows.lead(argument, path, func(at place, rest string) bool { return singleField(at, rest) != nil })
	if none, ok := errors.AsType[errNoPath](err); ok {
		return nil, none.unknown(argument, path, "", comparedFields(none.at.scope))
	}
	if err != nil {
		return nil, err
	}
	set := database.InRows{From: of.Source(), Theirs: there.ref(singleField(there, field).Column)}
	set.Column = t.comparedWith(set.Theirs.Column)
	if own, theirs := set.Column, set.Theirs.Column; !lookup.HasEquality(theirs) || !database.Comparable(own, theirs) {
		return nil, r.invalid("a field of type %s cannot be compared with %s of type %s; name one of the same type", own.Kind, wordValues, theirs.Kind)
	}
	if filters, ok := given.Find("filters"); ok {
		where, err := r.inside(r.key+": "+wordValues+": filters", rows, filters)
		if err != nil {
			return nil, err
		}
		set.Where = where
	}
	set.Joins = rows.joins
	return at.condition(set), nil
}
