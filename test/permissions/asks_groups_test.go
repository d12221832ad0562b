package permissions

import (
	"fmt"
	"slices"
)

// addGroups adds what aggregate_ takes.
func (q *question) addGroups() {
	members := map[string]kind{}
	if chance(q.random, 70) {
		keys := q.some(pick(q.random, 1, 1, 2, 3), func() string {
			path := q.forward(q.table, nil)
			if chance(q.random, 60) { // few groups
				path = q.forward(q.table, func(k kind) bool { return k != aText })
			}
			if p, err := q.path(q.table, path, false); err == nil && p.kind.isTime() && chance(q.random, 80) || chance(q.random, wrongNames) {
				path += "__" + pick(q.random, parts...)
			}
			return path
		})
		q.arguments["group_by"] = keys
		for _, text := range keys {
			if p, err := q.key(q.table, text); err == nil {
				members[text] = p.kind
			}
		}
	}
	measures := map[string]any{}
	if len(members) == 0 || chance(q.random, 85) {
		for i := range 1 + q.random.IntN(4) {
			name, one := fmt.Sprint("m", i), q.makeMeasure(q.table, 2, nil, measureFunctions...)
			measures[name] = one
			if m, err := q.measure(q.table, one, 1); err == nil {
				members[name] = m.kind
			}
		}
		var numbers []string
		for i := range len(measures) {
			if name := fmt.Sprint("m", i); members[name].isNumber() || chance(q.random, wrongNames) {
				numbers = append(numbers, name)
			}
		}
		if len(numbers) > 0 && chance(q.random, 40) {
			measures["share"] = map[string]any{"ratio": []string{pick(q.random, numbers...), pick(q.random, numbers...)}}
			members["share"] = aDecimal
		}
		q.arguments["measures"] = measures
	}
	if chance(q.random, 50) {
		q.arguments["filters"] = q.object(q.table, 1)
	}
	var names []string
	for name := range members {
		names = append(names, name)
	}
	slices.Sort(names)
	if len(names) > 0 && chance(q.random, 30) {
		q.arguments["having"] = q.having(names, members, 1)
	}
	if len(names) > 0 && chance(q.random, 40) {
		q.arguments["order_by"] = q.some(1+q.random.IntN(2), func() string {
			return pick(q.random, "", "-") + pick(q.random, names...)
		})
	}
	if q.addLimits(q.table); chance(q.random, 30) {
		q.arguments["total"] = "exact"
	}
}

// measureFunctions are the functions of measures; one that stands here twice is made up twice as often.
var measureFunctions = []string{"count", "count", "count_distinct", "sum", "avg", "min", "max"}

// makeMeasure is a measure of a table's rows by one of some functions, with filters at a level; fits, if given, says which
// kinds of least and greatest values are wanted.
func (q *question) makeMeasure(table string, level int, fits func(kind) bool, functions ...string) map[string]any {
	function := pick(q.random, functions...)
	one := map[string]any{}
	switch function {
	case "sum", "avg":
		one[function] = q.forward(table, kind.isNumber)
	case "count":
		one[function] = pick(q.random, "*", q.forward(table, nil))
	case "ratio":
		one[function] = []string{"m0", "m0"}
	case "min", "max":
		one[function] = q.forward(table, fits)
	default:
		one[function] = q.forward(table, nil)
	}
	if chance(q.random, 30) {
		one["filters"] = q.object(table, level)
	}
	return one
}

// comparedMeasure is {"_measure": measure} in an object at a level, mostly of a kind that can be compared with another. It is
// of a table's rows, or of another model's, which is mostly one whose measures the token may ask for.
func (q *question) comparedMeasure(table string, of kind, level int) map[string]any {
	other := pick(q.random, append(tableNames, "nowhere", "guest")...)
	named := chance(q.random, 35) && (chance(q.random, wrongNames) || tables[other] != nil && q.views(other) && offers(q.model(other), "aggregate"))
	if named && tables[other] != nil {
		table = other
	}
	functions := []string{"min", "max"}
	if of.isNumber() {
		functions = measureFunctions
	}
	if chance(q.random, wrongNames) {
		functions = append([]string{"ratio"}, measureFunctions...)
	}
	one := q.makeMeasure(table, level+1, func(k kind) bool { return areComparable(k, of) }, functions...)
	if named {
		one["model"] = other
	}
	q.measured = append(q.measured, table)
	return map[string]any{"_measure": one}
}

// having is a condition object on the members of groups.
func (q *question) having(names []string, members map[string]kind, level int) map[string]any {
	object := map[string]any{}
	for range pick(q.random, 1, 1, 2) {
		name := pick(q.random, names...)
		of := members[name]
		switch n := q.random.IntN(100); {
		case n < 10 && level < 4:
			object["_not"] = q.having(names, members, level+1)
		case n < 20 && level < 4:
			object["_any"] = []any{q.having(names, members, level+1), q.having(names, members, level+1)}
		case n < 30:
			object[name+pick(q.random, "", "__gt", "__ne")] = map[string]any{"_field": pick(q.random, names...)}
		case n < 42 && level < 4:
			object[name+pick(q.random, comparisons...)] = q.comparedMeasure(q.table, of, level)
		default:
			if chance(q.random, wrongNames) {
				name = pick(q.random, "nowhere", "weight", "m9")
			}
			lookup, value := q.comparison(of, func() string {
				if text := of.canonical(of.random(q.random)); text != "" {
					return text
				}
				return map[bool]string{true: "2026-01-15", false: "1"}[of.isTime()]
			})
			object[name+lookup] = value
		}
	}
	return object
}
