package permissions

import (
	"cmp"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"time"
)

// kind is the kind of a column's values.
type kind int

const (
	aText kind = iota
	anInteger
	aDecimal
	aFloat
	aDate
	aMoment
)

func (k kind) isNumber() bool { return k == anInteger || k == aDecimal || k == aFloat }

func (k kind) isTime() bool { return k == aDate || k == aMoment }

// values is the kind of a column's values: keys and what refers to them are integers, but for codes.
func (c column) values() kind {
	if c.kind == aText && (c.key || c.refers != "" || c.name == "item_id" || c.name == "number") {
		return anInteger
	}
	return c.kind
}

// canonical is the one form that the oracle has of a value: numbers as 1.5 or else as 1/3, dates as 2026-04-05, moments as
// 2026-04-05T13:00:00. NULL is "".
func (k kind) canonical(text string) string {
	switch {
	case text == "":
		return ""
	case k.isNumber():
		n, ok := new(big.Rat).SetString(text)
		if !ok {
			return "no number: " + text
		}
		if short := n.FloatString(2); rational(short).Cmp(n) == 0 {
			return strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(short, "0"), "0"), ".")
		}
		return n.RatString()
	case k.isTime():
		text = strings.TrimSuffix(strings.Replace(text, " ", "T", 1), "Z")
		if k == aDate && len(text) > 10 {
			return text[:10]
		}
	}
	return text
}

// random makes up a value; NULL, once in a while. Numbers are multiples of a quarter, so that floats are exact, and few, so
// that groups have several rows.
func (k kind) random(r *rand.Rand) string {
	if chance(r, 15) {
		return ""
	}
	day := fmt.Sprintf("202%d-%02d-%02d", 4+r.IntN(3), 1+r.IntN(12), pick(r, 1, 2, 15, 28))
	switch k {
	case anInteger:
		return fmt.Sprint(r.IntN(9) - 2)
	case aDecimal, aFloat:
		return fmt.Sprintf("%.2f", float64(r.IntN(40)-8)/4)
	case aDate:
		return day
	case aMoment:
		return fmt.Sprintf("%s %02d:%02d:00", day, r.IntN(24), pick(r, 0, 30))
	}
	return pick(r, regions...)
}

// compare orders two values of comparable kinds, which are not NULL. A date is the beginning of its day.
func compare(a, b string, of, other kind) int {
	switch {
	case of.isNumber():
		return rational(a).Cmp(rational(b))
	case of.isTime() && of != other:
		return cmp.Compare(beginning(a), beginning(b))
	}
	return cmp.Compare(a, b)
}

func beginning(moment string) string {
	if len(moment) == 10 {
		return moment + "T00:00:00"
	}
	return moment
}

// rational is a canonical number.
func rational(text string) *big.Rat {
	n, ok := new(big.Rat).SetString(text)
	if !ok {
		panic("no number: " + text)
	}
	return n
}

// areComparable reports whether values of two kinds can be compared.
func areComparable(a, b kind) bool {
	return a == b || a.isNumber() && b.isNumber() || a.isTime() && b.isTime()
}

// part is a piece of a date or moment, in canonical form; its kind is the second result. false: the kind has no such piece.
func part(text, name string, of kind) (string, kind, bool) {
	if !of.isTime() || name == "hour" && of == aDate {
		return "", 0, false
	}
	t, err := time.Parse("2006-01-02T15:04:05", beginning(text))
	if text != "" && err != nil {
		panic(err)
	}
	var value string
	is := aText
	switch name {
	case "year":
		value, is = t.Format("2006"), anInteger
	case "quarter":
		value = fmt.Sprintf("%d-Q%d", t.Year(), (t.Month()+2)/3)
	case "month":
		value = t.Format("2006-01")
	case "week":
		year, week := t.ISOWeek()
		value = fmt.Sprintf("%d-W%02d", year, week)
	case "day":
		value = t.Format("2006-01-02")
	case "hour":
		value = t.Format("2006-01-02T15")
	case "weekday":
		value, is = fmt.Sprint((int(t.Weekday())+6)%7+1), anInteger
	default:
		return "", 0, false
	}
	if text == "" {
		value = ""
	}
	return value, is, true
}

// number is the number of a piece of a date or moment.
func number(text, piece string) int {
	t, err := time.Parse("2006-01-02T15:04:05", beginning(text))
	if err != nil {
		panic(err)
	}
	_, week := t.ISOWeek()
	return map[string]int{"year": t.Year(), "quarter": (int(t.Month()) + 2) / 3, "month": int(t.Month()), "week": week, "day": t.Day(),
		"hour": t.Hour(), "weekday": (int(t.Weekday())+6)%7 + 1}[piece]
}

// quotient is a / b with 12 digits behind the point, less trailing zeros, but at least 6; halves are rounded away
// from zero.
func quotient(a, b *big.Rat) string {
	text := new(big.Rat).Quo(a, b).FloatString(12)
	if strings.Trim(text, "-0.") == "" {
		text = strings.TrimPrefix(text, "-")
	}
	for strings.HasSuffix(text, "0") && len(text)-strings.Index(text, ".")-1 > 6 {
		text = text[:len(text)-1]
	}
	return text
}
