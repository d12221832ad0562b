package mysql

import (
	"slices"
	"strconv"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// booleanType is what the servers make of BOOLEAN. It is a number's type too, so that what else is known of a column decides.
const booleanType = "tinyint(1)"

// tellBooleans makes booleans of the tinyint(1) columns that nothing else speaks against: no key, no default and no check
// that allows another number than 0 and 1.
func (i *introspection) tellBooleans() {
	for _, t := range i.tables {
		for _, c := range t.Columns {
			if c.NativeType == booleanType && !i.numbers[c] && isTruthText(c.DefaultValue) && !slices.ContainsFunc(t.Checks, allowsMore(c)) {
				i.makeBoolean(t, c)
			}
		}
	}
}

// isTruthText reports whether a default, if there is one, is 0 or 1.
func isTruthText(value *string) bool { return value == nil || *value == "0" || *value == "1" }

// allowsMore reports of a check whether it allows a column other numbers than 0 and 1.
func allowsMore(c *database.Column) func(database.Check) bool {
	beyond := func(bound string) bool {
		n, err := strconv.Atoi(bound)
		return err == nil && n != 0 && n != 1
	}
	return func(check database.Check) bool {
		return check.Column == c && (slices.ContainsFunc(check.Choices, beyond) || beyond(check.Minimum) || beyond(check.Maximum))
	}
}

// makeBoolean gives a column the kind; of its checks, choices remain.
func (i *introspection) makeBoolean(t *database.Table, c *database.Column) {
	c.Kind = database.Boolean
	if c.DefaultValue != nil {
		value, _ := truth(*c.DefaultValue)
		c.DefaultValue = &value
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
