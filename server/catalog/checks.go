package catalog

import (
	"cmp"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// checkOf joins the table's checks of a column into one; nil if there are none. If two of them bound the same thing,
// callers see the first; the database enforces both.
func checkOf(t *database.Table, c *database.Column) *database.Check {
	var all *database.Check
	for _, check := range t.Checks {
		switch {
		case check.Column != c:
		case all == nil:
			all = &check
		default:
			join(all, check)
		}
	}
	return all
}

// join adds to all what another check bounds and all does not.
func join(all *database.Check, other database.Check) {
	if len(all.Choices) == 0 {
		all.Choices = other.Choices
	}
	if all.Minimum == "" {
		all.Minimum, all.ExclusiveMinimum = other.Minimum, other.ExclusiveMinimum
	}
	if all.Maximum == "" {
		all.Maximum, all.ExclusiveMaximum = other.Maximum, other.ExclusiveMaximum
	}
	all.MinLength = cmp.Or(all.MinLength, other.MinLength)
	all.MaxLength = cmp.Or(all.MaxLength, other.MaxLength)
}
