package sqlite

import (
	"database/sql/driver"
	"errors"
	"math"
	"math/big"
	"time"

	"modernc.org/sqlite"
)

// forward is what an aggregate function has that is never asked of a window which moves.
type forward struct{}

// WindowInverse implements sqlite.AggregateFunction.
func (forward) WindowInverse(*sqlite.FunctionContext, []driver.Value) error {
	return errors.New("this function has no moving windows")
}

// Final implements sqlite.AggregateFunction.
func (forward) Final(*sqlite.FunctionContext) {}

// deviation is the standard deviation of a sample of numbers. It passes over everything else.
type deviation struct {
	forward
	sum, squares exact
	count        int64
}

// Step implements sqlite.AggregateFunction.
func (d *deviation) Step(_ *sqlite.FunctionContext, args []driver.Value) error {
	n, ok := toNumber(args[0])
	if !ok {
		return nil
	}
	var square exact
	square.unscaled.Mul(&n.unscaled, &n.unscaled)
	square.scale = 2 * n.scale
	d.sum.add(&n)
	d.squares.add(&square)
	d.count++
	return nil
}

// WindowValue implements sqlite.AggregateFunction. Doubles begin where they do on other engines, so that all have the same digits.
func (d *deviation) WindowValue(*sqlite.FunctionContext) (driver.Value, error) {
	if d.count < 2 {
		return nil, nil
	}
	var above, square exact
	above.unscaled.Mul(&d.squares.unscaled, big.NewInt(d.count))
	above.scale = d.squares.scale
	square.unscaled.Mul(&d.sum.unscaled, &d.sum.unscaled)
	square.unscaled.Neg(&square.unscaled)
	square.scale = 2 * d.sum.scale
	above.add(&square)
	f, _ := new(big.Rat).SetFrac(&above.unscaled, power(above.scale)).Float64()
	if math.IsInf(f, 0) {
		return nil, errors.New("a standard deviation is out of range of a float")
	}
	return math.Sqrt(f / (float64(d.count) * float64(d.count-1))), nil
}

// weight is how much a value counts in a percentile: 1 at its place, less beside it, NULL a place or more away.
func weight(args []driver.Value) (driver.Value, error) {
	text, _ := args[0].(string)
	fraction, ok := new(big.Rat).SetString(text)
	among, isCount := args[1].(int64)
	place, isPlace := args[2].(int64)
	if !ok || !isCount || !isPlace {
		return nil, nil
	}
	one := big.NewRat(1, 1)
	at := fraction.Sub(one, fraction)
	at.Mul(at, big.NewRat(among-1, 1))
	at.Sub(at, big.NewRat(place-1, 1))
	at.Sub(one, at.Abs(at))
	if at.Sign() <= 0 {
		return nil, nil
	}
	return at.FloatString(len(text)), nil
}

// mean is the average of moments, as SQLite's strftime writes them, rounded down to a second. It passes over everything else.
type mean struct {
	forward
	milliseconds big.Int
	count        int64
}

// Step implements sqlite.AggregateFunction.
func (m *mean) Step(_ *sqlite.FunctionContext, args []driver.Value) error {
	if at, ok := momentOf(args[0]); ok {
		m.milliseconds.Add(&m.milliseconds, big.NewInt(at.UnixMilli()))
		m.count++
	}
	return nil
}

// WindowValue implements sqlite.AggregateFunction.
func (m *mean) WindowValue(*sqlite.FunctionContext) (driver.Value, error) {
	if m.count == 0 {
		return nil, nil
	}
	// Div rounds towards the smaller number.
	seconds := new(big.Int).Div(&m.milliseconds, big.NewInt(1000*m.count))
	return time.Unix(seconds.Int64(), 0).UTC().Format(time.DateTime), nil
}
