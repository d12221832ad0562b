package oracle

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// condition makes up a condition on the rows of a table: as an argument, and in SQL about an alias. Its SQL is never
// unknown.
func (w *world) condition(t *table, alias string, level int) (map[string]any, string) {
	object, parts := map[string]any{}, []string{}
	for range pick(w.random, 1, 1, 2) {
		key, argument, statement := w.member(t, alias, level)
		if _, there := object[key]; there {
			continue
		}
		object[key] = argument
		parts = append(parts, statement)
	}
	return object, "(" + strings.Join(parts, " and ") + ")"
}

// member makes up a member of a condition object.
func (w *world) member(t *table, alias string, level int) (key string, argument any, statement string) {
	referring := w.referring(t)
	switch n := w.random.IntN(100); {
	case n < 10 && level < 3:
		first, one := w.condition(t, alias, level+1)
		second, other := w.condition(t, alias, level+1)
		if chance(w.random, 50) {
			return "_any", []any{first, second}, "(" + one + " or " + other + ")"
		}
		return "_all", []any{first, second}, "(" + one + " and " + other + ")"
	case n < 17 && level < 3:
		object, inner := w.condition(t, alias, level+1)
		return "_not", object, "(case when " + inner + " then 0 else 1 end = 1)"
	case n < 35 && level < 3 && len(referring) > 0:
		return w.quantified(pick(w.random, referring...), alias, level)
	case n < 41 && level == 1:
		return w.amongValues(t, alias, level)
	case n < 46 && level == 1:
		if key, argument, statement, ok := w.measuredBeside(t, alias); ok {
			return key, argument, statement
		}
	case n < 54:
		if key, argument, statement, ok := w.comparedFields(t, alias); ok {
			return key, argument, statement
		}
	}
	path, c, expression := w.path(t, alias)
	lookup, argument, statement := w.lookup(c, expression)
	return path + lookup, argument, statement
}

// path is a column of the table, or of a row that it refers to.
func (w *world) path(t *table, alias string) (path string, c *column, expression string) {
	if len(t.refs) > 0 && chance(w.random, 25) {
		r := pick(w.random, t.refs...)
		c := pick(w.random, r.to.columns...)
		return r.to.name + "__" + c.name, c, "(select f." + c.name + " from " + r.to.name + " f where " + r.on(alias, "f") + ")"
	}
	c = pick(w.random, t.columns...)
	return c.name, c, alias + "." + c.name
}

// on is the condition that a row refers to another.
func (r *ref) on(from, to string) string {
	parts := make([]string, len(r.columns))
	for i, c := range r.columns {
		parts[i] = from + "." + c.name + " = " + to + "." + r.to.key[i].name
	}
	return strings.Join(parts, " and ")
}

// quantified is a condition on the rows that refer to a row. Its SQL counts them, as an engine may go wrong over EXISTS.
func (w *world) quantified(r *ref, alias string, level int) (key string, argument any, statement string) {
	inner := fmt.Sprintf("q%d", level)
	object, condition := w.condition(r.from, inner, level+1)
	if chance(w.random, 30) {
		if key, argument, statement, ok := w.outerCompared(r.from, inner, r.to, alias); ok && object[key] == nil {
			object[key], condition = argument, "("+condition+" and "+statement+")"
		}
	}
	count := func(condition string) string {
		return "(select count(*) from " + r.from.name + " " + inner + " where " + r.on(inner, alias) + " and " + condition + ")"
	}
	switch w.random.IntN(3) {
	case 0:
		return r.reverse() + "__any", object, count(condition) + " > 0"
	case 1:
		return r.reverse() + "__none", object, count(condition) + " = 0"
	}
	lookup, n := pick(w.random, "", "__gt", "__gte", "__lt", "__lte", "__ne"), w.random.IntN(5)
	return r.reverse() + "__count" + lookup, n, fmt.Sprintf("%s %s %d", count("1 = 1"), operators[lookup], n)
}

var operators = map[string]string{"": "=", "__exact": "=", "__ne": "<>", "__gt": ">", "__gte": ">=", "__lt": "<", "__lte": "<="}

// comparedFields compares two columns of a row.
func (w *world) comparedFields(t *table, alias string) (key string, argument any, statement string, ok bool) {
	a := pick(w.random, t.columns...)
	others := slices.DeleteFunc(slices.Clone(t.columns), func(c *column) bool {
		return c == a || c.kind != a.kind || c.of != a.of && a.kind == aMoment || a.kind == aTruth
	})
	if len(others) == 0 {
		return "", nil, "", false
	}
	b := pick(w.random, others...)
	lookup := pick(w.random, "", "__gt", "__gte", "__lt", "__lte")
	if a.kind == aText { // which of two texts is greater is the database's affair, whatever the columns' collation
		lookup = ""
	}
	statement = fmt.Sprintf("coalesce(%s.%s %s %s.%s, %s)", alias, a.name, operators[lookup], alias, b.name, w.no())
	return a.name + lookup, map[string]any{"_field": b.name}, statement, true
}

// amongValues asks for the values of a column of another table, under conditions. Its SQL counts the rows that have one.
func (w *world) amongValues(t *table, alias string, level int) (key string, argument any, statement string) {
	own, other := pick(w.random, t.columns...), pick(w.random, w.tables...)
	fits := slices.DeleteFunc(slices.Clone(other.columns), func(c *column) bool {
		return c.kind != own.kind || c.of != own.of && (c.kind == aMoment || c.kind == aTruth)
	})
	if len(fits) == 0 {
		other, fits = t, []*column{own}
	}
	theirs, inner := pick(w.random, fits...), fmt.Sprintf("v%d", level)
	object, condition := w.condition(other, inner, 3)
	set := map[string]any{"model": other.name, "field": theirs.name}
	if chance(w.random, 70) {
		set["filters"] = object
	} else {
		condition = "1 = 1"
	}
	statement = fmt.Sprintf("((select count(*) from %s %s where %s and %s.%s = %s.%s) > 0)", other.name, inner, condition, inner, theirs.name, alias, own.name)
	return own.name + pick(w.random, "__in", "__in", ""), map[string]any{"_values": set}, statement
}

// relative asks for moments relative to now, which lie before or behind all that there are: no clock is asked twice.
func (w *world) relative(c *column, expression string) (lookup string, argument any, statement string) {
	lookup = pick(w.random, "__gt", "__gte", "__lt", "__lte")
	text, holds := pick(w.random, "-100y", "-1200mo/y", "now-5000w/w", "-40000d"), strings.HasPrefix(lookup, "__g")
	if chance(w.random, 50) {
		text, holds = pick(w.random, "+100y", "+1200mo/mo", "+400q/q", "+876000h/d"), !holds
	}
	if statement = "(" + expression + " is not null)"; !holds {
		statement = "(1 = 0)"
	}
	return lookup, map[string]any{"_now": text}, statement
}

// period asks for the period of a value: a year, a quarter, a month or a week, or a day of moments.
func (w *world) period(c *column, expression string) (lookup string, argument any, statement string) {
	day, _ := time.Parse(time.DateOnly, w.sample(c).text[:len(time.DateOnly)])
	from, to, name := day, day.AddDate(0, 0, 1), day.Format(time.DateOnly)
	switch n := w.random.IntN(5); {
	case n == 0:
		from = time.Date(day.Year(), 1, 1, 0, 0, 0, 0, time.UTC)
		to, name = from.AddDate(1, 0, 0), day.Format("2006")
	case n == 1:
		quarter := (int(day.Month()) - 1) / 3
		from = time.Date(day.Year(), time.Month(3*quarter+1), 1, 0, 0, 0, 0, time.UTC)
		to, name = from.AddDate(0, 3, 0), fmt.Sprintf("%d-Q%d", day.Year(), quarter+1)
	case n == 2:
		year, week := day.ISOWeek()
		from = day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
		to, name = from.AddDate(0, 0, 7), fmt.Sprintf("%d-W%02d", year, week)
	case n == 3 || c.kind == aDate:
		from = time.Date(day.Year(), day.Month(), 1, 0, 0, 0, 0, time.UTC)
		to, name = from.AddDate(0, 1, 0), day.Format("2006-01")
	}
	text := w.piece(c, expression, 0, 10)
	least, next := from.Format(time.DateOnly), to.Format(time.DateOnly)
	lookup = pick(w.random, "", "__in", "__ne", "__gt", "__gte", "__lt", "__lte")
	within := fmt.Sprintf("coalesce(%s >= '%s' and %[1]s < '%[3]s', %s)", text, least, next, w.no())
	switch lookup {
	case "__in":
		return lookup, []any{name}, within
	case "__ne":
		return lookup, name, "(case when " + within + " then 0 else 1 end = 1)"
	case "":
		return lookup, name, within
	}
	operator, bound := operators[lookup], least
	switch lookup {
	case "__gt":
		operator, bound = ">=", next
	case "__lte":
		operator, bound = "<", next
	}
	return lookup, name, fmt.Sprintf("coalesce(%s %s '%s', %s)", text, operator, bound, w.no())
}

// no is false where a condition stands.
func (w *world) no() string {
	if w.isPostgreSQL() || w.isDuckDB() {
		return "false"
	}
	return "0"
}

// lookup makes up a comparison of an expression with values that some row may have.
func (w *world) lookup(c *column, expression string) (lookup string, argument any, statement string) {
	if c.kind == aDate || c.kind == aMoment {
		switch n := w.random.IntN(100); {
		case n < 25:
			return w.period(c, expression)
		case n < 35:
			return w.relative(c, expression)
		}
	}
	v, other := w.sample(c), w.sample(c)
	known := func(statement string) string { return "coalesce(" + statement + ", " + w.no() + ")" }
	lookups := []string{"", "__exact", "__ne", "__in", "__isnull"}
	if c.kind != aTruth {
		lookups = append(lookups, "__gt", "__gte", "__lt", "__lte", "__range")
	}
	if c.kind == aText {
		lookups = append(lookups, "__contains", "__startswith", "__endswith")
	}
	if c.kind == aDate || c.kind == aMoment {
		lookups = append(lookups, "__year", "__month")
	}
	switch lookup = pick(w.random, lookups...); lookup {
	case "__isnull":
		if chance(w.random, 50) {
			return lookup, true, "(" + expression + " is null)"
		}
		return lookup, false, "(" + expression + " is not null)"
	case "__ne":
		return lookup, c.given(v), "(" + expression + " is null or " + expression + " <> " + w.literal(c, v) + ")"
	case "__in":
		return lookup, []any{c.given(v), c.given(other)}, known(expression + " in (" + w.literal(c, v) + ", " + w.literal(c, other) + ")")
	case "__range":
		return lookup, []any{c.given(v), c.given(other)}, known(expression + " between " + w.literal(c, v) + " and " + w.literal(c, other))
	case "__contains", "__startswith", "__endswith":
		return w.part(c, expression, lookup, v.text)
	case "__year", "__month":
		from, to := 0, 4
		if lookup == "__month" {
			from, to = 5, 7
		}
		var n int
		_, _ = fmt.Sscan(strings.TrimPrefix(v.text[from:to], "0"), &n)
		return lookup, n, known(fmt.Sprintf("%s = '%s'", w.piece(c, expression, from, to), v.text[from:to]))
	}
	return lookup, c.given(v), known(expression + " " + operators[lookup] + " " + w.literal(c, v))
}

// part is a condition on a part of a text.
func (w *world) part(c *column, expression, lookup, text string) (string, any, string) {
	part := text
	if n := len([]rune(text)); n > 1 {
		part = string([]rune(text)[:1+w.random.IntN(n)])
		if lookup == "__endswith" {
			part = string([]rune(text)[w.random.IntN(n):])
		}
	}
	literal, length := w.literal(c, value{text: part}), len([]rune(part))
	piece := fmt.Sprintf("substr(%s, 1, %d)", expression, length)
	switch {
	case lookup == "__contains" && w.engine.Product == harness.PostgreSQL:
		return lookup, part, "coalesce(strpos(" + expression + ", " + literal + ") > 0, false)"
	case lookup == "__contains":
		return lookup, part, "coalesce(instr(" + expression + ", " + literal + ") > 0, " + w.no() + ")"
	case lookup == "__endswith":
		size := map[string]string{harness.SQLite: "length"}[w.engine.Product]
		if size == "" {
			size = "char_length"
		}
		piece = fmt.Sprintf("substr(%s, %s(%s) - %d + 1)", expression, size, expression, length)
		return lookup, part, fmt.Sprintf("coalesce(%s(%s) >= %d and %s = %s, %s)", size, expression, length, piece, literal, w.no())
	}
	return lookup, part, "coalesce(" + piece + " = " + literal + ", " + w.no() + ")"
}

// piece is characters of a date's or moment's text in UTC.
func (w *world) piece(c *column, expression string, from, to int) string {
	text := expression
	switch {
	case w.engine.Product == harness.PostgreSQL:
		text = "to_char(" + expression + ", 'YYYY-MM-DD HH24')"
	case w.isMySQL():
		text = "date_format(" + expression + ", '%Y-%m-%d %H')"
	case w.isDuckDB():
		text = "strftime(" + expression + ", '%Y-%m-%d %H')"
	}
	return fmt.Sprintf("substr(%s, %d, %d)", text, from+1, to-from)
}

// sample is a value of the column that is not null: mostly one that a row was made with.
func (w *world) sample(c *column) value {
	var some []value
	for _, t := range w.tables {
		if i := slices.Index(t.columns, c); i >= 0 {
			for _, row := range t.rows {
				if !row[i].null {
					some = append(some, row[i])
				}
			}
		}
	}
	if len(some) > 0 && chance(w.random, 85) {
		return pick(w.random, some...)
	}
	always := *c
	if always.required = true; c.of == "serial" {
		return value{text: "5"}
	}
	return always.random(w.random)
}
