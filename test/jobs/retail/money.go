package main

import (
	"fmt"
	"strconv"
	"strings"
)

// cents is an amount of money.
type cents int64

// readMoney reads an amount as the server shows it: a decimal of two places.
func readMoney(text string) (cents, error) {
	whole, fraction, _ := strings.Cut(text, ".")
	n, err := strconv.ParseInt(whole+(fraction + "00")[:2], 10, 64)
	if err != nil || len(fraction) > 2 {
		return 0, fmt.Errorf("%q is no amount of money", text)
	}
	return cents(n), nil
}

func (c cents) String() string {
	sign := ""
	if c < 0 {
		sign, c = "-", -c
	}
	return fmt.Sprintf("%s%d.%02d", sign, c/100, c%100)
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (c *cents) UnmarshalText(text []byte) (err error) {
	*c, err = readMoney(string(text))
	return err
}

// MarshalText implements encoding.TextMarshaler.
func (c cents) MarshalText() ([]byte, error) { return []byte(c.String()), nil } //nolint:unparam // the interface has the error
