package planner

import (
	"maps"

	"github.com/mcp-admin/mcp-admin-operator/test/jobs/sqltree"
)

// compareQuery compares with the one value of a query, which a call before finds out.
func (c *compiler) compareQuery(o operand, operator string, q *sqltree.Query) (condition, error) {
	defer c.enter()()
	a, err := c.query(q, false)
	if err != nil {
		return nil, err
	}
	if len(a.parts) != 1 || len(a.parts[0].Members) != 1 || a.parts[0].Total {
		return nil, unable("a comparison with a query of several answers")
	}
	if found := c.extreme(o, operator, q); found != nil {
		return found, nil
	}
	text, plain, known := c.isText(q)
	if !known {
		return nil, unable("a comparison with a query of several answers")
	}
	plain = plain && o.place != nil && o.place.column.Plain
	if o, err = c.compared(o, text); err != nil {
		return nil, err
	}
	part := a.parts[0]
	if measure := c.measureOf(part.Call, operator); measure != nil && (plain || !c.folds(o, operator)) {
		return leaf{o.path, lookups[operator], measure}, nil
	}
	if part.Call.Arguments["limit"] != nil {
		part.Call.Most, part.Call.Arguments["limit"] = 1, 1
	}
	return withoutNulls(o, operator, leaf{o.path, lookups[operator], Reference{part.Call, part.Members[0], false}}), nil
}

// measureOf returns the value that stands for the one measure of a call, so that no call must find it out before; nil if there
// is none. Where the measure is NULL, no comparison holds, but the server's ne does.
func (c *compiler) measureOf(call *Call, operator string) Object {
	measures, _ := call.Arguments["measures"].(Object)
	if c.shape == nil || operator == "<>" || len(measures) != 1 || call.Arguments["group_by"] != nil || call.Arguments["having"] != nil {
		return nil
	}
	measure := Object{}
	for _, only := range measures {
		maps.Copy(measure, only.(Object))
	}
	if filters := call.Arguments["filters"]; filters != nil {
		measure["filters"] = filters
	}
	if root := c.shape.root; c.shape.paths[root] != "" || c.shape.tables[root].table.Model != call.Model {
		measure["model"] = call.Model
	}
	return Object{"_measure": measure}
}

// folds reports whether the server does not compare the bytes of two texts.
func (c *compiler) folds(o operand, operator string) bool {
	return c.schema.FoldsFields && o.served == ServedText && operator != "=" && operator != "<>"
}

// compared returns the operand that compares with texts or with numbers: a foreign key whose type differs from its
// key's type is compared by that key, as the join compares it.
func (c *compiler) compared(o operand, text bool) (operand, error) {
	if text == (o.affinity == TextAffinity) || !text && o.oneLength {
		return o, nil
	}
	if o.place == nil || c.shape == nil {
		return o, unable("a comparison of numbers with texts")
	}
	for _, key := range c.shape.tables[o.place.source].table.ForeignKeys {
		if to := key.Referenced[0]; len(key.Columns) == 1 && key.Columns[0] == o.place.column && key.Holds && key.toOne() && text == (to.Affinity == TextAffinity) {
			o.path = c.shape.paths[o.place.source] + key.Relation + "__" + to.Field
			o.affinity, o.served, o.place = to.Affinity, to.Served, nil
			return o, nil
		}
	}
	return o, unable("a comparison of numbers with texts")
}

// isText reports whether a query's one column holds texts, and whether these are Plain.
func (c *compiler) isText(q *sqltree.Query) (text, plain, known bool) {
	s, err := c.bind(q.Selects[0])
	if err != nil || len(s.columns) != 1 {
		return false, false, false
	}
	v := s.columns[0]
	switch v.aggregate {
	case "", "min", "max":
		return v.column.Affinity == TextAffinity, v.column.Plain, true
	}
	return false, false, true
}

// inQuery says that a query has a value.
func (c *compiler) inQuery(e *sqltree.In, negate bool) (condition, error) {
	o, err := c.need(e.Operand)
	if err != nil {
		return nil, err
	}
	defer c.enter()()
	return c.member(o, e.Query, negate)
}

// member says that a query has a value, or that it does not. A query of set operations is several conditions.
func (c *compiler) member(o operand, q *sqltree.Query, negate bool) (condition, error) {
	if len(q.Selects) == 1 || q.Limit >= 0 {
		return c.memberOfOne(o, q, negate)
	}
	found, err := c.memberOfOne(o, &sqltree.Query{Selects: q.Selects[:1], Limit: -1}, negate)
	for i, operation := range q.Operations {
		if err != nil {
			return nil, err
		}
		without := operation == sqltree.Except
		var next condition
		next, err = c.memberOfOne(o, &sqltree.Query{Selects: q.Selects[i+1 : i+2], Limit: -1}, negate != without)
		if (operation == sqltree.Union || operation == sqltree.UnionAll) != negate {
			found = some{found, next}
		} else {
			found = all{found, next}
		}
	}
	return found, err
}

func (c *compiler) memberOfOne(o operand, q *sqltree.Query, negate bool) (condition, error) {
	if len(q.Selects) == 1 && q.Limit < 0 && c.shape != nil && o.place != nil {
		s, err := c.bind(q.Selects[0])
		if err != nil {
			return nil, err
		}
		if s = c.ungrouped(s); s != nil && len(s.columns) == 1 {
			before := *c.builder
			if found, err := c.byRelation(*o.place, s, negate); found != nil && err == nil {
				return found, nil
			}
			*c.builder = before
		}
	}
	if found := c.byRelatedGroup(o, q, negate); found != nil {
		return found, nil
	}
	return c.byValues(o, q, negate)
}

// byRelation says by relations that a selection has a column's value. It returns nil if none leads there.
func (c *compiler) byRelation(x place, s *selection, negate bool) (condition, error) {
	y := s.columns[0].place
	if y.source >= 0 && comparedAlike([]place{y}) != nil {
		return nil, comparedAlike([]place{y})
	}
	if y.source < 0 || negate && (s.maybeNull(y) || c.shape.nullable(x)) {
		return nil, nil
	}
	inner, err := s.from(y.source, everySource(s))
	if err != nil {
		return nil, err
	}
	table, other := c.shape.tables[x.source].table, s.tables[y.source].table
	prefix := c.shape.paths[x.source]
	if table == other && x.column == y.column && table.identifies(y.column) {
		return c.here(prefix, inner, negate)
	}
	for _, key := range other.ForeignKeys { // the values are foreign keys
		if len(key.Columns) != 1 || key.Columns[0] != y.column {
			continue
		}
		path := ""
		if key.References == table && key.Referenced[0] == x.column {
			path = key.Reverse
		} else if up, ok := siblings(table, x.column, other, y.column); ok {
			path = up
		}
		if path != "" {
			conditions, err := c.filters(inner)
			return related{prefix + path, negate, conditions}, err
		}
	}
	for _, key := range table.ForeignKeys { // the column itself is the foreign key
		if len(key.Columns) == 1 && key.Columns[0] == x.column && key.References == other && key.Referenced[0] == y.column && key.toOne() {
			if !key.total() {
				s.where = append(s.where, &sqltree.IsNull{Operand: &sqltree.Name{Table: s.tables[y.source].alias, Column: y.column.Name}, Not: true})
			}
			return c.here(prefix+key.Relation+"__", inner, negate)
		}
	}
	return nil, nil
}

// here puts the conditions of a selection on the row that a path leads to.
func (c *compiler) here(prefix string, inner *shape, negate bool) (condition, error) {
	for i, path := range inner.paths {
		inner.paths[i] = prefix + path
	}
	for _, b := range inner.branches {
		if b.path != "" {
			b.path = prefix + b.path
		}
	}
	conditions, err := c.filters(inner)
	if err != nil {
		return nil, err
	}
	if !negate {
		return conditions, nil
	}
	if len(flat(conditions)) == 0 {
		return c.never()
	}
	return not{conditions}, nil
}

// byValues asks for the values of a query in a call before.
func (c *compiler) byValues(o operand, q *sqltree.Query, negate bool) (condition, error) {
	a, err := c.query(q, true)
	if err != nil {
		return nil, err
	}
	if len(a.parts) != 1 || len(a.parts[0].Members) != 1 || a.parts[0].Total || a.limit >= 0 && a.parts[0].Call.Most != a.limit {
		return nil, unable("IN with a query of several answers")
	}
	s, err := c.bind(q.Selects[0])
	if err != nil {
		return nil, err
	}
	v := s.columns[0]
	if v.aggregate != "" {
		return nil, unable("IN with aggregates")
	}
	if o, err = c.compared(o, v.column.Affinity == TextAffinity); err != nil {
		return nil, err
	}
	switch {
	case negate && s.maybeNull(v.place):
		return nil, unable("NOT IN with NULLs")
	}
	if set := valuesOf(a.parts[0]); set != nil && c.shape != nil && o.served == v.column.Served && (!negate || !o.nulls) {
		return inValues(o, set, negate), nil
	}
	return inValues(o, Reference{a.parts[0].Call, a.parts[0].Members[0], true}, negate), nil
}

// valuesOf returns the set of values that stands for the one member of all rows that a call finds, so that no call must find it
// out before; nil if there is none.
func valuesOf(p Part) Object {
	if p.Total || p.NeedsRow || p.Call.Most >= 0 {
		return nil
	}
	set := Object{"model": p.Call.Model, "field": p.Members[0]}
	for name, value := range p.Call.Arguments {
		switch name {
		case "fields", "limit":
		case "filters":
			set["filters"] = value
		case "group_by":
			if len(value.([]any)) > 1 {
				return nil
			}
		default:
			return nil
		}
	}
	return Object{"_values": set}
}

func everySource(s *selection) map[int]bool {
	every := map[int]bool{}
	for i := range s.tables {
		every[i] = true
	}
	return every
}
