package oracle

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// computed asks for values that are computed: of related rows, of the row's own numbers, of its place among others.
func (g *game) computed() {
	g.Helper()
	switch g.random.IntN(6) {
	case 0:
		g.relatedValues()
	case 1:
		g.arithmetic()
	case 2:
		g.firstOfEach()
	case 3:
		g.places()
	case 4:
		g.filled()
	default:
		g.groupsBesideOthers()
	}
}

// relatedValues lists rows with what the rows that refer to them come to, and holds them against subqueries. One of the values may
// filter and order the rows, too.
func (g *game) relatedValues() {
	g.Helper()
	t := pick(g.random, g.tables...)
	referring := g.referring(t)
	if len(referring) == 0 {
		return
	}
	members, fields, texts := t.kinds()[:len(t.key)], []any{}, []string{}
	var outputs []output
	for _, k := range t.key {
		o := output{expression: "a." + k.name, kind: k.kind}
		outputs, texts, fields = append(outputs, o), append(texts, g.asText(o)), append(fields, k.name)
	}
	where, filters := "1 = 1", map[string]any{}
	for i := range 1 + g.random.IntN(3) {
		r := pick(g.random, referring...)
		name, value, kind, exactly, field := g.relatedValue(r, fmt.Sprint("v", i))
		if slices.ContainsFunc(members, func(m member) bool { return m.name == name }) {
			continue
		}
		members, fields = append(members, member{name: name, kind: kind}), append(fields, field)
		outputs = append(outputs, output{expression: value, kind: kind, exactly: exactly})
		if exactly {
			texts = append(texts, value)
		} else {
			texts = append(texts, g.asText(output{expression: value, kind: kind}))
		}
		if kind == anInteger && !exactly && chance(g.random, 40) {
			lookup, n := pick(g.random, "", "__gt", "__gte", "__lt", "__lte"), g.random.IntN(4)
			filters[name+lookup] = n
			where += fmt.Sprintf(" and coalesce(%s %s %d, %s)", value, operators[lookup], n, g.no())
		}
	}
	arguments := map[string]any{"total": "exact", "fields": fields, "filters": filters}
	if chance(g.random, 50) {
		arguments["order_by"] = []any{pick(g.random, "", "-") + members[len(members)-1].name}
	}
	if chance(g.random, 30) {
		arguments["limit"] = pick(g.random, 40, 250)
	}
	statement := "select " + strings.Join(texts, ", ") + " from " + t.name + " a where " + where
	g.holds("list_"+t.name, arguments, statement, outputs, members)
}

// relatedValue makes up a value of the rows of a relation: by a path, or with a name and filters of its own.
func (g *game) relatedValue(r *ref, name string) (member, expression string, k kind, exactly bool, field any) {
	c := pick(g.random, r.from.columns...)
	function := pick(g.random, "count", "count", "sum", "min", "max")
	switch {
	case function == "sum" && !c.kind.isExact(), (function == "min" || function == "max") && (c.kind == aTruth || c.kind == aText || c.kind == aMoment):
		function = "count"
	}
	condition, object := "1 = 1", map[string]any(nil)
	if chance(g.random, 40) {
		object, condition = g.condition(r.from, "rv", 3)
	}
	of := "count(*)"
	k = anInteger
	path := r.reverse()
	if function != "count" {
		of, k, path = function+"(rv."+c.name+")", c.kind, path+"__"+c.name
	}
	if function == "sum" && g.engine.Product == harness.SQLite {
		of, exactly = concatenated("rv."+c.name), true
	}
	expression = "(select " + of + " from " + r.from.name + " rv where " + r.on("rv", "a") + " and " + condition + ")"
	if object != nil {
		return name, expression, k, exactly, map[string]any{"as": name, function: path, "filters": object}
	}
	member = r.reverse() + "__" + function
	if function != "count" {
		member += "__" + c.name
	}
	return member, expression, k, exactly, member
}

// holds makes a call and holds all of its pages against a statement.
func (g *game) holds(tool string, arguments map[string]any, statement string, outputs []output, members []member) {
	g.Helper()
	want := g.rows(statement, outputs...)
	done.computed++
	got, asked, ok := g.pages(tool, arguments, statement, len(want), members)
	if !ok {
		return
	}
	if difference := differenceOfRows(want, got); difference != "" {
		g.differs(asked, statement, "%s", difference)
	}
}

// arithmetic lists what is computed of two exact numbers, and computes it from the numbers that SQL shows.
func (g *game) arithmetic() {
	g.Helper()
	t := pick(g.random, g.tables...)
	numbers := slices.DeleteFunc(slices.Clone(t.columns), func(c *column) bool { return !c.kind.isExact() || c.digits > 12 })
	if len(numbers) == 0 {
		return
	}
	a, b := pick(g.random, numbers...), pick(g.random, numbers...)
	operator := pick(g.random, "add", "sub", "mul", "div", "round", "bucket")
	expression := map[string]any{"as": "x", operator: []any{a.name, b.name}}
	digits := g.random.IntN(4)
	if operator == "round" {
		expression = map[string]any{"as": "x", "round": []any{map[string]any{"mul": []any{a.name, b.name}}, digits}}
	}
	width := pick(g.random, "1", "3", "0.5", "10", "0.25", "1000")
	if operator == "bucket" {
		expression = map[string]any{"as": "x", "bucket": []any{a.name, json.Number(width)}}
	}
	members := append(slices.Clip(t.kinds()[:len(t.key)]), member{name: "x", kind: aDecimal})
	fields := []any{expression}
	for _, k := range t.key {
		fields = append(fields, k.name)
	}
	var outputs []output
	var texts []string
	for _, c := range append(slices.Clone(t.key), a, b) {
		o := output{expression: "a." + c.name, kind: c.kind}
		outputs, texts = append(outputs, o), append(texts, g.asText(o))
	}
	statement := "select " + strings.Join(texts, ", ") + " from " + t.name + " a"
	var want [][]value
	for _, row := range g.rows(statement, outputs...) {
		n := len(t.key)
		right := row[n+1]
		if operator == "bucket" {
			right = value{text: width}
		}
		want = append(want, append(slices.Clip(row[:n]), computedOf(operator, digits, row[n], right)))
	}
	done.computed++
	got, asked, ok := g.pages("list_"+t.name, map[string]any{"fields": fields, "total": "exact", "order_by": []any{pick(g.random, "", "-") + "x"}}, statement, len(want), members)
	if !ok {
		return
	}
	if difference := differenceOfRows(want, got); difference != "" {
		g.differs(asked, statement, "%s", difference)
	}
}

// computedOf is what an operator makes of two numbers.
func computedOf(operator string, digits int, left, right value) value {
	if left.null || right.null {
		return value{null: true}
	}
	a, _ := new(big.Rat).SetString(left.text)
	b, _ := new(big.Rat).SetString(right.text)
	switch operator {
	case "add":
		a.Add(a, b)
	case "sub":
		a.Sub(a, b)
	case "mul":
		a.Mul(a, b)
	case "round":
		return value{text: trimmed(a.Mul(a, b).FloatString(digits))}
	case "bucket":
		multiple := new(big.Rat).Quo(a, b)
		whole := new(big.Int).Div(multiple.Num(), multiple.Denom()) // rounds down, as the divisor is above 0
		a.Mul(b, new(big.Rat).SetInt(whole))
	case "div":
		if b.Sign() == 0 {
			return value{null: true}
		}
		return value{text: rounded(a.Quo(a, b))}
	}
	return value{text: trimmed(a.FloatString(40))}
}

// firstOfEach lists the first rows of each, and takes them from the rows that the same call lists without top.
func (g *game) firstOfEach() {
	g.Helper()
	t := pick(g.random, g.tables...)
	per := pick(g.random, t.columns...)
	if per.kind == aFloat || per.kind == aMoment {
		return
	}
	arguments := map[string]any{"limit": 1000}
	statement := "select count(*) from " + t.name + " a"
	if chance(g.random, 60) {
		object, condition := g.condition(t, "a", 1)
		arguments["filters"] = object
		statement += " where " + condition
	}
	if c := pick(g.random, t.columns...); chance(g.random, 70) {
		arguments["order_by"] = []any{pick(g.random, "", "-") + c.name}
	}
	wanted := len(g.rows(strings.Replace(statement, "count(*)", "1", 1), output{kind: anInteger}))
	all, asked, ok := g.pages("list_"+t.name, arguments, statement, wanted, t.kinds())
	if !ok {
		return
	}
	at, n := slices.Index(t.columns, per), 1+g.random.IntN(3)
	seen := map[string]int{}
	var want [][]value
	for _, row := range all {
		if key := row[at].String(); seen[key] < n {
			seen[key]++
			want = append(want, row)
		}
	}
	delete(arguments, "cursor")
	delete(arguments, "offset")
	arguments["top"], arguments["total"] = map[string]any{"per": []any{per.name}, "n": n}, "exact"
	arguments["limit"] = pick(g.random, 30, 200)
	done.computed++
	got, asked, ok := g.pages("list_"+t.name, arguments, asked, len(want), t.kinds())
	if ok && fmt.Sprint(want) != fmt.Sprint(got) {
		g.differs(asked, statement, "want %v\ngot %v", want, got)
	}
}

// groupsBesideOthers groups rows, and computes what each group is beside the others from the groups as they are answered: those are
// held against SQL by aggregate.
func (g *game) groupsBesideOthers() {
	g.Helper()
	t := pick(g.random, g.tables...)
	by := pick(g.random, t.columns...)
	numbers := slices.DeleteFunc(slices.Clone(t.columns), func(c *column) bool { return !c.kind.isExact() || c.digits > 12 || c.of == "huge" })
	if by.kind == aFloat || len(numbers) == 0 {
		return
	}
	of := pick(g.random, numbers...)
	back, last := 1+g.random.IntN(3), 1+g.random.IntN(4)
	measures := map[string]any{"m": map[string]any{pick(g.random, "sum", "min", "max"): of.name}, "n": map[string]any{"count": "*"}, "all": map[string]any{"running": "m"},
		"before": map[string]any{"previous": "m", "by": back}, "more": map[string]any{"change": "m", "by": back}, "mean": map[string]any{"moving": "m", "last": last},
		"nth": map[string]any{"rank": "m"}, "part": map[string]any{"share": "n"}, "less": map[string]any{"difference": []any{"m", "n"}}, "usual": map[string]any{"mean": "m"}}
	members := []member{{name: by.name, kind: by.kind}, {name: "m", kind: of.kind}, {name: "n", kind: anInteger}, {name: "all", kind: aDecimal}, {name: "before", kind: aDecimal}, {name: "more", kind: aDecimal}, {name: "mean", kind: aDecimal}, {name: "nth", kind: anInteger}, {name: "part", kind: aDecimal}, {name: "less", kind: aDecimal}, {name: "usual", kind: aDecimal}}
	keys := []any{by.name}
	if per := pick(g.random, t.columns...); per != by && per.kind != aFloat && per.kind != aMoment && chance(g.random, 50) {
		keys = append(keys, per.name)
		measures["part_per"], measures["usual_per"] = map[string]any{"share": "n", "per": []any{per.name}}, map[string]any{"mean": "m", "per": []any{per.name}}
		members = append(members, member{name: "part_per", kind: aDecimal}, member{name: "usual_per", kind: aDecimal}, member{name: per.name, kind: per.kind})
	}
	arguments := map[string]any{"group_by": keys, "measures": measures, "limit": 1000}
	if chance(g.random, 50) {
		arguments["order_by"] = []any{pick(g.random, "", "-") + pick(g.random, "m", "n", by.name)}
	}
	done.computed++
	got, asked, ok := g.pages("aggregate_"+t.name, arguments, "", 0, members)
	if !ok {
		return
	}
	for i, row := range got {
		want := append(slices.Clone(row[:3]), beside(got, i, back, last)...)
		want = append(want, shareOf(row, got), computedOf("sub", 0, row[1], row[2]), meanOf(got))
		if len(keys) > 1 {
			at := len(row) - 1
			alike := slices.DeleteFunc(slices.Clone(got), func(other []value) bool { return other[at] != row[at] })
			want = append(want, shareOf(row, alike), meanOf(alike), row[at])
		}
		if fmt.Sprint(want) != fmt.Sprint(row) {
			g.differs(asked, "", "group %d: want %v, got %v", i, want, row)
			return
		}
	}
}

// beside is what the i-th group is beside the others: its running total, the group before, the change, the moving average, the rank.
func beside(groups [][]value, i, back, last int) []value {
	total, window, count, place := new(big.Rat), new(big.Rat), int64(0), 1
	null := value{null: true}
	running, before, change, mean := null, null, null, null
	own := groups[i][1]
	for j, other := range groups {
		m := other[1]
		switch {
		case m.null:
		case j <= i:
			total.Add(total, rat(m))
			running = value{text: trimmed(total.FloatString(40))}
			if j > i-last {
				window.Add(window, rat(m))
				count++
			}
		}
		if !m.null && (own.null || rat(m).Cmp(rat(own)) > 0) {
			place++
		}
	}
	if count > 0 {
		mean = value{text: rounded(window.Quo(window, big.NewRat(count, 1)))}
	}
	if i >= back {
		before = groups[i-back][1]
		if !before.null && !own.null && rat(before).Sign() != 0 {
			change = value{text: rounded(new(big.Rat).Quo(new(big.Rat).Sub(rat(own), rat(before)), rat(before)))}
		}
	}
	return []value{running, before, change, mean, {text: fmt.Sprint(place)}}
}

// shareOf is the part that a group has of the rows of several.
func shareOf(group []value, groups [][]value) value {
	rows := new(big.Rat)
	for _, other := range groups {
		rows.Add(rows, rat(other[2]))
	}
	return value{text: rounded(rows.Quo(rat(group[2]), rows))}
}

// meanOf is the average of the groups' first measure.
func meanOf(groups [][]value) value {
	sum, count := new(big.Rat), int64(0)
	for _, group := range groups {
		if !group[1].null {
			sum.Add(sum, rat(group[1]))
			count++
		}
	}
	if count == 0 {
		return value{null: true}
	}
	return value{text: rounded(sum.Quo(sum, big.NewRat(count, 1)))}
}

func rat(v value) *big.Rat {
	r, _ := new(big.Rat).SetString(v.text)
	return r
}
