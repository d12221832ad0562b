package postgres

import (
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// defaultValue returns a column's default, an expression or "", if it is a constant: in the text form that the column's
// kind has in filters.
func defaultValue(c *database.Column, text string) *string {
	if text == "" || c.Generated {
		return nil
	}
	e, ok := parseExpression(text)
	if !ok {
		return nil
	}
	value, ok := constantOf(c, e)
	if !ok {
		return nil
	}
	return &value
}

// constantOf returns the value of an expression that is a constant of the column's kind, in the text form of the kind.
func constantOf(c *database.Column, e *expression) (string, bool) {
	if e.kind == exprWord {
		return e.text, c.Kind == database.Boolean && e.text != "NULL"
	}
	text, typeName, ok := literal(e)
	if !ok || !literalFits(c, typeName) || c.Kind == database.Enum && !slices.Contains(c.Choices, text) {
		return "", false
	}
	return string((&cells{}).AppendPlain(nil, c, []byte(text))), true
}

// literal returns the text of a string or number, and the type in which it was written. It follows a cast of a cast
// only for texts, and a cast of a number only to a wider number: other casts change the value.
func literal(e *expression) (text, typeName string, ok bool) {
	switch e.kind {
	case exprNumber:
		if strings.Trim(e.text, digits) == "" {
			return e.text, "integer", true
		}
		return e.text, "numeric", true
	case exprCast:
		inner := e.parts[0]
		if inner.kind == exprString {
			return inner.text, e.text, true
		}
		text, typeName, ok = literal(inner)
		widened := isTextType(typeName) && isTextType(e.text) || typeName == "integer" && isNumberType(e.text) ||
			typeName == "numeric" && (e.text == "double precision" || e.text == "real")
		return text, e.text, ok && widened
	}
	return "", "", false
}

// literalFits reports whether a literal of a type, by its name, is one of the column's kind.
func literalFits(c *database.Column, typeName string) bool {
	if typeName == c.NativeType {
		return true
	}
	switch c.Kind {
	case database.Text:
		return isTextType(typeName)
	case database.Integer:
		return isIntegerType(typeName)
	case database.Decimal, database.Float:
		return isNumberType(typeName)
	}
	// NativeType has a precision that the literal's type lacks.
	base, _, found := strings.Cut(c.NativeType, "(")
	if _, behind, cut := strings.Cut(c.NativeType, ")"); found && cut {
		base += behind
	}
	return typeName == base
}

func isTextType(name string) bool {
	switch name {
	case "text", "character varying", "bpchar", "character":
		return true
	}
	return false
}

func isIntegerType(name string) bool {
	return name == "smallint" || name == "integer" || name == "bigint"
}

func isNumberType(name string) bool {
	return isIntegerType(name) || name == "numeric" || name == "real" || name == "double precision"
}
