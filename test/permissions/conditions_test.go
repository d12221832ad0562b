package permissions

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// test reports whether a row, or a group, meets a condition. What SQL does not know does not hold.
type test func(r row) bool

// shape is the subject of a condition object: rows of a table, or groups of them with members.
type shape struct {
	table   string
	members map[string]kind
}

// maxLevels is how deep condition objects may stand, maxConditions how many conditions a call may have.
const (
	maxLevels     = 5
	maxConditions = 64
)

// object reads a condition object.
func (o *reader) object(s shape, given any, level int) (test, error) {
	members, ok := given.(map[string]any)
	switch {
	case !ok:
		return nil, refuse("no object")
	case level > maxLevels:
		return nil, refuse("too deep")
	case len(members) == 0:
		o.conditions++
	}
	var all []test
	for _, key := range slices.Sorted(maps.Keys(members)) {
		one, err := o.member(s, key, members[key], level)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	if o.conditions > maxConditions {
		return nil, refuse("too many conditions")
	}
	return func(r row) bool { return !slices.ContainsFunc(all, func(t test) bool { return !t(r) }) }, nil
}

func (o *reader) member(s shape, key string, value any, level int) (test, error) {
	switch key {
	case "_not":
		inner, err := o.object(s, value, level+1)
		return func(r row) bool { return !inner(r) }, err
	case "_any", "_all":
		objects, _ := value.([]any)
		if len(objects) == 0 {
			return nil, refuse("%s of nothing", key)
		}
		var tests []test
		for _, object := range objects {
			one, err := o.object(s, object, level+1)
			if err != nil {
				return nil, err
			}
			tests = append(tests, one)
		}
		if key == "_any" {
			return func(r row) bool { return slices.ContainsFunc(tests, func(t test) bool { return t(r) }) }, nil
		}
		return func(r row) bool { return !slices.ContainsFunc(tests, func(t test) bool { return !t(r) }) }, nil
	}
	o.conditions++
	if s.members != nil {
		return o.groupFilter(s, key, value, level)
	}
	return o.filter(s, nil, strings.Split(key, "__"), value, level, 0)
}

// groupFilter is a condition on a member of groups.
func (o *reader) groupFilter(s shape, key string, value any, level int) (test, error) {
	name, lookup := key, "exact"
	if _, ok := s.members[name]; !ok {
		if i := strings.LastIndex(key, "__"); i > 0 {
			name, lookup = key[:i], key[i+2:]
		}
	}
	of, ok := s.members[name]
	if !ok {
		return nil, refuse("there is no member %s", key)
	}
	get := func(r row) string { return r[name] }
	if other, ok := fieldOf(value); ok {
		of2, ok := s.members[other]
		if !ok {
			return nil, refuse("there is no member %s", other)
		}
		if other == name {
			return nil, refuse("%s is compared with itself", name)
		}
		return compareFields(get, func(r row) string { return r[other] }, of, of2, lookup)
	}
	if m, ok := measureOf(value); ok {
		return o.compareMeasure(s, get, of, lookup, m, level)
	}
	holds, err := lookups(of, lookup, value)
	return func(r row) bool { return holds(get(r)) }, err
}

// filter is a condition whose names lead from the rows of a shape, after the relations of through, each to one row; before
// is how many relations the path took before them.
func (o *reader) filter(s shape, through []link, names []string, value any, level, before int) (test, error) {
	table := s.table
	if len(through) > 0 {
		table = through[len(through)-1].table
	}
	if len(names) == 0 {
		return nil, refuse("a relation has no value")
	}
	if _, ok := o.compared(table, names[0]); ok || wholeKey(table, names[0]) {
		return o.compareAt(s, path{through: through, table: table, name: names[0], whole: wholeKey(table, names[0])}, names[1:], value, level)
	}
	l, ok := o.link(table, names[0])
	switch {
	case !ok:
		return nil, refuse("%s has neither field nor relation %s", table, names[0])
	case before+len(through) == maxRelations:
		return nil, refuse("too many relations")
	case !l.many:
		return o.filter(s, append(slices.Clone(through), l), names[1:], value, level, before)
	}
	related := func(r row) []row { return o.related(l, o.lead(through, r)) }
	rest := names[1:]
	switch {
	case len(rest) == 0:
		return nil, refuse("a relation has no value")
	case rest[0] == "any" || rest[0] == "none":
		if len(rest) > 1 {
			return nil, refuse("%s takes no lookup", rest[0])
		}
		inner, err := o.object(shape{table: l.table}, value, level+1)
		return func(r row) bool {
			return slices.ContainsFunc(related(r), func(r row) bool { return inner(r) }) == (rest[0] == "any")
		}, err
	case rest[0] == "count":
		holds, err := lookups(anInteger, cmp.Or(strings.Join(rest[1:], "__"), "exact"), value)
		return func(r row) bool { return holds(o.countOf(l.table, related(r))) }, err
	}
	inner, err := o.filter(shape{table: l.table}, nil, rest, value, level, before+len(through)+1)
	return func(r row) bool { return slices.ContainsFunc(related(r), func(r row) bool { return inner(r) }) }, err
}

// countOf is the number of rows that belong to a row; of fewer than the model's small groups it is not told.
func (o *reader) countOf(table string, rows []row) string {
	if least := o.model(table).MinGroupSize; least > 1 && len(rows) < least {
		return "" // NULL
	}
	return fmt.Sprint(len(rows))
}

// compareAt compares what stands at a path, by the lookup that is left of a key.
func (o *reader) compareAt(s shape, p path, rest []string, value any, level int) (test, error) {
	lookup := "exact"
	if len(rest) > 0 {
		lookup = strings.Join(rest, "__")
	}
	c, _ := o.compared(p.table, p.name)
	get := func(r row) string { return o.value(p, r) }
	if text, ok := fieldOf(value); ok && !p.whole {
		other, err := o.path(s.table, text, false)
		if err != nil || other.whole {
			return nil, refuse("no field %s", text)
		}
		if other.name == p.name && slices.EqualFunc(other.through, p.through, func(a, b link) bool { return a.name == b.name }) {
			return nil, refuse("%s is compared with itself", text)
		}
		return compareFields(get, func(r row) string { return o.value(other, r) }, c.values(), other.kind, lookup)
	}
	if m, ok := measureOf(value); ok && !p.whole {
		return o.compareMeasure(s, get, c.values(), lookup, m, level)
	}
	if p.whole && !slices.Contains([]string{"exact", "ne", "in"}, lookup) {
		return nil, refuse("a key of several columns has no %s", lookup)
	}
	holds, err := lookups(c.values(), lookup, value)
	return func(r row) bool { return holds(get(r)) }, err
}

// fieldOf is the path in {"_field": path}.
func fieldOf(value any) (string, bool) {
	object, _ := value.(map[string]any)
	text, ok := object["_field"].(string)
	return text, ok && len(object) == 1
}

// measureOf is the measure in {"_measure": measure}.
func measureOf(value any) (map[string]any, bool) {
	object, _ := value.(map[string]any)
	m, ok := object["_measure"].(map[string]any)
	return m, ok && len(object) == 1
}

// compareMeasure compares with the one value that a measure has.
func (o *reader) compareMeasure(s shape, get func(row) string, of kind, lookup string, given map[string]any, level int) (test, error) {
	value, other, err := o.measured(s.table, given, level)
	if err != nil {
		return nil, err
	}
	return compareFields(get, func(row) string { return value }, of, other, lookup)
}

func compareFields(a, b func(row) string, of, other kind, lookup string) (test, error) {
	if !areComparable(of, other) || !slices.Contains([]string{"exact", "ne", "gt", "gte", "lt", "lte"}, lookup) {
		return nil, refuse("these are not compared")
	}
	return func(r row) bool {
		x, y := a(r), b(r)
		if x == "" || y == "" {
			return lookup == "ne"
		}
		return holdsOf(compare(x, y, of, other), lookup)
	}, nil
}

// holdsOf is whether a lookup holds of two values that compare so.
func holdsOf(compared int, lookup string) bool {
	switch lookup {
	case "gt":
		return compared > 0
	case "gte":
		return compared >= 0
	case "lt":
		return compared < 0
	case "lte":
		return compared <= 0
	case "ne":
		return compared != 0
	}
	return compared == 0
}

// lookupsOf are the lookups that values of a kind have.
func lookupsOf(k kind) []string {
	all := []string{"exact", "ne", "in", "range", "gt", "gte", "lt", "lte", "isnull"}
	switch {
	case k == aText:
		all = append(all, "iexact", "contains", "icontains", "startswith", "istartswith", "endswith", "iendswith")
	case k.isTime():
		all = append(all, "date", "year", "quarter", "month", "week", "day", "weekday")
	}
	if k == aMoment {
		all = append(all, "hour")
	}
	return all
}

// lookups reports whether a value meets a lookup.
func lookups(k kind, lookup string, given any) (func(value string) bool, error) {
	if !slices.Contains(lookupsOf(k), lookup) {
		return nil, refuse("no lookup %s", lookup)
	}
	if _, ok := given.(map[string]any); ok {
		return nil, refuse("an object is no value")
	}
	if lookup == "isnull" {
		return func(value string) bool { return (value == "") == given.(bool) }, nil
	}
	var texts []string
	if list, ok := given.([]any); ok {
		for _, one := range list {
			texts = append(texts, k.canonical(fmt.Sprint(one)))
		}
	} else {
		texts = []string{k.canonical(fmt.Sprint(given))}
	}
	compared := func(value string, i int) int { return compare(value, texts[i], k, k) }
	known := func(holds func(string) bool) (func(string) bool, error) {
		return func(value string) bool { return value != "" && holds(value) }, nil
	}
	piece := func(of func(string) string) (func(string) bool, error) {
		return known(func(value string) bool { return of(value) == of(fmt.Sprint(given)) })
	}
	switch text := strings.ToLower(fmt.Sprint(given)); lookup {
	case "ne":
		return func(value string) bool { return value == "" || compared(value, 0) != 0 }, nil
	case "in":
		return known(func(value string) bool { return slices.Contains(texts, value) })
	case "range":
		return known(func(value string) bool { return compared(value, 0) >= 0 && compared(value, 1) <= 0 })
	case "iexact": // all texts are in lower case
		return known(func(value string) bool { return value == text })
	case "contains", "icontains":
		return known(func(value string) bool { return strings.Contains(value, text) })
	case "startswith", "istartswith":
		return known(func(value string) bool { return strings.HasPrefix(value, text) })
	case "endswith", "iendswith":
		return known(func(value string) bool { return strings.HasSuffix(value, text) })
	case "date":
		return piece(func(value string) string { return value[:10] })
	case "year", "quarter", "month", "week", "day", "hour", "weekday":
		return known(func(value string) bool { return fmt.Sprint(number(value, lookup)) == text })
	}
	return known(func(value string) bool { return holdsOf(compared(value, 0), lookup) })
}
