package sqltext

import (
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// A policy that goes through a relation looks dearer to a planner than most conditions, so that it evaluates those first: for
// rows, too, that the policy hides. A caller who asks for what takes long would then learn from the time of the answer what hidden
// rows hold (docs/design/rights.md, "What cannot be kept secret"). So whatever may take long stands behind a fence: a CASE,
// which every engine evaluates in its order. What an index may serve stands before it, or each read would go through the
// whole table.

// mostUnfenced is how many conditions of a caller stand before a fence.
const mostUnfenced = 8

// fenced is the policy of a source and a caller's condition on its rows and its joins' rows; nil if there is neither.
func fenced(from database.Source, where database.Condition) database.Condition {
	policy := from.Policy()
	if where == nil || from.Groups() != nil || from.Windows() != nil {
		return and(policy, where)
	}
	var before, behind database.And
	var hidden []*database.Join // joins to rows under a policy that may come late
	conditions := flatten(nil, where)
	pin := pinning(from.Table(), conditions)
	late := comesLate(policy)
	for i, c := range conditions {
		joins := fencedJoins(nil, c)
		switch {
		case !comesLate(policy) && len(joins) == 0 && (policy == nil || !computes(c)):
			before = append(before, c)
		case isQuick(c) && len(before) < mostUnfenced && (pin < 0 || pin == i):
			before = append(before, c)
		default:
			late = late || policy != nil && computes(c) // an error of it would tell of a hidden row
			behind = append(behind, c)
			for _, join := range joins {
				if !slices.Contains(hidden, join) {
					hidden = append(hidden, join)
				}
			}
		}
	}
	if len(behind) == 0 {
		return and(policy, where)
	}
	fence := database.Fenced{Condition: behind}
	if late {
		fence.Fence = append(fence.Fence, policy)
	}
	for _, join := range hidden {
		fence.Fence = append(fence.Fence, database.Joined{Join: join, Condition: database.Or{database.IsNull{Column: join.Theirs[0]}, join.From.Policy()}})
	}
	all := database.And{}
	if policy != nil {
		all = append(all, policy)
	}
	return append(append(all, before...), fence)
}

// computes reports whether a condition asks for a computed column.
func computes(c database.Condition) (found bool) {
	database.EachColumn(c, func(column *database.Column) { found = found || column.Expression != nil })
	return found
}

// flatten appends the conditions that all must hold.
func flatten(dst []database.Condition, c database.Condition) []database.Condition {
	all, ok := c.(database.And)
	if !ok {
		return append(dst, c)
	}
	for _, part := range all {
		dst = flatten(dst, part)
	}
	return dst
}

// comesLate reports whether a planner may evaluate conditions of a caller before a policy. Plain comparisons are as cheap as
// anything is, and come first.
func comesLate(policy database.Condition) bool {
	switch c := policy.(type) {
	case nil, database.Compare, database.In, database.IsNull:
		return false
	case database.And:
		return slices.ContainsFunc(c, comesLate)
	case database.Or:
		return slices.ContainsFunc(c, comesLate)
	case database.Not:
		return comesLate(c.Condition)
	case database.Match:
		return c.Op != database.TextEquals || c.FoldCase
	}
	return true
}

// fencedJoins appends the joins of a condition, and the joins that they go through, to rows under a policy that may come
// late.
func fencedJoins(dst []*database.Join, c database.Condition) []*database.Join {
	add := func(join *database.Join) {
		for ; join != nil; join = join.Through {
			if len(join.Theirs) > 0 && comesLate(join.From.Policy()) && !slices.Contains(dst, join) {
				dst = append(dst, join)
			}
		}
	}
	database.EachColumn(c, func(column *database.Column) { column.Reads(func(r database.Ref) { add(r.Join) }) })
	switch c := c.(type) {
	case database.And:
		for _, part := range c {
			dst = fencedJoins(dst, part)
		}
	case database.Or:
		for _, part := range c {
			dst = fencedJoins(dst, part)
		}
	case database.Not:
		return fencedJoins(dst, c.Condition)
	case database.Joined:
		add(c.Join)
		return fencedJoins(dst, c.Condition)
	case database.CompareRefs:
		add(c.Left.Join)
		add(c.Right.Join)
	case database.Exists:
		c.EachOuter(func(r database.Ref) { add(r.Join) })
	}
	return dst
}

// pinning is the place of a condition that names the rows by a key of one column; -1 if there is none. Such a condition leaves
// an index nothing else to do.
func pinning(table *database.Table, conditions []database.Condition) int {
	return slices.IndexFunc(conditions, func(c database.Condition) bool {
		var named *database.Column
		switch c := c.(type) {
		case database.Compare:
			if c.Op == database.Equal {
				named = c.Column
			}
		case database.In:
			named = c.Column
		}
		isKey := func(key []*database.Column) bool { return len(key) == 1 && key[0] == named }
		return named != nil && isQuick(c) && (isKey(table.PrimaryKey) || slices.ContainsFunc(table.Unique, isKey))
	})
}

// isQuick reports whether a condition takes next to no time, whatever the row holds, and is one that an index may serve.
func isQuick(c database.Condition) bool {
	if computes(c) {
		return false
	}
	switch c := c.(type) {
	case database.Compare:
		return isSmall(c.Column) || c.Op == database.Equal && c.Column.Kind == database.Text
	case database.In:
		return isSmall(c.Column) || c.Column.Kind == database.Text
	case database.IsNull, database.PartEquals:
		return true
	case database.Match:
		return c.Op == database.TextEquals && !c.FoldCase
	case database.Not:
		_, isNull := c.Condition.(database.IsNull)
		return isNull
	case database.Joined:
		return isQuick(c.Condition)
	}
	return false
}

// isSmall reports whether a column's values have a few bytes each.
func isSmall(c *database.Column) bool {
	switch c.Kind {
	case database.Text:
		return c.MaxLength > 0 && c.MaxLength <= mostSmall
	case database.Boolean, database.Integer, database.Float, database.Decimal, database.Date, database.Time, database.Timestamp,
		database.TimestampTZ, database.Interval, database.UUID, database.Enum:
		return true
	}
	return false
}

// mostSmall is the most characters of a text that is compared in no time.
const mostSmall = 255
