package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// lookup makes the condition that a filter's value asks for. Its errors say what the value must be.
type lookup func(c *database.Column, value json.RawMessage) (database.Condition, error)

// lookupNames are all lookups, in the order of decisions section 4.
var lookupNames = []string{"exact", "iexact", "contains", "icontains", "startswith", "istartswith", "endswith", "iendswith",
	"gt", "gte", "lt", "lte", "in", "range", "isnull", "ne", "date", "year", "month", "day"}

var lookups = map[string]lookup{
	"exact":       exact,
	"iexact":      match(database.TextEquals, true),
	"contains":    match(database.TextContains, false),
	"icontains":   match(database.TextContains, true),
	"startswith":  match(database.TextStartsWith, false),
	"istartswith": match(database.TextStartsWith, true),
	"endswith":    match(database.TextEndsWith, false),
	"iendswith":   match(database.TextEndsWith, true),
	"gt":          compare(database.Greater),
	"gte":         compare(database.GreaterOrEqual),
	"lt":          compare(database.Less),
	"lte":         compare(database.LessOrEqual),
	"in":          in,
	"range":       between,
	"isnull":      isNullLookup,
	"ne":          notEqual,
	"date":        wholeDate,
	"year":        part(database.Year),
	"month":       part(database.Month),
	"day":         part(database.Day),
}

// lookupsOf are the lookups that a column's kind has.
func lookupsOf(c *database.Column) []string {
	switch c.Kind {
	case database.JSON, database.Array:
		return []string{"isnull"}
	case database.Boolean, database.Bytes, database.Other:
		return []string{"exact", "in", "isnull", "ne"}
	case database.Text, database.Enum:
		return lookupNames[:16]
	case database.Date, database.Timestamp, database.TimestampTZ:
		return []string{"exact", "gt", "gte", "lt", "lte", "in", "range", "isnull", "ne", "date", "year", "month", "day"}
	}
	return []string{"exact", "gt", "gte", "lt", "lte", "in", "range", "isnull", "ne"}
}

func exact(c *database.Column, value json.RawMessage) (database.Condition, error) {
	if isNull(value) {
		return database.IsNull{Column: c}, nil
	}
	return compare(database.Equal)(c, value)
}

// notEqual keeps the rows whose value is NULL, unless NULL is what they must not be.
func notEqual(c *database.Column, value json.RawMessage) (database.Condition, error) {
	condition, err := exact(c, value)
	return database.Not{Condition: condition}, err
}

func compare(op database.CompareOp) lookup {
	return func(c *database.Column, raw json.RawMessage) (database.Condition, error) {
		value, err := parseValue(c, raw)
		return database.Compare{Column: c, Op: op, Value: value}, err
	}
}

func match(op database.TextOp, fold bool) lookup {
	return func(c *database.Column, raw json.RawMessage) (database.Condition, error) {
		// A piece of an enum's value need not be one of its choices.
		value, err := parseValue(&database.Column{Kind: database.Text}, raw)
		if err != nil {
			return nil, err
		}
		return database.Match{Column: c, Op: op, Text: value.(string), FoldCase: fold}, nil
	}
}

func in(c *database.Column, raw json.RawMessage) (database.Condition, error) {
	any := database.In{Column: c}
	err := eachValue(raw, func(raw json.RawMessage) error {
		value, err := parseValue(c, raw)
		any.Values = append(any.Values, value)
		return err
	})
	return any, err
}

// eachValue calls do for each value of an `in` list.
func eachValue(raw json.RawMessage, do func(json.RawMessage) error) error {
	var values []json.RawMessage
	if err := json.Unmarshal(raw, &values); err != nil || isNull(raw) {
		return fmt.Errorf("must be an array of values, not %s", excerpt(raw))
	}
	if len(values) > maxInValues {
		return fmt.Errorf("must have at most %d values, not %d", maxInValues, len(values))
	}
	for _, value := range values {
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
		return nil, fmt.Errorf("must be an array of two values, the least and the greatest, not %s", excerpt(raw))
	}
	least, err := parseValue(c, ends[0])
	if err != nil {
		return nil, fmt.Errorf("the least value %w", err)
	}
	greatest, err := parseValue(c, ends[1])
	if err != nil {
		return nil, fmt.Errorf("the greatest value %w", err)
	}
	return database.And{
		database.Compare{Column: c, Op: database.GreaterOrEqual, Value: least},
		database.Compare{Column: c, Op: database.LessOrEqual, Value: greatest},
	}, nil
}

func isNullLookup(c *database.Column, raw json.RawMessage) (database.Condition, error) {
	switch string(raw) {
	case "true":
		return database.IsNull{Column: c}, nil
	case "false":
		return database.Not{Condition: database.IsNull{Column: c}}, nil
	}
	return nil, fmt.Errorf("must be true or false, not %s", excerpt(raw))
}

func wholeDate(c *database.Column, raw json.RawMessage) (database.Condition, error) {
	value, err := parseValue(&database.Column{Kind: database.Date}, raw)
	return database.PartEquals{Column: c, Part: database.WholeDate, Value: value}, err
}

func part(which database.DatePart) lookup {
	return func(c *database.Column, raw json.RawMessage) (database.Condition, error) {
		n, err := strconv.ParseInt(string(raw), 10, 32)
		if err != nil {
			return nil, fmt.Errorf("must be an integer, not %s", excerpt(raw))
		}
		return database.PartEquals{Column: c, Part: which, Value: n}, nil
	}
}
