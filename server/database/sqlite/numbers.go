package sqlite

import (
	"database/sql/driver"
	"fmt"
	"math/big"
	"strings"

	"modernc.org/sqlite"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
)

// registerNumbers gives a driver the functions and the collation of exact numbers (docs/design/aggregates.md, "Exact
// numbers").
func registerNumbers(d *sqlite.Driver) {
	for name, finish := range map[string]func(*total) driver.Value{sqltext.SQLiteSum: sumOf, sqltext.SQLiteAverage: averageOf, sqltext.SQLiteFraction: fractionOf} {
		arguments := int32(1)
		if name == sqltext.SQLiteSum {
			arguments = 2
		}
		registerAggregate(d, name, arguments, func() sqlite.AggregateFunction { return &total{finish: finish} })
	}
	registerAggregate(d, sqltext.SQLiteDeviation, 1, func() sqlite.AggregateFunction { return &deviation{} })
	registerAggregate(d, sqltext.SQLiteMean, 1, func() sqlite.AggregateFunction { return &mean{} })
	for name, f := range map[string]func([]driver.Value) driver.Value{
		sqltext.SQLiteLocal: localTime, sqltext.SQLiteRatio: ratio, sqltext.SQLiteNumber: numberText,
		sqltext.SQLiteForm: inFormOf, sqltext.SQLiteRead: readText, sqltext.SQLiteTimestamp: asShown(jsontext.AppendTimestampText[string]), sqltext.SQLiteInstant: asShown(jsontext.AppendInstantText[string]),
	} {
		arguments := int32(1)
		switch name {
		case sqltext.SQLiteRatio, sqltext.SQLiteForm, sqltext.SQLiteLocal, sqltext.SQLiteRead:
			arguments = 2
		}
		d.MustRegisterDeterministicScalarFunction(name, arguments,
			func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) { return f(args), nil })
	}
	d.MustRegisterCollationUtf8(sqltext.SQLiteDecimal, compareNumbers)
}

func registerAggregate(d *sqlite.Driver, name string, arguments int32, begin func() sqlite.AggregateFunction) {
	d.MustRegisterFunction(name, &sqlite.FunctionImpl{NArgs: arguments, Deterministic: true, VolatileArgs: true,
		MakeAggregate: func(sqlite.FunctionContext) (sqlite.AggregateFunction, error) { return begin(), nil },
	})
}

// total adds numbers up, and passes over everything else.
type total struct {
	sum   exact
	count int64
	// digits is how many digits a sum shows at least behind the point.
	digits int
	finish func(*total) driver.Value
}

// Step implements sqlite.AggregateFunction.
func (t *total) Step(_ *sqlite.FunctionContext, args []driver.Value) error {
	if n, ok := toNumber(args[0]); ok {
		t.sum.add(&n)
		t.count++
	}
	if len(args) > 1 {
		digits, _ := args[1].(int64)
		t.digits = int(digits)
	}
	return nil
}

// WindowInverse implements sqlite.AggregateFunction.
func (t *total) WindowInverse(_ *sqlite.FunctionContext, args []driver.Value) error {
	if n, ok := toNumber(args[0]); ok {
		n.unscaled.Neg(&n.unscaled)
		t.sum.add(&n)
		t.count--
	}
	return nil
}

// WindowValue implements sqlite.AggregateFunction.
func (t *total) WindowValue(*sqlite.FunctionContext) (driver.Value, error) {
	if t.count == 0 {
		return nil, nil
	}
	return t.finish(t), nil
}

// Final implements sqlite.AggregateFunction.
func (*total) Final(*sqlite.FunctionContext) {}

func sumOf(t *total) driver.Value { return t.sum.text(t.digits) }

func averageOf(t *total) driver.Value {
	var count exact
	count.unscaled.SetInt64(t.count)
	q := quotient(&t.sum, &count, database.QuotientDigits)
	return q.text(database.QuotientDigits)
}

func fractionOf(t *total) driver.Value {
	return fmt.Sprintf("%v/%d", t.sum.text(0), t.count)
}

// toFraction reads what fractionOf wrote, or a number, whose count is 1; false if it is neither.
func toFraction(value driver.Value) (sum exact, count *big.Int, ok bool) {
	count = big.NewInt(1)
	if text, isText := value.(string); isText {
		if above, below, isFraction := strings.Cut(text, "/"); isFraction {
			_, ok = count.SetString(below, 10)
			value = above
			if !ok {
				return sum, nil, false
			}
		}
	}
	sum, ok = toNumber(value)
	return sum, count, ok
}

// ratio is NULL if one of its values is not a number, or if the divisor is 0.
func ratio(args []driver.Value) driver.Value {
	dividend, dividedBy, ok := toFraction(args[0])
	divisor, multipliedBy, also := toFraction(args[1])
	if !ok || !also || divisor.unscaled.Sign() == 0 {
		return nil
	}
	dividend.unscaled.Mul(&dividend.unscaled, multipliedBy)
	divisor.unscaled.Mul(&divisor.unscaled, dividedBy)
	q := quotient(&dividend, &divisor, database.QuotientDigits)
	return q.text(database.QuotientDigits)
}

func numberText(args []driver.Value) driver.Value {
	n, ok := toNumber(args[0])
	if !ok {
		return nil
	}
	return n.text(0)
}

// asShown returns a function that writes a timestamp as rows show it.
func asShown(write func([]byte, string) []byte) func([]driver.Value) driver.Value {
	return func(args []driver.Value) driver.Value {
		if text, ok := args[0].(string); ok && sqltext.SQLiteMoment(text) {
			return string(write(nil, text))
		}
		return args[0]
	}
}
