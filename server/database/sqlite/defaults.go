package sqlite

import (
	"database/sql/driver"
	"strconv"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// constant returns the value of a column's default, which is an expression, in the text form of the column's kind, or nil
// if the default is not a constant.
func constant(c *database.Column, expression string) *string {
	all := tokens(expression)
	value, ok := literalValue(all)
	if !ok || value == nil {
		return nil
	}
	told := string(values{}.AppendPlain(nil, c, value))
	return &told
}

// literalValue returns the value of an expression that is a single literal; nil is NULL. A name that SQLite accepts as
// a literal for old files' sake is not one.
func literalValue(all []token) (driver.Value, bool) {
	for len(all) > 2 && all[0].isSign("(") && closing(all, 0) == len(all)-1 {
		all = all[1 : len(all)-1]
	}
	if len(all) == 1 && all[0].class == literal {
		return all[0].text, true
	}
	if len(all) == 1 && all[0].class == word {
		switch strings.ToUpper(all[0].text) {
		case "TRUE":
			return int64(1), true
		case "FALSE":
			return int64(0), true
		case "NULL":
			return nil, true
		}
	}
	return number(all)
}

// number reads a number. Its sign, its point and its exponent's sign are separate tokens.
func number(all []token) (driver.Value, bool) {
	var text strings.Builder
	for i, t := range all {
		if t.class != word && t.class != sign || i > 1 && t.from != all[i-1].to {
			return nil, false
		}
		text.WriteString(t.text)
	}
	said := text.String()
	digits := strings.TrimLeft(said, "+-")
	if digits == "" || len(said)-len(digits) > 1 || strings.Trim(digits, "0123456789.eE+-") != "" {
		return nil, false
	}
	if n, err := strconv.ParseInt(said, 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(said, 64)
	return f, err == nil
}
