package oracle

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// step is a part of a transact: as an argument, and as a statement.
type step struct {
	tool, statement string
	arguments       map[string]any
}

// state has the tables' rows: each row by its table, as texts.
type state []string

// change runs steps, holds what became of the rows against the same statements in SQL, and takes the steps back.
func (g *game) change() {
	g.Helper()
	steps := g.newSteps()
	before, formed := g.state(meant), g.state(stored)
	want, failed := g.rehearse(steps)
	done.transacts++
	answer, isError, asked := g.call("transact", map[string]any{"steps": given(steps)})
	statement := statements(steps)
	after := g.state(meant)
	switch {
	case isError && !slices.Equal(before, after):
		g.differs(asked, statement, "it is refused (%v) and changed rows: %s", answer, before.difference(after))
		return
	case isError && failed == nil:
		g.differs(asked, statement, "it is refused: %v", answer)
		return
	case isError:
		done.refused++
		return
	case failed != nil:
		g.differs(asked, statement, "it is done, and SQL says %v", failed)
		return
	case !slices.Equal(want, after):
		g.differs(asked, statement, "the rows are others than SQL's: %s", want.difference(after))
		return
	}
	call, changed := answer["call"]
	if !changed || slices.Equal(before, after) {
		return
	}
	done.undos++
	answer, isError, undo := g.call("undo", map[string]any{"call": call})
	switch now := g.state(stored); {
	case isError:
		g.differs(asked+"\n"+undo, statement, "undo is refused: %v", answer)
	case !slices.Equal(formed, now):
		g.differs(asked+"\n"+undo, statement, "after undo the rows are others than before: %s", formed.difference(now))
	}
}

// newSteps makes up steps. Later ones may be about rows that earlier ones made.
func (g *game) newSteps() []step {
	var steps []step
	made := map[*table][]made{}
	for range 1 + g.random.IntN(5) {
		t := pick(g.random, g.tables...)
		switch n := g.random.IntN(10); {
		case n < 4:
			s, row := g.create(t, made, len(steps))
			steps = append(steps, s)
			made[t] = append(made[t], row)
		case n < 7:
			steps = append(steps, g.update(t))
		default:
			steps = append(steps, g.remove(t, made))
		}
	}
	return steps
}

// made is a row that a step made.
type made struct {
	step int
	row  []value
}

// create makes a row. It may refer to one that an earlier step made.
func (g *game) create(t *table, before map[*table][]made, n int) (step, made) {
	g.made++
	row := g.newRow(t, 10_000+g.made)
	data := map[string]any{}
	for i, c := range t.columns {
		if !row[i].null || chance(g.random, 30) {
			data[c.name] = c.given(row[i])
		}
	}
	for _, r := range t.refs {
		if len(before[r.to]) == 0 || chance(g.random, 40) {
			continue
		}
		to := pick(g.random, before[r.to]...)
		for i, c := range r.columns {
			row[slices.Index(t.columns, c)] = to.row[i]
			data[c.name] = map[string]any{"_step": to.step, "path": "object." + r.to.key[i].name}
		}
	}
	statement := fmt.Sprintf("insert into %s (%s) values (%s)", t.name, names(t.columns), strings.Join(g.literals(t.columns, row), ", "))
	return step{"create_" + t.name, statement, map[string]any{"data": data}}, made{n, row}
}

// update gives a row other values, but for its key.
func (g *game) update(t *table) step {
	row, fresh := pick(g.random, t.rows...), g.newRow(t, 1)
	data, sets := map[string]any{}, []string{}
	for i, c := range t.columns {
		if i < len(t.key) || len(data) > 0 && chance(g.random, 60) || g.refers(t, c) {
			continue
		}
		data[c.name] = c.given(fresh[i])
		sets = append(sets, c.name+" = "+g.literal(c, fresh[i]))
	}
	return step{"update_" + t.name, fmt.Sprintf("update %s set %s where %s", t.name, strings.Join(sets, ", "), g.is(t, row)),
		map[string]any{"id": id(t, row), "data": data}}
}

func (w *world) refers(t *table, c *column) bool {
	return slices.ContainsFunc(t.refs, func(r *ref) bool { return slices.Contains(r.columns, c) })
}

// remove deletes a row, often one that an earlier step made.
func (g *game) remove(t *table, before map[*table][]made) step {
	row := pick(g.random, t.rows...)
	if some := slices.SortedFunc(maps.Keys(before), func(a, b *table) int { return strings.Compare(a.name, b.name) }); len(some) > 0 && chance(g.random, 60) {
		t = pick(g.random, some...)
		row = pick(g.random, before[t]...).row
	}
	return step{"delete_" + t.name, "delete from " + t.name + " where " + g.is(t, row), map[string]any{"id": id(t, row)}}
}

// id is a row's id as an argument.
func id(t *table, row []value) any {
	if len(t.key) == 1 {
		return t.key[0].given(row[0])
	}
	parts := make([]string, len(t.key))
	for i := range t.key {
		parts[i] = url.PathEscape(row[i].text)
		parts[i] = strings.ReplaceAll(parts[i], ",", "%2C")
	}
	return strings.Join(parts, ",")
}

// is is the condition that holds for a row alone.
func (w *world) is(t *table, row []value) string {
	parts := make([]string, len(t.key))
	for i, c := range t.key {
		parts[i] = c.name + " = " + w.literal(c, row[i])
	}
	return strings.Join(parts, " and ")
}

func given(steps []step) []any {
	all := make([]any, len(steps))
	for i, s := range steps {
		all[i] = map[string]any{"tool": s.tool, "arguments": s.arguments}
	}
	return all
}

func statements(steps []step) string {
	all := make([]string, len(steps))
	for i, s := range steps {
		all[i] = s.statement
	}
	return strings.Join(all, ";\n")
}

// rehearse runs the statements, reads what the tables hold, and rolls back. It fails if a statement does, or if one is
// about a row that is not there.
func (g *game) rehearse(steps []step) (after state, failed error) {
	g.Helper()
	exec := func(statement string) (int64, error) {
		result, err := g.plain.ExecContext(context.Background(), statement)
		if err != nil {
			return 0, err
		}
		return result.RowsAffected()
	}
	if _, err := exec("begin"); err != nil {
		g.Fatal(err)
	}
	for _, s := range steps {
		// MySQL counts changed rows only.
		if !strings.HasPrefix(s.statement, "insert") && failed == nil {
			where := s.statement[strings.LastIndex(s.statement, " where "):]
			_, table, _ := strings.Cut(s.tool, "_")
			if there := g.rows("select count(*) from "+table+where, output{kind: anInteger}); there[0][0].text == "0" {
				failed = fmt.Errorf("%s: there is no such row", s.statement)
			}
		}
		if failed == nil {
			if _, err := exec(s.statement); err != nil {
				failed = fmt.Errorf("%s: %w", s.statement, err)
			}
		}
	}
	if failed == nil {
		after = g.state(meant)
	}
	if _, err := exec("rollback"); err != nil {
		g.Fatal(err)
	}
	return after, failed
}

// reading is how the rows are read: what they mean, or the form in which it is stored. That makes a difference on SQLite,
// which has several forms of a number and of a moment.
type reading int

const (
	meant reading = iota
	stored
)

// state reads what the tables hold.
func (g *game) state(how reading) state {
	g.Helper()
	var all state
	for _, t := range g.tables {
		var texts []string
		var outputs []output
		for _, c := range t.columns {
			o := output{expression: c.name, kind: c.kind}
			if how == stored && g.engine.Product == harness.SQLite {
				o = output{expression: "typeof(" + c.name + ") || ' ' || quote(" + c.name + ")", kind: aText}
			}
			texts, outputs = append(texts, g.asText(o)), append(outputs, o)
		}
		for _, row := range g.rows("select "+strings.Join(texts, ", ")+" from "+t.name, outputs...) {
			text, _ := json.Marshal(fmt.Sprint(row))
			all = append(all, t.name+" "+string(text))
		}
	}
	slices.Sort(all)
	return all
}

// difference lists what two states do not have in common.
func (s state) difference(other state) string {
	only := func(a, b state) string {
		rest := slices.DeleteFunc(slices.Clone(a), func(row string) bool { return slices.Contains(b, row) })
		return strings.Join(rest, "\n  ")
	}
	return "instead of\n  " + only(s, other) + "\nthere is\n  " + only(other, s)
}
