package read

import (
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// checkSmallGroups refuses a condition on groups that asks for groups of fewer rows than the model shows
// (docs/design/aggregates.md, "Small groups").
func (g *groupReader) checkSmallGroups(groups *RowSet, having database.And) error {
	least := g.grouping.MinRows
	if least <= 1 {
		return nil
	}
	counts := map[*database.Column]string{}
	for _, member := range groups.members {
		if m := g.measure(member.Name); m != nil && m.Func == database.CountRows && m.Where == nil {
			counts[member.Column] = member.Name
		}
	}
	if c := asksBelow(having, false, counts, int64(least)); c != nil {
		return call.Invalid("having: %s: %s is at least %d in every answer, as smaller groups are left out; ask for %d or more", counts[c], counts[c], least, least)
	}
	return nil
}

// asksBelow returns the column of the first comparison that asks for a number below least in one of the columns; negated
// says that the condition must not hold. It returns nil if there is none.
func asksBelow(condition database.Condition, negated bool, columns map[*database.Column]string, least int64) *database.Column {
	each := func(conditions []database.Condition) *database.Column {
		for _, c := range conditions {
			if column := asksBelow(c, negated, columns, least); column != nil {
				return column
			}
		}
		return nil
	}
	switch c := condition.(type) {
	case database.And:
		return each(c)
	case database.Or:
		return each(c)
	case database.Not:
		return asksBelow(c.Condition, !negated, columns, least)
	case database.In:
		if _, ok := columns[c.Column]; ok && !negated && slices.ContainsFunc(c.Values, func(v database.Value) bool { return isBelow(v, least) }) {
			return c.Column
		}
	case database.Compare:
		if _, ok := columns[c.Column]; ok && hasOnlyBelow(c.Op, negated, c.Value, least) {
			return c.Column
		}
	}
	return nil
}

// hasOnlyBelow reports whether only numbers below least compare so with a value.
func hasOnlyBelow(op database.CompareOp, negated bool, value database.Value, least int64) bool {
	switch {
	case op == database.Less && !negated, op == database.GreaterOrEqual && negated: // below the value
		return isBelow(value, least+1)
	case op == database.LessOrEqual && !negated, op == database.Greater && negated: // the value itself, or below it
		return isBelow(value, least)
	case op == database.Equal && !negated:
		return isBelow(value, least)
	}
	return false
}

// isBelow reports whether a value is a number below another.
func isBelow(value database.Value, number int64) bool {
	n, ok := value.(int64)
	return ok && n < number
}
