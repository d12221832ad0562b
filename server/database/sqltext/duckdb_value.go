package sqltext

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// DuckDBTypeOf is the type to which a statement casts a value.
func DuckDBTypeOf(arg Arg) string {
	if arg.Column == nil {
		return duckdb{}.typeOf(&database.Column{Kind: arg.Kind}, arg.Value)
	}
	return duckdb{}.typeOf(arg.Column, arg.Value)
}

// typeOf is the type in which a column is compared with a value. It holds every digit of the value.
func (duckdb) typeOf(c *database.Column, value database.Value) string {
	switch c.Kind {
	case database.Boolean:
		return "BOOLEAN"
	case database.Integer:
		if _, small := value.(int64); small {
			return "BIGINT"
		}
		return "HUGEINT"
	case database.Decimal:
		text, _ := value.(string)
		return duckdbDecimal(text)
	case database.Float:
		if number, _ := value.(float64); c.NativeType == "FLOAT" && (math.Abs(number) <= math.MaxFloat32 || math.IsInf(number, 0)) {
			return "FLOAT"
		}
		return "DOUBLE"
	case database.Timestamp:
		if c.NativeType == duckdbNanos && hasNanos(value) {
			return duckdbNanos
		}
	case database.Bytes:
		return "BLOB"
	}
	return duckdbType(c.Kind)
}

// duckdbNanos is the type of timestamps with nanoseconds, which has about 600 years.
const duckdbNanos = "TIMESTAMP_NS"

// The first and the last of its moments.
var (
	firstNanos = time.Date(1677, 9, 22, 0, 0, 0, 0, time.UTC)
	lastNanos  = time.Unix(0, math.MaxInt64-1).UTC()
)

// hasNanos reports whether the type with nanoseconds has a moment.
func hasNanos(value database.Value) bool {
	text, _ := value.(string)
	if strings.HasSuffix(text, "infinity") {
		return true
	}
	for _, layout := range []string{"2006-01-02T15:04:05", time.DateTime, time.DateOnly} {
		if moment, err := time.Parse(layout, text); err == nil {
			return !moment.Before(firstNanos) && !moment.After(lastNanos)
		}
	}
	return false
}

// comparable is what a column is compared with instead of a value. DuckDB compares two decimals in one type, and has none for two that
// need more digits than its widest: such a value is replaced by the column's next lower one. It returns false if the column equals no
// such value.
func (duckdb) comparable(c *database.Column, op database.CompareOp, value database.Value) (database.CompareOp, database.Value, bool) {
	text, _ := value.(string)
	if c.Kind == database.Timestamp && c.NativeType == duckdbNanos && op == database.Equal {
		return op, value, hasNanos(value)
	}
	if c.Kind != database.Decimal {
		return op, value, true
	}
	digits, scale := c.Precision, max(c.Scale, 0)
	if digits < 0 {
		digits = mostDuckDBDigits
	}
	number, ok := new(big.Rat).SetString(text)
	if !ok || isDecimalWithin(text, digits-scale, scale) {
		return op, value, true
	}
	power := func(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }
	shifted := new(big.Rat).Mul(number, new(big.Rat).SetInt(power(scale)))
	whole := new(big.Int).Div(shifted.Num(), shifted.Denom()) // towards minus infinity, as the divisor is positive
	exact := shifted.IsInt()
	greatest := new(big.Int).Sub(power(digits), big.NewInt(1))
	least := new(big.Int).Neg(greatest)
	below := new(big.Int).Sub(least, big.NewInt(1))
	if whole.Cmp(greatest) > 0 {
		whole, exact = greatest, false
	}
	if whole.Cmp(below) <= 0 { // all of the column's values are greater
		whole, exact = least, true
		switch op {
		case database.Greater:
			op = database.GreaterOrEqual
		case database.LessOrEqual:
			op = database.Less
		case database.Equal:
			return op, value, false
		}
	}
	if !exact {
		switch op {
		case database.Equal:
			return op, value, false
		case database.Less:
			op = database.LessOrEqual
		case database.GreaterOrEqual:
			op = database.Greater
		}
	}
	return op, new(big.Rat).SetFrac(whole, power(scale)).FloatString(scale), true
}

// isDecimalWithin reports whether one type holds both a number and all numbers of so many digits before and behind the point.
func isDecimalWithin(number string, before, behind int) bool {
	whole, fraction, plain := decimalParts(number)
	return plain && max(len(whole), before)+max(len(fraction), behind) <= mostDuckDBDigits
}

// duckdbType is the type of a kind's values, of numbers the widest.
func duckdbType(kind database.Kind) string {
	switch kind {
	case database.Integer:
		return "HUGEINT"
	case database.Date:
		return "DATE"
	case database.Time:
		return "TIME"
	case database.Timestamp:
		return "TIMESTAMP"
	case database.TimestampTZ:
		return "TIMESTAMPTZ"
	case database.Interval:
		return "INTERVAL"
	case database.UUID:
		return "UUID"
	}
	return "VARCHAR"
}

// duckdbDecimal is the narrowest decimal type of a number, or DOUBLE for one that no such type has.
func duckdbDecimal(number string) string {
	whole, fraction, plain := decimalParts(number)
	digits := len(whole) + len(fraction)
	if !plain || digits > mostDuckDBDigits {
		return "DOUBLE"
	}
	return duckdbExact(max(digits, 1), len(fraction))
}

// decimalParts are a number's digits before and behind the point, without zeros before them; false if it has an exponent, or is none.
func decimalParts(number string) (whole, fraction string, plain bool) {
	whole, fraction, _ = strings.Cut(strings.TrimLeft(number, "+-"), ".")
	return strings.TrimLeft(whole, "0"), fraction, strings.Trim(whole+fraction, "0123456789") == ""
}

// duckdbExact is a decimal type.
func duckdbExact(digits, scale int) string {
	return "DECIMAL(" + strconv.Itoa(digits) + "," + strconv.Itoa(scale) + ")"
}
