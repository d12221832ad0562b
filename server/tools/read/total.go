package read

import (
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// The values of the argument total.
const (
	totalExact = "exact"
	totalNone  = "none"
)

// askedTotal reads the argument total; said reports whether it was sent. If not, nothing is counted.
func askedTotal(asked string) (total database.Total, said bool, err error) {
	switch asked {
	case "":
		return database.TotalNone, false, nil
	case totalExact:
		return database.TotalExact, true, nil
	case totalNone:
		return database.TotalNone, true, nil
	}
	return database.TotalNone, false, call.Invalid("total must be %q or %q, or left out, not %q", totalExact, totalNone, asked)
}

// planTotal is the way in which a list's rows are counted: the caller's, or else the exposure's. A token under a row policy
// gets no estimate, which would tell of rows that it may not see (docs/design/tools.md, "Total counts"); nor does a
// condition that follows a relation to rows under one.
func planTotal(scope access.Scope, asked string, plan *database.Select) (database.Total, error) {
	if total, said, err := askedTotal(asked); said || err != nil {
		return total, err
	}
	switch scope.Model().Declared.TotalCount {
	case contract.TotalExact:
		return database.TotalExact, nil
	case contract.TotalCapped:
		return database.TotalCapped, nil
	}
	if scope.Limited() || readsLimited(plan) {
		return database.TotalCapped, nil
	}
	return database.TotalAuto, nil
}

// readsLimited reports whether the rows or groups of a plan depend on rows of another source that is under a row policy.
func readsLimited(plan *database.Select) bool {
	if g := plan.From.Groups(); g != nil && groupsLimited(g) {
		return true
	}
	if v := plan.From.Windows(); v != nil && windowsLimited(v) {
		return true
	}
	return followsLimited(plan.Where)
}

// showsLimited reports whether the rows of a plan show, or are ordered by, what is of another source under a row policy.
func showsLimited(plan *database.Select) bool {
	return slices.ContainsFunc(plan.Joins, joinLimited) ||
		slices.ContainsFunc(plan.Order, func(o database.Order) bool { return columnLimited(o.Column) }) ||
		slices.ContainsFunc(plan.Output, func(o database.Output) bool { return slices.ContainsFunc(o.Columns, columnLimited) })
}

// windowsLimited is readsLimited of a windowing.
func windowsLimited(v *database.Windowing) bool {
	return v.From.Policy() != nil || slices.ContainsFunc(v.Joins, joinLimited) || followsLimited(v.Where) ||
		slices.ContainsFunc(v.Columns, func(r database.Ref) bool { return columnLimited(r.Column) })
}

// groupsLimited is readsLimited of a grouping.
func groupsLimited(g *database.Grouping) bool {
	if v := g.From.Windows(); v != nil && windowsLimited(v) {
		return true
	}
	return slices.ContainsFunc(g.Joins, joinLimited) || followsLimited(g.Where) ||
		slices.ContainsFunc(g.Keys, func(k database.GroupKey) bool { return columnLimited(k.Column) }) ||
		slices.ContainsFunc(g.Measures, func(m database.Measure) bool {
			return followsLimited(m.Where) || m.Ref.Column != nil && columnLimited(m.Ref.Column)
		})
}

// followsLimited reports whether a condition asks for rows of a source that is under a row policy.
func followsLimited(where database.Condition) bool {
	switch c := where.(type) {
	case database.And:
		return slices.ContainsFunc(c, followsLimited)
	case database.Or:
		return slices.ContainsFunc(c, followsLimited)
	case database.Not:
		return followsLimited(c.Condition)
	case database.Joined:
		return joinLimited(c.Join) || followsLimited(c.Condition)
	case database.CompareRefs:
		return refLimited(c.Left) || refLimited(c.Right)
	case database.Exists:
		return c.From.Policy() != nil || followsLimited(c.Where)
	case database.InRows:
		return c.From.Policy() != nil || joinLimited(c.Theirs.Join) || followsLimited(c.Where)
	}
	limited := false
	database.EachColumn(where, func(c *database.Column) { limited = limited || columnLimited(c) })
	return limited
}

// columnLimited reports whether a column is computed of rows under a row policy.
func columnLimited(c *database.Column) bool {
	if v, ok := c.Expression.(database.RelatedValue); ok {
		return joinLimited(v.Of) || followsLimited(v.Rows)
	}
	limited := false
	switch v := c.Expression.(type) {
	case database.Chosen:
		limited = followsLimited(v.Where)
	case database.Outer:
		return refLimited(v.Of)
	}
	c.Reads(func(r database.Ref) { limited = limited || refLimited(r) })
	return limited
}

// refLimited reports whether a column is computed of rows under a row policy, or is one of theirs.
func refLimited(r database.Ref) bool { return joinLimited(r.Join) || columnLimited(r.Column) }

// joinLimited reports whether a join, or one that it goes through, leads to rows under a row policy; a nil join does not.
func joinLimited(join *database.Join) bool {
	for ; join != nil; join = join.Through {
		if v := join.From.Windows(); v != nil && windowsLimited(v) {
			return true
		}
		if g := join.From.Groups(); g != nil && (g.From.Policy() != nil || groupsLimited(g)) || join.From.Policy() != nil {
			return true
		}
	}
	return false
}
