package postgres

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// parseCheck reads a CHECK of one column as pg_get_expr writes it. It returns false for anything that it does not
// surely understand; callers are then told nothing of the check.
func parseCheck(c *database.Column, text string) (database.Check, bool) {
	check := database.Check{Column: c}
	e, ok := parseExpression(text)
	if !ok || c.LooseCollation || !bound(&check, e) {
		return database.Check{}, false
	}
	tells := len(check.Choices) > 0 || check.Minimum != "" || check.Maximum != "" || check.MinLength > 0 || check.MaxLength > 0
	return check, tells
}

// bound adds what an expression says to a check, and reports whether the check then holds all of it.
func bound(check *database.Check, e *expression) bool {
	switch e.kind {
	case exprAnd:
		for _, part := range e.parts {
			if !bound(check, part) {
				return false
			}
		}
		return true
	case exprOr:
		return boundByEither(check, e.parts)
	case exprIsNotNull:
		return isSubject(check.Column, e.parts[0])
	case exprAny:
		return boundByAny(check, e)
	case exprCompare:
		return boundByComparison(check, e)
	}
	return false
}

// boundByEither understands alternatives that are single values, or NULL, which meets every check.
func boundByEither(check *database.Check, alternatives []*expression) bool {
	alternatives = slices.DeleteFunc(slices.Clone(alternatives), func(e *expression) bool {
		return e.kind == exprIsNull && isSubject(check.Column, e.parts[0])
	})
	if len(alternatives) == 1 {
		return bound(check, alternatives[0])
	}
	var choices []string
	for _, alternative := range alternatives {
		one := database.Check{Column: check.Column}
		if !bound(&one, alternative) || len(one.Choices) == 0 {
			return false
		}
		choices = append(choices, one.Choices...)
	}
	return choose(check, choices)
}

// boundByAny understands column = ANY (ARRAY[…]), also if the array is cast to another kind of text.
func boundByAny(check *database.Check, e *expression) bool {
	array := e.parts[1]
	for array.kind == exprCast && isTextType(strings.TrimSuffix(array.text, "[]")) && strings.HasSuffix(array.text, "[]") {
		array = array.parts[0]
	}
	if array.kind != exprArray || !isSubject(check.Column, e.parts[0]) {
		return false
	}
	var choices []string
	for _, element := range array.parts {
		choice, ok := constantOf(check.Column, element)
		if !ok {
			return false
		}
		choices = append(choices, choice)
	}
	return choose(check, choices)
}

// choose says that only these values are allowed. Two such lists in one check are not understood.
func choose(check *database.Check, choices []string) bool {
	if len(check.Choices) > 0 {
		return false
	}
	check.Choices = choices
	return len(choices) > 0
}

// mirrored maps an operator to the operator that means the same when the operands change places.
var mirrored = map[string]string{"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

func boundByComparison(check *database.Check, e *expression) bool {
	subject, operator, other := e.parts[0], e.text, e.parts[1]
	if isSubject(check.Column, other) || isLength(check.Column, other) {
		subject, operator, other = other, mirrored[operator], subject
	}
	if isLength(check.Column, subject) {
		n, err := strconv.Atoi(other.text)
		return other.kind == exprNumber && err == nil && boundLength(check, operator, n)
	}
	value, ok := constantOf(check.Column, other)
	if !ok || !isSubject(check.Column, subject) {
		return false
	}
	switch {
	case operator == "=":
		return choose(check, []string{value})
	case operator == "<>":
		// A text that is not empty has at least one character. In a padded column blanks are not counted.
		return value == "" && check.Column.Kind == database.Text && boundLength(check, ">", 0)
	case !hasRange(check.Column.Kind) || leading(strings.TrimPrefix(value, "-"), digits) == 0: // NaN, infinity
		return false
	case operator[0] == '>' && check.Minimum == "":
		check.Minimum, check.ExclusiveMinimum = value, operator == ">"
	case operator[0] == '<' && check.Maximum == "":
		check.Maximum, check.ExclusiveMaximum = value, operator == "<"
	default:
		return false
	}
	return true
}

// hasRange reports whether bounds of the kind mean the same to everybody. The order of texts depends on their
// collation.
func hasRange(k database.Kind) bool {
	switch k {
	case database.Integer, database.Decimal, database.Float, database.Date, database.Time, database.Timestamp, database.TimestampTZ:
		return true
	}
	return false
}

// maxCheckedLength is the longest length that callers see.
const maxCheckedLength = 1 << 30

// boundLength bounds the number of characters. A check that allows only the empty text is not told.
func boundLength(check *database.Check, operator string, n int) bool {
	least, most := 0, 0
	switch operator {
	case "=":
		least, most = n, n
	case ">":
		least = n + 1
	case ">=":
		least = n
	case "<":
		most = n - 1
	case "<=":
		most = n
	}
	if n > maxCheckedLength || least <= 0 && most <= 0 {
		return false
	}
	check.MinLength = max(check.MinLength, least)
	if most > 0 && (check.MaxLength == 0 || most < check.MaxLength) {
		check.MaxLength = most
	}
	return true
}

// isSubject reports whether an expression is the column, or the VALUE of its domain. A cast within the column's kind
// does not change the value.
func isSubject(c *database.Column, e *expression) bool {
	for e.kind == exprCast && keeps(c.Kind, e.text) {
		e = e.parts[0]
	}
	return e.kind == exprColumn && (e.text == c.Name || e.text == "VALUE")
}

func keeps(k database.Kind, typeName string) bool {
	switch k {
	case database.Text:
		return isTextType(typeName)
	case database.Integer:
		return isIntegerType(typeName)
	case database.Decimal:
		return typeName == "numeric"
	}
	return false
}

// isLength reports whether an expression counts the characters of the column.
func isLength(c *database.Column, e *expression) bool {
	if e.kind != exprCall || len(e.parts) != 1 || c.Kind != database.Text {
		return false
	}
	switch e.text {
	case "length", "char_length", "character_length":
		return isSubject(c, e.parts[0])
	}
	return false
}
