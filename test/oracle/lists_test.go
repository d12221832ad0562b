package oracle

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// mostPages is how many pages of one answer are read.
const mostPages = 40

// list asks for rows, follows the pages to their end, and holds all of them against SQL.
func (g *game) list() {
	g.Helper()
	t := pick(g.random, g.tables...)
	if chance(g.random, 2) {
		g.compareWithItself(t)
		return
	}
	arguments, where := map[string]any{"total": "exact"}, "1 = 1"
	if chance(g.random, 75) {
		arguments["filters"], where = g.condition(t, "a", 1)
	}
	var order []*column
	var by []any
	if chance(g.random, 50) {
		for range 1 + g.random.IntN(2) {
			if c := pick(g.random, t.columns...); !slices.Contains(order, c) {
				order, by = append(order, c), append(by, pick(g.random, "", "-")+c.name)
			}
		}
		arguments["order_by"] = by
	}
	if chance(g.random, 30) {
		arguments["limit"] = pick(g.random, 40, 250, 1000, 5000)
	}
	if chance(g.random, 30) {
		arguments["format"] = "columns"
	}
	outputs, selected := g.outputs(t)
	statement := "select " + selected + " from " + t.name + " a where " + where
	want := g.rows(statement, outputs...)
	done.lists++
	got, asked, ok := g.pages("list_"+t.name, arguments, statement, len(want), t.kinds())
	if !ok {
		return
	}
	if difference := differenceOfRows(want, got); difference != "" {
		g.differs(asked, statement, "%s", difference)
		return
	}
	if i := g.outOfOrder(t, order, by, got); i > 0 {
		g.differs(asked, statement, "row %d stands behind row %d: %v, %v", i, i-1, got[i-1], got[i])
	}
}

// compareWithItself compares a column with itself, which nobody means: it must be refused, and not answered with all rows or
// none.
func (g *game) compareWithItself(t *table) {
	g.Helper()
	path, _, _ := g.path(t, "a")
	filters := map[string]any{path + pick(g.random, "", "__ne", "__gt", "__lte"): map[string]any{"_field": path}}
	if answer, isError, asked := g.call("list_"+t.name, map[string]any{"filters": filters}); !isError || answer["code"] != "invalid_argument" {
		g.differs(asked, "", "it is answered: %.300v", answer)
	}
}

// isTooWide reports whether an answer is the refusal to compute with more digits than the engine has.
func (g *game) isTooWide(answer map[string]any) bool {
	text, _ := answer["error"].(string)
	return g.isDuckDB() && answer["code"] == "invalid_argument" && strings.Contains(text, "beyond the 38 digits that DuckDB computes with")
}

// member is a member of each row of an answer, and what it is.
type member struct {
	name string
	kind kind
	// read reports whether it is shown as the text that is kept.
	read bool
}

func (t *table) kinds() []member {
	all := make([]member, len(t.columns))
	for i, c := range t.columns {
		all[i] = member{c.name, c.kind, c.read}
	}
	return all
}

func (g *game) outputs(t *table) (outputs []output, selected string) {
	texts := make([]string, len(t.columns))
	for i, c := range t.columns {
		outputs = append(outputs, output{expression: "a." + c.name, kind: c.kind})
		texts[i] = g.asText(outputs[i])
	}
	return outputs, strings.Join(texts, ", ")
}

// pages makes a call, and the further calls that its answers name. It fails the test if the rows end before there are
// as many as wanted and nothing says so.
func (g *game) pages(tool string, arguments map[string]any, statement string, wanted int, members []member) (rows [][]value, first string, ok bool) {
	g.Helper()
	pages := 0
	for ; pages < mostPages; pages++ {
		answer, isError, asked := g.call(tool, arguments)
		if first == "" {
			first = asked
		}
		switch {
		case isError && g.isTooWide(answer):
			done.tooWide++
			return nil, first, false
		case isError:
			g.differs(asked, statement, "it is refused: %v", answer)
			return nil, first, false
		}
		page, err := rowsOf(answer, members)
		if err != nil {
			g.differs(asked, statement, "%v", err)
			return nil, first, false
		}
		rows = append(rows, page...)
		for _, total := range []string{"total_count", "total_groups"} {
			if n, there := answer[total]; there && fmt.Sprint(n) != fmt.Sprint(wanted) {
				g.differs(asked, statement, "%s is %v, and SQL has %d rows", total, n, wanted)
				return nil, first, false
			}
		}
		cursor, offset := answer["next_cursor"], answer["next_offset"]
		if cursor == nil && offset == nil {
			if limit, limited := arguments["limit"].(int); len(rows) < wanted && answer["notice"] == nil && (!limited || len(page) < limit) {
				g.differs(asked, statement, "it ends after %d rows without a word, and SQL has %d", len(rows), wanted)
				return nil, first, false
			}
			break
		}
		if len(page) == 0 {
			g.differs(asked, statement, "an empty page goes on")
			return nil, first, false
		}
		delete(arguments, "cursor")
		delete(arguments, "offset")
		if cursor != nil {
			arguments["cursor"] = cursor
		} else {
			arguments["offset"] = offset
		}
	}
	switch {
	case pages > 0 && strings.HasPrefix(tool, "list"):
		done.longLists++
	case wanted > 100 && strings.HasPrefix(tool, "aggregate"):
		done.longAggregates++
	}
	return rows, first, true
}

// rowsOf are the rows of an answer, in either format.
func rowsOf(answer map[string]any, members []member) ([][]value, error) {
	var all [][]value
	if columns, there := answer["columns"].([]any); there {
		for _, one := range answer["rows"].([]any) {
			row := make([]value, len(members))
			for i, m := range members {
				at := slices.Index(columns, any(m.name))
				if at < 0 {
					return nil, fmt.Errorf("there is no column %s", m.name)
				}
				row[i] = m.answered(one.([]any)[at])
			}
			all = append(all, row)
		}
		return all, nil
	}
	results, _ := answer["results"].([]any)
	for _, one := range results {
		row := make([]value, len(members))
		for i, m := range members {
			v, there := one.(map[string]any)[m.name]
			if !there {
				text, _ := json.Marshal(one)
				return nil, fmt.Errorf("a row has no %s: %s", m.name, text)
			}
			row[i] = m.answered(v)
		}
		all = append(all, row)
	}
	return all, nil
}

// differenceOfRows says how rows differ, whatever their order; "" if they do not. Each row of a table is there once.
func differenceOfRows(want, got [][]value) string {
	left := map[string]int{}
	for _, row := range want {
		left[fmt.Sprint(row)]++
	}
	var more []string
	for _, row := range got {
		if key := fmt.Sprint(row); left[key] > 0 {
			left[key]--
		} else {
			more = append(more, key)
		}
	}
	var missing []string
	for key, n := range left {
		if n > 0 {
			missing = append(missing, key)
		}
	}
	if len(more)+len(missing) == 0 {
		return ""
	}
	slices.Sort(missing)
	slices.Sort(more)
	return fmt.Sprintf("%d rows, and SQL has %d; missing are %d: %.600s\ntoo many are %d: %.600s", len(got), len(want), len(missing), strings.Join(missing, " "), len(more), strings.Join(more, " "))
}

// outOfOrder is the place of the first row that must stand before the one before it; 0 if there is none.
func (g *game) outOfOrder(t *table, order []*column, by []any, rows [][]value) int {
	for i := 1; i < len(rows); i++ {
		for j, c := range order {
			at := slices.Index(t.columns, c)
			sign := g.compare(c.kind, rows[i-1][at], rows[i][at])
			if strings.HasPrefix(by[j].(string), "-") {
				sign = -sign
			}
			if sign > 0 {
				return i
			}
			if sign < 0 {
				break
			}
		}
	}
	return 0
}

// compare compares values in the engine's ascending order.
func (w *world) compare(k kind, a, b value) int {
	if a.null || b.null {
		last := -1
		if w.isPostgreSQL() || w.isDuckDB() {
			last = 1
		}
		return last * (count(a.null) - count(b.null))
	}
	if k.isNumber() {
		x, _ := new(big.Rat).SetString(a.text)
		y, _ := new(big.Rat).SetString(b.text)
		return x.Cmp(y)
	}
	return cmp.Compare(a.text, b.text)
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
