package planner

import (
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/test/jobs/sqltree"
)

// compound plans SELECTs that set operations join.
func (b *builder) compound(q *sqltree.Query) (*answer, error) {
	if len(q.Order) > 0 || q.Limit >= 0 {
		return nil, unable("a set operation in an order, or with a limit")
	}
	if len(q.Selects) == 2 && q.Operations[0] != sqltree.UnionAll {
		if a := b.together(q.Selects[0], q.Operations[0], q.Selects[1]); a != nil {
			return a, nil
		}
	}
	if len(q.Selects) == 2 && q.Operations[0] == sqltree.Intersect {
		return b.intersect(q.Selects[0], q.Selects[1])
	}
	terms := []*sqltree.Select{q.Selects[0]}
	for i, operation := range q.Operations {
		next := q.Selects[i+1]
		if operation == sqltree.Union || operation == sqltree.UnionAll {
			terms = append(terms, next)
			continue
		}
		for n, term := range terms {
			narrowed, err := b.among(term, next, operation == sqltree.Except)
			if err != nil {
				return nil, err
			}
			terms[n] = narrowed
		}
	}
	return b.append(terms, slices.Contains(q.Operations, sqltree.UnionAll), q.Operations)
}

// intersect plans the rows of one SELECT that the other has as well, whichever takes fewer calls.
func (b *builder) intersect(left, right *sqltree.Select) (*answer, error) {
	var best *answer
	var reason error
	for _, sides := range [][2]*sqltree.Select{{left, right}, {right, left}} {
		term, err := b.among(sides[0], sides[1], false)
		if err == nil {
			var a *answer
			if a, err = b.append([]*sqltree.Select{term}, false, nil); err == nil && (best == nil || len(a.calls()) < len(best.calls())) {
				best = a
			}
		}
		if err != nil && reason == nil {
			reason = err
		}
	}
	if best == nil {
		return nil, reason
	}
	return best, nil
}

// append plans the rows of one SELECT after the other's. Each leaves out what those before it have, unless all is wanted.
func (b *builder) append(terms []*sqltree.Select, every bool, operations []sqltree.Operation) (*answer, error) {
	if every && slices.ContainsFunc(operations, func(o sqltree.Operation) bool { return o != sqltree.UnionAll }) {
		return nil, unable("UNION ALL beside other set operations")
	}
	whole := &answer{limit: -1}
	for i, term := range terms {
		if !every {
			distinct := *term
			distinct.Distinct = true
			term = &distinct
			for _, before := range terms[:i] {
				var err error
				if term, err = b.among(term, before, true); err != nil {
					return nil, err
				}
			}
		}
		a, err := b.query(&sqltree.Query{Selects: []*sqltree.Select{term}, Limit: -1}, false)
		if err != nil {
			return nil, err
		}
		whole.parts = append(whole.parts, a.parts...)
	}
	return whole, nil
}

// among returns a SELECT of those rows that another one has too, or has not. It compares one column: the only one, or one that
// identifies the row that all the others are of. Set operations take NULLs for equal, so there must be none.
func (b *builder) among(term, other *sqltree.Select, negate bool) (*sqltree.Select, error) {
	s, err := b.bind(term)
	if err != nil {
		return nil, err
	}
	o, err := b.bind(other)
	if err != nil {
		return nil, err
	}
	i, ok := identifying(s, o)
	if !ok {
		return nil, unable("a set operation over several columns")
	}
	if s.maybeNull(s.columns[i].place) {
		return nil, unable("a set operation over NULLs")
	}
	column, value := term.Columns[i], other.Columns[i]
	if column.Star || value.Star {
		return nil, unable("a set operation over all columns")
	}
	values := *other
	values.Columns = []sqltree.Column{value}
	if o.maybeNull(o.columns[i].place) {
		values.Where = and(values.Where, &sqltree.IsNull{Operand: value.Expr, Not: true})
	}
	narrowed := *term
	member := &sqltree.In{Operand: column.Expr, Query: &sqltree.Query{Selects: []*sqltree.Select{&values}, Limit: -1}, Not: negate}
	narrowed.Where = and(narrowed.Where, member)
	return &narrowed, nil
}

func and(before, more sqltree.Expr) sqltree.Expr {
	if before == nil {
		return more
	}
	return &sqltree.Binary{Operator: "AND", Left: before, Right: more}
}

// identifying returns the column by which rows of two selections can be compared.
func identifying(a, b *selection) (int, bool) {
	plain := func(s *selection) bool {
		return !slices.ContainsFunc(s.columns, func(v value) bool { return v.aggregate != "" })
	}
	if len(a.columns) != len(b.columns) || !plain(a) || !plain(b) {
		return 0, false
	}
	if len(a.columns) == 1 {
		return 0, true
	}
	found, ok := 0, false
	for i := range a.columns {
		x, y := a.columns[i], b.columns[i]
		if x.column != y.column || x.source != a.columns[0].source || y.source != b.columns[0].source ||
			a.tables[x.source].table != b.tables[y.source].table {
			return 0, false
		}
		if a.tables[x.source].table.identifies(x.column) {
			found, ok = i, true
		}
	}
	return found, ok
}

// maybeNull reports whether a column may be NULL in the rows that meet the conditions.
func (s *selection) maybeNull(p place) bool {
	switch {
	case s.saidNotNull(p):
		return false
	case s.tables[p.source].outer:
		return true
	}
	return p.column.Nulls && !slices.ContainsFunc(s.equal, func(e equality) bool {
		inner := !s.tables[e.left.source].outer && !s.tables[e.right.source].outer
		return inner && (e.left == p || e.right == p)
	})
}

// saidNotNull reports whether a condition holds only if the column is not NULL.
func (s *selection) saidNotNull(p place) bool {
	for _, e := range s.where {
		if n, ok := e.(*sqltree.IsNull); ok && n.Not {
			if found, ok := s.find(n.Operand); ok && found == p {
				return true
			}
		}
	}
	return slices.Contains(s.constants(), p)
}

// together plans a set operation as one call, if both sides are rows of one table: nil if they are not.
func (b *builder) together(left *sqltree.Select, operation sqltree.Operation, right *sqltree.Select) *answer {
	a, err := b.bind(left)
	if err != nil {
		return nil
	}
	o, err := b.bind(right)
	if err != nil {
		return nil
	}
	a, o = b.ungrouped(a), b.ungrouped(o)
	if a == nil || o == nil || a.grouped() || o.grouped() || len(a.columns) != len(o.columns) {
		return nil
	}
	var best *answer
	for i := range a.tables {
		for j := range o.tables {
			if a.tables[i].table != o.tables[j].table {
				continue
			}
			found := b.sameRoot(a, i, operation, o, j)
			if found != nil && (best == nil || len(found.calls()) < len(best.calls()) || len(found.calls()) == len(best.calls()) && found.size() < best.size()) {
				best = found
			}
		}
	}
	return best
}

// sameRoot plans a set operation of two selections seen from the same table.
func (b *builder) sameRoot(left *selection, i int, operation sqltree.Operation, right *selection, j int) *answer {
	a, conditionsA, err := b.side(left, i)
	if err != nil {
		return nil
	}
	o, conditionsB, err := b.side(right, j)
	if err != nil {
		return nil
	}
	call := &Call{Operation: list, Model: a.tables[i].table.Model, Arguments: Object{}, Most: -1}
	part := Part{Call: call}
	var members []any
	for n := range left.columns {
		path := a.path(left.columns[n].place)
		if path != o.path(right.columns[n].place) {
			return nil
		}
		part.Members = append(part.Members, path)
		if !slices.Contains(members, any(path)) {
			members = append(members, path)
		}
	}
	var filters condition
	switch byKey := left.showsKey(a); {
	case operation == sqltree.Union:
		if len(conditionsA) > 0 && len(conditionsB) > 0 {
			filters = some{conditionsA, conditionsB}
		}
	case byKey && operation == sqltree.Intersect:
		filters = all{conditionsA, conditionsB}
	case byKey && len(conditionsB) > 0:
		filters = all{conditionsA, not{conditionsB}}
	case byKey:
		return nil // nothing is left
	default:
		groupsOfBoth(call, conditionsA, operation, conditionsB)
	}
	call.Arguments["fields"] = members
	if !left.showsKey(a) {
		if len(members) > mostGroups {
			return nil
		}
		delete(call.Arguments, "fields")
		call.Operation, call.Arguments["group_by"] = aggregate, members
	}
	if filters != nil {
		if o := object(all{filters}); len(o) > 0 {
			call.Arguments["filters"] = o
		}
	}
	setLimit(call, a.tables[i].table, -1, 0)
	return &answer{parts: []Part{part}, limit: -1}
}

// side is one side of a set operation, seen from one of its sources.
func (b *builder) side(s *selection, root int) (*shape, all, error) {
	h, err := s.from(root, everySource(s))
	if err != nil {
		return nil, nil, err
	}
	if !h.reaches(s.needed()) {
		return nil, nil, unable("a set operation over rows of several tables")
	}
	distinct := *s
	distinct.distinct = true // as set operations are
	if err := distinct.folds(); err != nil {
		return nil, nil, err
	}
	conditions, err := b.filters(h)
	return h, flat(conditions), err
}

// groupsOfBoth counts in each group the rows that either side has.
func groupsOfBoth(call *Call, left all, operation sqltree.Operation, right all) {
	measures, having := Object{}, Object{}
	count := func(name string, conditions all) {
		measures[name] = Object{"count": "*"}
		if len(conditions) > 0 {
			measures[name] = Object{"count": "*", "filters": object(conditions)}
		}
	}
	if len(left) > 0 || operation == sqltree.Intersect {
		count("left", left)
		having["left__gt"] = 0
	}
	count("right", right)
	if having["right__gt"] = 0; operation == sqltree.Except {
		delete(having, "right__gt")
		having["right"] = 0
	}
	call.Arguments["measures"], call.Arguments["having"] = measures, having
}
