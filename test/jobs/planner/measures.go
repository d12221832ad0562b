package planner

import (
	"reflect"
	"sort"
)

// measure adds a measure, and returns its name.
func (g *grouping) measure(v value) (string, error) {
	function := v.aggregate
	if function == "min" || function == "max" {
		if err := g.ordered(g.at(v.place)); err != nil {
			return "", err
		}
	}
	if v.source >= 0 && (v.column.Others || v.column.SomeNone && g.takesNumber(v)) {
		return g.measureWithOthers(v)
	}
	if v.distinct {
		function += "_distinct"
	}
	return g.add(v.aggregate, Object{function: g.measured(v)}), nil
}

// takesNumber reports whether a measure computes with the numbers that texts hold.
func (g *grouping) takesNumber(v value) bool {
	return v.source >= 0 && (v.aggregate == "sum" || v.aggregate == "avg") && v.column.asNumber()
}

// measured returns the operand of a measure.
func (g *grouping) measured(v value) any {
	switch {
	case v.source < 0:
		return "*"
	case g.takesNumber(v):
		return Object{"number": g.path(v.place)}
	}
	return g.path(v.place)
}

// measureWithOthers adds a sum or an average of texts some of which are no numbers, which SQLite takes for 0: they are left out of a
// sum, and counted for an average. A group without any number is NULL, and not 0.
func (g *grouping) measureWithOthers(v value) (string, error) {
	sum := value{place: v.place, aggregate: "sum"}
	switch {
	case v.distinct || v.aggregate != "sum" && v.aggregate != "avg":
		return "", unable("an order of numbers kept as text")
	case v.aggregate == "sum":
		return g.add("sum", Object{"sum": g.measured(v)}), nil
	}
	counted := value{place: place{source: -1}, aggregate: "count"}
	switch {
	case g.nullable(v.place) && v.column.Others:
		return "", unable("an average of numbers kept as text, with NULLs")
	case g.nullable(v.place):
		counted.place = v.place
	}
	all, err := g.measure(counted)
	if err != nil {
		return "", err
	}
	of, err := g.measure(sum)
	return g.add("avg", Object{"ratio": []any{of, all}}), err
}

// add adds a measure, unless it is there, and returns its name.
func (g *grouping) add(function string, wanted Object) string {
	var names []string
	for name := range g.measures {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if reflect.DeepEqual(g.measures[name], wanted) {
			return name
		}
	}
	name := measureName(g.measures, g.members, function)
	g.measures[name] = wanted
	return name
}
