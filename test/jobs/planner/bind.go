package planner

import (
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/test/jobs/sqltree"
)

// selection is a SELECT whose names are known.
type selection struct {
	tree   *sqltree.Select
	tables []source
	// equal are the equalities of columns of two sources, where the rest of the conditions.
	equal    []equality
	where    []sqltree.Expr
	columns  []value
	names    []string // of columns: the alias, or ""
	group    []place
	having   sqltree.Expr
	distinct bool
	order    []ordering
	limit    int
	offset   int
}

// source is a table in FROM.
type source struct {
	alias string
	table *Table
	// outer reports a LEFT JOIN.
	outer bool
}

// place is a column of one of the sources.
type place struct {
	source int
	column *Column
}

// equality says that two sources are joined by these columns.
type equality struct{ left, right place }

// value is an item of a select list or an order: a column, or an aggregate of one. The aggregate count without a column
// counts rows.
type value struct {
	place
	aggregate string
	distinct  bool
}

type ordering struct {
	value
	descending bool
}

func (b *builder) bind(tree *sqltree.Select) (*selection, error) {
	tree = withoutPartners(b.schema, tree)
	s := &selection{tree: tree, limit: -1, distinct: tree.Distinct, having: tree.Having}
	for _, from := range tree.From {
		if err := s.addSource(b.schema, from); err != nil {
			return nil, err
		}
	}
	if len(s.tables) == 0 {
		return nil, unable("a query without a table")
	}
	for _, e := range conjuncts(tree.Where) {
		s.addCondition(e)
	}
	for _, c := range tree.Columns {
		if err := s.addColumn(c); err != nil {
			return nil, err
		}
	}
	for _, e := range tree.Group {
		v, err := s.value(s.unaliased(e))
		if err != nil {
			return nil, err
		}
		if v.aggregate != "" {
			return nil, unable("a group by an aggregate")
		}
		s.group = append(s.group, v.place)
	}
	return s, s.folds()
}

// folds returns an error if the selection compares or groups values that SQLite compares in a way of its own.
func (s *selection) folds() error {
	compared := slices.Clone(s.group)
	for _, e := range append(slices.Clone(s.where), s.having) {
		compared = append(compared, s.places(e)...)
	}
	for _, e := range s.equal {
		compared = append(compared, e.left, e.right)
	}
	for _, v := range s.columns {
		if s.distinct || v.aggregate != "" && v.source >= 0 {
			compared = append(compared, v.place)
		}
	}
	for _, o := range s.order {
		if o.source >= 0 {
			compared = append(compared, o.place)
		}
	}
	return comparedAlike(compared)
}

// comparedAlike reports whether SQLite and the API compare values of columns alike.
func comparedAlike(places []place) error {
	if slices.ContainsFunc(places, func(p place) bool { return p.column.Folded }) {
		return unable("a collation that takes texts for equal")
	}
	if slices.ContainsFunc(places, func(p place) bool { return p.column.Mixed }) {
		return unable("a comparison of numbers with texts")
	}
	return nil
}

func (s *selection) addSource(schema *Schema, from sqltree.Source) error {
	switch {
	case from.Query != nil:
		return unable("a query in FROM")
	case from.Outer != "" && from.Outer != "LEFT":
		return unable("an outer join")
	}
	t := schema.Table(from.Table)
	if t == nil {
		return unable("the table %s", from.Table)
	}
	alias := from.Alias
	if alias == "" {
		alias = from.Table
	}
	s.tables = append(s.tables, source{alias, t, from.Outer != ""})
	if err := s.joinByNames(from); err != nil {
		return err
	}
	for _, e := range conjuncts(from.On) {
		if !s.addCondition(e) && from.Outer != "" {
			return unable("a condition in an outer join")
		}
	}
	return nil
}

// joinByNames adds the equalities of USING and of a natural join: of the last source's columns with the first columns
// of the same name.
func (s *selection) joinByNames(from sqltree.Source) error {
	last := len(s.tables) - 1
	names := from.Using
	if from.Natural {
		for _, c := range s.tables[last].table.Columns {
			names = append(names, c.Name)
		}
	}
	for _, name := range names {
		c := s.tables[last].table.column(name)
		before := &selection{tables: s.tables[:last]}
		p, ok := before.find(&sqltree.Name{Column: name})
		switch {
		case ok && c != nil:
			s.equal = append(s.equal, equality{p, place{last, c}})
		case !from.Natural:
			return unable("the column %s", name)
		}
	}
	return nil
}

// addCondition adds a condition, and reports whether it is an equality that joins.
func (s *selection) addCondition(e sqltree.Expr) bool {
	if c, ok := e.(*sqltree.Binary); ok && c.Operator == "=" {
		left, isLeft := s.find(c.Left)
		right, isRight := s.find(c.Right)
		if isLeft && isRight && left.source != right.source {
			s.equal = append(s.equal, equality{left, right})
			return true
		}
	}
	s.where = append(s.where, e)
	return false
}

func (s *selection) addColumn(c sqltree.Column) error {
	if !c.Star {
		v, err := s.value(c.Expr)
		s.columns, s.names = append(s.columns, v), append(s.names, c.Alias)
		return err
	}
	for i, t := range s.tables {
		if c.Table != "" && !sameName(t.alias, c.Table) {
			continue
		}
		for _, column := range t.table.Columns {
			s.columns, s.names = append(s.columns, value{place: place{i, column}}), append(s.names, "")
		}
	}
	return nil
}

// bindOrder reads what follows the last SELECT of a query of one.
func (s *selection) bindOrder(q *sqltree.Query) error {
	s.limit, s.offset = q.Limit, q.Offset
	for _, o := range q.Order {
		if o.Nulls != "" {
			return unable("a place for NULLs in an order")
		}
		e := s.unaliased(o.Expr)
		if l, ok := e.(*sqltree.Literal); ok {
			if n, ok := l.Value.(int64); ok && n >= 1 && int(n) <= len(s.columns) {
				s.order = append(s.order, ordering{s.columns[n-1], o.Descending})
				continue
			}
		}
		v, err := s.value(e)
		if err != nil {
			return err
		}
		s.order = append(s.order, ordering{v, o.Descending})
	}
	return s.folds()
}

// unaliased returns what a name stands for if it is a column's alias in the select list, else the expression itself.
func (s *selection) unaliased(e sqltree.Expr) sqltree.Expr {
	n, ok := e.(*sqltree.Name)
	if !ok || n.Table != "" {
		return e
	}
	for i, alias := range s.names {
		if alias != "" && sameName(alias, n.Column) {
			return &sqltree.Literal{Value: int64(i + 1)}
		}
	}
	return e
}

// find finds the column that an expression is.
func (s *selection) find(e sqltree.Expr) (place, bool) {
	n, ok := e.(*sqltree.Name)
	if !ok {
		return place{}, false
	}
	for i, t := range s.tables {
		if n.Table != "" && !sameName(t.alias, n.Table) {
			continue
		}
		if c := t.table.column(n.Column); c != nil {
			return place{i, c}, true
		}
	}
	return place{}, false
}

// aggregates are the functions of SQL and the measures that they are.
var aggregates = map[string]string{"count": "count", "sum": "sum", "avg": "avg", "min": "min", "max": "max"}

// value reads a column or an aggregate.
func (s *selection) value(e sqltree.Expr) (value, error) {
	switch e := e.(type) {
	case *sqltree.Name:
		p, ok := s.find(e)
		if !ok {
			return value{}, unable("the column %s", e.Column)
		}
		return value{place: p}, nil
	case *sqltree.Literal:
		if n, ok := e.Value.(int64); ok && n >= 1 && int(n) <= len(s.columns) {
			return s.columns[n-1], nil
		}
		return value{}, unable("a constant in the answer")
	case *sqltree.Call:
		return s.aggregate(e)
	case *sqltree.Binary:
		return value{}, unable("arithmetic")
	case *sqltree.Case:
		return value{}, unable("CASE")
	case *sqltree.Cast:
		return value{}, unable("CAST")
	}
	return value{}, unable("an expression in the answer")
}

func (s *selection) aggregate(c *sqltree.Call) (value, error) {
	function := aggregates[c.Name]
	switch {
	case function == "" || len(c.Arguments) > 1:
		return value{}, unable("the function %s", strings.ToUpper(c.Name))
	case c.Star || len(c.Arguments) == 0:
		return value{place: place{source: -1}, aggregate: "count"}, nil
	}
	p, ok := s.find(c.Arguments[0])
	if !ok {
		if _, isName := c.Arguments[0].(*sqltree.Name); isName {
			return value{}, unable("the column of %s", strings.ToUpper(c.Name))
		}
		return value{}, unable("arithmetic")
	}
	distinct := c.Distinct && function != "min" && function != "max"
	if distinct && function != "count" {
		return value{}, unable("%s(DISTINCT)", strings.ToUpper(c.Name))
	}
	if (function == "sum" || function == "avg") && !p.column.Read && !p.column.asNumber() && (p.column.Texts || p.column.Affinity == TextAffinity) {
		return value{}, unable("numbers kept as text")
	}
	return value{place: p, aggregate: function, distinct: distinct}, nil
}

// conjuncts are the conditions that all hold if an expression does.
func conjuncts(e sqltree.Expr) []sqltree.Expr {
	if e == nil {
		return nil
	}
	if c, ok := e.(*sqltree.Binary); ok && c.Operator == "AND" {
		return append(conjuncts(c.Left), conjuncts(c.Right)...)
	}
	return []sqltree.Expr{e}
}

// grouped reports whether the selection aggregates.
func (s *selection) grouped() bool {
	isAggregate := func(v value) bool { return v.aggregate != "" }
	return len(s.group) > 0 || s.having != nil || slices.ContainsFunc(s.columns, isAggregate) ||
		slices.ContainsFunc(s.order, func(o ordering) bool { return isAggregate(o.value) })
}

// needed are the sources whose columns the answer itself has, or is grouped or sorted by.
func (s *selection) needed() []place {
	all := slices.Clone(s.group)
	for _, v := range s.columns {
		all = append(all, v.place)
	}
	for _, o := range s.order {
		all = append(all, o.place)
	}
	sqltree.Walk(s.having, func(e sqltree.Expr) {
		if p, ok := s.find(e); ok {
			all = append(all, p)
		}
	})
	return slices.DeleteFunc(all, func(p place) bool { return p.source < 0 })
}
