package planner

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/test/jobs/sqltree"
)

// Plan is the calls that answer a query. Parts are the rows of the answer, one after the other.
type Plan struct {
	Calls []*Call
	Parts []Part
	// Limit is the most rows of all parts together; -1 is no limit. Parts that are beyond it are not asked for.
	Limit int
}

// Call is a call of a tool. A value in its arguments may be a Reference to an earlier call's answer.
type Call struct {
	// Operation is list or aggregate.
	Operation, Model string
	Arguments        Object
	// Most is the most rows that are wanted; -1 is all.
	Most int
}

// Object is a JSON object.
type Object = map[string]any

// Reference stands for what an earlier call answered: the member's value in its first row, or in every row.
type Reference struct {
	Call   *Call
	Member string
	Every  bool
}

// UnlessEmpty stands for false, if an earlier call answered any row; else its member is left out. NULL is not NOT IN a list,
// but it is in no empty one.
type UnlessEmpty struct{ Reference }

// Part is a part of the answer: members of each row of a call, in the order of the query's columns.
type Part struct {
	Call    *Call
	Members []string
	// Total reports whether the part is one row with the number of all rows or groups instead.
	Total bool
	// NeedsRow reports whether an answer without rows answers nothing.
	NeedsRow bool
}

// Unable is a query that the planner cannot ask. Needs names what is missing.
type Unable struct{ Needs string }

func (u *Unable) Error() string { return u.Needs }

func unable(format string, args ...any) error { return &Unable{fmt.Sprintf(format, args...)} }

// Make plans a query.
func Make(schema *Schema, q *sqltree.Query) (*Plan, error) {
	b := &builder{schema: schema}
	a, err := b.query(q, false)
	if err != nil {
		return nil, err
	}
	return &Plan{Calls: a.calls(), Parts: a.parts, Limit: a.limit}, nil
}

// answer is how the rows of a query are had.
type answer struct {
	parts []Part
	limit int
}

// calls lists the calls of an answer with the calls that they refer to, each before the calls that need it.
func (a *answer) calls() []*Call {
	var all []*Call
	seen := map[*Call]bool{}
	var add func(c *Call)
	add = func(c *Call) {
		if seen[c] {
			return
		}
		seen[c] = true
		for _, r := range References(c.Arguments) {
			add(r.Call)
		}
		all = append(all, c)
	}
	for _, p := range a.parts {
		add(p.Call)
	}
	return all
}

// size is the length of all calls, to prefer short ones.
func (a *answer) size() int {
	n := 0
	for _, c := range a.calls() {
		text, _ := json.Marshal(c.Arguments) // what cannot be written has no length
		n += len(text)
	}
	return n
}

// References are the references in a value.
func References(value any) []Reference {
	switch v := value.(type) {
	case Reference:
		return []Reference{v}
	case UnlessEmpty:
		return []Reference{v.Reference}
	case Object:
		var all []Reference
		for _, member := range v {
			all = append(all, References(member)...)
		}
		return all
	case []any:
		var all []Reference
		for _, element := range v {
			all = append(all, References(element)...)
		}
		return all
	}
	return nil
}

// builder plans the queries of one question.
type builder struct {
	schema *Schema
	// scopes are the selections around the present one.
	scopes []*selection
}

// enter says that what is planned next stands inside of the compiler's selection, until the function that it returns is
// called.
func (c *compiler) enter() func() {
	before := c.scopes
	c.scopes = append(slices.Clip(before), c.s)
	return func() { c.scopes = before }
}

// outside reports whether a name is a column of a selection around this one.
func (b *builder) outside(e sqltree.Expr) bool {
	return slices.ContainsFunc(b.scopes, func(s *selection) bool {
		_, ok := s.find(e)
		return ok
	})
}

// query plans a query. If set, only which rows there are matters, and not how often.
func (b *builder) query(q *sqltree.Query, set bool) (*answer, error) {
	if len(q.Selects) > 1 {
		return b.compound(q)
	}
	if inner := counted(q); inner != nil {
		return b.count(inner)
	}
	s, err := b.bind(q.Selects[0])
	if err != nil {
		return nil, err
	}
	if err := s.bindOrder(q); err != nil {
		return nil, err
	}
	if b.splitsOrder(s) {
		return b.nullsFirst(q, s)
	}
	set = set && s.limit < 0
	s.distinct = s.distinct || set && !s.grouped()
	if err := s.folds(); err != nil {
		return nil, err
	}
	return b.plain(s, set)
}

// splitsOrder reports whether the engine would put NULLs at the other end of the order, which is not by a number.
func (b *builder) splitsOrder(s *selection) bool {
	return b.schema.NullsLast && len(s.order) == 1 && !s.grouped() && !s.distinct && s.offset == 0 && s.order[0].source >= 0 && s.order[0].column.Served != ServedNumber &&
		s.maybeNull(s.order[0].place)
}

// nullsFirst plans the rows that have NULL in the order, and the others in order.
func (b *builder) nullsFirst(q *sqltree.Query, s *selection) (*answer, error) {
	whole := &answer{limit: q.Limit}
	for _, null := range []bool{!s.order[0].descending, s.order[0].descending} {
		tree, part := *q.Selects[0], *q
		by := s.order[0].place
		name := &sqltree.Name{Table: s.tables[by.source].alias, Column: by.column.Name}
		tree.Where = and(tree.Where, &sqltree.IsNull{Operand: name, Not: !null})
		part.Selects = []*sqltree.Select{&tree}
		if null {
			part.Order = nil
		}
		a, err := b.query(&part, false)
		if err != nil {
			return nil, err
		}
		whole.parts = append(whole.parts, a.parts...)
	}
	return whole, nil
}

// counted returns the query in SELECT count(*) FROM (query), or nil.
func counted(q *sqltree.Query) *sqltree.Query {
	s := q.Selects[0]
	if len(s.From) != 1 || s.From[0].Query == nil || len(s.Columns) != 1 || s.Where != nil || s.Group != nil || s.Having != nil {
		return nil
	}
	if c, ok := s.Columns[0].Expr.(*sqltree.Call); ok && c.Name == "count" && c.Star {
		return s.From[0].Query
	}
	return nil
}

// count plans the number of rows of a query: what its one call says of all rows or groups.
func (b *builder) count(q *sqltree.Query) (*answer, error) {
	if q.Limit >= 0 {
		return nil, unable("the number of rows within a limit")
	}
	a, err := b.query(q, false)
	if err != nil {
		return nil, err
	}
	if len(a.parts) != 1 || a.limit >= 0 || a.parts[0].Total || a.parts[0].Call.Arguments["group_by"] == nil && a.parts[0].Call.Operation == aggregate {
		return nil, unable("the number of rows of a nested query")
	}
	a.parts[0].Total, a.parts[0].Call.Most = true, 1
	a.parts[0].Call.Arguments["limit"] = 1
	if a.parts[0].Call.Operation == aggregate {
		a.parts[0].Call.Arguments["total"] = "exact"
	}
	return a, nil
}

// The operations that plans use.
const (
	list      = "list"
	aggregate = "aggregate"
)
