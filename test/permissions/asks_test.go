package permissions

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The questions that are made up: reads whose answers the oracle computes to the last value. Most names in them are such
// that the token may use them; some are hidden, masked, another table's, or nobody's.

// asked counts questions that were answered, with some rows, and questions that were refused.
// measured counts those answered that compared with a measure.
var asked struct{ calls, answered, rows, refused, repeated, twins, measured int }

// question is a read.
type question struct {
	*reader
	// by is the place of the token among all.
	by          int
	tool, table string
	// generic says that the call goes by the name of the generic tool.
	generic   bool
	arguments map[string]any
	// measured are the tables with whose measures conditions compare.
	measured []string
}

// comparisons are the lookups that compare with a field or a measure.
var comparisons = []string{"", "__ne", "__gt", "__gte", "__lt", "__lte"}

// wrongNames is how many of a hundred names are any, and not such as the token may use.
const wrongNames = 2

// reader knows what a token may read now.
func (g *game) reader(i int) *reader {
	return &reader{world: g.world, token: g.tokens[i], all: g.now, nullsFirst: !g.nullsLast}
}

// newQuestion makes up a question of a token.
func (g *game) newQuestion(i int) *question {
	q := &question{reader: g.reader(i), tool: pick(g.random, "list", "list", "list", "aggregate", "aggregate", "aggregate", "get", "related", "autocomplete"), table: pick(g.random, tableNames...)}
	for range 20 { // mostly of a model that some token may view
		if q.views(q.table) && offers(q.model(q.table), q.tool) {
			break
		}
		if q.table = pick(g.random, tableNames...); chance(g.random, 40) {
			i = g.random.IntN(len(g.tokens))
			q.reader = g.reader(i)
		}
	}
	q.by, q.generic = i, chance(g.random, 35)
	q.arguments = map[string]any{}
	switch q.tool {
	case "list":
		q.addPage(q.table)
	case "get":
		q.arguments["id"] = q.id()
		q.addFields(q.table, 60)
	case "related":
		l, ok := q.relation(q.table, chance(g.random, 50))
		if !ok {
			l = pick(g.random, links(q.table)...)
		}
		q.arguments["id"], q.arguments["relation"] = q.id(), l.name
		q.addPage(l.table)
		delete(q.arguments, "total")
	case "autocomplete":
		if chance(g.random, 80) {
			q.arguments["filters"] = q.object(q.table, 1)
		}
	case "aggregate":
		q.addGroups()
	}
	return q
}

// id returns a row's id, mostly of one that the token sees.
func (q *question) id() string {
	rows := q.rows(q.table)
	if len(rows) == 0 || chance(q.random, 15) {
		return fmt.Sprint(1 + q.random.IntN(7))
	}
	slices.SortFunc(rows, func(a, b row) int { return strings.Compare(a["id"], b["id"]) })
	return pick(q.random, rows...)["id"]
}

// addPage adds what list_ and related_ take.
func (q *question) addPage(table string) {
	q.addFields(table, 40)
	if chance(q.random, 70) {
		q.arguments["filters"] = q.object(table, 1)
	}
	if chance(q.random, 40) {
		q.arguments["order_by"] = q.some(1+q.random.IntN(3), func() string { return pick(q.random, "", "-") + q.forward(table, nil) })
	}
	q.addLimits(table)
	if chance(q.random, 30) {
		q.arguments["total"] = pick(q.random, "exact", "none")
	}
}

func (q *question) addLimits(table string) {
	if table != "tag" && chance(q.random, 25) {
		q.arguments["limit"] = q.random.IntN(5)
	}
	if table != "tag" && chance(q.random, 15) {
		q.arguments["offset"] = q.random.IntN(4)
	}
	if chance(q.random, 30) {
		q.arguments["format"] = "columns"
	}
}

func (q *question) addFields(table string, percent int) {
	if chance(q.random, percent) {
		q.arguments["fields"] = q.some(1+q.random.IntN(4), func() string { return q.forward(table, nil) })
	}
}

// some are several different texts.
func (q *question) some(n int, next func() string) []string {
	var all []string
	for range n {
		if text := next(); !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

// forward is a path along relations to one row; fits, if given, says which kinds are wanted.
func (q *question) forward(table string, fits func(kind) bool) string {
	var names []string
	for chance(q.random, 40) {
		l, ok := q.relation(table, false)
		if !ok {
			break
		}
		names, table = append(names, l.name), l.table
	}
	return strings.Join(append(names, q.name(table, fits)), "__")
}

// relation is one of a table's, mostly such as the token may follow.
func (q *question) relation(table string, many bool) (link, bool) {
	all := slices.DeleteFunc(links(table), func(l link) bool {
		_, ok := q.link(table, l.name)
		return l.many != many && !chance(q.random, wrongNames) || !ok && !chance(q.random, wrongNames)
	})
	if len(all) == 0 {
		return link{}, false
	}
	return pick(q.random, all...), true
}

// name is a column of a table, mostly such as the token may compare.
func (q *question) name(table string, fits func(kind) bool) string {
	if chance(q.random, wrongNames) {
		return pick(q.random, "nowhere", "id", pick(q.random, tables[pick(q.random, tableNames...)]...).name, pick(q.random, tables[table]...).name)
	}
	var names []string
	for _, c := range tables[table] {
		if _, ok := q.compared(table, c.name); ok && (fits == nil || fits(c.values())) {
			names = append(names, c.name)
		}
	}
	if len(names) == 0 {
		return pick(q.random, tables[table]...).name
	}
	return pick(q.random, names...)
}

// object is a condition object.
func (q *question) object(table string, level int) map[string]any {
	object := map[string]any{}
	for range pick(q.random, 1, 1, 1, 2, 3) {
		switch n := q.random.IntN(100); {
		case n < 12 && level < 4:
			var objects []any
			for range 1 + q.random.IntN(2) {
				objects = append(objects, q.object(table, level+1))
			}
			object[pick(q.random, "_any", "_all")] = objects
		case n < 20 && level < 4:
			object["_not"] = q.object(table, level+1)
		case n < 40 && level < 4:
			q.addQuantified(object, table, level)
		default:
			key, value := q.leaf(table, level)
			object[key] = value
		}
	}
	if chance(q.random, 2) {
		return map[string]any{}
	}
	return object
}

// addQuantified adds a condition on the rows of a relation.
func (q *question) addQuantified(object map[string]any, table string, level int) {
	var names []string
	if chance(q.random, 20) {
		if l, ok := q.relation(table, false); ok {
			names, table = append(names, l.name), l.table
		}
	}
	l, ok := q.relation(table, true)
	if !ok {
		return
	}
	key := strings.Join(append(names, l.name), "__")
	switch q.random.IntN(3) {
	case 0:
		object[key+"__any"] = q.object(l.table, level+1)
	case 1:
		object[key+"__none"] = q.object(l.table, level+1)
	default:
		lookup, n := pick(q.random, "", "__exact", "__ne", "__gt", "__gte", "__lt", "__lte"), q.random.IntN(4)
		object[key+"__count"+lookup] = n
		if chance(q.random, 15) {
			object[key+"__count__in"] = []any{n, q.random.IntN(3)}
		}
	}
}

// leaf is a condition on one field, of the row or of related ones, in an object at a level.
func (q *question) leaf(table string, level int) (key string, value any) {
	base := table
	var names []string
	for chance(q.random, 45) && len(names) < 5 {
		l, ok := q.relation(table, chance(q.random, 40))
		if !ok {
			break
		}
		if names, table = append(names, l.name), l.table; l.many {
			base = table
		}
	}
	name := q.name(table, nil)
	names = append(names, name)
	of := kindOf(table, name)
	if chance(q.random, 15) {
		other := q.forward(base, func(k kind) bool { return areComparable(k, of) })
		return strings.Join(names, "__") + pick(q.random, comparisons...), map[string]any{"_field": other}
	}
	if chance(q.random, 15) && level < 4 {
		lookup := pick(q.random, comparisons...)
		if chance(q.random, wrongNames) {
			lookup = pick(q.random, "__in", "__isnull", "__contains")
		}
		return strings.Join(names, "__") + lookup, q.comparedMeasure(base, of, level)
	}
	lookup, value := q.comparison(of, func() string { return q.anyValue(table, name) })
	return strings.Join(names, "__") + lookup, value
}

// body is the question as a request.
func (q *question) body(t interface{ Fatal(...any) }) string {
	name, arguments := q.tool+"_"+q.table, q.arguments
	if q.generic {
		name, arguments = q.tool, maps.Clone(arguments)
		arguments["model"] = q.table
	}
	text, err := json.Marshal(map[string]any{"method": "tools/call", "name": name, "arguments": arguments})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// ask asks a question, and compares the answer with the oracle's.
func (g *game) ask(i int) {
	g.Helper()
	q := g.newQuestion(i)
	body := q.body(g)
	i = q.by
	expected, refused := q.answer(q.tool, q.table, q.arguments)
	_, answer := g.endpoint.PostTo(g.query(), g.shown[i], body)
	difference := q.judge(answer, expected, refused)
	if next := cursorText.FindStringSubmatch(answer); difference == "" && next != nil && chance(g.random, 50) {
		q.arguments["cursor"] = next[1]
		if delete(q.arguments, "offset"); q.arguments["limit"] != 0 {
			expected.offset += expected.limit
			body = q.body(g)
			_, answer = g.endpoint.Post(g.shown[i], body)
			difference = q.judge(answer, expected, nil)
		}
	}
	if difference != "" {
		g.Errorf("%s: token %+v\nmodel %+v\n%s\n%s\n%s", g.where, q.token, g.model(q.table), body, difference, answer)
	}
}

// judge says how an answer is not what it must be; "" if it is.
func (q *question) judge(answer string, expected *wanted, refused error) string {
	asked.calls++
	got, isError, err := payload(answer)
	switch {
	case err != nil:
		return err.Error()
	case isError && refused != nil:
		asked.refused++
		if code := got["code"]; code != "invalid_argument" && code != "not_found" && code != "permission_denied" && (code != "unavailable" || !withheld(q.model(q.table))) {
			return fmt.Sprintf("the code is %v", code)
		}
		return ""
	case isError && q.tool == "aggregate" && tooSmall(q.model(q.table), got):
		asked.refused++
		return ""
	case isError:
		return "it is refused"
	case refused != nil:
		return "it must be refused: " + refused.Error()
	}
	asked.answered++
	if len(expected.rows) > 0 {
		asked.rows++
	}
	if len(q.measured) > 0 {
		asked.measured++
	}
	return expected.differs(got)
}
