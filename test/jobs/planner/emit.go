package planner

import (
	"errors"
	"fmt"
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/test/jobs/sqltree"
)

// mostGroups is how many members aggregate_ groups by.
const mostGroups = 6

// plain plans a SELECT: it tries every source as the root, and takes the one with the fewest calls, then the shortest.
func (b *builder) plain(s *selection, set bool) (*answer, error) {
	var best *answer
	var reason error
	for root := range s.tables {
		h, err := s.from(root, everySource(s))
		var found *answer
		if err == nil {
			found, err = b.seenFrom(s, h, set)
		}
		if err != nil {
			reason = better(reason, err)
			continue
		}
		if best == nil || len(found.calls()) < len(best.calls()) || len(found.calls()) == len(best.calls()) && found.size() < best.size() {
			best = found
		}
	}
	if best == nil {
		return nil, reason
	}
	return best, nil
}

// better returns the error that tells more: what is missing, and not which root does not fit.
func better(before, now error) error {
	var u *Unable
	if before == nil || errors.As(before, &u) && slices.Contains(ofRoots, u.Needs) {
		return now
	}
	return before
}

// severalRows is the need of those selections that would multiply rows.
const severalRows = "rows that joins to many rows multiply"

// ofRoots are the needs that another root may not have.
var ofRoots = []string{severalRows, "an outer join from the other side", "an outer join to many rows", "a condition on rows of two branches"}

// seenFrom plans a SELECT as a shape has it.
func (b *builder) seenFrom(s *selection, h *shape, set bool) (*answer, error) {
	if a := b.relatedValues(s, h); a != nil {
		return a, nil
	}
	if !h.reaches(s.needed()) || len(h.branches) > 0 && !set && !s.insensitive() && !h.oneEach() {
		for _, inner := range h.branches {
			switch {
			case inner.path == "" && len(inner.on) == 0:
				return nil, unable("a join without a condition")
			case inner.path == "":
				return nil, unable("a join without a foreign key")
			}
		}
		return nil, unable(severalRows)
	}
	part, err := b.emit(s, h, map[sqltree.Expr]bool{})
	if err != nil {
		return nil, err
	}
	limit := -1
	if s.limit >= 0 {
		limit = s.limit
	}
	return &answer{parts: []Part{part}, limit: limit}, nil
}

// insensitive reports whether it does not matter how often a row stands there.
func (s *selection) insensitive() bool {
	if !s.grouped() {
		return s.distinct
	}
	sensitive := false
	check := func(v value) {
		sensitive = sensitive || v.aggregate != "" && v.aggregate != "min" && v.aggregate != "max" && !v.distinct
	}
	for _, v := range s.columns {
		check(v)
	}
	for _, o := range s.order {
		check(o.value)
	}
	sqltree.Walk(s.having, func(e sqltree.Expr) {
		if c, ok := e.(*sqltree.Call); ok {
			if v, err := s.aggregate(c); err == nil {
				check(v)
			}
		}
	})
	return !sensitive
}

// emit makes the call of a selection, and says which members of its rows the answer has.
func (b *builder) emit(s *selection, h *shape, placed map[sqltree.Expr]bool) (Part, error) {
	conditions, err := b.within(h, placed)
	if err != nil {
		return Part{}, err
	}
	for _, e := range s.where {
		if !placed[e] && !h.isPart() {
			return Part{}, unable("a condition on rows of two branches")
		}
	}
	call := &Call{Operation: list, Model: h.tables[h.root].table.Model, Arguments: Object{}, Most: -1}
	var part Part
	switch extreme := s.extreme(); {
	case extreme != nil:
		conditions = append(conditions, leaf{h.path(extreme.place), "isnull", false})
		part, err = b.emitExtreme(s, h, call, extreme)
	case s.grouped() || s.distinct && !s.showsKey(h):
		call.Operation = aggregate
		part, err = b.emitGroups(s, h, call)
	default:
		part, err = b.emitRows(s, h, call)
	}
	if err != nil {
		return Part{}, err
	}
	if filters := object(conditions); len(filters) > 0 {
		call.Arguments["filters"] = filters
	}
	return part, nil
}

// showsKey reports whether the answer has a key of the root, so that no two of its rows are equal.
func (s *selection) showsKey(h *shape) bool {
	var shown []*Column
	for _, v := range s.columns {
		if v.source == h.root && !v.column.Nulls {
			shown = append(shown, v.column)
		}
	}
	return h.tables[h.root].table.isUnique(shown)
}

// emitRows makes a call of list_. If the engine would put NULLs at the other end of an order of numbers, a value that is NULL or 0
// goes before them in the order, the other way round.
func (b *builder) emitRows(s *selection, h *shape, call *Call) (Part, error) {
	part := Part{Call: call}
	var fields []any
	for _, v := range s.columns {
		path := h.path(v.place)
		if !slices.Contains(part.Members, path) {
			fields = append(fields, path)
		}
		part.Members = append(part.Members, path)
	}
	var order []any
	for i, o := range s.order {
		by := h.at(o.place)
		if b.schema.NullsLast && by.nulls && by.served == ServedNumber {
			name := fmt.Sprintf("nulls_%d", i+1)
			fields = append(fields, Object{"as": name, "mul": []any{by.path, 0}})
			order, by.nulls = append(order, direction(!o.descending)+name), false
		}
		if err := b.sortable(by); err != nil {
			return Part{}, err
		}
		order = append(order, direction(o.descending)+by.path)
	}
	call.Arguments["fields"] = fields
	setOrder(call, order)
	setLimit(call, h.tables[h.root].table, s.limit, s.offset)
	return part, nil
}

// sortable reports whether the engine sorts values as SQLite does.
func (b *builder) sortable(o operand) error {
	if b.schema.NullsLast && o.nulls {
		return unable("NULLs first in an order")
	}
	return b.ordered(o)
}

// ordered reports whether the engine compares the order of values as SQLite does.
func (b *builder) ordered(o operand) error {
	switch {
	case o.affinity == TextAffinity && o.served == ServedNumber && !o.oneLength:
		return unable("an order of numbers kept as text")
	case o.affinity == NumericAffinity && o.served == ServedText:
		return unable("an order of numbers mixed with texts")
	}
	return nil
}

func direction(descending bool) string {
	if descending {
		return "-"
	}
	return ""
}

func setOrder(call *Call, order []any) {
	if len(order) > 0 {
		call.Arguments["order_by"] = order
	}
}

// PageSize is the most rows that a call answers, unless a table says otherwise.
const PageSize = 1000

func setLimit(call *Call, t *Table, limit, offset int) {
	call.Most = limit
	if most := max(PageSize, t.PageSize); limit < 0 || limit > most {
		limit = most
	}
	call.Arguments["limit"] = limit
	if offset > 0 {
		call.Arguments["offset"] = offset
	}
}

// extreme returns the one min or max of a selection that also shows columns of the row that has it; nil if it is not such a
// selection.
func (s *selection) extreme() *value {
	if len(s.group) > 0 || s.having != nil || len(s.order) > 0 {
		return nil
	}
	var extreme *value
	plain := false
	for i := range s.columns {
		switch v := &s.columns[i]; {
		case v.aggregate == "":
			plain = true
		case (v.aggregate == "min" || v.aggregate == "max") && (extreme == nil || *extreme == *v):
			extreme = v
		default:
			return nil
		}
	}
	if !plain {
		return nil
	}
	return extreme
}

// emitExtreme asks for the row that has the smallest or largest value.
func (b *builder) emitExtreme(s *selection, h *shape, call *Call, extreme *value) (Part, error) {
	rows := *s
	rows.columns = slices.Clone(s.columns)
	for i := range rows.columns {
		rows.columns[i].aggregate = ""
	}
	rows.limit = 1
	part, err := b.emitRows(&rows, h, call)
	if err != nil {
		return Part{}, err
	}
	o := h.at(extreme.place)
	o.nulls = false // they are left out
	if err := b.sortable(o); err != nil {
		return Part{}, err
	}
	setOrder(call, []any{direction(extreme.aggregate == "max") + o.path})
	part.NeedsRow = true
	return part, nil
}

// measureName returns a name for a measure that no other has.
func measureName(measures Object, taken []any, function string) string {
	for n := 1; ; n++ {
		name := function
		if n > 1 {
			name = fmt.Sprintf("%s_%d", function, n)
		}
		if measures[name] == nil && !slices.Contains(taken, any(name)) {
			return name
		}
	}
}
