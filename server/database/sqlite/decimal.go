package sqlite

import (
	"cmp"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// exact is a number in decimal digits: unscaled divided by ten to the power of scale, which is not negative.
type exact struct {
	unscaled big.Int
	scale    int
}

// most is how many digits, and which power of ten, a text may have that is taken for a number. Every float has fewer.
const most = 1000

// parseNumber reads the text of a number, such as -12.50 or 1e-7.
func parseNumber(text string) (n exact, ok bool) {
	mantissa, exponent := text, 0
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		power, err := strconv.Atoi(text[at+1:])
		if err != nil || power > most || power < -most {
			return exact{}, false
		}
		mantissa, exponent = text[:at], power
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := whole + fraction
	if len(digits) > most || !isDigits(strings.TrimLeft(whole, "+-")+fraction) {
		return exact{}, false
	}
	if small, err := strconv.ParseInt(digits, 10, 64); err == nil {
		n.unscaled.SetInt64(small)
	} else if _, ok := n.unscaled.SetString(digits, 10); !ok {
		return exact{}, false
	}
	n.scale = len(fraction) - exponent
	n.rescale(max(n.scale, 0))
	return n, true
}

func isDigits(text string) bool {
	for i := 0; i < len(text); i++ {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return text != ""
}

// toNumber reads one of the driver's values. A float is the shortest decimal that stands for it. Infinity, bytes and
// texts that are not numbers are not numbers.
func toNumber(value any) (n exact, ok bool) {
	switch v := value.(type) {
	case int64:
		n.unscaled.SetInt64(v)
		return n, true
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return exact{}, false
		}
		var memory [32]byte
		return parseNumber(string(strconv.AppendFloat(memory[:0], v, 'e', -1, 64)))
	case string:
		return parseNumber(v)
	}
	return exact{}, false
}

var ten = big.NewInt(10)

// power returns ten to the power of n.
func power(n int) *big.Int { return new(big.Int).Exp(ten, big.NewInt(int64(n)), nil) }

// rescale gives the number a larger scale.
func (n *exact) rescale(scale int) {
	if scale > n.scale {
		n.unscaled.Mul(&n.unscaled, power(scale-n.scale))
		n.scale = scale
	}
}

// add adds another number.
func (n *exact) add(other *exact) {
	n.rescale(other.scale)
	other.rescale(n.scale)
	n.unscaled.Add(&n.unscaled, &other.unscaled)
}

// quotient divides two numbers; halves of the last of its digits behind the point are rounded away from zero. The divisor
// is not 0.
func quotient(dividend, divisor *exact, digits int) (q exact) {
	a := new(big.Int).Mul(&dividend.unscaled, power(divisor.scale+digits))
	b := new(big.Int).Mul(&divisor.unscaled, power(dividend.scale))
	negative := a.Sign()*b.Sign() < 0
	a.Abs(a).Lsh(a, 1)
	b.Abs(b)
	a.Add(a, b).Quo(a, b.Lsh(b, 1)) // (2a + b) / 2b
	if negative {
		a.Neg(a)
	}
	q.unscaled.Set(a)
	q.scale = digits
	return q
}

// text writes a number without zeros at its end, but with at least some digits behind the point.
func (n *exact) text(least int) string {
	digits := new(big.Int).Abs(&n.unscaled).String()
	if len(digits) <= n.scale {
		digits = strings.Repeat("0", n.scale+1-len(digits)) + digits
	}
	whole, fraction := digits[:len(digits)-n.scale], strings.TrimRight(digits[len(digits)-n.scale:], "0")
	if len(fraction) < least {
		fraction += strings.Repeat("0", least-len(fraction))
	}
	if n.unscaled.Sign() < 0 {
		whole = "-" + whole
	}
	if fraction == "" {
		return whole
	}
	return whole + "." + fraction
}

// compareNumbers compares two texts that exact.text has written. A text that is not a number, such as Infinity, is
// greater than all numbers; with a minus sign it is less.
func compareNumbers(left, right string) int {
	a, b := classOf(left), classOf(right)
	switch {
	case a != b:
		return cmp.Compare(a, b)
	case a == 0:
		return compareDigits(left, right)
	}
	return strings.Compare(left, right)
}

// classOf is 0 for a number, 1 for a text that is greater than all numbers, and -1 for one that is less.
func classOf(text string) int {
	digits := strings.TrimPrefix(text, "-")
	switch {
	case digits != "" && digits[0] >= '0' && digits[0] <= '9':
		return 0
	case digits != text:
		return -1
	}
	return 1
}

func compareDigits(left, right string) int {
	a, leftNegative := strings.CutPrefix(left, "-")
	b, rightNegative := strings.CutPrefix(right, "-")
	switch {
	case leftNegative && rightNegative:
		a, b = b, a
	case leftNegative:
		return -1
	case rightNegative:
		return 1
	}
	wholeA, fractionA, _ := strings.Cut(a, ".")
	wholeB, fractionB, _ := strings.Cut(b, ".")
	return cmp.Or(
		cmp.Compare(len(wholeA), len(wholeB)),
		strings.Compare(wholeA, wholeB),
		strings.Compare(strings.TrimRight(fractionA, "0"), strings.TrimRight(fractionB, "0")),
	)
}
