package call

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
)

// Meets reports whether a value is within a check's bounds. The database has the last word: a value that cannot be compared
// here is left to it.
func Meets(check *database.Check, value database.Value) bool {
	if text, ok := value.(string); ok && check.Column.Kind == database.Text && !check.Column.Padded {
		length := utf8.RuneCountInString(text)
		if length < check.MinLength || check.MaxLength > 0 && length > check.MaxLength {
			return false
		}
	}
	least, ok := compareBound(check.Column, value, check.Minimum)
	if ok && (least < 0 || least == 0 && check.ExclusiveMinimum) {
		return false
	}
	most, ok := compareBound(check.Column, value, check.Maximum)
	return !ok || most < 0 || most == 0 && !check.ExclusiveMaximum
}

// compareBound compares a value with a bound in its text form; false if there is none, or if they cannot be compared here.
func compareBound(c *database.Column, value database.Value, bound string) (int, bool) {
	if bound == "" {
		return 0, false
	}
	limit, err := lookup.ParseText(c, bound)
	if err != nil {
		return 0, false
	}
	if c.Kind == database.Date {
		const form = len("2006-01-02") // years of four digits: their texts are in the order of the dates
		text, ok := value.(string)
		least, also := limit.(string)
		return strings.Compare(text, least), ok && also && len(text) == form && len(least) == form
	}
	one, ok := number(value)
	other, also := number(limit)
	if !ok || !also {
		return 0, false
	}
	return one.Cmp(other), true
}

// number is the value of a number's column; false for any other.
func number(value database.Value) (*big.Rat, bool) {
	switch v := value.(type) {
	case int64:
		return new(big.Rat).SetInt64(v), true
	case uint64:
		return new(big.Rat).SetFrac(new(big.Int).SetUint64(v), big.NewInt(1)), true
	case float64:
		r := new(big.Rat).SetFloat64(v)
		return r, r != nil
	case string:
		if _, err := strconv.ParseFloat(v, 64); err != nil || strings.ContainsAny(v, "eExXpP_") {
			return nil, false
		}
		return new(big.Rat).SetString(v)
	}
	return nil, false
}

// Allowed says what values a check allows: "must be at least 0 and at most 100".
func Allowed(check *database.Check) string {
	if len(check.Choices) > 0 {
		return "must be one of " + strings.Join(check.Choices, ", ")
	}
	var bounds, lengths, all []string
	for _, b := range []struct {
		value, inclusive, exclusive string
		isExclusive                 bool
	}{
		{check.Minimum, "at least ", "more than ", check.ExclusiveMinimum},
		{check.Maximum, "at most ", "less than ", check.ExclusiveMaximum},
	} {
		switch {
		case b.value == "":
		case b.isExclusive:
			bounds = append(bounds, b.exclusive+b.value)
		default:
			bounds = append(bounds, b.inclusive+b.value)
		}
	}
	if check.MinLength > 0 {
		lengths = append(lengths, fmt.Sprintf("at least %d", check.MinLength))
	}
	if check.MaxLength > 0 {
		lengths = append(lengths, fmt.Sprintf("at most %d", check.MaxLength))
	}
	if len(bounds) > 0 {
		all = append(all, "must be "+strings.Join(bounds, " and "))
	}
	if len(lengths) > 0 {
		all = append(all, "must have "+strings.Join(lengths, " and ")+" characters")
	}
	return strings.Join(all, ", and ")
}
