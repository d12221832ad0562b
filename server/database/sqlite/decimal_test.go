package sqlite

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

func TestNumbersAreReadAndWritten(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "-0": "0", "-0.00": "0", "1": "1", "+1": "1", "1.50": "1.5", ".5": "0.5", "5.": "5", "-12.34": "-12.34", "1e3": "1000", "1.25E1": "12.5",
		"1e-7": "0.0000001", "-9.9e+1": "-99", "92233720368547758070": "92233720368547758070", "007": "7",
	} {
		if n, ok := parseNumber(text); !ok || n.text(0) != want {
			t.Errorf("%s is %s, %t, want %s", text, n.text(0), ok, want)
		}
	}
	for _, text := range []string{"", ".", "-", "+", "e5", "1e", "1e5.5", "1e99999", "0x10", "1_000", "1 ", " 1", "--1", "+-1", "1-", "1.-5", "Infinity", "NaN", "1,5", "1.2.3", "٣", strings.Repeat("1", 1001)} {
		if n, ok := parseNumber(text); ok {
			t.Errorf("%q is read as %s", text, n.text(0))
		}
	}
	n, _ := parseNumber("59.7")
	if n.text(2) != "59.70" || n.text(1) != "59.7" || n.text(0) != "59.7" {
		t.Errorf("with zeros it is %s", n.text(2))
	}
}

func TestFloatsAreTheirShortestDecimals(t *testing.T) {
	for _, f := range []float64{0.1, 1e300, -5e-324, math.MaxFloat64, 1 << 60, 59.4} {
		n, ok := toNumber(f)
		if !ok || n.text(0) != strconv.FormatFloat(f, 'f', -1, 64) {
			t.Errorf("%g is %s", f, n.text(0))
		}
	}
	for _, value := range []any{nil, math.Inf(1), math.NaN(), []byte("1"), "tea"} {
		if _, ok := toNumber(value); ok {
			t.Errorf("%v is a number", value)
		}
	}
}

func TestNumbersAreCompared(t *testing.T) {
	ordered := []string{"-Infinity", "-1000000000000000000000", "-10.5", "-10", "-9.99", "-0.5", "-0.05", "0", "0.05", "0.5", "9.99", "10", "10.5", "1000000000000000000000", "Infinity", "NaN"}
	for i, a := range ordered {
		for j, b := range ordered {
			if got := compareNumbers(a, b); got < 0 != (i < j) || got > 0 != (i > j) {
				t.Errorf("%s and %s: %d", a, b, got)
			}
		}
	}
	if compareNumbers("1.50", "1.5") != 0 || compareNumbers("-2.000000000000", "-2") != 0 {
		t.Error("zeros at the end make a difference")
	}
}

func TestQuotientsAreRoundedAwayFromZero(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		a, b := big.NewInt(random.Int64()-1<<62), big.NewInt(random.Int64N(1<<uint(1+random.IntN(62)))+1)
		dividend, divisor := exact{scale: random.IntN(5)}, exact{scale: random.IntN(5)}
		dividend.unscaled.Set(a)
		divisor.unscaled.Set(b)
		if random.IntN(2) == 0 {
			divisor.unscaled.Neg(b)
		}
		want := new(big.Rat).SetFrac(&dividend.unscaled, power(dividend.scale))
		want.Quo(want, new(big.Rat).SetFrac(&divisor.unscaled, power(divisor.scale)))
		q := quotient(&dividend, &divisor, 12)
		if got := q.text(12); got != want.FloatString(12) && strings.Trim(got, "-0.") != "" {
			t.Fatalf("%s / %s is %s, want %s", dividend.text(0), divisor.text(0), got, want.FloatString(12))
		}
	}
}
