package planner

import (
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/test/jobs/sqltree"
)

// relatedRows is a condition on how many related rows a source's row has.
type relatedRows struct {
	sqltree.Expr
	of       place
	relation string
	operator string
	number   int64
}

// ungrouped returns a selection without groups for one that groups the rows of a table with the rows that point to
// them, one group for each row of the table, and asks only how many there are: so many related rows the row must have.
// A selection without groups is returned unchanged; nil stands for others.
func (b *builder) ungrouped(s *selection) *selection {
	if !s.grouped() {
		return s
	}
	if len(s.tables) != 2 || len(s.order) > 0 || s.limit >= 0 || s.having == nil {
		return nil
	}
	for one := range s.tables {
		if relation := s.countedFrom(one); relation != "" {
			if plain := b.withNumbers(s, one, relation); plain != nil {
				return plain
			}
		}
	}
	return nil
}

// countedFrom returns the relation from one of two sources to the other, if the rows of the first are the groups, and nothing
// is asked of the second but how many rows there are; "" if it is not so.
func (s *selection) countedFrom(one int) string {
	many := 1 - one
	if s.tables[one].outer || s.tables[many].outer || !s.tables[one].table.isUnique(columnsOf(s.group)) {
		return ""
	}
	places := slices.Clone(s.group)
	for _, v := range s.columns {
		if v.aggregate != "" {
			return ""
		}
		places = append(places, v.place)
	}
	for _, e := range s.where {
		places = append(places, s.places(e)...)
	}
	if slices.ContainsFunc(places, func(p place) bool { return p.source != one }) {
		return ""
	}
	for _, key := range s.tables[many].table.ForeignKeys {
		if joined := s.joined(many, key.Columns, one, key.Referenced); key.References == s.tables[one].table && joined != nil && len(joined) == len(s.equal) {
			return key.Reverse
		}
	}
	return ""
}

func columnsOf(places []place) []*Column {
	columns := make([]*Column, len(places))
	for i, p := range places {
		columns[i] = p.column
	}
	return columns
}

// withNumbers selects from one source alone, with conditions on the number of related rows instead of HAVING.
func (b *builder) withNumbers(s *selection, one int, relation string) *selection {
	tree := *s.tree
	tree.From = []sqltree.Source{{Table: s.tables[one].table.Name, Alias: s.tables[one].alias}}
	tree.Group, tree.Having = nil, nil
	plain, err := b.bind(&tree)
	if err != nil {
		return nil
	}
	of := place{0, plain.tables[0].table.Columns[0]}
	for _, e := range conjuncts(s.having) {
		operator, n, ok := numberOfRows(e)
		if !ok {
			return nil
		}
		plain.where = append(plain.where, &relatedRows{nil, of, relation, operator, n})
		if operator != ">" && operator != ">=" && operator != "=" || n == 0 { // the join has none without rows
			plain.where = append(plain.where, &relatedRows{nil, of, relation, ">", 0})
		}
	}
	return plain
}

// numberOfRows reads a comparison of count(*) with a number.
func numberOfRows(e sqltree.Expr) (operator string, n int64, ok bool) {
	c, ok := e.(*sqltree.Binary)
	if !ok || flipped[c.Operator] == "" {
		return "", 0, false
	}
	call, isCall := c.Left.(*sqltree.Call)
	number, isNumber := c.Right.(*sqltree.Literal)
	if !isCall || !isNumber || call.Name != "count" || !call.Star {
		return "", 0, false
	}
	n, ok = number.Value.(int64)
	return c.Operator, n, ok && n >= 0
}
