package planner

import (
	"github.com/mcp-admin/mcp-admin-operator/test/jobs/sqltree"
)

// operand finds the column that an expression is, by its path from the shape's root.
func (h *shape) operand(e sqltree.Expr) (operand, bool, error) {
	p, ok := h.find(e)
	if !ok {
		return operand{}, false, nil
	}
	if _, reached := h.paths[p.source]; !reached {
		return operand{}, false, unable("a condition on rows of two branches")
	}
	if p.column.Others {
		return operand{}, false, unable("a comparison of numbers with texts")
	}
	return h.at(p), true, nil
}

func (h *shape) at(p place) operand {
	return operand{h.path(p), p.column.Affinity, p.column.Served, h.nullable(p), p.column.Dates, p.column.OneLength, &p}
}

// filters are the conditions of a selection, as its root sees them.
func (b *builder) filters(h *shape) (all, error) {
	placed := map[sqltree.Expr]bool{}
	conditions, err := b.within(h, placed)
	if err != nil {
		return nil, err
	}
	for _, e := range h.where {
		if !placed[e] && !h.isPart() {
			return nil, unable("a condition on rows of two branches")
		}
	}
	return conditions, nil
}

// isPart reports whether other sources of the selection lie outside of the shape, so that conditions may be theirs.
func (h *shape) isPart() bool { return len(h.sources()) < len(h.tables) }

// sources are all of the sources of a shape and its branches.
func (h *shape) sources() map[int]bool {
	found := map[int]bool{}
	for i := range h.paths {
		found[i] = true
	}
	for _, b := range h.branches {
		for i := range b.sources() {
			found[i] = true
		}
	}
	return found
}

// within compiles what can be said at a shape's root, and then in its branches. It notes which conditions it placed.
func (b *builder) within(h *shape, placed map[sqltree.Expr]bool) (all, error) {
	var conditions all
	c := &compiler{b, h.selection, h, h.operand}
	for _, e := range h.where {
		if placed[e] || !h.reaches(h.places(e)) {
			continue
		}
		placed[e] = true
		one, err := c.condition(e, false)
		if err != nil {
			return nil, err
		}
		conditions = append(conditions, one)
	}
	for _, e := range h.leftover {
		one, err := c.compareFields(h.at(e.left), "=", h.at(e.right))
		if err != nil {
			return nil, err
		}
		conditions = append(conditions, one)
	}
	for _, inner := range h.branches {
		one, err := b.branch(h, inner, placed)
		if err != nil {
			return nil, err
		}
		conditions = append(conditions, one)
	}
	return append(conditions, h.missing(conditions)...), nil
}

// branch says that there are rows of a branch.
func (b *builder) branch(h *shape, inner *branch, placed map[sqltree.Expr]bool) (condition, error) {
	if inner.path != "" {
		conditions, err := b.within(inner.shape, placed)
		return related{inner.path, false, conditions}, err
	}
	if len(inner.on) == 0 {
		return b.anyRow(h, inner, placed)
	}
	near, far := inner.on[0].left, inner.on[0].right
	if near.source == inner.root {
		near, far = far, near
	}
	if near.column.Affinity != far.column.Affinity {
		return nil, unable("a join without a foreign key, of numbers with texts")
	}
	part := *inner.selection
	part.columns, part.names, part.distinct = []value{{place: far}}, []string{""}, true
	part.group, part.having, part.order, part.limit = nil, nil, nil, -1
	values, err := b.emit(&part, inner.shape, placed)
	if err != nil {
		return nil, err
	}
	if one := inner.onlyRow(far, values.Call); one != nil {
		return leaf{h.path(near), "", one}, nil
	}
	if set := valuesOf(values); set != nil && near.column.Served == far.column.Served {
		return leaf{h.path(near), "in", set}, nil
	}
	return leaf{h.path(near), "in", Reference{values.Call, values.Members[0], true}}, nil
}

// anyRow says that there is any row of a branch that nothing joins: a number compares with the least of the branch's numbers, in
// whatever way, unless there is none.
func (b *builder) anyRow(h *shape, inner *branch, placed map[sqltree.Expr]bool) (condition, error) {
	own, least := h.tables[h.root].table.number(), inner.tables[inner.root].table.number()
	if own == nil || least == nil {
		return nil, unable("a join without a condition")
	}
	conditions, err := b.within(inner.shape, placed)
	if err != nil {
		return nil, err
	}
	measure := Object{"min": least.Field, "model": inner.tables[inner.root].table.Model}
	if filters := object(conditions); len(filters) > 0 {
		measure["filters"] = filters
	}
	path, value := h.path(place{h.root, own}), Object{"_measure": measure}
	return some{leaf{path, "lte", value}, leaf{path, "gt", value}}, nil
}

// onlyRow returns the value that stands for the column of the one row that a call finds, the least of one; nil if it may find
// several.
func (b *branch) onlyRow(column place, found *Call) Object {
	if len(b.paths) > 1 || len(b.branches) > 0 || column.column.Served == ServedOther {
		return nil
	}
	var fixed []*Column
	identified := false
	for _, p := range b.constants() {
		if p.source == b.root {
			fixed, identified = append(fixed, p.column), identified || p.column.Distinct
		}
	}
	if !identified && !b.tables[b.root].table.isUnique(fixed) {
		return nil
	}
	return Object{"_measure": Object{"min": column.column.Field, "model": found.Model, "filters": found.Arguments["filters"]}}
}

// places are the columns that a condition compares.
func (s *selection) places(e sqltree.Expr) []place {
	var found []place
	sqltree.Walk(e, func(e sqltree.Expr) {
		if r, ok := e.(*relatedRows); ok {
			found = append(found, r.of)
		}
		if p, ok := s.find(e); ok {
			found = append(found, p)
		}
	})
	return found
}

// missing says that what inner joins lead to is there, if that is not sure yet.
func (h *shape) missing(conditions all) all {
	var more all
	for i := range h.tables {
		step, ok := h.hops[i]
		if !ok || h.tables[i].outer || step.key.total() && !h.nullableSource(step.from) {
			continue
		}
		deeper := false
		for _, other := range h.hops {
			deeper = deeper || other.from == i
		}
		if deeper && h.innerBeyond(i) || rejects(conditions, h.paths[i]) || rejects(more, h.paths[i]) {
			continue // what lies beyond is asked for, or a condition holds only with it
		}
		if step.key.Holds {
			for n, c := range step.key.Columns {
				if c.Nulls || h.nullableSource(step.from) {
					more = append(more, leaf{h.paths[step.from] + step.key.Columns[n].Field, "isnull", false})
				}
			}
			continue
		}
		more = append(more, leaf{h.paths[i] + step.key.Referenced[0].Field, "isnull", false})
	}
	return more
}

// innerBeyond reports whether an inner join from a source is asked for by a condition of its own.
func (h *shape) innerBeyond(i int) bool {
	for j, step := range h.hops {
		if step.from == i && !h.tables[j].outer && !step.key.total() {
			return true
		}
	}
	return false
}

// nullableSource reports whether a source's row may be missing.
func (h *shape) nullableSource(i int) bool {
	for {
		if h.tables[i].outer {
			return true
		}
		step, ok := h.hops[i]
		if !ok {
			return false
		}
		i = step.from
	}
}

// constants are the columns that a condition says equal a constant.
func (s *selection) constants() []place {
	var found []place
	for _, e := range s.where {
		c, ok := e.(*sqltree.Binary)
		if !ok || c.Operator != "=" {
			continue
		}
		for _, sides := range [][2]sqltree.Expr{{c.Left, c.Right}, {c.Right, c.Left}} {
			p, ok := s.find(sides[0])
			_, isColumn := s.find(sides[1])
			if ok && !isColumn {
				found = append(found, p)
			}
		}
	}
	return found
}
