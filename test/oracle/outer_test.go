package oracle

import (
	"fmt"
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// outerCompared compares a column of related rows with a column of the row that they belong to.
func (w *world) outerCompared(inner *table, alias string, outer *table, outerAlias string) (key string, argument any, statement string, ok bool) {
	a := pick(w.random, inner.columns...)
	others := slices.DeleteFunc(slices.Clone(outer.columns), func(c *column) bool {
		return c.kind != a.kind || c.of != a.of && a.kind == aMoment || a.kind == aTruth || a.read || c.read
	})
	if len(others) == 0 {
		return "", nil, "", false
	}
	b := pick(w.random, others...)
	lookup := pick(w.random, "", "__gt", "__gte", "__lt", "__lte")
	if a.kind == aText { // which of two texts is greater is the database's affair
		lookup = ""
	}
	statement = fmt.Sprintf("coalesce(%s.%s %s %s.%s, %s)", alias, a.name, operators[lookup], outerAlias, b.name, w.no())
	return a.name + lookup, map[string]any{"_outer": b.name}, statement, true
}

// measuredBeside compares an integer with what the rows of the same table come to that have the same value in a column, or a lesser one.
func (w *world) measuredBeside(t *table, alias string) (key string, argument any, statement string, ok bool) {
	numbers := slices.DeleteFunc(slices.Clone(t.columns), func(c *column) bool { return c.kind != anInteger || c.read })
	keys := slices.DeleteFunc(slices.Clone(t.columns), func(c *column) bool {
		return c.read || c.kind == aTruth || c.kind == aFloat && w.engine.Product == harness.SQLite
	})
	if len(numbers) == 0 || len(keys) == 0 {
		return "", nil, "", false
	}
	own, of, by := pick(w.random, numbers...), pick(w.random, numbers...), pick(w.random, keys...)
	function := pick(w.random, "min", "max", "count", "count_distinct")
	value := function + "(ob." + of.name + ")"
	if function == "count_distinct" {
		value = "count(distinct ob." + of.name + ")"
	}
	relation, operator := "", "="
	if by.kind == anInteger && chance(w.random, 30) {
		relation, operator = "__lt", "<"
	}
	lookup := pick(w.random, "", "__gt", "__gte", "__lt", "__lte")
	measured := fmt.Sprintf("(select %s from %s ob where ob.%s %s %s.%s)", value, t.name, by.name, operator, alias, by.name)
	argument = map[string]any{"_measure": map[string]any{function: of.name, "filters": map[string]any{by.name + relation: map[string]any{"_outer": by.name}}}}
	return own.name + lookup, argument, fmt.Sprintf("coalesce(%s.%s %s %s, %s)", alias, own.name, operators[lookup], measured, w.no()), true
}
