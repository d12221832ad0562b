package planner

import (
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/test/jobs/sqltree"
)

// grouping is a call of aggregate_ in the making.
type grouping struct {
	*builder
	*shape
	// by are the columns that are grouped by, members their names.
	by       []place
	members  []any
	measures Object
}

// emitGroups makes a call of aggregate_.
func (b *builder) emitGroups(s *selection, h *shape, call *Call) (Part, error) {
	g := &grouping{b, h, nil, nil, Object{}}
	g.by = s.group
	if !s.grouped() {
		for _, v := range s.columns {
			g.by = append(g.by, v.place)
		}
	}
	for _, p := range g.by {
		if p.column.Others {
			return Part{}, unable("groups of texts that are read as numbers")
		}
		g.member(p)
	}
	part := Part{Call: call}
	for _, v := range s.columns {
		name, err := g.name(v)
		if err != nil {
			return Part{}, err
		}
		part.Members = append(part.Members, name)
	}
	if s.grouped() && s.distinct && !g.shows(part.Members) {
		return Part{}, unable("DISTINCT over groups")
	}
	if err := g.having(call); err != nil {
		return Part{}, err
	}
	if len(g.members) > 0 || s.having != nil {
		if err := g.sort(s, call); err != nil {
			return Part{}, err
		}
		setLimit(call, h.tables[h.root].table, s.limit, s.offset)
	}
	if len(g.members) > mostGroups {
		return Part{}, unable("groups of more than %d columns", mostGroups)
	}
	if len(g.members) > 0 {
		call.Arguments["group_by"] = g.members
	}
	if len(g.measures) > 0 {
		call.Arguments["measures"] = g.measures
	}
	return part, nil
}

// member adds a column to group by, and returns the member's name.
func (g *grouping) member(p place) string {
	path := g.path(p)
	if !slices.Contains(g.members, any(path)) {
		g.members = append(g.members, path)
	}
	return path
}

// shows reports whether no two groups are equal in these members.
func (g *grouping) shows(members []string) bool {
	for _, m := range g.members {
		if !slices.Contains(members, m.(string)) {
			return false
		}
	}
	return true
}

// name returns the member that is a value: a measure, or a member of the group. A column that is the same in all rows of a
// group is one as well.
func (g *grouping) name(v value) (string, error) {
	if v.aggregate != "" {
		return g.measure(v)
	}
	if path := g.path(v.place); slices.Contains(g.members, any(path)) {
		return path, nil
	}
	if !g.determined(v.place) {
		return "", unable("a column that is neither grouped nor aggregated")
	}
	return g.member(v.place), nil
}

// sort sorts the groups.
func (g *grouping) sort(s *selection, call *Call) error {
	var order []any
	for _, o := range s.order {
		if o.aggregate == "" && !s.grouped() && !slices.Contains(g.members, any(g.path(o.place))) && !g.determined(o.place) {
			return unable("DISTINCT in the order of another column")
		}
		name, err := g.name(o.value)
		if err != nil {
			return err
		}
		if err := g.sortable(g.seen(o.value, name)); err != nil {
			return err
		}
		order = append(order, direction(o.descending)+name)
	}
	setOrder(call, order)
	return nil
}

// seen is a measure, or a member of the group, as HAVING and an order see it. SQL compares an aggregate with a constant
// without converting either.
func (g *grouping) seen(v value, name string) operand {
	switch v.aggregate {
	case "":
		o := g.at(v.place)
		o.path = name
		return o
	case "min", "max":
		o := g.at(v.place)
		o.path, o.place, o.affinity = name, nil, NoAffinity
		return o
	}
	return operand{path: name, served: ServedNumber, nulls: v.aggregate != "count" && (v.source >= 0 && g.nullable(v.place))}
}

// having adds the conditions on groups.
func (g *grouping) having(call *Call) error {
	if g.selection.having == nil {
		return nil
	}
	c := &compiler{g.builder, g.selection, nil, g.operand}
	found, err := c.condition(g.selection.having, false)
	if err != nil {
		return err
	}
	call.Arguments["having"] = object(all{found})
	return nil
}

func (g *grouping) operand(e sqltree.Expr) (operand, bool, error) {
	switch e := e.(type) {
	case *sqltree.Call:
		v, err := g.aggregate(e)
		if err != nil {
			return operand{}, false, err
		}
		name, err := g.measure(v)
		return g.seen(v, name), true, err
	case *sqltree.Name:
		v := value{}
		var ok bool
		if v.place, ok = g.find(e); !ok {
			alias, isAlias := g.unaliased(e).(*sqltree.Literal)
			if !isAlias {
				return operand{}, false, nil
			}
			v = g.columns[alias.Value.(int64)-1]
		}
		name, err := g.name(v)
		return g.seen(v, name), true, err
	}
	return operand{}, false, nil
}

// determined reports whether a column is the same in all rows of a group.
func (g *grouping) determined(p place) bool {
	known := map[place]bool{}
	for _, k := range append(slices.Clone(g.by), g.constants()...) {
		known[k] = true
	}
	for again := true; again; {
		again = false
		learn := func(p place) {
			if !known[p] {
				known[p], again = true, true
			}
		}
		for _, e := range g.equal {
			if known[e.left] {
				learn(e.right)
			}
			if known[e.right] {
				learn(e.left)
			}
		}
		for i, t := range g.tables {
			var columns []*Column
			distinct := false
			for _, c := range t.table.Columns {
				if known[place{i, c}] && !c.Nulls {
					columns, distinct = append(columns, c), distinct || c.Distinct
				}
			}
			if distinct || t.table.isUnique(columns) {
				for _, c := range t.table.Columns {
					learn(place{i, c})
				}
			}
		}
	}
	return known[p]
}
