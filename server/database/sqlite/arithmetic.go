package sqlite

import (
	"database/sql/driver"
	"errors"
	"math"
	"math/big"
	"time"

	"modernc.org/sqlite"

	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
)

// registerArithmetic gives a driver the functions by which rows compute with exact numbers and moments
// (docs/design/aggregates.md, "Exact numbers").
func registerArithmetic(d *sqlite.Driver) {
	register := func(name string, arguments int32, f func([]driver.Value) (driver.Value, error)) {
		d.MustRegisterDeterministicScalarFunction(name, arguments,
			func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) { return f(args) })
	}
	register(sqltext.SQLiteCompute, 4, compute)
	register(sqltext.SQLiteRound, 2, rounded)
	register(sqltext.SQLiteFinite, 1, finite)
	register(sqltext.SQLiteElapsed, 4, elapsed)
	register(sqltext.SQLiteWeight, 3, weight)
}

// compute adds, subtracts or multiplies two numbers, or takes the multiple of the second that is not above the first. It is NULL if one of them is none.
func compute(args []driver.Value) (driver.Value, error) {
	left, ok := toNumber(args[1])
	right, also := toNumber(args[2])
	if !ok || !also {
		return nil, nil
	}
	switch args[0] {
	case "*":
		left.unscaled.Mul(&left.unscaled, &right.unscaled)
		left.scale += right.scale
	case "bucket":
		scale := max(left.scale, right.scale)
		left.rescale(scale)
		right.rescale(scale)
		if right.unscaled.Sign() <= 0 {
			return nil, nil
		}
		left.unscaled.Sub(&left.unscaled, new(big.Int).Mod(&left.unscaled, &right.unscaled))
	case "-":
		right.unscaled.Neg(&right.unscaled)
		left.add(&right)
	default:
		left.add(&right)
	}
	if left.unscaled.BitLen() > mostBits {
		return nil, errors.New("a result of this arithmetic has too many digits")
	}
	return left.text(digitsOf(args[3])), nil
}

// mostBits is the size of the largest number that is computed: 10 to the power of most.
const mostBits = most * 3322 / 1000

func digitsOf(value driver.Value) int {
	n, _ := value.(int64)
	return int(n)
}

func rounded(args []driver.Value) (driver.Value, error) {
	n, ok := toNumber(args[0])
	if !ok {
		return nil, nil
	}
	digits := digitsOf(args[1])
	q := quotient(&n, &exact{unscaled: *big.NewInt(1)}, digits)
	return q.text(digits), nil
}

// finite is an error for a float beyond the largest one, as it is on other engines.
func finite(args []driver.Value) (driver.Value, error) {
	if f, ok := args[0].(float64); ok && math.IsInf(f, 0) {
		return nil, errors.New("a result of this arithmetic is out of range of a float")
	}
	return args[0], nil
}

// elapsed is the time between two moments. It is NULL if one of them is none.
func elapsed(args []driver.Value) (driver.Value, error) {
	from, ok := momentOf(args[0])
	to, also := momentOf(args[1])
	unit, _ := args[2].(int64)
	if !ok || !also || unit == 0 {
		return nil, nil
	}
	digits := digitsOf(args[3])
	// A Duration ends after 292 years.
	time := exact{unscaled: *big.NewInt(to.UnixMicro() - from.UnixMicro())}
	q := quotient(&time, &exact{unscaled: *big.NewInt(unit)}, digits)
	return q.text(digits), nil
}

// momentOf reads a moment as SQLite's strftime writes it.
func momentOf(value driver.Value) (time.Time, bool) {
	text, _ := value.(string)
	at, err := time.Parse("2006-01-02 15:04:05.999", text)
	return at, err == nil
}
