package planner

import (
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/test/jobs/sqltree"
)

// A key that equals what a query with LIMIT 1 finds is the key of the row that has the least or greatest value.

// extreme compares a value with what a query with LIMIT 1 finds in one table without conditions, in the order of one column. It returns
// nil if the query is another one.
func (c *compiler) extreme(o operand, operator string, q *sqltree.Query) condition {
	if operator != "=" || c.shape == nil || len(q.Selects) != 1 || q.Limit != 1 || q.Offset > 0 || len(q.Order) != 1 {
		return nil
	}
	s, err := c.bind(q.Selects[0])
	if err != nil || s.bindOrder(q) != nil || len(s.tables) != 1 || len(s.where) > 0 || len(s.columns) != 1 {
		return nil
	}
	function := "min"
	if s.order[0].descending {
		function = "max"
	}
	switch {
	case o.place != nil && !s.grouped():
		return c.extremeRow(*o.place, function, s)
	case s.having == nil && len(s.group) == 1:
		return extremeGroup(o, function, s)
	}
	return nil
}

// extremeRow says of a key, or of a foreign key to it, that its row is the one with the least or greatest value of a column that is
// another in every row: SELECT id FROM book ORDER BY year DESC LIMIT 1.
func (c *compiler) extremeRow(p place, function string, s *selection) condition {
	y, by, t := s.columns[0].place, s.order[0], s.tables[0].table
	if by.aggregate != "" || !t.identifies(by.column) || by.column.Nulls || by.column.Served != ServedNumber || by.column.Affinity == TextAffinity || by.column.Mixed || !t.identifies(y.column) {
		return nil
	}
	path, ok := c.rowOf(p, t, y.column)
	if !ok {
		return nil
	}
	return leaf{path + by.column.Field, "", Object{"_measure": Object{function: by.column.Field, "model": t.Model}}}
}

// extremeGroup compares with the key that has the fewest or most rows that lead to it, the least of several such keys:
// SELECT author_id FROM book GROUP BY author_id ORDER BY count(*) LIMIT 1.
func extremeGroup(o operand, function string, s *selection) condition {
	by, v := s.order[0], s.columns[0]
	if by.aggregate != "count" || by.source >= 0 || v.aggregate != "" || v.place != s.group[0] {
		return nil
	}
	for _, key := range s.tables[0].table.ForeignKeys {
		if len(key.Columns) != 1 || key.Columns[0] != v.column || !key.total() || !key.toOne() {
			continue
		}
		if to := key.Referenced[0]; to.Affinity == o.affinity && to.Served == o.served && to.Served != ServedOther {
			count := key.Reverse + "__count"
			extreme := Object{"_measure": Object{function: count, "filters": Object{count + "__gt": 0}}}
			return leaf{o.path, "", Object{"_measure": Object{"min": to.Field, "model": key.References.Model, "filters": Object{count: extreme}}}}
		}
	}
	return nil
}

// rowOf returns the path to the row of a table whose key a column has: the column is the key, or a foreign key to it.
func (c *compiler) rowOf(p place, t *Table, key *Column) (string, bool) {
	path, table := c.shape.paths[p.source], c.shape.tables[p.source].table
	if table == t && p.column == key {
		return path, true
	}
	i := slices.IndexFunc(table.ForeignKeys, func(k *ForeignKey) bool {
		return len(k.Columns) == 1 && k.Columns[0] == p.column && k.References == t && k.Referenced[0] == key && k.toOne()
	})
	if i < 0 {
		return "", false
	}
	return path + table.ForeignKeys[i].Relation + "__", true
}
