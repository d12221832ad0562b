package lookup

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// ParseStored reads a JSON value that a column is to hold, in the form in which rows show its values
// (docs/design/values.md, "JSON forms"). What the column cannot hold exactly is refused, and never cut or rounded: an
// integer beyond its size, a decimal of more digits, a text of more characters. The value null is for the caller to
// handle. Errors begin with what must be, like ParseValue's.
func ParseStored(c *database.Column, raw json.RawMessage) (database.Value, error) {
	if c.Kind == database.Array && len(raw) > 0 {
		return parseArray(c, raw, ParseStored)
	}
	value, err := ParseValue(c, raw)
	return stored(c, value, err)
}

// ParseStoredText is ParseStored of a value's text, as an administrator writes it.
func ParseStoredText(c *database.Column, text string) (database.Value, error) {
	if c.Kind == database.JSON || c.Kind == database.Array {
		return ParseStored(c, json.RawMessage(text))
	}
	value, err := ParseText(c, text)
	return stored(c, value, err)
}

// stored finishes what ParseValue or ParseText began: it returns the value if the column can hold it.
func stored(c *database.Column, value database.Value, err error) (database.Value, error) {
	if err != nil {
		if far := (beyond{}); errors.As(err, &far) {
			return nil, outOfRange(c, far.text)
		}
		return nil, err
	}
	if err := checkStored(c, value); err != nil {
		return nil, err
	}
	return value, nil
}

// checkStored reports whether the column can hold a value of its kind.
func checkStored(c *database.Column, value database.Value) error {
	switch v := value.(type) {
	case int64:
		if least, greatest := bounds(c); (c.Kind == database.Integer || c.Kind == database.Boolean) && (v < least || v > 0 && uint64(v) > greatest) {
			return outOfRange(c, strconv.FormatInt(v, 10))
		}
	case float64:
		if math.IsNaN(v) && c.Loose {
			return errors.New("must be a number: the column cannot hold NaN")
		}
	case string:
		return checkText(c, v)
	}
	return nil
}

func checkText(c *database.Column, text string) error {
	if turnsToNumbers(c) && !keepsDigits(text) {
		return fmt.Errorf("must not be digits alone: the column's type %s would store another number", c.NativeType)
	}
	switch c.Kind {
	case database.Text:
		if length := utf8.RuneCountInString(text); c.MaxLength > 0 && length > c.MaxLength {
			return fmt.Errorf("must have at most %d characters, not %d", c.MaxLength, length)
		}
	case database.Decimal:
		return checkDigits(c, text)
	case database.Date, database.Time, database.Timestamp, database.TimestampTZ:
		return check(c, text, !c.Loose || isPlainMoment(c, text))
	case database.Other:
		if isBits(c) && c.MaxLength > 0 && len(text) > c.MaxLength {
			return fmt.Errorf("must have at most %d bits, not %d", c.MaxLength, len(text))
		}
	}
	return nil
}

// bounds are the least and the greatest integer that the column holds.
func bounds(c *database.Column) (least int64, greatest uint64) {
	bits := c.Bits
	if bits == 0 || bits > 64 {
		bits = 64
	}
	if c.Unsigned {
		return 0, math.MaxUint64 >> (64 - bits)
	}
	return math.MinInt64 >> (64 - bits), math.MaxInt64 >> (64 - bits)
}

func outOfRange(c *database.Column, text string) error {
	least, greatest := bounds(c)
	return fmt.Errorf("must be an integer between %d and %d, not %s", least, greatest, Excerpt([]byte(text)))
}

// checkDigits refuses a decimal of more digits than the column has, before its point or after it. Zeros that end the
// digits behind the point do not count.
func checkDigits(c *database.Column, text string) error {
	if slices.Contains(nonFinite, text) {
		if c.Loose {
			return errors.New("must be a finite number")
		}
		return nil
	}
	digits, exponent, _ := strings.Cut(strings.ToLower(strings.TrimLeft(text, "+-")), "e")
	whole, fraction, _ := strings.Cut(digits, ".")
	shift, _ := strconv.Atoi(exponent) // absent, or of four digits at most
	// The number is 0.<digits> × 10^point.
	point := len(whole) + shift
	digits = whole + fraction
	point -= len(digits) - len(strings.TrimLeft(digits, "0"))
	digits = strings.Trim(digits, "0")
	if digits == "" {
		return nil
	}
	scale := c.Scale
	if c.Loose {
		scale = max(scale, 0) // one that is not declared
	}
	switch after := len(digits) - point; {
	case c.Precision <= 0 || c.Loose && c.Scale < 0 || after <= scale:
	case scale < 0:
		return fmt.Errorf("must be a multiple of 1e%d", -scale)
	default:
		return fmt.Errorf("must have at most %d digits after the point, not %d", scale, after)
	}
	most := c.Precision - scale
	switch {
	case c.Precision <= 0 || point <= most:
		return nil
	case most < 0:
		return fmt.Errorf("must be less than 1e%d in size", most)
	default:
		return fmt.Errorf("must have at most %d digits before the point, not %d", most, point)
	}
}
