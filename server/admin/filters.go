package admin

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// The bounds of filters and of the values of one (decisions section 4, "filters").
const (
	maxFilters  = 32
	maxInValues = 1000
)

// appendFilters adds one condition for each filter: they are ANDed.
func appendFilters(where database.And, scope access.Scope, raw json.RawMessage) (database.And, error) {
	if raw == nil {
		return where, nil
	}
	var filters map[string]json.RawMessage
	if err := json.Unmarshal(raw, &filters); err != nil {
		return nil, invalid("filters must be an object of field name to value, not %s", excerpt(raw))
	}
	if len(filters) > maxFilters {
		return nil, invalid("filters: at most %d, not %d", maxFilters, len(filters))
	}
	for _, key := range slices.Sorted(maps.Keys(filters)) { // sorted, so that equal calls give equal SQL
		condition, err := planFilter(scope, key, filters[key])
		if err != nil {
			return nil, err
		}
		where = append(where, condition)
	}
	return where, nil
}

// planFilter reads one filter, whose key is [relation__]field[__lookup]: the whole key is tried as a field, then its
// last __ as a lookup, then its first as a relation. A key that means nothing is an error, never a wider result.
func planFilter(scope access.Scope, key string, value json.RawMessage) (database.Condition, error) {
	if target, ok := findTarget(scope, key); ok {
		return target.compare(key, "exact", value)
	}
	lookup := "exact"
	if i := strings.LastIndex(key, "__"); i >= 0 && lookups[key[i+2:]] != nil {
		lookup = key[i+2:]
		if target, ok := findTarget(scope, key[:i]); ok {
			return target.compare(key, lookup, value)
		}
	}
	relation, rest, through := strings.Cut(key, "__")
	if !through {
		return nil, unknownFilter(scope, key, key)
	}
	r, related, ok := scope.Follow(relation)
	if !ok {
		return nil, unknownFilter(scope, key, relation)
	}
	target, ok := findTarget(related, rest)
	if ok {
		lookup = "exact" // a field of that name goes before a lookup: author__year may be the author's year
	} else if name, behind := strings.CutSuffix(rest, "__"+lookup); behind {
		rest = name
		target, ok = findTarget(related, rest)
	}
	if !ok {
		return nil, unknownFilter(related, key, rest)
	}
	condition, err := target.compare(key, lookup, value)
	if err != nil {
		return nil, err
	}
	return scope.Related(r, condition), nil
}

// filterTarget is what a filter compares: a field, or the whole key.
type filterTarget struct {
	model *catalog.Model
	field *catalog.Field // nil: the whole key, of several columns
}

func findTarget(scope access.Scope, name string) (filterTarget, bool) {
	m := scope.Model()
	switch {
	case isKeyName(m, name) && len(m.Key) == 1:
		return filterTarget{m, m.Key[0]}, true
	case isKeyName(m, name):
		return filterTarget{m, nil}, true
	}
	f := scope.Field(name)
	return filterTarget{m, f}, f != nil
}

func (t filterTarget) compare(key, lookup string, value json.RawMessage) (database.Condition, error) {
	var condition database.Condition
	var err error
	switch {
	case t.field == nil:
		condition, err = t.compareKey(lookup, value)
	case !slices.Contains(lookupsOf(t.field.Column), lookup):
		err = fmt.Errorf("%s is not offered for a field of type %s; its lookups are %s", lookup, t.field.Column.Kind, strings.Join(lookupsOf(t.field.Column), ", "))
	default:
		condition, err = lookups[lookup](t.field.Column, value)
	}
	if err != nil {
		return nil, invalid("filters: %s: %s", key, err)
	}
	return condition, nil
}

// compareKey compares a key of several columns, which has no order and no text of its own.
func (t filterTarget) compareKey(lookup string, value json.RawMessage) (database.Condition, error) {
	switch lookup {
	case "exact":
		return keyEquals(t.model, value)
	case "ne":
		condition, err := keyEquals(t.model, value)
		return database.Not{Condition: condition}, err
	case "in":
		var any database.Or
		err := eachValue(value, func(raw json.RawMessage) error {
			condition, err := keyEquals(t.model, raw)
			any = append(any, condition)
			return err
		})
		return any, err
	}
	return nil, fmt.Errorf("%s is not offered for a key of several columns; its lookups are exact, ne, in", lookup)
}

func unknownFilter(scope access.Scope, key, name string) error {
	var relations []string
	for _, r := range scope.Relations() {
		relations = append(relations, r.Name)
	}
	m := scope.Model()
	message := fmt.Sprintf("filters: %s: %s has no field %q; its fields are %s", key, m.Name, name, strings.Join(fieldNames(scope), ", "))
	if len(relations) > 0 {
		message += "; its relations (as relation__field) are " + strings.Join(relations, ", ")
	}
	return invalid("%s; a lookup may follow after __: %s", message, strings.Join(lookupNames, ", "))
}

// appendSearch adds one condition for each word of a search: the word must be in one of the search fields at least.
func appendSearch(where database.And, scope access.Scope, search string) (database.And, error) {
	const maxWords = 10
	words := strings.Fields(search)
	if len(words) == 0 {
		return where, nil
	}
	if len(words) > maxWords {
		return nil, invalid("search: at most %d words, not %d", maxWords, len(words))
	}
	if strings.ContainsRune(search, 0) {
		return nil, invalid("search must not contain U+0000")
	}
	fields := scope.SearchFields()
	if len(fields) == 0 {
		return nil, invalid("%s has no fields that search looks in; use filters", scope.Model().Name)
	}
	for _, word := range words {
		var any database.Or
		for _, f := range fields {
			var condition database.Condition = database.Match{Column: f.Field.Column, Op: f.Op, Text: word, FoldCase: true}
			if f.Relation != nil {
				condition = scope.Related(f.Relation, condition)
			}
			any = append(any, condition)
		}
		where = append(where, any)
	}
	return where, nil
}
