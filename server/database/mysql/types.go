package mysql

import (
	"strconv"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// columnType is a column's type as information_schema.COLUMNS has it; "" if a part does not apply.
type columnType struct {
	name, whole, length, precision, scale, fraction, collation string
}

// integerBits are the sizes of the integer types.
var integerBits = map[string]int{"tinyint": 8, "smallint": 16, "mediumint": 24, "int": 32, "bigint": 64, "year": 16}

// kinds are the kinds by the types' names. Any other type is Other, and shown as the text that the server writes.
var kinds = map[string]database.Kind{
	"tinyint": database.Integer, "smallint": database.Integer, "mediumint": database.Integer, "int": database.Integer,
	"bigint": database.Integer, "year": database.Integer,
	"decimal": database.Decimal, "float": database.Float, "double": database.Float,
	"char": database.Text, "varchar": database.Text, "tinytext": database.Text, "text": database.Text,
	"mediumtext": database.Text, "longtext": database.Text,
	"date": database.Date, "time": database.Time, "datetime": database.Timestamp, "timestamp": database.TimestampTZ,
	"binary": database.Bytes, "varbinary": database.Bytes, "tinyblob": database.Bytes, "blob": database.Bytes,
	"mediumblob": database.Bytes, "longblob": database.Bytes, "vector": database.Bytes,
	"json": database.JSON, "uuid": database.UUID, "enum": database.Enum,
}

// describe fills in what the type says of the column.
func (t columnType) describe(c *database.Column) {
	c.NativeType, c.Kind = t.whole, kinds[t.name]
	c.Scale, c.Precision, c.FractionDigits = -1, -1, -1
	c.LooseCollation = isLoose(t.collation)
	switch c.Kind {
	case database.Integer:
		c.Bits = integerBits[t.name]
		c.Unsigned = strings.Contains(t.whole, "unsigned") || t.name == "year"
	case database.Decimal:
		c.Precision, c.Scale = count(t.precision), count(t.scale)
	case database.Text:
		if strings.HasSuffix(t.name, "char") {
			c.MaxLength = count(t.length)
		}
	case database.Time, database.Timestamp, database.TimestampTZ:
		c.FractionDigits = count(t.fraction)
	case database.Enum:
		c.Choices = members(t.whole)
	case database.Other:
		switch t.name {
		case "set":
			c.Choices = members(t.whole)
		case "bit":
			c.MaxLength = count(t.precision)
			if c.MaxLength == 1 {
				c.Kind, c.MaxLength = database.Boolean, 0
			}
		}
	}
}

// isLoose reports whether a collation treats some different texts as equal. All do, except collations that compare the
// bytes, including blanks at the end.
func isLoose(collation string) bool {
	return collation != "" && !strings.HasSuffix(collation, "_nopad_bin") && !strings.HasSuffix(collation, "_0900_bin")
}

func count(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return -1
	}
	return n
}

// members returns the values in an enum's or a set's type, in which a quote in a value is doubled.
func members(whole string) []string {
	_, list, _ := strings.Cut(whole, "('")
	list = strings.TrimSuffix(list, "')")
	var all []string
	for list := strings.ReplaceAll(list, "''", "\x00"); ; {
		member, rest, more := strings.Cut(list, "','")
		all = append(all, strings.ReplaceAll(member, "\x00", "'"))
		if !more {
			return all
		}
		list = rest
	}
}
