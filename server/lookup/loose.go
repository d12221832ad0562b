package lookup

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// equalValues returns the values that a column may hold and that rows show as the JSON value. For a Loose column they can be
// several, since it keeps texts, numbers and bytes side by side.
func equalValues(c *database.Column, raw json.RawMessage) ([]database.Value, error) {
	value, err := ParseValue(c, raw)
	if !c.Loose || errors.As(err, &beyond{}) {
		return []database.Value{value}, err
	}
	var own []database.Value
	if err == nil {
		own = append(own, value)
	}
	if len(raw) > 0 && raw[0] == '"' {
		text, err := unquote(raw)
		if err != nil {
			return nil, err
		}
		return withLooseValues(own, c, text), nil
	}
	if err != nil {
		if number, ok := comparedNumber(c, raw); ok {
			return []database.Value{number}, nil
		}
	}
	return own, err
}

// ParseShown is ParseValue of a value that a row shows: also of one that a Loose column holds although it is not of the
// column's kind.
func ParseShown(c *database.Column, raw json.RawMessage) (database.Value, error) {
	values, err := equalValues(c, raw)
	if err != nil {
		return nil, err
	}
	return values[0], nil
}

// compared returns the value for a comparison of order: one of the column's own kind, or, for a Loose column, a number. A
// number is not compared with texts: the answer would be another than the caller thinks.
func compared(c *database.Column, raw json.RawMessage) (database.Value, error) {
	value, err := ParseValue(c, raw)
	if err == nil {
		return value, nil
	}
	if number, ok := looseNumber(c, raw); ok && c.Loose {
		return number, nil
	}
	if c.Kind == database.Text && decimalText.Match(raw) {
		return nil, fmt.Errorf(`must be a string, not %s: the field is text, and "9" comes after "10"; a string is compared letter by letter`, Excerpt(raw))
	}
	return value, err
}

// comparedNumber is a number as a Loose column of another kind holds it; false if it is no number, or the column holds none. A
// text column keeps the digits of a number.
func comparedNumber(c *database.Column, raw json.RawMessage) (database.Value, bool) {
	if number, ok := looseNumber(c, raw); ok {
		return number, true
	}
	return string(raw), c.Kind == database.Text && decimalText.Match(raw)
}

// withLooseValues adds to the value of the column's own kind, if the text is one, all others that rows show as the text.
// A number or moment that the text is has no others.
func withLooseValues(own []database.Value, c *database.Column, text string) []database.Value {
	values, isOwn := own, len(own) > 0
	switch c.Kind {
	case database.Integer, database.Float, database.Decimal, database.Timestamp, database.TimestampTZ:
		if isOwn {
			return values
		}
	}
	if !isOwn || own[0] != database.Value(text) {
		values = append([]database.Value{text}, own...)
		if c.Kind == database.Bytes {
			values = append(slices.Clone(own), text)
		}
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && (c.Kind == database.Other || n > maxExactInteger || n < -maxExactInteger) {
		values = append(values, n)
	} else if f, err := strconv.ParseFloat(text, 64); err == nil && (slices.Contains(infinities, text) || c.Kind == database.Other && decimalText.MatchString(text)) {
		values = append(values, f)
	}
	content, err := base64.StdEncoding.Strict().DecodeString(text)
	if err == nil && (c.Kind != database.Bytes || !isOwn) && base64.StdEncoding.EncodedLen(len(content)) == len(text) {
		values = append(values, content)
	}
	return values
}

// looseNumber returns a JSON number that a column of another kind may hold. Columns of texts turn numbers into texts, and
// columns of truths show 0 and 1 as false and true.
func looseNumber(c *database.Column, raw json.RawMessage) (database.Value, bool) {
	if c.Kind == database.Text && !turnsToNumbers(c) {
		return nil, false
	}
	if _, err := strconv.ParseInt(string(raw), 10, 64); c.Kind == database.Integer && err == nil {
		return nil, false // the column's own kind has refused it
	}
	value, err := parseLooseNumber(c, raw)
	if c.Kind == database.Boolean && (value == database.Value(int64(0)) || value == database.Value(int64(1))) {
		return nil, false
	}
	return value, err == nil
}

// turnsToNumbers reports that a Loose column of texts stores a number if a text is one: SQLite does so for each declared type
// in whose name it finds no word for texts.
func turnsToNumbers(c *database.Column) bool {
	name, _, _ := strings.Cut(c.NativeType, "(")
	return c.Loose && (c.Kind == database.UUID || strings.EqualFold(strings.TrimSpace(name), "STRING"))
}

// keepsDigits reports whether a text is no number, or one that a number shows unchanged.
func keepsDigits(text string) bool {
	if !decimalText.MatchString(strings.TrimSpace(text)) {
		return true
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return strconv.FormatInt(n, 10) == text
	}
	f, err := strconv.ParseFloat(text, 64)
	return err == nil && strconv.FormatFloat(f, 'f', -1, 64) == text && strings.Contains(text, ".")
}
