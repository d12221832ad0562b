package duckdb

import (
	"strconv"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// kinds are the kinds of DuckDB's types. A type that is not among them is shown as DuckDB writes it.
var kinds = map[string]database.Kind{
	"BOOLEAN": database.Boolean,
	"TINYINT": database.Integer, "SMALLINT": database.Integer, "INTEGER": database.Integer, "BIGINT": database.Integer, "HUGEINT": database.Integer,
	"UTINYINT": database.Integer, "USMALLINT": database.Integer, "UINTEGER": database.Integer, "UBIGINT": database.Integer,
	"DECIMAL": database.Decimal, "FLOAT": database.Float, "DOUBLE": database.Float,
	"VARCHAR": database.Text, "BLOB": database.Bytes, "UUID": database.UUID, "JSON": database.JSON,
	"DATE": database.Date, "TIME": database.Time, "INTERVAL": database.Interval,
	"TIMESTAMP": database.Timestamp, "TIMESTAMP_S": database.Timestamp, "TIMESTAMP_MS": database.Timestamp, "TIMESTAMP_NS": database.Timestamp,
	"TIMESTAMP WITH TIME ZONE": database.TimestampTZ, "TIMESTAMPTZ": database.TimestampTZ,
	"STRUCT": database.JSON, "MAP": database.JSON, "ENUM": database.Enum,
}

// bits are the sizes of integers.
var bits = map[string]int{
	"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64, "HUGEINT": 128, "UTINYINT": 8, "USMALLINT": 16, "UINTEGER": 32, "UBIGINT": 64,
}

// fractions are the digits of a second's fraction.
var fractions = map[string]int{"TIMESTAMP_S": 0, "TIMESTAMP_MS": 3, "TIMESTAMP_NS": 9}

// mostFractionDigits is how many digits a time has if its type does not say.
const mostFractionDigits = 6

// describe fills in what the type says of a column. Lists and arrays are documents.
func describe(c *database.Column) {
	name, arguments, _ := strings.Cut(c.NativeType, "(")
	c.Scale, c.Precision, c.FractionDigits = -1, -1, -1
	if strings.HasSuffix(c.NativeType, "]") {
		name = "JSON"
	}
	c.Kind = kinds[name]
	switch c.Kind {
	case database.Integer:
		c.Bits, c.Unsigned = bits[name], name[0] == 'U'
	case database.Decimal:
		precision, scale, _ := strings.Cut(strings.TrimSuffix(arguments, ")"), ",")
		c.Precision, c.Scale = number(precision), number(scale)
	case database.Time, database.Timestamp, database.TimestampTZ:
		c.FractionDigits = mostFractionDigits
		if digits, ok := fractions[name]; ok {
			c.FractionDigits = digits
		}
	case database.JSON:
		c.Contains = true
	case database.Enum:
		c.Choices = choices(strings.TrimSuffix(arguments, ")"))
		if len(c.Choices) == 0 {
			c.Kind = database.Text // of a query: the driver does not name the values
		}
	case database.Other:
		c.ByText = true
	}
}

func number(text string) int {
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		return -1
	}
	return n
}

// choices reads the values of an enum, as DuckDB writes them: 'a', 'it”s'.
func choices(text string) (all []string) {
	for text != "" {
		start := strings.IndexByte(text, '\'')
		if start < 0 {
			return all
		}
		text = text[start+1:]
		var value strings.Builder
		for {
			end := strings.IndexByte(text, '\'')
			if end < 0 {
				return nil
			}
			value.WriteString(text[:end])
			text = text[end+1:]
			if !strings.HasPrefix(text, "'") {
				break
			}
			value.WriteByte('\'')
			text = text[1:]
		}
		all = append(all, value.String())
	}
	return all
}
