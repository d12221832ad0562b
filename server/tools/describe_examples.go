package tools

import (
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/read"
)

// exampleNames are names of a model that the lines about asking are made of; "" stands for what the model does not have.
type exampleNames struct {
	model string
	// number is a field to compute with, number2 another one, and second that or a number.
	number, second, number2 string
	// moment is a date or timestamp; hour and hourOfDay name more of its parts.
	moment, hour, hourOfDay, text string
	// group is a field that groups rows well.
	group string
	// many is a relation to many rows, and sum a path to a sum of theirs. siblings leads to the parent of a row and back.
	many, sum, siblings string
	// small is set if groups of few rows are left out, spread if the rows lie on several servers, which compute some things each by itself.
	small, spread bool
}

// exampleNamesOf finds names of a scope's model.
func exampleNamesOf(models *catalog.Catalog, scope access.Scope) *exampleNames {
	m := scope.Model()
	n := &exampleNames{model: m.Name, second: "2", small: m.Declared.MinGroupSize > 1}
	n.spread = slices.ContainsFunc(m.Table.Columns, func(c *database.Column) bool { return c.Places })
	numbers := read.MeasuredFields(scope, database.Sum)
	if len(numbers) > 0 {
		n.number = numbers[0]
	}
	if len(numbers) > 1 {
		n.second, n.number2 = numbers[1], numbers[1]
	}
	for _, name := range read.GroupedFields(scope) {
		switch kind := scope.Field(name).Compared().Column.Kind; {
		case n.moment == "" && (kind == database.Date || kind.IsMoment()):
			n.moment = name
			if kind.IsMoment() {
				n.hour, n.hourOfDay = ", __hour", ", __hour_of_day"
			}
		case n.text == "" && kind == database.Text:
			n.text = name
		}
	}
	for _, r := range scope.Keys() {
		if f := fieldOf(scope, r.Ours); f != nil && n.group == "" && !f.Masked {
			n.group = f.Name
		}
	}
	if n.group == "" {
		n.group = groupName(scope)
	}
	if !n.spread {
		n.relations(models, scope)
	}
	return n
}

// relations finds relations to many rows.
func (n *exampleNames) relations(models *catalog.Catalog, scope access.Scope) {
	for _, r := range scope.Relations() {
		_, target, _ := scope.Follow(r.Name)
		if r.Many && n.many == "" {
			n.many = r.Name
			if numbers := read.MeasuredFields(target, database.Sum); len(numbers) > 0 && call.FindOperation("aggregate").OfferedFor(models, target.Model()) {
				n.sum = r.Name + "__sum__" + numbers[0]
			}
		}
		if r.Many || n.siblings != "" {
			continue
		}
		for _, back := range target.Relations() {
			if _, own, ok := target.Follow(back.Name); ok && back.Many && own.Model() == scope.Model() {
				n.siblings = r.Name + "__" + back.Name
				break
			}
		}
	}
}

// fieldOf is the field of a key of one column; nil if it has several.
func fieldOf(scope access.Scope, columns []*database.Column) *catalog.Field {
	if len(columns) != 1 {
		return nil
	}
	for _, f := range scope.Fields() {
		if f.Column == columns[0] {
			return f
		}
	}
	return nil
}

// lines are lines about asking that begin with examples of the model's own names. A line is left out if the model lacks a name in it.
type lines struct {
	*exampleNames
	all []string
}

// add adds a line. ‹number› and such stand for names.
func (l *lines) add(line string) {
	for _, of := range []struct{ word, name string }{{"‹number›", l.number}, {"‹second›", l.second}, {"‹number2›", l.number2}, {"‹moment›", l.moment}, {"‹text›", l.text},
		{"‹group›", l.group}, {"‹many›", l.many}, {"‹sum›", l.sum}, {"‹siblings›", l.siblings}, {"‹model›", l.model}} {
		if of.name == "" && strings.Contains(line, of.word) {
			return
		}
		line = strings.ReplaceAll(line, of.word, of.name)
	}
	l.all = append(l.all, line)
}

// fields tell what fields of list take that is computed.
func (n *exampleNames) fields() []string {
	l := &lines{exampleNames: n}
	l.add("{as: t, mul: [‹number›, ‹second›]}; add, sub, div; 3 levels deep; t goes into filters, order_by, group_by; names: letters, digits, _")
	if n.number == "" {
		l.add("{as: t, mul: [‹many›__count, 2]}; add, sub, div; 3 levels deep; t goes into filters, order_by, group_by; names: letters, digits, _")
	}
	l.add("{as: t, round: [‹number›, 1]}")
	l.add("{as: t, bucket: [‹number›, 10]}: rounded down to a multiple of 10")
	l.add("{as: t, number: ‹text›}: the number that a text holds")
	l.add("{as: t, days: [‹moment›, 2026-01-31]}: from, to; {as: t, hours: [‹moment›, {_now: 0d}]}; seconds")
	l.add("‹many›__count; ‹sum›; avg, min, max; sum of no rows is null")
	l.add("{as: t, count: ‹many›, filters: {…}}; sum: relation__field, relation__relation__count, relation__relation__sum__field")
	l.add("‹siblings›__count: to the parent and back")
	return l.all
}

// groups tell what group_by takes.
func (n *exampleNames) groups() []string {
	l := &lines{exampleNames: n}
	l.add("‹moment›__month: 2026-04, __quarter: 2026-Q2, __week: 2026-W14, __day, __year" + n.hour)
	l.add("‹moment›__weekday: 1 (Monday) to 7, __month_of_year, __quarter_of_year" + n.hourOfDay)
	l.add("‹text›__prefix_1: the first letter")
	l.add("computed values, as those of list's fields, stand here: aggregate has no fields")
	if !n.small && !n.spread {
		l.add("the argument fill: true adds empty groups of ‹moment›__month, … between the first and the last with rows")
	}
	return l.all
}

// measures tell what measures take, of rows and then of other measures, m and n.
func (n *exampleNames) measures() []string {
	l := &lines{exampleNames: n}
	l.add("{count_distinct: ‹group›}")
	const ofMeasures = "of measures: {ratio: [m, n]}, {mul: [m, 100]}; difference, add, sub, div, round, bucket"
	if n.spread {
		l.add("{sum: {mul: [‹number›, ‹second›]}}; avg, min, max; null of no rows")
		l.add(ofMeasures)
		l.add("the rows lie on several servers: no median, percentile, texts, share, mean, rank, running, moving, previous or change, and one count_distinct")
		return l.all
	}
	l.add("{sum: {mul: [‹number›, ‹second›]}}; avg, min, max, median, stddev (of a sample); null of no rows")
	l.add("{percentile: [‹number›, 0.9]}")
	if !n.small {
		l.add("{texts: ‹text›}: distinct, sorted, joined by comma and blank")
	}
	l.add("{sum: {count: ‹many›, filters: {…}}}")
	l.add(ofMeasures)
	return append(l.all, n.windows()...)
}

// windows tell what measures take that compare groups with others.
func (n *exampleNames) windows() []string {
	l := &lines{exampleNames: n}
	if !n.small {
		l.add("{share: m}: of all rows, 0 to 1")
	}
	l.add("{mean: m}: of all groups")
	l.add("{rank: m}: 1 is the greatest; equal ones share a rank, the next is left out")
	l.add("{running: m}: in order_by")
	l.add("{moving: m, last: 3}: average of 3 groups")
	l.add("{previous: m, by: 4}: of quarters, a year before")
	l.add("{change: m}: (m - previous) / previous; by")
	if n.small {
		l.add("these six may have per: [group], and are of measures that are none of them")
	} else {
		l.add("share and these six may have per: [group]; the six are of measures that are none of them")
	}
	return l.all
}

// havingLines tell what having takes.
func havingLines() []string {
	return []string{"{m__gt: {_field: n}}; m__isnull, _any, _all, _not"}
}

// filters tell what values and conditions filters take.
func (n *exampleNames) filters(lists, computes bool) []string {
	l := &lines{exampleNames: n}
	l.add("{‹moment›__gte: {_now: -30d}}; {‹moment›__month: 2026-04}")
	l.add("{‹number›__gt: {_field: ‹number2›}}; {‹number›__gt: {mul: [‹second›, 2]}}")
	if computes {
		l.add("{‹number›__gt: {_measure: {avg: {mul: [‹number›, 3]}, filters: {…}}}}: a factor goes into the measure")
	}
	if lists {
		l.add("{‹group›__in: {_values: {model: ‹model›, field: ‹group›, filters: {…}}}}")
	}
	if computes {
		l.add("{‹number›__gt: {_measure: {avg: ‹number›, filters: {‹group›: {_outer: ‹group›}}}}}: the nearest row outside; in related rows too, not in _values")
	}
	return l.all
}

// top tells what top takes.
func (n *exampleNames) top() []string {
	l := &lines{exampleNames: n}
	if n.spread {
		l.add("the rows lie on several servers: not computed")
		return l.all
	}
	l.add("{per: [‹group›], n: 2, ties: true}: the first 2 of each by order_by, with equal ones; without per of all")
	l.add("order_by: [?] is random")
	return l.all
}
