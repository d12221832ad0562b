package postgres

import (
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// columnType is a column's type in pg_type, with domains resolved.
type columnType struct {
	name, class, category     string
	modifier                  int32
	elementName, elementClass string
}

// composite is the class of types that are rows.
const composite = "c"

// modifierHeader is the number that PostgreSQL adds to a length or a precision in a type's modifier.
const modifierHeader = 4

// mostFractionDigits is how many digits a time has if its type does not say.
const mostFractionDigits = 6

// describe fills in what the type says of the column.
func (t columnType) describe(c *database.Column) {
	c.Kind = kindOf(t.name, t.class)
	// int2vector, oidvector and box[] write their elements in another form.
	if t.category == "A" && t.elementName != "" && t.name[0] == '_' && t.elementName != "box" {
		c.Kind, c.Element = database.Array, kindOf(t.elementName, t.elementClass)
	}
	// The = of regclass is the one of oid, which reads a number, and the one of rows reads no text.
	c.ByText = c.Kind == database.Other && (t.class == composite || strings.HasPrefix(t.name, "reg"))
	switch t.name {
	case "bpchar":
		c.Padded = true
	case "bit", "varbit":
		c.MaxLength = max(int(t.modifier), 0)
	case "int2":
		c.Bits = 16
	case "int4":
		c.Bits = 32
	case "int8":
		c.Bits = 64
	case "oid":
		c.Bits, c.Unsigned = 32, true
	case "time", "timetz", "timestamp", "timestamptz":
		c.FractionDigits = mostFractionDigits
		if t.modifier >= 0 {
			c.FractionDigits = int(t.modifier)
		}
	}
	if t.modifier < modifierHeader {
		return
	}
	switch t.name {
	case "varchar", "bpchar":
		c.MaxLength = int(t.modifier - modifierHeader)
	case "numeric":
		// The low eleven bits are the scale, with its sign.
		c.Precision = int((t.modifier-modifierHeader)>>16) & 0xffff
		c.Scale = int(((t.modifier-modifierHeader)&0x7ff)^0x400) - 0x400
	}
}

// jsonAsJSONB is the first release that tells without an error whether a text is a jsonb. A json column may hold one that is not.
const jsonAsJSONB = 16

// contains reports whether arrays or documents of the type can be looked into.
func (t columnType) contains(c *database.Column, major int) bool {
	switch c.Kind {
	case database.Array:
		return !c.Incomparable
	case database.JSON:
		return t.name == "jsonb" || c.NativeType == "json" && major >= jsonAsJSONB
	}
	return false
}

func kindOf(name, class string) database.Kind {
	if class == "e" {
		return database.Enum
	}
	switch name {
	case "bool":
		return database.Boolean
	case "int2", "int4", "int8", "oid":
		return database.Integer
	case "numeric":
		return database.Decimal
	case "float4", "float8":
		return database.Float
	case "text", "varchar", "bpchar", "name", "citext":
		return database.Text
	case "date":
		return database.Date
	case "time":
		return database.Time
	case "timestamp":
		return database.Timestamp
	case "timestamptz":
		return database.TimestampTZ
	case "interval":
		return database.Interval
	case "uuid":
		return database.UUID
	case "bytea":
		return database.Bytes
	case "json", "jsonb":
		return database.JSON
	}
	return database.Other
}
