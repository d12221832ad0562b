package read

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// plan plans the read of the groups, once their members are known: the groups, the values that compare them with other groups,
// the choice that having makes, and then top's. havingNames are the members that having uses.
func (g *groupReader) plan(a *aggregateArguments) (plan *database.Select, havingNames []string, err error) {
	groups, err := g.layer()
	if err != nil {
		return nil, nil, err
	}
	if slices.ContainsFunc(g.derived, (*derivedMeasure).looksBack) {
		if groups, err = g.besideOthers(groups, a.orderBy); err != nil {
			return nil, nil, err
		}
	}
	where, err := groups.set.conditions("having", a.having)
	if err != nil {
		return nil, nil, err
	}
	if err := g.checkSmallGroups(groups.set, where); err != nil {
		return nil, nil, err
	}
	havingNames = groups.asked(where)
	if a.top != nil {
		if groups, where, err = g.first(groups, where, a); err != nil {
			return nil, nil, err
		}
	}
	m := g.rows.Scope.Model()
	plan = &database.Select{From: groups.source, Joins: groups.set.joins, Offset: a.offset.Or(0), More: true}
	plan.Limit = min(a.limit.Or(m.Declared.DefaultPageSize), m.Declared.MaxPageSize)
	if len(where) > 0 {
		plan.Where = where
	}
	for _, f := range groups.set.members {
		plan.Output = append(plan.Output, f.Output())
	}
	if plan.Order, _, err = g.order(groups.set, a.orderBy); err != nil {
		return nil, nil, err
	}
	plan.Total, _, err = askedTotal(a.total)
	return plan, havingNames, err
}

// groupLayer is groups as a source, and the members that are known of them.
type groupLayer struct {
	source database.Source
	// set is the set of the groups, with those members.
	set *RowSet
}

// newLayer returns groups without members. The conditions of the call are counted on.
func newLayer(source database.Source, before *RowSet) *groupLayer {
	return &groupLayer{source, &RowSet{Scope: before.Scope, calendar: before.calendar, conditionsRead: before.conditionsRead, members: []*catalog.Field{}}}
}

// add adds a member.
func (l *groupLayer) add(name string, c *database.Column) {
	l.set.members = append(l.set.members, &catalog.Field{Name: name, Column: c})
}

// refs are the columns of the members.
func (l *groupLayer) refs() []database.Ref {
	var refs []database.Ref
	for _, f := range l.set.members {
		refs = append(refs, database.Ref{Column: f.Column})
	}
	return refs
}

// member returns the column of a member, or nil.
func (l *groupLayer) member(name string) *database.Column {
	for _, f := range l.set.members {
		if f.Name == name {
			return f.Column
		}
	}
	return nil
}

// asked returns the names of the members that a condition uses.
func (l *groupLayer) asked(where database.And) []string {
	var names []string
	database.EachColumn(where, func(c *database.Column) {
		for _, f := range l.set.members {
			if f.Column == c {
				names = append(names, f.Name)
			}
		}
	})
	return names
}

// layer returns the groups with the members that depend on no other group, in the order of g's members.
func (g *groupReader) layer() (*groupLayer, error) {
	l := newLayer(g.groups, g.rows)
	computed := map[string]*database.Column{}
	for _, name := range g.members {
		if g.looksBack(name, 0) {
			continue
		}
		column, err := g.compute(l, computed, name)
		if err != nil {
			return nil, err
		}
		l.add(name, column)
	}
	return l, nil
}

// column returns the column that groups have for a key or a measure of rows; nil if the name means neither.
func (g *groupReader) column(groups database.Source, name string) *database.Column {
	place := slices.Index(g.keys(), name)
	if i := slices.Index(g.ofRows, name); place < 0 && i >= 0 {
		place = len(g.grouping.Keys) + i
	}
	if place < 0 {
		return nil
	}
	return groups.Table().Columns[place]
}

// compute returns the column of a member that depends on no other group. Measures of measures are computed once.
func (g *groupReader) compute(l *groupLayer, computed map[string]*database.Column, name string) (*database.Column, error) {
	if c := cmp.Or(g.column(l.source, name), computed[name]); c != nil {
		return c, nil
	}
	d := g.find(name)
	operands := make([]database.Ref, 0, 2)
	for _, of := range d.of {
		c, err := g.compute(l, computed, of)
		if err != nil {
			return nil, err
		}
		operands = append(operands, database.Ref{Column: c})
	}
	if d.function == "share" {
		whole := (&database.Grouping{From: g.grouping.From, Joins: g.grouping.Joins, Where: g.grouping.Where, Measures: []database.Measure{*g.measure(d.of[0])}}).Source()
		join, err := l.set.join(&database.Join{From: whole}, nil, l.set.Scope)
		if err != nil {
			return nil, err
		}
		operands = append(operands, database.Ref{Join: join, Column: whole.Table().Columns[0]})
	}
	computed[name] = d.arithmetic(operands)
	return computed[name], nil
}

// arithmetic is what the measure computes of the values of others, and of its numbers.
func (d *derivedMeasure) arithmetic(of []database.Ref) *database.Column {
	a := database.Arithmetic{Operator: derivedOperators[d.function], Digits: d.digits}
	for i, operand := range []*database.Operand{&a.Left, &a.Right} {
		if number, ok := d.numbers[i]; ok {
			operand.Number = number
		} else if len(of) > 0 {
			operand.Ref, of = of[0], of[1:]
		}
	}
	return a.Column(d.name)
}

// order reads order_by, whose first steps are those asked for. All keys are appended, so that the answer is always the same.
func (g *groupReader) order(set *RowSet, names []string) (order []database.Order, asked int, err error) {
	add := func(c *database.Column, descending bool) {
		if !ordersBy(order, database.Ref{Column: c}) {
			order = append(order, database.Order{Column: c, Descending: descending})
		}
	}
	for _, text := range names {
		name, descending := readOrder(text)
		target, ok := set.base().target(name)
		if !ok && set.base().masks(name) {
			return nil, 0, call.Invalid("order_by: %s", isMasked(name))
		}
		if !ok || !target.field.Column.Ordered() {
			return nil, 0, call.Invalid("order_by: cannot order by %q; the measures and groups to order by are %s", name, strings.Join(orderedNames(set.members), ", "))
		}
		add(target.field.Column, descending)
	}
	asked = len(order)
	for i := range g.grouping.Keys {
		add(set.members[i].Column, false)
	}
	return order, asked, nil
}
