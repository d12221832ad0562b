package oracle

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// grouping is a question for groups: its arguments, and the outputs of its statement.
type grouping struct {
	*game
	t         *table
	arguments map[string]any
	members   []member
	outputs   []output
	// measures are behind the keys; each is computed of some outputs.
	keys     int
	measures []measure
}

// measure is one value of each group.
type measure struct {
	name, function string
	kind           kind
	// at is the first of its outputs; of an average the sum and the count.
	at int
	// of are the measures of a ratio.
	of [2]int
}

// aggregate asks for groups, follows the pages, and holds each group against SQL.
func (g *game) aggregate() {
	g.Helper()
	q := &grouping{game: g, t: pick(g.random, g.tables...), arguments: map[string]any{}}
	where := "1 = 1"
	if chance(g.random, 60) {
		q.arguments["filters"], where = g.condition(q.t, "a", 1)
	}
	q.addKeys()
	q.addMeasures()
	statement := q.statement(where)
	var want [][]value
	for _, row := range g.rows(statement, q.outputs...) {
		want = append(want, q.group(row))
	}
	if chance(g.random, 35) {
		want = q.addHaving(want)
	}
	if chance(g.random, 50) {
		q.arguments["order_by"] = []any{pick(g.random, "", "-") + pick(g.random, q.members...).name}
	}
	if chance(g.random, 30) {
		q.arguments["limit"] = pick(g.random, 40, 1000, 5000)
	}
	if chance(g.random, 30) {
		q.arguments["format"] = "columns"
	}
	done.aggregates++
	got, asked, ok := g.pages("aggregate_"+q.t.name, q.arguments, statement, len(want), q.members)
	if !ok {
		return
	}
	if difference := q.difference(want, got); difference != "" {
		g.differs(asked, statement, "%s", difference)
	}
}

// addKeys adds what to group by: columns of the row or of one that it refers to, and months.
func (q *grouping) addKeys() {
	var by []any
	for range pick(q.random, 0, 1, 1, 1, 2) {
		path, c, expression := q.path(q.t, "a")
		m := member{name: path, kind: c.kind}
		switch {
		case c.kind == aFloat:
			continue
		case c.kind == aMoment && q.engine.Product == harness.SQLite:
			continue // forms of the same moment are one group, and SQL has them apart
		case c.kind == aText && chance(q.random, 40):
			length := 1 + q.random.IntN(3)
			m.name = fmt.Sprint(path, "__prefix_", length)
			expression = fmt.Sprintf("substr(%s, 1, %d)", expression, length)
		case (c.kind == aDate || c.kind == aMoment) && chance(q.random, 25):
			m = member{name: path + "__month_of_year", kind: anInteger}
			expression = q.piece(c, expression, 5, 7)
		case (c.kind == aDate || c.kind == aMoment) && chance(q.random, 25):
			m = member{name: path + "__quarter_of_year", kind: anInteger}
			expression = "floor((cast(" + q.piece(c, expression, 5, 7) + " as decimal(4, 0)) + 2) / 3)"
		case (c.kind == aDate || c.kind == aMoment) && chance(q.random, 60):
			m = member{name: path + "__month", kind: aText}
			expression = q.piece(c, expression, 0, 7)
		}
		if slices.ContainsFunc(q.members, func(other member) bool { return other.name == m.name }) {
			continue
		}
		q.members, by = append(q.members, m), append(by, m.name)
		q.outputs = append(q.outputs, output{expression: expression, kind: m.kind})
	}
	if q.keys = len(by); q.keys > 0 {
		q.arguments["group_by"] = by
	}
}

func (q *grouping) addMeasures() {
	if q.keys > 0 && chance(q.random, 25) {
		return // the different values
	}
	measures := map[string]any{}
	for i := range 1 + q.random.IntN(4) {
		name := fmt.Sprint("m", i)
		argument, m := q.newMeasure(name)
		if argument == nil {
			continue
		}
		measures[name] = argument
		q.measures, q.members = append(q.measures, m), append(q.members, member{name: name, kind: m.kind})
	}
	if len(measures) == 0 {
		measures["n"] = map[string]any{"count": "*"}
		q.measures, q.members = append(q.measures, measure{name: "n", function: "count", kind: anInteger, at: len(q.outputs)}), append(q.members, member{name: "n", kind: anInteger})
		q.outputs = append(q.outputs, output{expression: "count(*)", kind: anInteger})
	}
	q.arguments["measures"] = measures
}

// newMeasure makes up a measure; nil if there is nothing to compute.
func (q *grouping) newMeasure(name string) (map[string]any, measure) {
	if len(q.measures) > 1 && chance(q.random, 40) {
		a, b := q.random.IntN(len(q.measures)), q.random.IntN(len(q.measures))
		for _, i := range []int{a, b} {
			if m := q.measures[i]; !m.kind.isExact() || m.function == "ratio" || m.function == "min" || m.function == "max" {
				return nil, measure{}
			}
		}
		return map[string]any{"ratio": []any{q.measures[a].name, q.measures[b].name}}, measure{name: name, function: "ratio", kind: aDecimal, of: [2]int{a, b}}
	}
	path, c, expression := q.path(q.t, "a")
	m := measure{name: name, function: pick(q.random, "count", "count_distinct", "sum", "avg", "min", "max"), kind: c.kind, at: len(q.outputs)}
	argument := map[string]any{m.function: path}
	if chance(q.random, 30) {
		object, condition := q.condition(q.t, "a", 2)
		argument["filters"] = object
		expression = "case when " + condition + " then " + expression + " end"
	}
	onSQLite := q.engine.Product == harness.SQLite
	add := func(expression string, k kind, exactly bool) {
		q.outputs = append(q.outputs, output{expression: expression, kind: k, exactly: exactly && onSQLite})
	}
	total := "sum(" + expression + ")"
	if onSQLite && c.kind.isExact() {
		total = expression // group_concat
	}
	switch m.function {
	case "count":
		m.kind = anInteger
		add("count("+expression+")", anInteger, false)
	case "count_distinct":
		if m.kind = anInteger; c.kind == aFloat || c.kind == aMoment {
			return nil, m
		}
		add("count(distinct "+expression+")", anInteger, false)
	case "sum", "avg":
		if !c.kind.isNumber() {
			return nil, m
		}
		if m.function == "avg" && c.kind == anInteger {
			m.kind = aDecimal
		}
		add(total, c.kind, c.kind.isExact())
		add("count("+expression+")", anInteger, false)
	default:
		if c.kind == aTruth {
			return nil, m
		}
		add(m.function+"("+expression+")", c.kind, false)
	}
	return argument, m
}

// statement is the question in SQL.
func (q *grouping) statement(where string) string {
	texts := make([]string, len(q.outputs))
	for i, o := range q.outputs {
		texts[i] = q.asText(o)
	}
	statement := "select " + strings.Join(texts, ", ") + " from " + q.t.name + " a where " + where
	if q.keys > 0 {
		by := make([]string, q.keys)
		for i := range by {
			by[i] = q.outputs[i].expression
		}
		statement += " group by " + strings.Join(by, ", ")
	}
	return statement
}

// group is a group as it must be answered: numbers are exact, and rounded once.
func (q *grouping) group(row []value) []value {
	group := slices.Clone(row[:q.keys])
	exact := make([]*big.Rat, len(q.measures))
	for i, m := range q.measures {
		v := value{null: true}
		switch {
		case m.function == "ratio":
			if a, b := exact[m.of[0]], exact[m.of[1]]; a != nil && b != nil && b.Sign() != 0 {
				exact[i] = new(big.Rat).Quo(a, b)
				v = value{text: rounded(exact[i])}
			}
		case row[m.at].null:
		case m.function == "avg" && m.kind == aFloat:
			total, _ := strconv.ParseFloat(row[m.at].text, 64)
			n, _ := strconv.ParseFloat(row[m.at+1].text, 64)
			v = value{text: shortest(total / n)}
		case m.kind.isExact():
			exact[i], _ = new(big.Rat).SetString(row[m.at].text)
			if v = row[m.at]; m.function == "avg" {
				n, _ := new(big.Rat).SetString(row[m.at+1].text)
				exact[i].Quo(exact[i], n)
				v = value{text: rounded(exact[i])}
			}
		default:
			v = row[m.at]
		}
		group = append(group, v)
	}
	return group
}

// rounded has 12 digits behind the point, halves away from zero.
func rounded(r *big.Rat) string { return trimmed(r.FloatString(12)) }

// addHaving adds a condition on a measure that one of the groups has, and returns the groups that meet it.
func (q *grouping) addHaving(groups [][]value) [][]value {
	var fit []int
	for i, m := range q.measures {
		if m.kind.isExact() && m.function != "ratio" && m.function != "avg" {
			fit = append(fit, i)
		}
	}
	if len(fit) == 0 || len(groups) == 0 {
		return groups
	}
	i := pick(q.random, fit...)
	at := q.keys + i
	v := pick(q.random, groups...)[at]
	if v.null {
		return groups
	}
	lookup := pick(q.random, "", "__gt", "__gte", "__lt", "__lte", "__ne")
	argument := any(v.text)
	if n, err := strconv.ParseInt(v.text, 10, 64); q.measures[i].kind == anInteger && err == nil && n < 1<<53 && n > -(1<<53) {
		argument = n
	}
	q.arguments["having"] = map[string]any{q.measures[i].name + lookup: argument}
	return slices.DeleteFunc(groups, func(group []value) bool {
		if group[at].null {
			return lookup != "__ne"
		}
		sign := q.compare(aDecimal, group[at], v)
		return !map[string]bool{"": sign == 0, "__gt": sign > 0, "__gte": sign >= 0, "__lt": sign < 0, "__lte": sign <= 0, "__ne": sign != 0}[lookup]
	})
}

// difference says how groups differ: as rows do, but that floats may be added up in another order.
func (q *grouping) difference(want, got [][]value) string {
	floats := false
	for _, m := range q.members {
		floats = floats || m.kind == aFloat
	}
	complete := len(got) == len(want)
	if !floats && complete {
		return differenceOfRows(want, got)
	}
	var wrong []string
	for _, row := range got {
		i := slices.IndexFunc(want, func(other []value) bool { return q.alike(row, other) })
		if i < 0 {
			wrong = append(wrong, fmt.Sprint(row))
			continue
		}
		want = slices.Delete(slices.Clone(want), i, i+1)
	}
	if len(wrong) > 0 || complete && len(want) > 0 {
		return fmt.Sprintf("SQL does not have %.600s\nbut %.600s", strings.Join(wrong, " "), fmt.Sprint(want))
	}
	return ""
}

func (q *grouping) alike(a, b []value) bool {
	for i, m := range q.members {
		if m.kind != aFloat || a[i].null || b[i].null {
			if a[i] != b[i] {
				return false
			}
			continue
		}
		x, _ := strconv.ParseFloat(a[i].text, 64)
		y, _ := strconv.ParseFloat(b[i].text, 64)
		if math.Abs(x-y) > 1e-9*max(math.Abs(x), math.Abs(y), 1) {
			return false
		}
	}
	return true
}
