package mysql

import (
	"slices"
	"strconv"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// booleanType is the type that the servers make of BOOLEAN. It may also be meant as a number, so the rest of the column
// decides.
const booleanType = "tinyint(1)"

// tellBooleans makes booleans of tinyint(1) columns. A column stays a number if it is in a key, or if its default or a
// check allows a number other than 0 and 1.
func (i *introspection) tellBooleans() {
	for _, t := range i.tables {
		for _, c := range t.Columns {
			if c.NativeType == booleanType && !i.numbers[c] && isTruthText(c.Default) && !slices.ContainsFunc(t.Checks, allowsMore(c)) {
				i.makeBoolean(t, c)
			}
		}
	}
}

// isTruthText reports whether a default, if there is one, is 0 or 1.
func isTruthText(value *string) bool { return value == nil || *value == "0" || *value == "1" }

// allowsMore reports whether a check allows a column numbers other than 0 and 1.
func allowsMore(c *database.Column) func(database.Check) bool {
	beyond := func(bound string) bool {
		n, err := strconv.Atoi(bound)
		return err == nil && n != 0 && n != 1
	}
	return func(check database.Check) bool {
		return check.Column == c && (slices.ContainsFunc(check.Choices, beyond) || beyond(check.Minimum) || beyond(check.Maximum))
	}
}

// makeBoolean makes the column a boolean. Of its checks only choices remain.
func (i *introspection) makeBoolean(t *database.Table, c *database.Column) {
	c.Kind = database.Boolean
	if c.Default != nil {
		value, _ := truth(*c.Default)
		c.Default = &value
	}
	t.Checks = slices.DeleteFunc(t.Checks, func(check database.Check) bool { return check.Column == c && check.Choices == nil })
	for n := range t.Checks {
		check := &t.Checks[n]
		if check.Column != c {
			continue
		}
		check.Minimum, check.Maximum, check.ExclusiveMinimum, check.ExclusiveMaximum = "", "", false, false
		for at, choice := range check.Choices {
			check.Choices[at], _ = truth(choice)
		}
	}
}
