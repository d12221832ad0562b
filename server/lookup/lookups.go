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
type Lookup func(c *database.Column, value json.RawMessage) (database.Condition, error)

// Find returns the lookup of that name, or nil.
func Find(name string) Lookup { return byNameForAny[name] }

// Of returns the names of the lookups that a column has. They are not to be changed.
func Of(c *database.Column) []string { return namesOf[groupsOf(c)] }

// HasEquality reports whether a column's values can be compared for equality.
func HasEquality(c *database.Column) bool { return slices.Contains(Of(c), Exact) }

func exact(c *database.Column, value json.RawMessage) (database.Condition, error) {
	if isNull(value) {
		return database.IsNull{Column: c}, nil
	}
	values, err := equalValues(c, value)
	switch far := (beyond{}); {
	case errors.As(err, &far):
		return beyondAll(c, database.Equal, far.below()), nil
	case err == nil && len(values) == 1:
		return database.Compare{Column: c, Op: database.Equal, Value: values[0]}, nil
	}
	return database.In{Column: c, Values: values}, err
}

// notEqual keeps the rows whose value is NULL, unless NULL is what they must not be.
func notEqual(c *database.Column, value json.RawMessage) (database.Condition, error) {
	condition, err := exact(c, value)
	return database.Not{Condition: condition}, err
}

func compare(op database.CompareOp) Lookup {
	return func(c *database.Column, raw json.RawMessage) (database.Condition, error) {
		value, err := compared(c, raw)
		if far := (beyond{}); errors.As(err, &far) {
			return beyondAll(c, op, far.below()), nil
		}
		if err != nil {
			if condition, ok := compareFraction(c, op, raw); ok {
				return condition, nil
			}
		}
		return database.Compare{Column: c, Op: op, Value: value}, err
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
	return func(c *database.Column, raw json.RawMessage) (database.Condition, error) {
		// A piece of an enum's value need not be one of its choices.
		value, err := ParseValue(&database.Column{Kind: database.Text}, raw)
		if err != nil {
			return nil, err
		}
		return database.Match{Column: c, Op: op, Text: value.(string), FoldCase: fold}, nil
	}
}

func in(c *database.Column, raw json.RawMessage) (database.Condition, error) {
	any := database.In{Column: c}
	err := EachValue(raw, func(raw json.RawMessage) error {
		values, err := equalValues(c, raw)
		if errors.As(err, &beyond{}) {
			return nil // equals nothing
		}
		any.Values = append(any.Values, values...)
		return err
	})
	return any, err
}

// EachValue calls do for each value of an `in` list.
func EachValue(raw json.RawMessage, do func(json.RawMessage) error) error {
	if len(raw) == 0 || raw[0] != '[' || !json.Valid(raw) {
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
func between(c *database.Column, raw json.RawMessage) (database.Condition, error) {
	var ends []json.RawMessage
	if err := json.Unmarshal(raw, &ends); err != nil || len(ends) != 2 {
		return nil, fmt.Errorf("must be an array of two values, the least and the greatest, not %s", Excerpt(raw))
	}
	least, err := compare(database.GreaterOrEqual)(c, ends[0])
	if err != nil {
		return nil, fmt.Errorf("the least value %w", err)
	}
	greatest, err := compare(database.LessOrEqual)(c, ends[1])
	if err != nil {
		return nil, fmt.Errorf("the greatest value %w", err)
	}
	return database.And{least, greatest}, nil
}

func isNullLookup(c *database.Column, raw json.RawMessage) (database.Condition, error) {
	switch string(raw) {
	case "true":
		return database.IsNull{Column: c}, nil
	case "false":
		return database.Not{Condition: database.IsNull{Column: c}}, nil
	}
	return nil, fmt.Errorf("must be true or false, not %s", Excerpt(raw))
}

func wholeDate(c *database.Column, raw json.RawMessage) (database.Condition, error) {
	value, err := ParseValue(&database.Column{Kind: database.Date}, raw)
	return database.PartEquals{Column: c, Part: database.WholeDate, Value: value}, err
}

func part(which database.DatePart) Lookup {
	return func(c *database.Column, raw json.RawMessage) (database.Condition, error) {
		n, err := strconv.ParseInt(string(raw), 10, 32)
		if err != nil {
			return nil, fmt.Errorf("must be an integer, not %s", Excerpt(raw))
		}
		return database.PartEquals{Column: c, Part: which, Value: n}, nil
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
	return d.condition(c, raw)
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
