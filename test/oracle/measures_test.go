package oracle

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// rowsWith are a table's rows that meet a random condition, as SQL shows some of their columns.
func (g *game) rowsWith(t *table, columns ...*column) (rows [][]value, arguments map[string]any, statement string) {
	g.Helper()
	arguments, statement = map[string]any{"total": "exact"}, " from "+t.name+" a"
	if chance(g.random, 50) {
		object, condition := g.condition(t, "a", 1)
		arguments["filters"] = object
		statement += " where " + condition
	}
	var outputs []output
	var texts []string
	for _, c := range columns {
		o := output{expression: "a." + c.name, kind: c.kind}
		outputs, texts = append(outputs, o), append(texts, g.asText(o))
	}
	statement = "select " + strings.Join(texts, ", ") + statement
	return g.rows(statement, outputs...), arguments, statement
}

// places asks for medians, percentiles, standard deviations and texts, and computes them from the rows that SQL shows.
func (g *game) places() {
	g.Helper()
	t := pick(g.random, g.tables...)
	numbers := slices.DeleteFunc(slices.Clone(t.columns), func(c *column) bool { return !c.kind.isExact() || c.digits > 12 })
	texts := slices.DeleteFunc(slices.Clone(t.columns), func(c *column) bool { return c.kind != aText })
	by := pick(g.random, t.columns...)
	if len(numbers) == 0 || by.kind == aFloat || by.kind == aMoment {
		return
	}
	of, named := pick(g.random, numbers...), by
	fraction := pick(g.random, "0", "0.05", "0.25", "0.9", "0.333333", "1")
	members := []member{{name: by.name, kind: by.kind}, {name: "n", kind: anInteger}, {name: "m", kind: aDecimal}, {name: "p", kind: aDecimal}}
	measures := map[string]any{"n": map[string]any{"count": "*"}, "m": map[string]any{"median": of.name},
		"p": map[string]any{"percentile": []any{of.name, json.Number(fraction)}}}
	// DuckDB computes that of numbers in texts in floats, whose last digit depends on the order of the rows (docs/duckdb.md).
	spread := !g.isDuckDB() || !of.read
	if spread {
		measures["d"] = map[string]any{"stddev": of.name}
		members = append(members, member{name: "d", kind: aFloat})
	}
	if len(texts) > 0 {
		named = pick(g.random, texts...)
		measures["t"] = map[string]any{"texts": named.name}
		members = append(members, member{name: "t", kind: aText})
	}
	rows, arguments, statement := g.rowsWith(t, by, of, named)
	arguments["group_by"], arguments["measures"] = []any{by.name}, measures
	groups, keys := map[string][][]value{}, []value{}
	for _, row := range rows {
		if key := row[0].String(); groups[key] == nil {
			keys = append(keys, row[0])
		}
		groups[row[0].String()] = append(groups[row[0].String()], row)
	}
	var want [][]value
	for _, key := range keys {
		own := groups[key.String()]
		var values []*big.Rat
		var words []string
		for _, row := range own {
			if !row[1].null {
				values = append(values, rat(row[1]))
			}
			if !row[2].null {
				words = append(words, row[2].text)
			}
		}
		slices.SortFunc(values, (*big.Rat).Cmp)
		group := []value{key, {text: fmt.Sprint(len(own))}, percentile(values, "0.5"), percentile(values, fraction)}
		if spread {
			group = append(group, deviation(values))
		}
		if len(texts) > 0 {
			slices.Sort(words)
			if words = slices.Compact(words); len(words) > database.MostTexts {
				words = append(words[:database.MostTexts], "…")
			}
			if len(words) == 0 {
				group = append(group, value{null: true})
			} else {
				group = append(group, value{text: strings.Join(words, ", ")})
			}
		}
		want = append(want, group)
	}
	done.computed++
	got, asked, ok := g.pages("aggregate_"+t.name, arguments, statement, len(want), members)
	if !ok {
		return
	}
	if difference := differenceOfRows(want, got); difference != "" {
		g.differs(asked, statement, "%s", difference)
	}
}

// percentile is that of sorted values, as PostgreSQL's percentile_cont defines it.
func percentile(sorted []*big.Rat, fraction string) value {
	if len(sorted) == 0 {
		return value{null: true}
	}
	at := new(big.Rat).Mul(rat(value{text: fraction}), big.NewRat(int64(len(sorted)-1), 1))
	lower := int(new(big.Int).Quo(at.Num(), at.Denom()).Int64())
	upper := min(lower+1, len(sorted)-1)
	part := at.Sub(at, big.NewRat(int64(lower), 1))
	step := new(big.Rat).Sub(sorted[upper], sorted[lower])
	return value{text: rounded(step.Add(step.Mul(step, part), sorted[lower]))}
}

// deviation is the standard deviation of a sample.
func deviation(values []*big.Rat) value {
	n := int64(len(values))
	if n < 2 {
		return value{null: true}
	}
	sum, squares := new(big.Rat), new(big.Rat)
	for _, v := range values {
		sum.Add(sum, v)
		squares.Add(squares, new(big.Rat).Mul(v, v))
	}
	squares.Mul(squares, big.NewRat(n, 1))
	above, _ := squares.Sub(squares, sum.Mul(sum, sum)).Float64()
	return value{text: shortest(math.Sqrt(above / (float64(n) * float64(n-1))))}
}

// pieces are the texts of pieces of time.
var pieces = map[string]func(time.Time) string{
	"month": func(t time.Time) string { return t.Format("2006-01") },
	"day":   func(t time.Time) string { return t.Format(time.DateOnly) },
	"year":  func(t time.Time) string { return t.Format("2006") },
	"week": func(t time.Time) string {
		year, week := t.ISOWeek()
		return fmt.Sprintf("%d-W%02d", year, week)
	},
	"quarter": func(t time.Time) string { return fmt.Sprintf("%d-Q%d", t.Year(), (t.Month()+2)/3) },
}

// filled asks for groups of pieces of time with those between that have no rows, and counts the rows of each day between in Go.
func (g *game) filled() {
	g.Helper()
	t := pick(g.random, g.tables...)
	dates := slices.DeleteFunc(slices.Clone(t.columns), func(c *column) bool { return c.kind != aDate && c.kind != aMoment })
	numbers := slices.DeleteFunc(slices.Clone(t.columns), func(c *column) bool { return !c.kind.isExact() || c.digits > 12 })
	if len(dates) == 0 || len(numbers) == 0 {
		return
	}
	by, of, part := pick(g.random, dates...), pick(g.random, numbers...), pick(g.random, "year", "quarter", "month", "week", "day")
	rows, arguments, statement := g.rowsWith(t, by, of)
	kind := aText
	if part == "year" {
		kind = anInteger
	}
	name := by.name + "__" + part
	arguments["group_by"], arguments["fill"], arguments["limit"] = []any{name}, true, 1000
	arguments["measures"] = map[string]any{"n": map[string]any{"count": "*"}, "s": map[string]any{"sum": of.name}, "m": map[string]any{"max": of.name}, "all": map[string]any{"running": "n"}}
	members := []member{{name: name, kind: kind}, {name: "n", kind: anInteger}, {name: "s", kind: of.kind}, {name: "m", kind: of.kind}, {name: "all", kind: anInteger}}
	groups, first, last := map[string][][]value{}, time.Time{}, time.Time{}
	for _, row := range rows {
		key := "null"
		if !row[0].null {
			at, err := time.Parse(time.DateOnly, row[0].text[:len(time.DateOnly)])
			if err != nil {
				g.Fatal(err)
			}
			if key = pieces[part](at); first.IsZero() || at.Before(first) {
				first = at
			}
			if at.After(last) {
				last = at
			}
		}
		groups[key] = append(groups[key], row)
	}
	var keys []string
	for at := first; !first.IsZero() && !at.After(last); at = at.AddDate(0, 0, 1) {
		keys = append(keys, pieces[part](at))
	}
	if keys = slices.Compact(keys); groups["null"] != nil {
		keys = append(keys, "null")
	}
	done.computed++
	got, asked, ok := g.pages("aggregate_"+t.name, arguments, statement, len(keys), members)
	if !ok {
		return
	}
	var want [][]value
	for _, key := range keys {
		want = append(want, totals(key, groups[key]))
	}
	running := 0
	for i, row := range got { // in the answer's order, which has null first or last
		n, _ := strconv.Atoi(row[1].text)
		if running += n; fmt.Sprint(running) != row[4].text {
			g.differs(asked, statement, "group %d: the running total is %v, want %d", i, row[4], running)
			return
		}
		got[i] = row[:4]
	}
	if difference := differenceOfRows(want, got); difference != "" {
		g.differs(asked, statement, "%s", difference)
	}
}

// totals is a group's key, count, sum and maximum.
func totals(key string, rows [][]value) []value {
	sum, most := value{text: "0"}, value{null: true}
	if len(rows) > 0 {
		sum = value{null: true}
	}
	total := new(big.Rat)
	for _, row := range rows {
		if row[1].null {
			continue
		}
		sum = value{text: trimmed(total.Add(total, rat(row[1])).FloatString(40))}
		if most.null || rat(row[1]).Cmp(rat(most)) > 0 {
			most = row[1]
		}
	}
	return []value{{text: strings.TrimPrefix(key, "null"), null: key == "null"}, {text: fmt.Sprint(len(rows))}, sum, most}
}
