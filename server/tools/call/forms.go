package call

import (
	"encoding/json"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
)

// valueForms say what a string must look like if its JSON type does not.
var valueForms = map[database.Kind]string{
	database.Decimal: "decimal number", database.Date: "YYYY-MM-DD", database.Time: "HH:MM:SS",
	database.Timestamp:   "YYYY-MM-DDTHH:MM:SS; with Z or an offset, it is taken in UTC",
	database.TimestampTZ: "RFC 3339; without a zone, it is taken in UTC",
	database.Interval:    `interval, such as "1 day 02:30:00"`, database.UUID: "UUID", database.Bytes: "base64",
}

// typeExamples are values of the types that only some engines have, by the engine's name of the type without its parameters.
var typeExamples = map[string]string{
	"inet": "192.0.2.1", "cidr": "192.0.2.0/24", "macaddr": "08:00:2b:01:02:03", "macaddr8": "08:00:2b:01:02:03:04:05",
	"inet4": "192.0.2.1", "inet6": "2001:db8::1",
	"int4range": "[1,10)", "int8range": "[1,10)", "numrange": "[1.5,2.5)", "daterange": "[2026-01-01,2026-02-01)",
	"tsrange": `["2026-01-01 00:00:00","2026-01-02 00:00:00")`, "tstzrange": `["2026-01-01 00:00:00+00","2026-01-02 00:00:00+00")`,
	"int4multirange": "{[1,3),[5,7)}", "int8multirange": "{[1,3),[5,7)}", "nummultirange": "{[1.5,2.5)}", "datemultirange": "{[2026-01-01,2026-02-01)}",
	"bit": "0101", "bit varying": "0101", "money": "$9.50", "xml": "<a>text</a>", "hstore": "a=>1", "ltree": "a.b.c",
	"tsvector": "'cat':1 'dog':2", "tsquery": "'cat' & 'dog'", "pg_lsn": "16/B374D848",
	"line": "{1,2,3}", "lseg": "[(0,0),(1,1)]", "box": "(1,1),(0,0)", "path": "[(0,0),(1,1)]", "circle": "<(0,0),1>",
	"geometry": "POINT(1 2)", "linestring": "LINESTRING(0 0,1 1)", "multipoint": "MULTIPOINT((0 0),(1 1))",
	"multilinestring": "MULTILINESTRING((0 0,1 1))", "multipolygon": "MULTIPOLYGON(((0 0,1 0,1 1,0 0)))",
	"geometrycollection": "GEOMETRYCOLLECTION(POINT(1 2))", "geomcollection": "GEOMETRYCOLLECTION(POINT(1 2))",
}

// comparableExamples and incomparableExamples are of the types that two engines have under one name: PostgreSQL's cannot be
// compared.
var (
	comparableExamples   = map[string]string{"point": "POINT(1 2)", "polygon": "POLYGON((0 0,1 0,1 1,0 0))"}
	incomparableExamples = map[string]string{"point": "(1,2)", "polygon": "((0,0),(1,1),(1,0))"}
)

// ValueForm says what a column's values look like if its JSON type does not; it is empty if there is nothing to say.
func ValueForm(c *database.Column) string {
	switch {
	case c.Kind == database.Array:
		return "array of " + c.Element.String() + " values"
	case c.Kind != database.Other:
		return valueForms[c.Kind]
	case len(c.Choices) > 0:
		return "any of " + strings.Join(c.Choices, ", ") + ", joined by commas"
	}
	if example := TypeExample(c); example != "" {
		return c.NativeType + `, such as ` + example
	}
	return strings.ToLower(c.NativeType)
}

// TypeExample is a value of a column's type, in its text form; it is empty if none is known.
func TypeExample(c *database.Column) string {
	name, parameters, _ := strings.Cut(c.NativeType, "(")
	name = strings.ToLower(strings.TrimSpace(name))
	switch {
	case (name == "bit" || name == "bit varying") && parameters != "" && c.MaxLength > 0 && c.MaxLength <= 64:
		return strings.Repeat("0", c.MaxLength-1) + "1"
	case comparableExamples[name] != "" && c.Incomparable:
		return incomparableExamples[name]
	case comparableExamples[name] != "":
		return comparableExamples[name]
	}
	return typeExamples[name]
}

// computedDefault is the text that describe_ shows for a default that is no constant.
const computedDefault = "computed by the database"

// DefaultOf is what a new row gets in a field that it does not give, in the form in which rows show it; nil if there is none.
func DefaultOf(c *database.Column) any {
	switch {
	case !c.HasDefault || c.Generated:
		return nil
	case c.Default == nil:
		return computedDefault
	}
	return shown(c, *c.Default)
}

// shown is a value, of which the text is known, as rows show it in JSON.
func shown(c *database.Column, text string) any {
	value, err := lookup.ParseText(c, text)
	if err != nil {
		return text
	}
	switch v := value.(type) {
	case []byte:
		if c.Kind == database.JSON {
			return json.RawMessage(v)
		}
	case bool, int64, uint64, float64:
		return v
	case []database.Value:
		return json.RawMessage(text)
	}
	return text
}

// Bounds are the bounds that the column and its checks set.
type Bounds struct {
	Minimum          any `json:"minimum,omitempty"`
	Maximum          any `json:"maximum,omitempty"`
	ExclusiveMinimum any `json:"exclusive_minimum,omitempty"`
	ExclusiveMaximum any `json:"exclusive_maximum,omitempty"`
	MinLength        int `json:"min_length,omitempty"`
	MaxLength        int `json:"max_length,omitempty"`
}

// BoundsOf returns the bounds of a field's values.
func BoundsOf(f *catalog.Field) Bounds {
	b := Bounds{MaxLength: f.Column.MaxLength}
	check := f.Check
	if check == nil {
		return b
	}
	if b.MinLength = check.MinLength; check.MaxLength > 0 && (b.MaxLength == 0 || check.MaxLength < b.MaxLength) {
		b.MaxLength = check.MaxLength
	}
	place := func(text string, exclusive bool, inclusiveBound, exclusiveBound *any) {
		switch {
		case text == "":
		case exclusive:
			*exclusiveBound = shown(f.Column, text)
		default:
			*inclusiveBound = shown(f.Column, text)
		}
	}
	place(check.Minimum, check.ExclusiveMinimum, &b.Minimum, &b.ExclusiveMinimum)
	place(check.Maximum, check.ExclusiveMaximum, &b.Maximum, &b.ExclusiveMaximum)
	return b
}
