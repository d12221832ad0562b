package planner

import (
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/test/jobs/sqltree"
)

// Wanted is what queries need that an exposure can declare.
type Wanted struct {
	// Joins are columns that are joined though no foreign key does.
	Joins []Join
	// Numbers are text columns whose numbers are summed up or averaged, Texts those that queries compare, sort or group as texts.
	Numbers, Texts []*Column
}

// Join is a pair of columns that are equal in a join.
type Join struct {
	Table  *Table
	Column *Column
	To     *Table
	On     *Column
}

// Add adds what a query needs.
func (w *Wanted) Add(schema *Schema, q *sqltree.Query) {
	sqltree.Queries(q, func(q *sqltree.Query) {
		for _, tree := range q.Selects {
			w.add(schema, tree, q.Order)
		}
	})
}

func (w *Wanted) add(schema *Schema, tree *sqltree.Select, order []sqltree.Order) {
	s := &selection{tree: tree}
	for _, from := range tree.From {
		if s.addSource(schema, from) != nil {
			return
		}
	}
	for _, e := range conjuncts(tree.Where) {
		s.addCondition(e)
	}
	for _, e := range s.equal {
		w.join(s, e)
	}
	places := append([]sqltree.Expr{tree.Having}, tree.Group...)
	for _, o := range order {
		places = append(places, o.Expr)
	}
	for _, c := range tree.Columns {
		places = append(places, c.Expr)
		if _, isName := c.Expr.(*sqltree.Name); isName && tree.Distinct {
			w.asText(s, c.Expr)
		}
	}
	for i, e := range append(places, s.where...) {
		if i > 0 && i <= len(tree.Group)+len(order) {
			w.asText(s, e)
		}
		sqltree.Walk(e, func(e sqltree.Expr) { w.expression(s, e) })
	}
}

// expression adds a column whose numbers are computed with, or whose texts are compared.
func (w *Wanted) expression(s *selection, e sqltree.Expr) {
	switch e := e.(type) {
	case *sqltree.Call:
		if len(e.Arguments) != 1 {
			return
		}
		p, ok := s.find(e.Arguments[0])
		switch {
		case !ok || p.column.Served != ServedText:
		case e.Name == "sum" || e.Name == "avg":
			w.Numbers = append(w.Numbers, p.column)
		default:
			w.Texts = append(w.Texts, p.column)
		}
	case *sqltree.Binary:
		if flipped[e.Operator] != "" {
			w.asText(s, e.Left)
			w.asText(s, e.Right)
		}
	case *sqltree.In:
		w.asText(s, e.Operand)
	case *sqltree.Between:
		w.asText(s, e.Operand)
	case *sqltree.Like:
		w.asText(s, e.Operand)
	}
}

// asText adds a column that is compared as a text.
func (w *Wanted) asText(s *selection, e sqltree.Expr) {
	if p, ok := s.find(e); ok {
		w.Texts = append(w.Texts, p.column)
	}
}

// join adds the columns of an equality, unless a foreign key joins them: from the column that is not unique to the one that is.
func (w *Wanted) join(s *selection, e equality) {
	j := Join{s.tables[e.left.source].table, e.left.column, s.tables[e.right.source].table, e.right.column}
	if !j.To.isUnique([]*Column{j.On}) && j.Table.isUnique([]*Column{j.Column}) {
		j = Join{j.To, j.On, j.Table, j.Column}
	}
	if j.Table != j.To && !j.Table.leads(j.Column, j.On) && !j.To.leads(j.On, j.Column) && !slices.Contains(w.Joins, j) {
		w.Joins = append(w.Joins, j)
	}
}

// leads reports whether a foreign key, perhaps of several columns, leads from one column to another one.
func (t *Table) leads(c, to *Column) bool {
	return slices.ContainsFunc(t.ForeignKeys, func(key *ForeignKey) bool {
		i := slices.Index(key.Columns, c)
		return i >= 0 && key.Referenced[i] == to
	})
}
