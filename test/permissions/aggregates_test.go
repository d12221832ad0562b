package permissions

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
)

// parts are the pieces of dates and moments to group by.
var parts = []string{"year", "quarter", "month", "week", "day", "hour", "weekday"}

// measure is a measure as the oracle understands it.
type measure struct {
	function string
	path     path
	meets    test // nil: all rows
	of       []string
	kind     kind
}

// key reads a path to group by.
func (o *reader) key(table, text string) (path, error) {
	p, err := o.path(table, text, false)
	if err == nil {
		if p.whole {
			return p, refuse("a key of several columns makes no groups")
		}
		return p, nil
	}
	if p.part == "" {
		return p, err
	}
	var ok bool
	if _, p.kind, ok = part("", p.part, p.kind); !ok {
		return p, refuse("%s has no such part", text)
	}
	return p, nil
}

// measure reads a measure, but for what a ratio is of; level is how deep its filters stand.
func (o *reader) measure(table string, given map[string]any, level int) (measure, error) {
	var m measure
	for function := range given {
		if function != "filters" && function != "model" {
			m.function = function
		}
	}
	if given["filters"] != nil {
		var err error
		if m.meets, err = o.object(shape{table: table}, given["filters"], level); err != nil {
			return m, err
		}
	}
	if m.function == "ratio" {
		m.of, m.kind = given["ratio"].([]string), aDecimal
		return m, nil
	}
	text := given[m.function].(string)
	if text == "*" && m.function == "count" {
		m.function, m.kind = "rows", anInteger
		return m, nil
	}
	var err error
	if m.path, err = o.path(table, text, false); err != nil {
		return m, err
	}
	of := m.path.kind
	switch m.function {
	case "count", "count_distinct":
		m.kind = anInteger
	case "min", "max", "sum":
		m.kind = of
	case "avg":
		if m.kind = aDecimal; of == aFloat {
			m.kind = aFloat
		}
	}
	if m.path.whole || (m.function == "sum" || m.function == "avg") && !of.isNumber() {
		return m, refuse("%s of %s", m.function, text)
	}
	return m, nil
}

// aggregate returns the answer of aggregate_.
func (o *reader) aggregate(table string, arguments map[string]any) (*wanted, error) {
	meets, err := o.condition(shape{table: table}, arguments, "filters")
	if err != nil {
		return nil, err
	}
	var keys []path
	members := map[string]kind{}
	for _, text := range texts(arguments, "group_by") {
		p, err := o.key(table, text)
		if _, there := members[text]; err != nil || there {
			return nil, refuse("group_by: %v, %v", err, there)
		}
		keys, members[text] = append(keys, p), p.kind
	}
	given, _ := arguments["measures"].(map[string]any)
	measures := map[string]measure{}
	for name, one := range given {
		m, err := o.measure(table, one.(map[string]any), 1)
		if err != nil {
			return nil, err
		}
		measures[name], members[name] = m, m.kind
	}
	for _, m := range measures {
		for _, name := range m.of {
			if of, ok := measures[name]; !ok || of.function == "ratio" || !of.kind.isNumber() {
				return nil, refuse("no ratio of %s", name)
			}
		}
	}
	if len(members) == 0 || len(keys) > 6 || len(measures) > 20 {
		return nil, refuse("too few or too many members")
	}
	having, err := o.condition(shape{table: table, members: members}, arguments, "having")
	if err != nil {
		return nil, err
	}
	least := o.model(table).MinGroupSize
	var steps []step
	for _, text := range texts(arguments, "order_by") {
		name, descending := strings.CutPrefix(text, "-")
		of, ok := members[name]
		if !ok {
			return nil, refuse("no member %s", name)
		}
		steps = append(steps, step{func(r row) string { return r[name] }, of, descending})
	}
	for _, p := range keys {
		steps = append(steps, step{func(r row) string { return r[p.text] }, p.kind, false})
	}

	rows := slices.DeleteFunc(o.rows(table), func(r row) bool { return !meets(r) })
	groups := []row{}
	for _, group := range o.groups(rows, keys) {
		if len(group) < least {
			continue
		}
		r := row{}
		for _, p := range keys {
			r[p.text] = o.value(p, group[0])
		}
		for name, m := range measures {
			if m.function != "ratio" {
				r[name] = o.compute(m, group, least)
			}
		}
		for name, m := range measures {
			if m.function == "ratio" {
				r[name] = ratio(r[m.of[0]], r[m.of[1]])
			}
		}
		if having(r) {
			groups = append(groups, r)
		}
	}
	o.sort(groups, steps)
	w := &wanted{offset: integer(arguments, "offset", 0), limit: integer(arguments, "limit", 100), limited: o.narrowed(table)}
	if arguments["total"] == "exact" {
		w.total = "total_groups"
	}
	for _, r := range groups {
		cells := map[string]cell{}
		for name, of := range members {
			cells[name] = cell{text: r[name], kind: of, near: inexact(measures, measures[name])}
		}
		w.rows = append(w.rows, cells)
	}
	return w, nil
}

// measured is the value, and its kind, with which {"_measure": measure} compares: it is computed of all rows of a table
// that the token sees, or of the model that the measure names.
func (o *reader) measured(table string, given map[string]any, level int) (string, kind, error) {
	if name, ok := given["model"].(string); ok {
		if tables[name] == nil || !o.views(name) {
			return "", 0, refuse("there is no model %s", name)
		}
		table = name
		o.reached = append(o.reached, name)
	}
	of := o.model(table)
	if !offers(of, "aggregate") {
		return "", 0, refuse("%s has no aggregates", table)
	}
	m, err := o.measure(table, given, level+1)
	if err != nil {
		return "", 0, err
	}
	if m.function == "ratio" {
		return "", 0, refuse("a ratio is of two measures")
	}
	rows := o.rows(table)
	if len(rows) < of.MinGroupSize {
		return "", m.kind, nil
	}
	return o.compute(m, rows, of.MinGroupSize), m.kind, nil
}

// inexact reports whether a ratio is of floats or of averages, which are rounded themselves.
func inexact(measures map[string]measure, m measure) bool {
	return slices.ContainsFunc(m.of, func(name string) bool { return measures[name].kind == aFloat || measures[name].function == "avg" })
}

// groups are the rows with equal values of the keys; one group if there are no keys.
func (o *reader) groups(rows []row, keys []path) [][]row {
	if len(keys) == 0 {
		return [][]row{rows}
	}
	all := map[string][]row{}
	for _, r := range rows {
		var values []string
		for _, p := range keys {
			values = append(values, o.value(p, r))
		}
		at := strings.Join(values, "\x00")
		all[at] = append(all[at], r)
	}
	var groups [][]row
	for _, at := range slices.Sorted(maps.Keys(all)) {
		groups = append(groups, all[at])
	}
	return groups
}

// compute is the value of a measure of a group; NULL if fewer than least of its rows meet the measure's own filters.
func (o *reader) compute(m measure, group []row, least int) string {
	if m.meets != nil {
		group = slices.DeleteFunc(slices.Clone(group), func(r row) bool { return !m.meets(r) })
		if len(group) < least {
			return ""
		}
	}
	if m.function == "rows" {
		return fmt.Sprint(len(group))
	}
	var values []string
	for _, r := range group {
		if text := o.value(m.path, r); text != "" {
			values = append(values, text)
		}
	}
	of := m.path.kind
	order := func(a, b string) int { return compare(a, b, of, of) }
	switch m.function {
	case "count":
		return fmt.Sprint(len(values))
	case "count_distinct":
		slices.Sort(values)
		return fmt.Sprint(len(slices.Compact(values)))
	}
	if len(values) == 0 {
		return ""
	}
	switch m.function {
	case "min":
		return slices.MinFunc(values, order)
	case "max":
		return slices.MaxFunc(values, order)
	}
	sum := new(big.Rat)
	for _, text := range values {
		sum.Add(sum, rational(text))
	}
	n := big.NewRat(int64(len(values)), 1)
	switch {
	case m.function == "sum":
		return of.canonical(sum.RatString())
	case of == aFloat:
		return of.canonical(sum.Quo(sum, n).RatString())
	}
	return aDecimal.canonical(quotient(sum, n))
}

// ratio divides one number by another.
func ratio(a, b string) string {
	if a == "" || b == "" || rational(b).Sign() == 0 {
		return ""
	}
	return aDecimal.canonical(quotient(rational(a), rational(b)))
}

// parse reads a number of an answer.
func parse(text string) (*big.Rat, bool) { return new(big.Rat).SetString(text) }

// near reports whether two numbers differ by less than what floats and twofold rounding lose.
func near(a, b *big.Rat) bool {
	difference := new(big.Rat).Sub(a, b)
	difference.Abs(difference)
	bound := new(big.Rat).Add(new(big.Rat).Abs(b), big.NewRat(1, 1))
	return difference.Cmp(bound.Mul(bound, big.NewRat(1, 1_000_000_000))) <= 0
}
