package permissions

import (
	"encoding/json"
	"slices"
	"strings"
)

// kindOf is the kind of a table's column; text, if it has no such column.
func kindOf(table, name string) kind {
	i := slices.IndexFunc(tables[table], func(c column) bool { return c.name == name })
	if i < 0 {
		return aText
	}
	return tables[table][i].values()
}

// anyValue returns the value of some row, seen or not, in a column, or else a value that none may have.
func (q *question) anyValue(table, name string) string {
	var values []string
	for _, r := range q.all[table] {
		if r[name] != "" {
			values = append(values, r[name])
		}
	}
	if of := kindOf(table, name); of != aText && chance(q.random, 15) || len(values) == 0 {
		if text := of.canonical(of.random(q.random)); text != "" {
			return text
		}
		return map[bool]string{true: "2026-01-15", false: "1"}[of.isTime()]
	}
	slices.Sort(values)
	return pick(q.random, values...)
}

// comparison is a lookup and a value for it.
func (q *question) comparison(of kind, next func() string) (lookup string, value any) {
	lookup = pick(q.random, lookupsOf(of)...)
	if chance(q.random, wrongNames) {
		lookup = pick(q.random, "nowhere", "any", "count", "contains", "hour")
	}
	text := next()
	switch value = given(of, text); lookup {
	case "isnull":
		value = chance(q.random, 50)
	case "in":
		value = []any{value, given(of, next())}
	case "range":
		other := next()
		if compare(other, text, of, of) < 0 {
			text, other = other, text
		}
		value = []any{given(of, text), given(of, other)}
	case "contains", "icontains", "startswith", "istartswith", "endswith", "iendswith":
		if of == aText {
			value = text[:1+q.random.IntN(len(text))]
			if strings.HasSuffix(lookup, "endswith") {
				value = text[q.random.IntN(len(text)):]
			}
		}
	case "date":
		if of.isTime() {
			value = text[:10]
		}
	case "year", "quarter", "month", "week", "day", "hour", "weekday":
		if of.isTime() {
			value = number(text, lookup)
		}
	}
	if lookup == "exact" && chance(q.random, 70) {
		return "", value
	}
	return "__" + lookup, value
}

// given is a canonical value in the form in which calls give it.
func given(of kind, text string) any {
	switch {
	case of == anInteger:
		return json.Number(text)
	case of.isNumber():
		number := rational(text).FloatString(2)
		if of == aDecimal {
			return number
		}
		return json.Number(number)
	}
	return text
}
