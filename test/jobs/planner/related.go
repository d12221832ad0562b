package planner

import (
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/test/jobs/sqltree"
)

// Values of related rows: how many rows belong to a row, or what a column of theirs comes to.

// relatedValues plans a selection that groups by the rows of its root, and computes of the rows of one relation to many: it lists the
// rows with these values. The answer is nil if the selection is another one.
func (b *builder) relatedValues(s *selection, h *shape) *answer {
	if len(h.branches) != 1 || h.branches[0].path == "" || len(h.branches[0].branches) > 0 || len(s.group) == 0 || s.distinct || len(s.columns) == 0 {
		return nil
	}
	r := &relatedReader{b, h, h.branches[0]}
	var own []*Column
	for _, p := range s.group {
		if p.source == h.root {
			own = append(own, p.column)
		}
	}
	if !h.tables[h.root].table.isUnique(own) || !h.reaches(s.group) {
		return nil
	}
	for _, e := range s.where {
		if !h.reaches(h.places(e)) {
			return nil
		}
	}
	call := &Call{Operation: list, Model: h.tables[h.root].table.Model, Arguments: Object{}, Most: -1}
	part := Part{Call: call}
	var fields, order []any
	for _, v := range s.columns {
		path, ok := r.path(v)
		if !ok {
			return nil
		}
		if !slices.Contains(part.Members, path) {
			fields = append(fields, path)
		}
		part.Members = append(part.Members, path)
	}
	for _, o := range s.order {
		path, ok := r.path(o.value)
		if !ok || o.aggregate == "" && b.sortable(h.at(o.place)) != nil {
			return nil
		}
		order = append(order, direction(o.descending)+path)
	}
	conditions, err := b.within(h, map[sqltree.Expr]bool{})
	if err != nil {
		return nil
	}
	if s.having != nil {
		c := &compiler{b, s, h, r.operand}
		more, err := c.condition(s.having, false)
		if err != nil {
			return nil
		}
		conditions = append(conditions, more)
	}
	call.Arguments["fields"], call.Arguments["filters"] = fields, object(conditions)
	setOrder(call, order)
	setLimit(call, h.tables[h.root].table, s.limit, s.offset)
	return &answer{parts: []Part{part}, limit: max(s.limit, -1)}
}

// relatedReader finds the paths of values of a branch's rows.
type relatedReader struct {
	*builder
	*shape
	branch *branch
}

// path is the path of a column of the root's rows, or of a value of the branch's.
func (r *relatedReader) path(v value) (string, bool) {
	switch {
	case v.aggregate == "":
		if _, ok := r.paths[v.source]; !ok {
			return "", false
		}
		return r.shape.path(v.place), true
	case v.source < 0:
		return r.branch.path + "__count", true
	case v.distinct || v.aggregate == "count" || r.branch.ordered(r.builder, v) != nil:
		return "", false
	}
	if _, ok := r.branch.paths[v.source]; !ok {
		return "", false
	}
	return r.branch.path + "__" + v.aggregate + "__" + r.branch.shape.path(v.place), true
}

// ordered reports whether the engine orders the values as SQLite does; the least or greatest of them depends on it.
func (b *branch) ordered(with *builder, v value) error {
	if v.column.Others || v.column.asNumber() && (v.aggregate == "sum" || v.aggregate == "avg") {
		return unable("numbers kept as text")
	}
	if v.aggregate != "min" && v.aggregate != "max" {
		return nil
	}
	return with.ordered(b.at(v.place))
}

func (r *relatedReader) operand(e sqltree.Expr) (operand, bool, error) {
	c, ok := e.(*sqltree.Call)
	if !ok {
		return r.shape.operand(e)
	}
	v, err := r.aggregate(c)
	if err != nil {
		return operand{}, false, err
	}
	path, ok := r.path(v)
	if !ok || v.aggregate == "min" || v.aggregate == "max" {
		return operand{}, false, unable(severalRows)
	}
	return operand{path: path, served: ServedNumber, nulls: v.aggregate != "count"}, true, nil
}

// byRelatedGroup says of a key that it is among those by which a query groups the rows that point to it, whose values meet a HAVING:
// SELECT book_id FROM loan GROUP BY book_id HAVING sum(price) > 9. It returns nil if the query is another one.
func (c *compiler) byRelatedGroup(o operand, q *sqltree.Query, negate bool) condition {
	if len(q.Selects) != 1 || q.Limit >= 0 || c.shape == nil || o.place == nil {
		return nil
	}
	s, err := c.bind(q.Selects[0])
	if err != nil || len(s.tables) != 1 || len(s.where) > 0 || len(s.group) != 1 || len(s.columns) != 1 || s.having == nil || s.columns[0].place != s.group[0] || s.columns[0].aggregate != "" {
		return nil
	}
	x, y := *o.place, s.group[0]
	for _, key := range s.tables[0].table.ForeignKeys {
		if len(key.Columns) != 1 || key.Columns[0] != y.column || key.References != c.shape.tables[x.source].table || key.Referenced[0] != x.column || y.column.Nulls {
			continue
		}
		h := &shape{selection: s, root: 0, paths: map[int]string{0: ""}}
		r := &relatedReader{c.builder, h, &branch{shape: h, path: c.shape.paths[x.source] + key.Reverse}}
		inner := &compiler{c.builder, s, h, r.operand}
		found, err := inner.condition(s.having, false)
		if err != nil {
			return nil
		}
		found = all{found, leaf{r.branch.path + "__count", "gt", 0}} // no row is in no group
		if negate {
			return not{found}
		}
		return found
	}
	return nil
}
