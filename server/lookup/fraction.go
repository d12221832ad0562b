package lookup

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// fractionText is a decimal number with a point, as avg answers it.
var fractionText = regexp.MustCompile(`^-?[0-9]+\.[0-9]+$`)

// compareFraction compares the order of an integer column with a number that has a fraction; false if the value is none. An
// integer is greater than 34.5 if it is greater than 34, and less if it is 34 at most. A Loose column may hold fractions
// itself, so there the number is compared unchanged.
func compareFraction(c *database.Column, op database.CompareOp, raw json.RawMessage) (database.Condition, bool) {
	text := strings.Trim(string(raw), `"`)
	if c.Kind != database.Integer || !fractionText.MatchString(text) {
		return nil, false
	}
	digits, fraction, _ := strings.Cut(text, ".")
	below, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return nil, false
	}
	switch {
	case strings.Trim(fraction, "0") == "":
		return database.Compare{Column: c, Op: op, Value: below}, true
	case c.Loose:
		number, err := strconv.ParseFloat(text, 64)
		return database.Compare{Column: c, Op: op, Value: number}, err == nil
	case strings.HasPrefix(text, "-"):
		below--
	}
	if op == database.Greater || op == database.GreaterOrEqual {
		return database.Compare{Column: c, Op: database.Greater, Value: below}, true
	}
	return database.Compare{Column: c, Op: database.LessOrEqual, Value: below}, true
}
