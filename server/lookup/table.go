package lookup

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// Exact is the lookup of a filter that names none.
const Exact = "exact"

// definition is all that is known of one lookup. Two may have one name, if no column has both.
type definition struct {
	name string
	// group says which columns have the lookup.
	group group
	// takes names what an administrator writes to compare with.
	takes     operand
	condition Lookup
}

// definitions are the lookups, in the order of docs/design/tools.md, "Filters".
var definitions = []definition{
	{Exact, equality, columnValue, Calendar.exact},
	{"iexact", texts, text, match(database.TextEquals, true)},
	{"contains", texts, piece, match(database.TextContains, false)},
	{"contains", arrays, element, arrayHolds(database.HoldsAll)},
	{"contains", documents, columnValue, documentHolds},
	{"icontains", texts, piece, match(database.TextContains, true)},
	{"startswith", texts, piece, match(database.TextStartsWith, false)},
	{"istartswith", texts, piece, match(database.TextStartsWith, true)},
	{"endswith", texts, piece, match(database.TextEndsWith, false)},
	{"iendswith", texts, piece, match(database.TextEndsWith, true)},
	{"gt", order, columnValue, compare(database.Greater)},
	{"gte", order, columnValue, compare(database.GreaterOrEqual)},
	{"lt", order, columnValue, compare(database.Less)},
	{"lte", order, columnValue, compare(database.LessOrEqual)},
	{"in", equality, columnValues, Calendar.in},
	{"range", order, columnValues, Calendar.between},
	{"isnull", nullness, truth, isNullLookup},
	{"ne", equality, columnValue, Calendar.notEqual},
	{"date", dates, text, Calendar.wholeDate},
	{"year", dates, number, part(database.Year)},
	{"month", dates, number, part(database.Month)},
	{"day", dates, number, part(database.Day)},
	{"quarter", dates, number, part(database.Quarter)},
	{"week", dates, number, part(database.Week)},
	{"weekday", dates, number, part(database.Weekday)},
	{"hour", hours, number, part(database.Hour)},
	{"contained_by", arrays, elements, arrayHolds(database.HoldsOnly)},
	{"contained_by", documents, columnValues, elementsHold(database.HoldsOnly)},
	{"overlap", arrays, elements, arrayHolds(database.HoldsAny)},
	{"overlap", documents, columnValues, elementsHold(database.HoldsAny)},
	{"has_key", documents, text, hasKey},
}

// Names are the names of all lookups.
var Names, byName = index(definitions)

func index(all []definition) (names []string, byName map[string][]definition) {
	byName = make(map[string][]definition, len(all))
	for _, d := range all {
		if byName[d.name] == nil {
			names = append(names, d.name)
		}
		byName[d.name] = append(byName[d.name], d)
	}
	return names, byName
}

// byNameForAny are the lookups by name, each for the columns of any of the definitions that have the name.
var byNameForAny = func() map[string]Lookup {
	all := make(map[string]Lookup, len(Names))
	for _, name := range Names {
		all[name] = func(cal Calendar, c *database.Column, value json.RawMessage) (database.Condition, error) {
			return definitionFor(c, name).read(cal, c, value)
		}
	}
	return all
}()

// read makes the condition that a caller's value asks for, which may be relative to now.
func (d *definition) read(cal Calendar, c *database.Column, raw json.RawMessage) (database.Condition, error) {
	day := &database.Column{Kind: database.Date}
	var value json.RawMessage
	var err error
	switch {
	case d.takes == columnValue || d.takes == columnValues:
		value, err = cal.withMoments(c, raw)
	case d.group == dates && d.takes == text:
		value, err = cal.withMoments(day, raw)
	default:
		return d.condition(cal, c, raw)
	}
	if err != nil {
		return nil, err
	}
	if c.Kind.IsMoment() && d.group == equality && string(value) != string(raw) {
		return nil, errOneMoment
	}
	condition, err := d.condition(cal, c, value)
	if meant, ok := fromWords(raw); ok && err != nil && (c.Kind == database.Date || c.Kind.IsMoment()) {
		return nil, fmt.Errorf(`%w; relative to now it is {"_now": %q}`, err, meant)
	}
	return condition, err
}

// namesOf are the names of the lookups of each set of groups.
var namesOf = func() (names [1 << groups][]string) {
	for has := range names {
		for _, d := range definitions {
			if group(has)&d.group != 0 {
				names[has] = append(names[has], d.name)
			}
		}
		names[has] = slices.Clip(names[has])
	}
	return names
}()

// definitionFor returns the definition of a name that is for the column; the first one if the column has none of them.
func definitionFor(c *database.Column, name string) *definition {
	all := byName[name]
	for i := range all {
		if all[i].group&groupsOf(c) != 0 {
			return &all[i]
		}
	}
	if len(all) == 0 {
		return &definition{}
	}
	return &all[0]
}

// group is a set of lookups that the same columns have.
type group uint8

const (
	nullness group = 1 << iota
	equality
	order
	texts
	dates
	hours
	arrays
	documents

	groups = iota // how many there are
)

// groupsOf returns the groups of lookups that a column has.
func groupsOf(c *database.Column) group {
	if c.Incomparable && !c.Contains {
		return nullness
	}
	switch c.Kind {
	case database.JSON, database.Array:
		switch {
		case !c.Contains:
			return nullness
		case c.Kind == database.Array:
			return nullness | arrays
		}
		return nullness | documents
	case database.Boolean, database.Bytes, database.Other:
		if !c.Ordered() {
			return nullness | equality
		}
	case database.Text, database.Enum:
		return nullness | equality | order | texts
	case database.Date:
		return nullness | equality | order | dates
	case database.Timestamp, database.TimestampTZ:
		return nullness | equality | order | dates | hours
	}
	return nullness | equality | order
}

// operand is how an administrator writes what a lookup compares with.
type operand uint8

const (
	columnValue  operand = iota // a value of the column, as text
	columnValues                // several of them
	element                     // an element of the column's arrays
	elements                    // several of them
	text                        // a text
	piece                       // a piece of a text
	number                      // an integer
	truth                       // true or false
)

// json writes what an administrator wrote as the JSON value that the lookup reads.
func (o operand) json(c *database.Column, value string, values []string) (json.RawMessage, error) {
	switch o {
	case element:
		return columnValue.json(elementOf(c), value, values)
	case elements:
		return columnValues.json(elementOf(c), value, values)
	case columnValue:
		return textAsJSON(c, value), checkWritten(c, value)
	case columnValues:
		all := make([]json.RawMessage, len(values))
		for i, value := range values {
			if err := checkWritten(c, value); err != nil {
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

// checkWritten judges a value that an administrator wrote.
func checkWritten(c *database.Column, value string) error {
	if _, ok := (Calendar{}).periodOfText(c, value); ok {
		return nil
	}
	_, err := ParseText(c, value)
	return err
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
		d := definitionFor(c, name)
		if c.Kind == database.JSON && d.takes == columnValue || d.takes == columnValues || d.takes == elements || d.takes == truth {
			continue
		}
		names = append(names, name)
	}
	return names
}

// ComparesPiece reports whether a lookup looks for a piece of the column's value. An empty piece is in every text.
func ComparesPiece(c *database.Column, name string) bool {
	return definitionFor(c, name).takes == piece
}
