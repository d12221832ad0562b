package tools

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
)

// maxFilters bounds the filters of a call (docs/design/tools.md, "Filters").
const maxFilters = 32

// appendFilters adds one condition for each filter: they are ANDed.
func appendFilters(where database.And, scope access.Scope, raw json.RawMessage) (database.And, error) {
	if raw == nil {
		return where, nil
	}
	var filters map[string]json.RawMessage
	if err := json.Unmarshal(raw, &filters); err != nil {
		return nil, invalid("filters must be an object of field name to value, not %s", lookup.Excerpt(raw))
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
	name := "exact"
	if i := strings.LastIndex(key, "__"); i >= 0 && lookup.Find(key[i+2:]) != nil {
		name = key[i+2:]
		if target, ok := findTarget(scope, key[:i]); ok {
			return target.compare(key, name, value)
		}
	}
	relation, rest, through := strings.Cut(key, "__")
	r, related, ok := scope.Follow(relation)
	if !ok || !through {
		return nil, unknownFilter(scope, key, key)
	}
	target, ok := findTarget(related, rest)
	if ok {
		name = "exact" // a field of that name goes before a lookup: author__year may be the author's year
	} else if field, behind := strings.CutSuffix(rest, "__"+name); behind {
		rest = field
		target, ok = findTarget(related, rest)
	}
	if !ok {
		return nil, unknownFilter(scope, key, key)
	}
	condition, err := target.compare(key, name, value)
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
	f := comparedField(scope, name)
	return filterTarget{m, f}, f != nil
}

func (t filterTarget) compare(key, name string, value json.RawMessage) (database.Condition, error) {
	var condition database.Condition
	var err error
	switch {
	case t.field == nil:
		condition, err = t.compareKey(name, value)
	case !slices.Contains(t.lookups(), name):
		err = fmt.Errorf("%s is not offered for a field of type %s; its lookups are %s", name, t.field.Column.Kind, strings.Join(t.lookups(), ", "))
	default:
		condition, err = lookup.Find(name)(t.field.Column, value)
	}
	if err != nil {
		return nil, invalid("filters: %s: %s", key, err)
	}
	return condition, nil
}

// keyLookups are the lookups of a key of several columns.
var keyLookups = []string{"exact", "ne", "in"}

// lookups are the names of the lookups that the target has.
func (t filterTarget) lookups() []string {
	if t.field == nil {
		return keyLookups
	}
	return lookup.Of(t.field.Column)
}

// compareKey compares a key of several columns, which has no order and no text of its own.
func (t filterTarget) compareKey(name string, value json.RawMessage) (database.Condition, error) {
	switch name {
	case "exact":
		return keyEquals(t.model, value)
	case "ne":
		condition, err := keyEquals(t.model, value)
		return database.Not{Condition: condition}, err
	case "in":
		var any []database.Condition
		err := lookup.EachValue(value, func(raw json.RawMessage) error {
			condition, err := keyEquals(t.model, raw)
			any = append(any, condition)
			return err
		})
		return either(any), err
	}
	return nil, fmt.Errorf("%s is not offered for a key of several columns; its lookups are %s", name, strings.Join(keyLookups, ", "))
}

// unknownFilter says why a key is no filter; name is the piece of the key that is about the scope's model. A masked field is
// like one that does not exist.
func unknownFilter(scope access.Scope, key, name string) error {
	m := scope.Model()
	for at := strings.LastIndex(name, "__"); at > 0; at = strings.LastIndex(name[:at], "__") {
		if target, ok := findTarget(scope, name[:at]); ok {
			return invalid("filters: %s: %s has no lookup %q; its lookups are %s", key, name[:at], name[at+2:], strings.Join(target.lookups(), ", "))
		}
	}
	relation, rest, _ := strings.Cut(name, "__")
	if r, related, ok := scope.Follow(relation); ok {
		if rest == "" || lookup.Find(rest) != nil {
			return relationFilter(scope, related, r, key, rest)
		}
		return unknownFilter(related, key, rest)
	}
	message := fmt.Sprintf("filters: %s: %s has no field %q to filter by; it has %s", key, m.Name, relation, strings.Join(comparedFields(scope), ", "))
	if relations := scope.Relations(); len(relations) > 0 {
		message += "; its relations (as relation__field) are " + relationNames(scope)
	}
	return invalid("%s; a lookup may follow after __: %s", message, strings.Join(lookup.Names, ", "))
}

// relationFilter says what to filter by in place of a relation, which has no value of its own.
func relationFilter(scope, related access.Scope, r *catalog.Relation, key, name string) error {
	var others []string
	if !r.Many && len(r.Ours) == 1 {
		for _, f := range scope.Fields() {
			if f.Column == r.Ours[0] && !f.Masked {
				others = append(others, withLookup(f.Name, name))
			}
		}
	}
	if fields := comparedFields(related); len(fields) > 0 {
		others = append(others, withLookup(r.Name+"__"+fields[0], name))
	}
	if len(others) == 0 {
		return invalid("filters: %s: %s is a relation to %s, which has no field to filter by", key, r.Name, r.Target.Name)
	}
	return invalid("filters: %s: %s is a relation to %s, and only fields have values; use %s", key, r.Name, r.Target.Name, strings.Join(others, " or "))
}

func withLookup(field, name string) string {
	if name == "" {
		return field
	}
	return field + "__" + name
}

// comparedFields are the names of the fields that filters may use.
func comparedFields(scope access.Scope) []string {
	var names []string
	for _, f := range scope.Fields() {
		if !f.Masked {
			names = append(names, f.Name)
		}
	}
	return names
}

// maxWords bounds the words of a search.
const maxWords = 10

// appendSearch adds one condition for each word of a search: the word must be in one of the search fields at least.
func appendSearch(where database.And, scope access.Scope, search string) (database.And, error) {
	if strings.TrimSpace(search) == "" {
		return where, nil
	}
	if err := checkSearch("search", search); err != nil {
		return nil, err
	}
	fields := scope.SearchFields()
	if len(fields) == 0 {
		return nil, invalid("%s has no fields that search looks in; use filters", scope.Model().Name)
	}
	return append(where, matchWords(scope, fields, search)...), nil
}

// checkSearch judges the text of a search, which the argument of that name has.
func checkSearch(argument, search string) error {
	if n := len(strings.Fields(search)); n > maxWords {
		return invalid("%s: at most %d words, not %d", argument, maxWords, n)
	}
	if strings.ContainsRune(search, 0) {
		return invalid("%s must not contain U+0000", argument)
	}
	return nil
}

// matchWords has one condition for each word: that it is in one of the fields at least.
func matchWords(scope access.Scope, fields []catalog.SearchField, search string) database.And {
	var all database.And
	for _, word := range strings.Fields(search) {
		var any database.Or
		for _, f := range fields {
			var condition database.Condition = database.Match{Column: f.Field.Column, Op: f.Op, Text: word, FoldCase: true}
			if f.Relation != nil {
				condition = scope.Related(f.Relation, condition)
			}
			any = append(any, condition)
		}
		all = append(all, any)
	}
	return all
}
