package lookup

import (
	"encoding/json"
	"fmt"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// Exact is the lookup of a filter that names none.
const Exact = "exact"

// definition is all that is known of one lookup.
type definition struct {
	name string
	// group says which columns have the lookup.
	group group
	// takes is what an administrator writes to compare with.
	takes     operand
	condition Lookup
}

// definitions are the lookups, in the order of docs/design/tools.md, "Filters".
var definitions = []definition{
	{Exact, equality, columnValue, exact},
	{"iexact", texts, text, match(database.TextEquals, true)},
	{"contains", texts, piece, match(database.TextContains, false)},
	{"icontains", texts, piece, match(database.TextContains, true)},
	{"startswith", texts, piece, match(database.TextStartsWith, false)},
	{"istartswith", texts, piece, match(database.TextStartsWith, true)},
	{"endswith", texts, piece, match(database.TextEndsWith, false)},
	{"iendswith", texts, piece, match(database.TextEndsWith, true)},
	{"gt", order, columnValue, compare(database.Greater)},
	{"gte", order, columnValue, compare(database.GreaterOrEqual)},
	{"lt", order, columnValue, compare(database.Less)},
	{"lte", order, columnValue, compare(database.LessOrEqual)},
	{"in", equality, columnValues, in},
	{"range", order, columnValues, between},
	{"isnull", nullness, truth, isNullLookup},
	{"ne", equality, columnValue, notEqual},
	{"date", dates, text, wholeDate},
	{"year", dates, number, part(database.Year)},
	{"month", dates, number, part(database.Month)},
	{"day", dates, number, part(database.Day)},
}

// Names are the names of all lookups.
var Names, byName = index(definitions)

func index(all []definition) (names []string, byName map[string]definition) {
	byName = make(map[string]definition, len(all))
	for _, d := range all {
		names = append(names, d.name)
		byName[d.name] = d
	}
	return names, byName
}

// group is a set of lookups that the same columns have.
type group uint8

const (
	nullness group = 1 << iota
	equality
	order
	texts
	dates
)

// groupsOf returns the groups of lookups that a column has.
func groupsOf(c *database.Column) group {
	if c.Incomparable {
		return nullness
	}
	switch c.Kind {
	case database.JSON, database.Array:
		return nullness
	case database.Boolean, database.Bytes, database.Other:
		if !c.Ordered() {
			return nullness | equality
		}
	case database.Text, database.Enum:
		return nullness | equality | order | texts
	case database.Date, database.Timestamp, database.TimestampTZ:
		return nullness | equality | order | dates
	}
	return nullness | equality | order
}

// operand is how an administrator writes what a lookup compares with.
type operand uint8

const (
	columnValue  operand = iota // a value of the column, as text
	columnValues                // several of them
	text                        // a text
	piece                       // a piece of a text
	number                      // an integer
	truth                       // true or false
)

// json writes what an administrator wrote as the JSON value that the lookup reads.
func (o operand) json(c *database.Column, value string, values []string) (json.RawMessage, error) {
	switch o {
	case columnValue:
		_, err := ParseText(c, value)
		return textAsJSON(c, value), err
	case columnValues:
		all := make([]json.RawMessage, len(values))
		for i, value := range values {
			if _, err := ParseText(c, value); err != nil {
				return nil, fmt.Errorf("each value %w", err)
			}
			all[i] = textAsJSON(c, value)
		}
		return json.Marshal(all)
	case number, truth:
		return json.RawMessage(value), nil
	}
	return json.Marshal(value)
}

// Named returns the name of the lookup that a filter means: "" is exact.
func Named(name string) string {
	if name == "" {
		return Exact
	}
	return name
}

// WithAttribute returns the names of the column's lookups that can compare with a token's attribute, which is one text.
func WithAttribute(c *database.Column) []string {
	var names []string
	for _, name := range Of(c) {
		if takes := byName[name].takes; takes != columnValues && takes != truth {
			names = append(names, name)
		}
	}
	return names
}

// ComparesPiece reports whether a lookup looks for a piece of the column's value. An empty piece is in every text.
func ComparesPiece(name string) bool { return byName[name].takes == piece }
