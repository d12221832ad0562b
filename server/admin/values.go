package admin

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// maxExactInteger is the largest integer that every JSON reader keeps: 2^53−1.
const maxExactInteger = 1<<53 - 1

var (
	integerText = regexp.MustCompile(`^-?[0-9]+$`)
	decimalText = regexp.MustCompile(`^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,4})?$`)
	uuidText    = regexp.MustCompile(`^[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}$`)
)

// parseValue reads a JSON value in the form in which rows show the column's values (decisions section 4, "Values").
// Its errors begin with what must be: "must be an integer, not …".
func parseValue(c *database.Column, raw json.RawMessage) (database.Value, error) {
	switch raw[0] {
	case '"':
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return nil, mustBe(c, raw)
		}
		if takesNumbersOnly(c.Kind) {
			return nil, mustBe(c, raw)
		}
		return parseText(c, text)
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
	case database.Integer:
		if !integerText.Match(raw) {
			return nil, mustBe(c, raw)
		}
		n, err := strconv.ParseInt(string(raw), 10, 64)
		if err != nil || n > maxExactInteger || n < -maxExactInteger {
			return nil, fmt.Errorf("%s is beyond what a JSON number keeps exactly; send it as a string", excerpt(raw))
		}
		return n, nil
	case database.Decimal:
		return string(raw), nil
	case database.Float:
		f, err := strconv.ParseFloat(string(raw), 64)
		if err == nil {
			return f, nil
		}
	}
	return nil, mustBe(c, raw)
}

// parseText reads a value from its text, as it stands in a JSON string or in a part of a composite key.
func parseText(c *database.Column, text string) (database.Value, error) {
	if strings.ContainsRune(text, 0) {
		return nil, errors.New("must not contain U+0000")
	}
	ok := true
	switch c.Kind {
	case database.Boolean:
		return text == "true", check(c, text, text == "true" || text == "false")
	case database.Integer:
		n, err := strconv.ParseInt(text, 10, 64)
		return n, check(c, text, err == nil && integerText.MatchString(text))
	case database.Decimal:
		ok = decimalText.MatchString(text) || text == "NaN" || text == "Infinity" || text == "-Infinity"
	case database.Float:
		f, err := strconv.ParseFloat(text, 64)
		named := math.IsInf(f, 0) || math.IsNaN(f)
		return f, check(c, text, err == nil && (!named || slices.Contains([]string{"NaN", "Infinity", "-Infinity"}, text)))
	case database.UUID:
		ok = uuidText.MatchString(text)
	case database.Enum:
		ok = len(c.Choices) == 0 || slices.Contains(c.Choices, text)
	case database.Bytes:
		b, err := base64.StdEncoding.DecodeString(text)
		return b, check(c, text, err == nil)
	case database.Date, database.Time, database.Timestamp, database.TimestampTZ:
		return parseMoment(c, text)
	}
	return text, check(c, text, ok)
}

// momentLayouts are the forms of dates and times that are taken, the one that rows show first. Fractions of a second
// may follow in all that have seconds.
var momentLayouts = map[database.Kind][]string{
	database.Date:        {"2006-01-02"},
	database.Time:        {"15:04:05", "15:04"},
	database.Timestamp:   {"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02"},
	database.TimestampTZ: {time.RFC3339, "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02"},
}

// parseMoment returns the text in the form that rows show, in UTC where the type has a zone.
func parseMoment(c *database.Column, text string) (database.Value, error) {
	if text == "infinity" || text == "-infinity" {
		return text, nil
	}
	for _, layout := range momentLayouts[c.Kind] {
		moment, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		switch c.Kind {
		case database.Date:
			return moment.Format("2006-01-02"), nil
		case database.Time:
			return moment.Format("15:04:05.999999"), nil
		case database.TimestampTZ:
			return moment.UTC().Format("2006-01-02T15:04:05.999999Z07:00"), nil
		}
		return moment.Format("2006-01-02T15:04:05.999999"), nil
	}
	return nil, check(c, text, false)
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
	form := "a string"
	switch c.Kind {
	case database.Boolean:
		form = "true or false"
	case database.Integer:
		form = "an integer, or a string of its digits"
	case database.Decimal:
		form = "a decimal number, best as a string"
	case database.Float:
		form = `a number, or "NaN", "Infinity" or "-Infinity"`
	case database.Date:
		form = "a date, YYYY-MM-DD"
	case database.Time:
		form = "a time, HH:MM:SS"
	case database.Timestamp:
		form = "a time without a zone, YYYY-MM-DDTHH:MM:SS"
	case database.TimestampTZ:
		form = "an RFC 3339 time, YYYY-MM-DDTHH:MM:SSZ"
	case database.UUID:
		form = "a UUID"
	case database.Bytes:
		form = "base64"
	case database.Enum:
		form = "one of " + strings.Join(c.Choices, ", ")
	}
	return fmt.Errorf("must be %s, not %s", form, excerpt(bytes.TrimSpace(raw)))
}
