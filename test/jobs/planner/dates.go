package planner

import (
	"regexp"
	"strconv"

	"github.com/mcp-admin/mcp-admin-operator/test/jobs/sqltree"
)

// Dates are kept as texts in SQLite, so queries ask for parts of them by strftime, or by how the text begins.

// beginnings are patterns of dates' beginnings.
var beginnings = regexp.MustCompile(`^([1-9][0-9]{3})(?:-([01][0-9])(?:-([0-3][0-9]))?)?-?%$`)

// dateLike says how a date begins; false if the pattern is another one.
func dateLike(o operand, pattern string) (condition, bool) {
	parts := beginnings.FindStringSubmatch(pattern)
	if parts == nil || !o.dates {
		return nil, false
	}
	if parts[3] != "" {
		return leaf{o.path, "date", parts[1] + "-" + parts[2] + "-" + parts[3]}, true
	}
	conditions := all{leaf{o.path, "year", number(parts[1])}}
	if parts[2] != "" {
		conditions = append(conditions, leaf{o.path, "month", number(parts[2])})
	}
	return conditions, true
}

func number(digits string) int {
	n, _ := strconv.Atoi(digits) // they are digits
	return n
}

// partOfDate is the lookup of a part of a date, by the format of strftime, and how the part is written.
var partOfDate = map[string]struct {
	lookup  string
	written *regexp.Regexp
}{
	"%Y": {"year", regexp.MustCompile(`^[1-9][0-9]{3}$`)},
	"%m": {"month", regexp.MustCompile(`^(0[1-9]|1[0-2])$`)},
	"%d": {"day", regexp.MustCompile(`^(0[1-9]|[12][0-9]|3[01])$`)},
}

// datePart compares a part of a date with a constant; nil if the comparison is another one.
func (c *compiler) datePart(operator string, left, right sqltree.Expr) (condition, error) {
	call, ok := left.(*sqltree.Call)
	if !ok || call.Name != "strftime" || len(call.Arguments) != 2 || c.shape == nil {
		return nil, nil
	}
	format, _ := c.text(call.Arguments[0])
	value, isText := c.text(right)
	o, err := c.need(call.Arguments[1])
	if err != nil {
		return nil, err
	}
	part, known := partOfDate[format]
	if !known || !isText || !o.dates || !part.written.MatchString(value) {
		return nil, unable("a part of a date that has no lookup")
	}
	first := func(year int) string { return strconv.Itoa(year) + "-01-01" }
	switch year := number(value); {
	case operator == "=":
		return leaf{o.path, part.lookup, number(value)}, nil
	case operator == "<>":
		return withoutNulls(o, "<>", not{leaf{o.path, part.lookup, number(value)}}), nil
	case format != "%Y" || year > 9998:
		return nil, unable("an order of parts of dates")
	case operator == "<":
		return leaf{o.path, "lt", first(year)}, nil
	case operator == "<=":
		return leaf{o.path, "lt", first(year + 1)}, nil
	case operator == ">":
		return leaf{o.path, "gte", first(year + 1)}, nil
	default:
		return leaf{o.path, "gte", first(year)}, nil
	}
}
