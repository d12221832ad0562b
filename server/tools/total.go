package tools

import (
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// The values of the argument total.
const (
	totalExact = "exact"
	totalNone  = "none"
)

// planTotal is the way in which a list's rows are counted: the one that the caller asks for, or else the exposure's. A
// token under a row policy gets no estimate, which would tell of rows that it may not see (docs/design/tools.md,
// "Total counts"); nor does a condition that follows a relation to rows under one.
func planTotal(scope access.Scope, asked string, plan *database.Select) (database.Total, error) {
	switch asked {
	case totalExact:
		return database.TotalExact, nil
	case totalNone:
		return database.TotalNone, nil
	case "":
	default:
		return 0, invalid("total must be %q or %q, or left out, not %q", totalExact, totalNone, asked)
	}
	switch scope.Model().Declared.TotalCount {
	case contract.TotalExact:
		return database.TotalExact, nil
	case contract.TotalCapped:
		return database.TotalCapped, nil
	}
	if scope.Limited() || joinsLimited(plan.Joins) || followsLimited(plan.Where) {
		return database.TotalCapped, nil
	}
	return database.TotalAuto, nil
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
		return followsLimited(c.Condition)
	case database.Exists:
		return c.From.Policy() != nil || joinsLimited(c.Joins) || followsLimited(c.Where)
	case database.CountOf:
		return followsLimited(c.Rows)
	}
	return false
}

func joinsLimited(joins []*database.Join) bool {
	return slices.ContainsFunc(joins, func(j *database.Join) bool {
		if g := j.From.Groups(); g != nil {
			return g.From.Policy() != nil || joinsLimited(g.Joins) || followsLimited(g.Where)
		}
		return j.From.Policy() != nil
	})
}
