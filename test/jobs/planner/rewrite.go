package planner

import (
	"github.com/mcp-admin/mcp-admin-operator/test/jobs/sqltree"
)

// exists writes EXISTS as IN: a nested query that compares one of its columns with one of the row outside asks whether that is
// among its values.
func (c *compiler) exists(e *sqltree.Exists, negate bool) (condition, error) {
	if len(e.Query.Selects) != 1 || e.Query.Limit >= 0 || c.shape == nil {
		return nil, unable("EXISTS")
	}
	tree := *e.Query.Selects[0]
	if tree.Group != nil || tree.Having != nil {
		return nil, unable("EXISTS")
	}
	inner := &selection{}
	for _, from := range tree.From {
		if err := inner.addSource(c.schema, from); err != nil {
			return nil, err
		}
	}
	var outer, own sqltree.Expr
	var rest sqltree.Expr
	for _, one := range conjuncts(tree.Where) {
		if o, i := c.correlated(inner, one); o != nil && outer == nil {
			outer, own = o, i
			continue
		}
		rest = and(rest, one)
	}
	if outer == nil {
		return nil, unable("EXISTS")
	}
	defer c.enter()()
	x, err := c.need(outer)
	if err != nil {
		return nil, err
	}
	tree.Columns = []sqltree.Column{{Expr: own}}
	tree.Where = rest
	if y, _ := inner.find(own); y.column.Nulls {
		tree.Where = and(rest, &sqltree.IsNull{Operand: own, Not: true})
	}
	found, err := c.member(x, &sqltree.Query{Selects: []*sqltree.Select{&tree}, Limit: -1}, negate)
	if err == nil && negate && x.nulls {
		found = some{leaf{x.path, "isnull", true}, found} // NULL equals no row's value
	}
	return found, err
}

// correlated returns the sides of an equality of a column outside with one inside; nil if it is none.
func (c *compiler) correlated(inner *selection, e sqltree.Expr) (outer, own sqltree.Expr) {
	b, ok := e.(*sqltree.Binary)
	if !ok || b.Operator != "=" {
		return nil, nil
	}
	for _, sides := range [][2]sqltree.Expr{{b.Left, b.Right}, {b.Right, b.Left}} {
		_, isInner := inner.find(sides[0])
		_, alsoInner := inner.find(sides[1])
		if _, isOuter := c.s.find(sides[1]); isInner && isOuter && !alsoInner {
			return sides[1], sides[0]
		}
	}
	return nil, nil
}

// withoutPartners replaces an outer join whose rows must be missing by NOT IN: SELECT … FROM a LEFT JOIN b ON b.x = a.y WHERE
// b.x IS NULL are the rows of a whose y is no x.
func withoutPartners(schema *Schema, tree *sqltree.Select) *sqltree.Select {
	for i, from := range tree.From {
		if from.Outer != "LEFT" || from.Query != nil || len(conjuncts(from.On)) != 1 {
			continue
		}
		if rewritten := withoutPartner(schema, tree, i); rewritten != nil {
			return withoutPartners(schema, rewritten)
		}
	}
	return tree
}

func withoutPartner(schema *Schema, tree *sqltree.Select, i int) *sqltree.Select {
	all := &selection{}
	for _, from := range tree.From {
		from.On, from.Using = nil, nil
		if all.addSource(schema, from) != nil {
			return nil
		}
	}
	on, ok := tree.From[i].On.(*sqltree.Binary)
	if !ok || on.Operator != "=" {
		return nil
	}
	near, far := on.Left, on.Right
	if p, ok := all.find(near); ok && p.source == i {
		near, far = far, near
	}
	x, isColumn := all.find(near)
	y, isToo := all.find(far)
	if !isColumn || !isToo || x.source == i || y.source != i || x.column.Nulls || all.tables[x.source].outer {
		return nil
	}
	plain := *tree
	plain.From = append(append([]sqltree.Source{}, tree.From[:i]...), tree.From[i+1:]...)
	plain.Where = nil
	missing := false
	for _, e := range conjuncts(tree.Where) {
		if n, ok := e.(*sqltree.IsNull); ok && !n.Not {
			if p, ok := all.find(n.Operand); ok && p.source == i && (p.column == y.column || !p.column.Nulls) {
				missing = true
				continue
			}
		}
		plain.Where = and(plain.Where, e)
	}
	if !missing || all.mentions(&plain, i) {
		return nil
	}
	from := tree.From[i]
	from.Outer, from.On = "", nil
	values := &sqltree.Select{Columns: []sqltree.Column{{Expr: far}}, From: []sqltree.Source{from}}
	if y.column.Nulls {
		values.Where = &sqltree.IsNull{Operand: far, Not: true}
	}
	plain.Where = and(plain.Where, &sqltree.In{Operand: near, Query: &sqltree.Query{Selects: []*sqltree.Select{values}, Limit: -1}, Not: true})
	return &plain
}

// mentions reports whether a SELECT names a column of a source.
func (s *selection) mentions(tree *sqltree.Select, source int) bool {
	named := false
	look := func(e sqltree.Expr) {
		sqltree.Walk(e, func(e sqltree.Expr) {
			if p, ok := s.find(e); ok && p.source == source {
				named = true
			}
		})
	}
	for _, c := range tree.Columns {
		named = named || c.Star
		look(c.Expr)
	}
	for _, from := range tree.From {
		look(from.On)
	}
	look(tree.Where)
	for _, e := range tree.Group {
		look(e)
	}
	look(tree.Having)
	return named
}
