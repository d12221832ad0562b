package main

import (
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

const (
	// places are after the point of a decimal number, digits in one that is not exact. More are not compared.
	places = 12
	digits = 10
)

// Drivers and documents write days and moments in several forms: with a T, a zone, or a time of midnight.
var (
	day    = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}`)
	moment = regexp.MustCompile(`^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2})(\.\d*[1-9])?\.?0*(?:Z|[-+]00(?::?00)?)?$`)
)

// text is a value in one form, whichever engine or document it is from: numbers without zeros at their end, truth as true and
// false, days as 2026-01-31 and moments as 2026-01-31 08:00:00.
func (c column) text(value any) string {
	text := fmt.Sprint(value)
	switch c.kind {
	case "DECIMAL", "NUMERIC":
		if amount, ok := new(big.Rat).SetString(text); ok {
			return strings.TrimRight(strings.TrimRight(amount.FloatString(places), "0"), ".")
		}
	case "REAL", "FLOAT", "DOUBLE", "DOUBLE PRECISION":
		if number, err := strconv.ParseFloat(text, 64); err == nil {
			return strconv.FormatFloat(number, 'g', digits, 64)
		}
	case "DATE":
		if found := day.FindString(text); found != "" {
			return found
		}
	case "TIMESTAMP":
		return moment.ReplaceAllString(text, "$1 $2$3")
	case "BOOLEAN":
		if truth, err := strconv.ParseBool(text); err == nil {
			return strconv.FormatBool(truth)
		}
	}
	return text
}

// value is a row's value as drivers take it.
func (c column) value(r row) any {
	text, there := r[c.name]
	switch {
	case !there:
		return nil
	case c.kind == "BOOLEAN":
		return text == "true"
	case strings.Contains(c.kind, "INT"):
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n
		}
	}
	return text
}
