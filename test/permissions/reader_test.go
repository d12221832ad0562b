package permissions

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// What the oracle answers to questions: it evaluates paths, conditions, orders and measures over the raw rows, and knows
// nothing of the server's code.

// reader knows what one token may read.
type reader struct {
	*world
	token contract.Token
	all   data
	// nullsFirst says that NULLs come first in ascending orders, as they do on all engines but PostgreSQL.
	nullsFirst bool
	// conditions counts the conditions of a call.
	conditions int
	// reached are the other tables that the call asks about.
	reached []string
}

// refusal is why the oracle holds that a call must be refused.
type refusal struct{ why string }

func (r *refusal) Error() string { return r.why }

func refuse(format string, args ...any) error { return &refusal{fmt.Sprintf(format, args...)} }

// maxRelations is how many relations a path may go through.
const maxRelations = 4

// link is a relation: the rows of a table whose columns theirs equal a row's columns ours.
type link struct {
	name, table  string
	ours, theirs []string
	many         bool
}

// links are the relations of a table, those too that a token may not follow.
func links(table string) []link {
	var all []link
	for from, refs := range references {
		for _, to := range refs {
			name := strings.TrimSuffix(to.columns[0], "_id")
			if len(to.columns) > 1 {
				name = to.table
			}
			if from == table {
				all = append(all, link{name, to.table, to.columns, to.to, false})
			}
			if to.table == table {
				all = append(all, link{from + "_by_" + name, from, to.to, to.columns, true})
			}
		}
	}
	slices.SortFunc(all, func(a, b link) int { return strings.Compare(a.name, b.name) })
	return all
}

// link is the relation of that name, if the token may follow it.
func (o *reader) link(table, name string) (link, bool) {
	for _, l := range links(table) {
		if l.name != name || !o.views(table) || !o.views(l.table) || !showsRows(o.model(l.table)) {
			continue
		}
		usable := func(table string) func(string) bool {
			return func(name string) bool { _, ok := o.compared(table, name); return ok }
		}
		if !slices.ContainsFunc(l.ours, not(usable(table))) && !slices.ContainsFunc(l.theirs, not(usable(l.table))) {
			o.reached = append(o.reached, l.table)
			return l, true
		}
	}
	return link{}, false
}

func not(holds func(string) bool) func(string) bool {
	return func(s string) bool { return !holds(s) }
}

func (o *reader) views(table string) bool { return may(o.token, o.model(table), "view") }

// shown is the column of that name, if the token may know of it.
func (o *reader) shown(table, name string) (column, bool) {
	i := slices.IndexFunc(tables[table], func(c column) bool { return c.name == name })
	if i < 0 || hidden(o.model(table), name) || tables[table][i].unreadable && o.users {
		return column{}, false
	}
	return tables[table][i], true
}

// compared is the column of that name, if the token may have it compared.
func (o *reader) compared(table, name string) (column, bool) {
	c, ok := o.shown(table, name)
	return c, ok && !masked(o.model(table), name)
}

// wholeKey reports whether a name stands for a key of several columns.
func wholeKey(table, name string) bool { return table == "seat" && name == "id" }

// rows returns the rows of a table that the token sees, in the order of their ids.
func (o *reader) rows(table string) []row {
	var seen []row
	m := o.model(table)
	for _, r := range sortedRows(o.all[table]) {
		if seesRow(o.token, m, r, o.all) {
			seen = append(seen, r)
		}
	}
	return seen
}

// related are the rows that a relation leads to from a row and that the token sees.
func (o *reader) related(l link, from row) []row {
	values := from.at(l.ours)
	if from == nil || values == nil {
		return nil
	}
	var found []row
	m := o.model(l.table)
	for _, r := range sortedRows(o.all[l.table]) {
		if slices.Equal(r.at(l.theirs), values) && seesRow(o.token, m, r, o.all) {
			found = append(found, r)
		}
	}
	return found
}

// lead is where relations to one row lead from a row; nil if a row is missing or out of sight.
func (o *reader) lead(through []link, r row) row {
	for _, l := range through {
		found := o.related(l, r)
		if len(found) == 0 {
			return nil
		}
		r = found[0]
	}
	return r
}

// path is a field of a row, or of one that relations to one row lead to.
type path struct {
	text    string
	through []link
	table   string
	name    string
	kind    kind
	// whole says that it is a key of several columns.
	whole bool
	// part is a piece of a date or moment, "" for all of it.
	part string
}

// value returns a row's value at the path, in canonical form.
func (o *reader) value(p path, r row) string {
	if r = o.lead(p.through, r); r == nil {
		return ""
	}
	if p.part != "" {
		c, _ := o.shown(p.table, p.name)
		text, _, _ := part(r[p.name], p.part, c.values())
		return text
	}
	return r[p.name]
}

// path reads a path along relations to one row. Whether a masked field may stand there is for shows to say.
func (o *reader) path(table, text string, shows bool) (path, error) {
	p := path{text: text, table: table}
	names := strings.Split(text, "__")
	for i, name := range names {
		last := i == len(names)-1
		if l, ok := o.link(p.table, name); ok && !last {
			if l.many {
				return p, refuse("%s leads to many rows", name)
			}
			if p.through, p.table = append(p.through, l), l.table; len(p.through) > maxRelations {
				return p, refuse("%s takes too many relations", text)
			}
			continue
		}
		c, ok := o.compared(p.table, name)
		if shows {
			c, ok = o.shown(p.table, name)
		}
		p.name, p.kind, p.whole = name, c.values(), wholeKey(p.table, name)
		switch {
		case !ok && !p.whole:
			return p, refuse("%s has no field %s", p.table, name)
		case last:
			return p, nil
		default:
			p.part = strings.Join(names[i+1:], "__")
			return p, refuse("%s goes on behind a field", text)
		}
	}
	return p, nil
}

// limited reports whether a row policy stands between the token and the rows of a table.
func (o *reader) limited(table string) bool {
	m := o.model(table)
	return len(m.RowPolicies) > 0 && !slices.ContainsFunc(m.RowPolicies, func(p contract.RowPolicy) bool {
		return p.AllRows && (p.Everyone || slices.ContainsFunc(p.Groups, func(g string) bool { return slices.Contains(o.token.Groups, g) }))
	})
}

// narrowed reports whether a policy narrows the rows of a table, or of another one that the call asks about.
func (o *reader) narrowed(table string) bool {
	return slices.ContainsFunc(append(o.reached, table), o.limited)
}

// step is a part of an order.
type step struct {
	of         func(r row) string
	kind       kind
	descending bool
}

// sort sorts rows by steps.
func (o *reader) sort(rows []row, steps []step) {
	slices.SortStableFunc(rows, func(a, b row) int {
		for _, s := range steps {
			if c := o.order(s.of(a), s.of(b), s.kind); c != 0 {
				if s.descending {
					return -c
				}
				return c
			}
		}
		return 0
	})
}

// order compares two values, NULLs too.
func (o *reader) order(a, b string, of kind) int {
	switch {
	case a == b:
		return 0
	case a != "" && b != "":
		return compare(a, b, of, of)
	case (a == "") == o.nullsFirst:
		return -1
	}
	return 1
}

// steps reads order_by of a table's rows.
func (o *reader) steps(table string, names []string) ([]step, error) {
	var steps []step
	taken := map[string]bool{}
	add := func(p path, descending bool) {
		columns := []string{p.name}
		if p.whole {
			columns = []string{"item_id", "number"}
		}
		for _, name := range columns {
			one := p
			one.name = name
			c, _ := o.shown(p.table, name)
			at := fmt.Sprint(linkNames(p.through), name)
			if !taken[at] {
				taken[at] = true
				steps = append(steps, step{func(r row) string { return o.value(one, r) }, c.values(), descending})
			}
		}
	}
	descending := false
	for _, text := range names {
		var name string
		name, descending = strings.CutPrefix(text, "-")
		p, err := o.path(table, name, false)
		if err != nil {
			return nil, err
		}
		add(p, descending)
	}
	if table != "tag" {
		add(path{table: table, name: "id", whole: table == "seat"}, descending)
	}
	return steps, nil
}

func linkNames(through []link) string {
	var names []string
	for _, l := range through {
		names = append(names, l.name)
	}
	return strings.Join(names, "__")
}
