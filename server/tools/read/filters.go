package read

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// filter reads one condition about the row of a place, whose key is [relation__…]field[__lookup]: the whole key is tried as
// a field, then its last __ as a lookup, then its first as a relation. A key that means nothing is an error, never a wider
// result.
func (r *conditionReader) filter(s *RowSet, at place, key string, value json.RawMessage) (database.Condition, error) {
	if target, ok := at.target(key); ok {
		return r.compare(s, at, target, lookup.Exact, value)
	}
	if i := strings.LastIndex(key, "__"); i >= 0 && lookup.Find(key[i+2:]) != nil {
		target, ok := at.target(key[:i])
		if ok && (slices.Contains(target.lookups(), key[i+2:]) || !at.leads(key)) {
			return r.compare(s, at, target, key[i+2:], value)
		}
	}
	relation, target, rest, ok := at.step(key)
	if !ok {
		return nil, r.unknown(at, key)
	}
	if err := at.checkDepth(r.argument, r.key); err != nil {
		return nil, err
	}
	if relation.Many {
		return r.related(s, at, key, relation, target, rest, value)
	}
	if rest == "" || lookup.Find(rest) != nil && !(place{scope: target}).has(rest) {
		return nil, r.onRelation(at.scope, target, relation, rest)
	}
	next, err := s.follow(at, relation, target)
	if err != nil {
		return nil, err
	}
	return r.filter(s, next, rest, value)
}

// leads reports whether a key that ends like a lookup names a field of a related row all the same.
func (p place) leads(key string) bool {
	_, target, rest, ok := p.step(key)
	return ok && place{scope: target}.has(rest)
}

// filterTarget is the target of a filter: a field, or the whole key.
type filterTarget struct {
	model *catalog.Model
	field *catalog.Field // nil: the whole key, of several columns
}

// target returns what a name means at a place.
func (p place) target(name string) (filterTarget, bool) {
	if f := p.computed(name); f != nil || p.value != nil {
		return filterTarget{field: f}, f != nil
	}
	if p.members != nil {
		i := slices.IndexFunc(p.members, func(f *catalog.Field) bool { return f.Name == name })
		if i < 0 {
			return filterTarget{}, false
		}
		return filterTarget{field: p.members[i]}, true
	}
	m := p.scope.Model()
	switch {
	case m.IsKeyName(name) && len(m.Key) == 1:
		return filterTarget{m, m.Key[0]}, true
	case m.IsKeyName(name):
		return filterTarget{m, nil}, true
	}
	f := comparedField(p.scope, name)
	return filterTarget{m, f}, f != nil
}

// computed returns the computed value that a name means at a place; nil if it means none.
func (p place) computed(name string) *catalog.Field {
	if p.value != nil && p.value.Name == name {
		return p.value
	}
	for _, f := range p.names {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// has reports whether a name means something at a place that has a value.
func (p place) has(name string) bool {
	_, ok := p.target(name)
	return ok
}

// comparedNames are the names that target finds, except the key's.
func (p place) comparedNames() []string {
	if p.members == nil {
		return comparedFields(p.scope)
	}
	names := make([]string, len(p.members))
	for i, f := range p.members {
		names[i] = f.Name
	}
	return names
}

// compare makes the condition of a lookup of a field, or of a key, at the row of a place.
func (r *conditionReader) compare(s *RowSet, at place, t filterTarget, name string, value json.RawMessage) (database.Condition, error) {
	if with, ok := readComparison(t, value); ok {
		return r.compareTo(s, at, t, name, with)
	}
	if name == lookup.Exact && t.takesPlainValues() {
		if inner, ok := nestedLookups(value); ok {
			return r.nested(s, at, t, inner)
		}
		if len(value) > 0 && value[0] == '[' {
			name = "in"
		}
	}
	var condition database.Condition
	var err error
	switch {
	case t.field == nil:
		condition, err = t.compareKey(name, value)
	case !slices.Contains(t.lookups(), name):
		err = fmt.Errorf("%s is not offered for a field of type %s; its lookups are %s", name, t.field.Column.Kind, strings.Join(t.lookups(), ", "))
	default:
		condition, err = lookup.Find(name)(r.calendar, comparedAs(t.column(name)), t.asCode(name, value))
	}
	if err != nil {
		return nil, r.invalid("%s", err)
	}
	return at.condition(condition), nil
}

// takesPlainValues reports whether the field's values are neither lists nor objects, so that either can only be meant for a
// lookup.
func (t filterTarget) takesPlainValues() bool {
	return t.field != nil && t.field.Column.Kind != database.JSON && t.field.Column.Kind != database.Array
}

// nestedLookups are the members of an object whose names are lookups, as {"icontains": "x"}; false if it is none.
func nestedLookups(raw json.RawMessage) (jsontext.Members, bool) {
	if len(raw) == 0 || raw[0] != '{' {
		return nil, false
	}
	given, ok := jsontext.ReadObject(raw)
	for _, m := range given {
		if lookup.Find(m.Name) == nil {
			return nil, false
		}
	}
	return given, ok && len(given) > 0
}

// nested reads {"field": {"lookup": value}}, which means {"field__lookup": value}.
func (r *conditionReader) nested(s *RowSet, at place, t filterTarget, given jsontext.Members) (database.Condition, error) {
	var all database.And
	for i, m := range given {
		if i > 0 {
			if err := r.count(); err != nil {
				return nil, err
			}
		}
		condition, err := r.compare(s, at, t, m.Name, m.Value)
		if err != nil {
			return nil, err
		}
		all = append(all, condition)
	}
	return all, nil
}

// keyLookups are the lookups of a key of several columns.
var keyLookups = []string{"exact", "ne", "in"}

// lookups are the names of the lookups that the target has.
func (t filterTarget) lookups() []string {
	if t.field == nil {
		return keyLookups
	}
	names := lookup.Of(t.field.Column)
	if t.field.Stored == nil {
		return names
	}
	names = slices.Clone(names)
	for _, name := range lookup.Of(t.field.Stored.Column) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// equalities are the lookups for which codes are the same as numbers and as texts.
var equalities = []string{lookup.Exact, "ne", "in", "isnull"}

// column is the column of the field that a lookup is about: lookups that only texts have are about the texts themselves, and codes that
// are equal are so as numbers, for which there may be an index.
func (t filterTarget) column(name string) *database.Column {
	if t.field.Stored != nil && (!slices.Contains(lookup.Of(t.field.Column), name) || t.field.HoldsCodes() && slices.Contains(equalities, name)) {
		return t.field.Stored.Column
	}
	return t.field.Column
}

// asCode writes the number of a code as a text, for lookups that compare texts.
func (t filterTarget) asCode(name string, value json.RawMessage) json.RawMessage {
	if t.field == nil || !t.field.HoldsCodes() || t.column(name) != t.field.Column {
		return value
	}
	if name == "range" {
		var ends []json.RawMessage
		if json.Unmarshal(value, &ends) != nil {
			return value
		}
		for i, end := range ends {
			ends[i] = t.asCode("gte", end)
		}
		quoted, _ := json.Marshal(ends) // pieces of JSON: it cannot fail
		return quoted
	}
	if code.Match(value) {
		return json.RawMessage(`"` + string(value) + `"`)
	}
	return value
}

// code is the number of a code.
var code = regexp.MustCompile(`^-?[0-9]+$`)

// compareKey compares a key of several columns, which has no order and no text of its own.
func (t filterTarget) compareKey(name string, value json.RawMessage) (database.Condition, error) {
	switch name {
	case "exact":
		return call.KeyEquals(t.model, value)
	case "ne":
		condition, err := call.KeyEquals(t.model, value)
		return database.Not{Condition: condition}, err
	case "in":
		var any []database.Condition
		err := lookup.EachValue(value, func(raw json.RawMessage) error {
			condition, err := call.KeyEquals(t.model, raw)
			any = append(any, condition)
			return err
		})
		return call.Either(any), err
	}
	return nil, fmt.Errorf("%s is not offered for a key of several columns; its lookups are %s", name, strings.Join(keyLookups, ", "))
}

// masks reports whether a name is a field at the place that is masked for the caller.
func (p place) masks(name string) bool {
	if p.members != nil {
		return false
	}
	f := p.scope.Field(name)
	return f != nil && f.Masked
}

// isMasked says of a masked field why nothing asks of its values.
func isMasked(name string) string {
	return name + " is masked for you, so nothing can filter, group, order or compute by it; tell your user so"
}

// otherLookups are lookups as other programs call them, with what to send instead of a field's name and one of them.
var otherLookups = map[string]string{
	"not_in": `"_not": {"%s__in": […]}`, "nin": `"_not": {"%s__in": […]}`, "not": `"%s__ne"`, "neq": `"%s__ne"`, "eq": `"%s"`,
	"ge": `"%s__gte"`, "le": `"%s__lte"`, "between": `"%s__range": [from, to]`, "like": `"%s__icontains"`, "ilike": `"%s__icontains"`,
	"ieq": `"%s__iexact"`, "iequals": `"%s__iexact"`,
	"null": `"%s__isnull": true`, "notnull": `"%s__isnull": false`, "not_null": `"%s__isnull": false`, "isnotnull": `"%s__isnull": false`,
}

// otherWords are the words that join conditions as other programs call them.
var otherWords = map[string]string{"or": wordAny + `: [{…}, {…}]`, "and": wordAll + `: [{…}, {…}]`, "not": wordNot + `: {…}`}

// unknown says why a key is no filter; name is the piece of it that is about the scope's model.
func (r *conditionReader) unknown(at place, name string) error {
	for end := strings.LastIndex(name, "__"); end > 0; end = strings.LastIndex(name[:end], "__") {
		if target, ok := at.target(name[:end]); ok {
			if instead, ok := otherLookups[strings.ToLower(name[end+2:])]; ok {
				return r.invalid("there is no lookup %q; send %s", name[end+2:], fmt.Sprintf(instead, strings.TrimSuffix(r.key, name[end:])))
			}
			return r.invalid("%s has no lookup %q; its lookups are %s%s", name[:end], name[end+2:], strings.Join(target.lookups(), ", "), at.rowHint(target.field))
		}
	}
	if instead, ok := otherWords[strings.ToLower(strings.TrimLeft(name, "_$"))]; ok {
		return r.invalid("conditions are joined by %s", instead)
	}
	if at.members != nil {
		return r.invalid("there is no measure or group %q; there are %s; a lookup may follow after __: %s", name, strings.Join(at.comparedNames(), ", "), strings.Join(lookup.Names, ", "))
	}
	scope := at.scope
	if relation, target, ok := scope.Follow(name); ok {
		return r.onRelation(scope, target, relation, "")
	}
	field, _, _ := strings.Cut(name, "__")
	if at.masks(field) {
		return r.invalid("%s", isMasked(field))
	}
	if at.relations > 0 && slices.Contains(quantifiers, field) {
		return r.invalid("%s is asked of relations to many rows, and this one leads to one row of %s; name a field of it in place of %s", field, scope.Model().Name, field)
	}
	message := fmt.Sprintf("%s has no field %q to filter by; it has %s", scope.Model().Name, field, strings.Join(comparedFields(scope), ", "))
	if strings.HasPrefix(name, "_") {
		message += fmt.Sprintf("; conditions are joined by %s, %s and %s", wordAny, wordAll, wordNot)
	}
	if relations := scope.Relations(); len(relations) > 0 {
		message += "; its relations (as relation__field) are " + relationNames(scope)
	}
	return r.invalid("%s; a lookup may follow after __: %s", message, strings.Join(lookupsOf(scope), ", "))
}

// lookupsOf are the lookups that fields have which the token sees.
func lookupsOf(scope access.Scope) []string {
	return slices.DeleteFunc(slices.Clone(lookup.Names), func(name string) bool {
		return !slices.ContainsFunc(scope.Fields(), func(f *catalog.Field) bool {
			return !f.Masked && slices.Contains(filterTarget{field: f.Compared()}.lookups(), name)
		})
	})
}

// onRelation says what to filter by in place of a relation, which has no value of its own.
func (r *conditionReader) onRelation(scope, related access.Scope, relation *catalog.Relation, name string) error {
	var others []string
	if !relation.Many && len(relation.Ours) == 1 {
		for _, f := range scope.Fields() {
			if f.Column == relation.Ours[0] && !f.Masked {
				others = append(others, withLookup(f.Name, name))
			}
		}
	}
	if fields := comparedFields(related); len(fields) > 0 {
		others = append(others, withLookup(relation.Name+"__"+fields[0], name))
	}
	if relation.Many {
		for _, word := range quantifiers {
			others = append(others, relation.Name+"__"+word)
		}
	}
	if len(others) == 0 {
		return r.invalid("%s is a relation to %s, which has no field to filter by", relation.Name, relation.Target.Name)
	}
	return r.invalid("%s is a relation to %s, and only fields have values; use %s", relation.Name, relation.Target.Name, strings.Join(others, " or "))
}

func withLookup(field, name string) string {
	if name == "" {
		return field
	}
	return field + "__" + name
}

// lookedInto are the arrays and JSON documents into which filters may look.
func lookedInto(scope access.Scope) []*catalog.Field {
	return slices.DeleteFunc(slices.Clone(scope.Fields()), func(f *catalog.Field) bool { return f.Masked || !f.Column.Contains })
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
