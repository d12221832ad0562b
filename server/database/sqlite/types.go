package sqlite

import (
	"strconv"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// wellKnown are declared types that mean nothing to SQLite itself.
var wellKnown = map[string]database.Kind{
	"BOOLEAN": database.Boolean, "BOOL": database.Boolean,
	"DATE": database.Date, "TIME": database.Time,
	"DATETIME": database.Timestamp, "TIMESTAMP": database.Timestamp, "TIMESTAMP WITHOUT TIME ZONE": database.Timestamp,
	"TIMESTAMPTZ": database.TimestampTZ, "TIMESTAMP WITH TIME ZONE": database.TimestampTZ,
	"NUMERIC": database.Decimal, "DECIMAL": database.Decimal,
	"UUID": database.UUID, "GUID": database.UUID, "UNIQUEIDENTIFIER": database.UUID,
	"JSON": database.JSON, "JSONB": database.JSON,
	"STRING": database.Text,
	"BYTEA":  database.Bytes, "BINARY": database.Bytes, "VARBINARY": database.Bytes, "BINARY VARYING": database.Bytes,
	"LONG VARBINARY": database.Bytes, "IMAGE": database.Bytes,
	"MONEY": database.Decimal, "SMALLMONEY": database.Decimal, "CURRENCY": database.Decimal, "NUMBER": database.Decimal,
	"DEC": database.Decimal, "FIXED": database.Decimal,
}

// describeType fills in what the declared type says of a column: by its name if that is well known, else by SQLite's
// rules of affinity (https://www.sqlite.org/datatype3.html#determination_of_column_affinity).
func describeType(c *database.Column) {
	name, arguments := splitType(c.NativeType)
	c.Kind = kindOf(name)
	c.Scale, c.Precision, c.FractionDigits = -1, -1, -1
	c.Contains = c.Kind == database.JSON
	switch c.Kind {
	case database.Integer:
		c.Bits = 64 // whatever the type's name is
	case database.Timestamp, database.TimestampTZ:
		c.FractionDigits = 3 // the precision of SQLite's clock and functions of time
	case database.Text:
		if len(arguments) == 1 {
			c.MaxLength = arguments[0]
		}
	case database.Decimal:
		if len(arguments) > 0 {
			c.Precision = arguments[0]
		}
		if len(arguments) == 2 {
			c.Scale = arguments[1]
		}
	}
}

func kindOf(name string) database.Kind {
	if kind, ok := wellKnown[name]; ok {
		return kind
	}
	contains := func(part string) bool { return strings.Contains(name, part) }
	switch {
	case contains("INT"):
		return database.Integer
	case contains("CHAR"), contains("CLOB"), contains("TEXT"):
		return database.Text
	case contains("BLOB"):
		return database.Bytes
	case contains("REAL"), contains("FLOA"), contains("DOUB"):
		return database.Float
	}
	return database.Other
}

// splitType splits "NUMERIC(10, 2)" into "NUMERIC" and its numbers. It leaves out arguments that are not small numbers.
func splitType(declared string) (name string, arguments []int) {
	name, rest, _ := strings.Cut(declared, "(")
	inside, after, _ := strings.Cut(rest, ")")
	name = strings.ToUpper(strings.Join(strings.Fields(name+" "+after), " "))
	for argument := range strings.SplitSeq(inside, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(argument))
		if err != nil || n < 0 || n > 1_000_000 {
			return name, nil
		}
		arguments = append(arguments, n)
	}
	return name, arguments
}
