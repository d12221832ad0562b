// Package lookup makes conditions and values of what callers and administrators write: it reads values in the form in
// which rows show them, and knows what each lookup of a filter means for each kind of column.
//
// Packages access, catalog and admin import it.
package lookup

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract/excerpt"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
)

// MaxInValues bounds the values of an `in` (docs/design/tools.md, "Filters").
const MaxInValues = 1000

// Lookup makes the condition that a filter's value asks for. Its errors say what the value must be.
type Lookup func(cal Calendar, c *database.Column, value json.RawMessage) (database.Condition, error)

// Find returns the lookup of that name, or nil.
func Find(name string) Lookup { return byNameForAny[name] }

// Of returns the names of the lookups that a column has. They are not to be changed.
func Of(c *database.Column) []string { return namesOf[groupsOf(c)] }

// HasEquality reports whether a column's values can be compared for equality.
func HasEquality(c *database.Column) bool { return slices.Contains(Of(c), Exact) }

// exact takes the value of a group of dates for all moments in it.
func (cal Calendar) exact(c *database.Column, value json.RawMessage) (database.Condition, error) {
	p, ok := cal.periodOf(c, value)
	if !ok {
		return Equal(c, value)
	}
	within := p.compare(c, database.Equal)
	if plain, err := Equal(c, value); c.Loose && p.part != database.Day && err == nil {
		return database.Or{within, plain}, nil // it may hold the very text
	}
	return within, nil
}

// Equal is the condition that a column has a value, as rows show it.
func Equal(c *database.Column, value json.RawMessage) (database.Condition, error) {
	if isNull(value) {
		return database.IsNull{Column: c}, nil
	}
	values, err := equalValues(c, value)
	if err == nil && len(values) == 1 {
		return database.Compare{Column: c, Op: database.Equal, Value: values[0]}, nil
	}
	if far, ok := errors.AsType[beyond](err); ok {
		return beyondAll(c, database.Equal, far.below()), nil
	}
	return database.In{Column: c, Values: values}, err
}

// notEqual keeps the rows whose value is NULL, unless NULL is what they must not be.
func (cal Calendar) notEqual(c *database.Column, value json.RawMessage) (database.Condition, error) {
	condition, err := cal.exact(c, value)
	return database.Not{Condition: condition}, err
}

func compare(op database.CompareOp) Lookup {
	return func(cal Calendar, c *database.Column, raw json.RawMessage) (database.Condition, error) {
		if p, ok := cal.periodOf(c, raw); ok {
			return p.compare(c, op), nil
		}
		value, err := compared(c, raw)
		if err == nil {
			return database.Compare{Column: c, Op: op, Value: value}, nil
		}
		if far, ok := errors.AsType[beyond](err); ok {
			return beyondAll(c, op, far.below()), nil
		}
		if condition, ok := compareFraction(c, op, raw); ok {
			return condition, nil
		}
		return nil, err
	}
}

// beyondAll is a comparison with an integer that is less or greater than any that the column holds.
func beyondAll(c *database.Column, op database.CompareOp, below bool) database.Condition {
	if op != database.Equal && below == (op == database.Greater || op == database.GreaterOrEqual) {
		return database.Not{Condition: database.IsNull{Column: c}}
	}
	return database.Never
}

func match(op database.TextOp, fold bool) Lookup {
	return func(_ Calendar, c *database.Column, raw json.RawMessage) (database.Condition, error) {
		// A piece of an enum's value need not be one of its choices.
		value, err := ParseValue(&database.Column{Kind: database.Text}, raw)
		if err != nil {
			return nil, err
		}
		return database.Match{Column: c, Op: op, Text: value.(string), FoldCase: fold}, nil
	}
}

func (cal Calendar) in(c *database.Column, raw json.RawMessage) (database.Condition, error) {
	any := database.In{Column: c}
	var periods database.Or
	err := EachValue(raw, func(raw json.RawMessage) error {
		if _, ok := cal.periodOf(c, raw); ok {
			condition, err := cal.exact(c, raw)
			periods = append(periods, condition)
			return err
		}
		values, err := equalValues(c, raw)
		if errors.As(err, &beyond{}) {
			return nil // equals nothing
		}
		any.Values = append(any.Values, values...)
		return err
	})
	if len(periods) > 0 {
		return append(periods, any), err
	}
	return any, err
}

// EachValue calls do for each value of an `in` list.
func EachValue(raw json.RawMessage, do func(json.RawMessage) error) error {
	if len(raw) == 0 || raw[0] != '[' {
		return fmt.Errorf("must be an array of values, not %s", Excerpt(raw))
	}
	count := 0 // before any value takes memory
	for range jsontext.Inside(raw) {
		count++
	}
	if count > MaxInValues {
		return fmt.Errorf("must have at most %d values, not %d", MaxInValues, count)
	}
	for _, value := range jsontext.Inside(raw) {
		if isNull(value) {
			return errors.New("must have no null among its values; use isnull")
		}
		if err := do(value); err != nil {
			return fmt.Errorf("each value %w", err)
		}
	}
	return nil
}

// between includes both ends.
func (cal Calendar) between(c *database.Column, raw json.RawMessage) (database.Condition, error) {
	var ends []json.RawMessage
	if err := json.Unmarshal(raw, &ends); err != nil || len(ends) != 2 {
		return nil, fmt.Errorf("must be an array of two values, the least and the greatest, not %s", Excerpt(raw))
	}
	least, err := compare(database.GreaterOrEqual)(cal, c, ends[0])
	if err != nil {
		return nil, fmt.Errorf("the least value %w", err)
	}
	greatest, err := compare(database.LessOrEqual)(cal, c, ends[1])
	if err != nil {
		return nil, fmt.Errorf("the greatest value %w", err)
	}
	return database.And{least, greatest}, nil
}

func isNullLookup(_ Calendar, c *database.Column, raw json.RawMessage) (database.Condition, error) {
	switch string(raw) {
	case "true":
		return database.IsNull{Column: c}, nil
	case "false":
		return database.Not{Condition: database.IsNull{Column: c}}, nil
	}
	return nil, fmt.Errorf("must be true or false, not %s", Excerpt(raw))
}

func (cal Calendar) wholeDate(c *database.Column, raw json.RawMessage) (database.Condition, error) {
	if p, ok := cal.periodOfText(&database.Column{Kind: database.Timestamp}, textOf(raw)); ok && p.part == database.Day && cal.shifts(c) {
		return p.compare(c, database.Equal), nil
	}
	value, err := ParseValue(&database.Column{Kind: database.Date}, raw)
	return database.PartEquals{Column: c, Part: database.WholeDate, Value: value}, err
}

func part(which database.DatePart) Lookup {
	return func(cal Calendar, c *database.Column, raw json.RawMessage) (database.Condition, error) {
		if _, known := periodExamples[which]; known && len(raw) > 0 && raw[0] == '"' {
			return cal.wholePeriod(c, which, raw)
		}
		n, err := strconv.ParseInt(string(raw), 10, 32)
		if err != nil {
			return nil, fmt.Errorf("must be an integer, not %s", Excerpt(raw))
		}
		equals := database.PartEquals{Column: c, Part: which, Value: n}
		switch {
		case !cal.shifts(c):
			return equals, nil
		case which == database.Year:
			p, ok := cal.parsePeriod(fmt.Sprintf("%04d", n))
			if !ok || n < 1 {
				return database.Never, nil
			}
			return p.compare(c, database.Equal), nil
		}
		equals.Zone = cal.Zone
		return equals, nil
	}
}

// FromText makes the condition that an administrator's filter asks for; "" is exact. Values are texts in the form that
// they have in keys: value for most lookups, values for in and range. An integer that no column holds is an error here:
// nobody means it.
func FromText(c *database.Column, name, value string, values []string) (database.Condition, error) {
	name = Named(name)
	if offered := Of(c); !slices.Contains(offered, name) {
		return nil, fmt.Errorf("lookup %s is not offered for a field of type %s; its lookups are %s", name, c.Kind, strings.Join(offered, ", "))
	}
	d := definitionFor(c, name)
	raw, err := d.takes.json(c, value, values)
	if err != nil {
		return nil, err
	}
	return d.condition(Calendar{}, c, raw)
}

// textAsJSON writes a text, which ParseText took, as the JSON value that ParseValue takes for the column.
func textAsJSON(c *database.Column, text string) json.RawMessage {
	if c.Kind == database.JSON || takesNumbersOnly(c.Kind) && (text == "true" || text == "false") {
		return json.RawMessage(text)
	}
	quoted, _ := json.Marshal(text) // a string: it cannot fail
	return quoted
}

func isNull(raw json.RawMessage) bool { return string(raw) == "null" }

// Excerpt is a piece of a caller's own value, short enough for a message.
func Excerpt(raw []byte) string { return excerpt.Of(raw, 60) }
