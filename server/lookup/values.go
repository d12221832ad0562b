package lookup

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// maxExactInteger is the largest integer that every JSON reader keeps: 2^53−1.
const maxExactInteger = 1<<53 - 1

var (
	decimalText = regexp.MustCompile(`^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,4})?$`)
	uuidText    = regexp.MustCompile(`^[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}$`)
	bitsText    = regexp.MustCompile(`^[01]*$`)
)

// The texts of floats and decimals that are no numbers.
var (
	infinities = []string{"Infinity", "-Infinity"}
	nonFinite  = append([]string{"NaN"}, infinities...)
)

// errZeroByte is said of U+0000, which no engine keeps in a text.
var errZeroByte = errors.New("must not contain U+0000")

// beyond is the error about an integer that is too small or too large for a Value.
type beyond struct {
	error
	text string
}

func (b beyond) below() bool { return b.text[0] == '-' }

// ParseValue reads a JSON value to compare a column with, in the form in which rows show the column's values
// (docs/design/values.md, "JSON forms"). It need not fit the column: a text that is too long, or a number out of its
// range, equals nothing. ParseStored reads values to store. The value null is for the caller to handle. Its errors begin
// with what must be: "must be an integer, not …".
func ParseValue(c *database.Column, raw json.RawMessage) (database.Value, error) {
	if len(raw) == 0 {
		return nil, mustBe(c, raw)
	}
	switch c.Kind {
	case database.JSON:
		return parseJSON(c, raw)
	case database.Array:
		return parseArray(c, raw, ParseValue)
	}
	switch raw[0] {
	case '"':
		text, err := unquote(raw)
		if err != nil {
			return nil, err
		}
		if takesNumbersOnly(c.Kind) {
			return nil, mustBe(c, raw)
		}
		return ParseText(c, text)
	case 't', 'f':
		if c.Kind == database.Boolean {
			return raw[0] == 't', nil
		}
	case '{', '[', 'n':
	default:
		return parseNumber(c, raw)
	}
	return nil, mustBe(c, raw)
}

// takesNumbersOnly is whether a string in JSON is never a value of the kind, though the same text is one in a key.
func takesNumbersOnly(k database.Kind) bool { return k == database.Boolean }

func parseNumber(c *database.Column, raw json.RawMessage) (database.Value, error) {
	switch c.Kind {
	case database.Boolean:
		return parseTruth(c, string(raw))
	case database.Integer:
		if !isInteger(string(raw)) {
			return nil, mustBe(c, raw)
		}
		n, err := strconv.ParseInt(string(raw), 10, 64)
		if err != nil || n > maxExactInteger || n < -maxExactInteger {
			return nil, inexact(raw)
		}
		return n, nil
	case database.Decimal:
		return ParseText(c, string(raw))
	case database.Float:
		f, err := strconv.ParseFloat(string(raw), 64)
		if err == nil {
			return f, nil
		}
	case database.Other:
		if !c.Loose {
			break
		}
		return parseLooseNumber(c, raw)
	}
	return nil, mustBe(c, raw)
}

// isInteger reports whether a text is an integer: a minus if it is below zero, and digits.
func isInteger(text string) bool {
	digits := strings.TrimPrefix(text, "-")
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return false
		}
	}
	return digits != ""
}

// parseLooseNumber reads a number of no known type: as an integer if rows show it like one and every JSON reader keeps it
// exactly, else as a float.
func parseLooseNumber(c *database.Column, raw json.RawMessage) (database.Value, error) {
	f, err := strconv.ParseFloat(string(raw), 64)
	switch {
	case err != nil:
		return nil, mustBe(c, raw)
	case f == math.Trunc(f) && math.Abs(f) <= maxExactInteger:
		return int64(f), nil
	case isInteger(string(raw)) && strconv.FormatFloat(f, 'f', 0, 64) != string(raw):
		return nil, inexact(raw)
	}
	return f, nil
}

func inexact(raw json.RawMessage) error {
	return fmt.Errorf("%s is beyond what a JSON number keeps exactly; send it as a string", Excerpt(raw))
}

// ParseText is ParseValue of a value's text, as it stands in a JSON string or in a part of a composite key.
func ParseText(c *database.Column, text string) (database.Value, error) {
	if strings.ContainsRune(text, 0) {
		return nil, errZeroByte
	}
	ok := true
	switch c.Kind {
	case database.Boolean:
		return parseTruth(c, text)
	case database.Integer:
		return parseInteger(c, text)
	case database.Decimal:
		ok = decimalText.MatchString(text) || slices.Contains(nonFinite, text)
	case database.Float:
		f, err := strconv.ParseFloat(text, 64)
		named := math.IsInf(f, 0) || math.IsNaN(f)
		return f, check(c, text, err == nil && (!named || slices.Contains(nonFinite, text)))
	case database.UUID:
		ok = uuidText.MatchString(text)
	case database.Enum:
		ok = len(c.Choices) == 0 || slices.Contains(c.Choices, text)
	case database.Bytes:
		b, err := base64.StdEncoding.DecodeString(text)
		return b, check(c, text, err == nil)
	case database.Date, database.Time, database.Timestamp, database.TimestampTZ:
		return parseMoment(c, text)
	case database.JSON:
		return parseJSON(c, []byte(text))
	case database.Array:
		return parseArray(c, []byte(text), ParseValue)
	case database.Other:
		ok = (!isBits(c) || bitsText.MatchString(text)) && hasMembers(c, text)
	}
	return text, check(c, text, ok)
}

// parseTruth reads true or false; and a number other than 0 and 1, if the engine stores the column as an integer (MySQL's
// tinyint(1)): such a column may hold one, which is shown unchanged, and taken back.
func parseTruth(c *database.Column, text string) (database.Value, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && c.Bits > 0 && n != 0 && n != 1 {
		return n, nil
	}
	if text == "true" || text == "false" {
		return text == "true", nil
	}
	return nil, fmt.Errorf("must be %s, not %s", form(c), Excerpt([]byte(text)))
}

// The range of an integer of 128 bits.
var (
	least128    = new(big.Int).Neg(new(big.Int).Lsh(big.NewInt(1), 127))
	greatest128 = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 127), big.NewInt(1))
)

// parseInteger returns an int64, or beyond its range a uint64 or the digits, if the column has such values.
func parseInteger(c *database.Column, text string) (database.Value, error) {
	if !isInteger(text) {
		return nil, check(c, text, false)
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, nil
	}
	if c.Unsigned && c.Bits == 64 {
		if n, err := strconv.ParseUint(text, 10, 64); err == nil {
			return n, nil
		}
	}
	if c.Bits == 128 {
		if n, ok := new(big.Int).SetString(text, 10); ok && n.Cmp(least128) >= 0 && n.Cmp(greatest128) <= 0 {
			return n.String(), nil
		}
	}
	return nil, beyond{check(c, text, false), text}
}

// isBits is whether a column holds zeros and ones.
func isBits(c *database.Column) bool {
	return c.Kind == database.Other && (c.NativeType == "bit" || strings.HasPrefix(c.NativeType, "bit(") || strings.HasPrefix(c.NativeType, "bit varying"))
}

// isSet reports whether the column holds any number of its choices, joined by commas (MySQL's SET).
func isSet(c *database.Column) bool { return c.Kind == database.Other && len(c.Choices) > 0 }

// hasMembers reports whether the text names only members of the column's set, if it is one.
func hasMembers(c *database.Column, text string) bool {
	if !isSet(c) || text == "" {
		return true
	}
	for member := range strings.SplitSeq(text, ",") {
		if !slices.Contains(c.Choices, member) {
			return false
		}
	}
	return true
}

func check(c *database.Column, text string, ok bool) error {
	if ok {
		return nil
	}
	quoted, _ := json.Marshal(text) // a string: it cannot fail
	return mustBe(c, quoted)
}

// mustBe says what a value of the column looks like.
func mustBe(c *database.Column, raw []byte) error {
	return fmt.Errorf("must be %s, not %s", form(c), Excerpt(bytes.TrimSpace(raw)))
}

func form(c *database.Column) string {
	switch c.Kind {
	case database.Boolean:
		return "true or false"
	case database.Integer:
		return "an integer, or a string of its digits"
	case database.Decimal:
		return "a decimal number, best as a string"
	case database.Float:
		return `a number, or "NaN", "Infinity" or "-Infinity"`
	case database.Date:
		return "a date, YYYY-MM-DD"
	case database.Time:
		return "a time, HH:MM:SS"
	case database.Timestamp:
		return "a date and time, YYYY-MM-DDTHH:MM:SS"
	case database.TimestampTZ:
		return "a date and time, YYYY-MM-DDTHH:MM:SSZ"
	case database.UUID:
		return "a UUID"
	case database.Bytes:
		return "base64"
	case database.Enum:
		return "one of " + strings.Join(c.Choices, ", ")
	case database.JSON:
		return "a JSON value"
	case database.Array:
		return "an array of " + c.Element.String() + " values"
	}
	switch {
	case isBits(c):
		return "a string of zeros and ones"
	case isSet(c):
		return "any of " + strings.Join(c.Choices, ", ") + ", joined by commas"
	case c.Loose:
		return "a string or a number"
	}
	return "a string"
}
