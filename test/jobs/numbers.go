package main

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// numberTexts says which numbers the texts of a column hold.
type numberTexts struct {
	// reads is the type of the numbers.
	reads string
	// others reports whether there are texts that are no numbers, which SQLite takes for 0. oneLength reports whether there are none,
	// and all are whole numbers of equally many digits.
	others, oneLength bool
}

var (
	integerText = regexp.MustCompile(`^ *[+-]?[0-9]{1,18} *$`)
	decimalText = regexp.MustCompile(`^ *[+-]?([0-9]{1,20}(\.[0-9]{1,12})?|\.[0-9]{1,12}) *$`)
)

// numbersIn finds out which numbers the texts of a column hold. It returns nil if SQLite computes with one of them otherwise than the server, or if
// none is a number.
func (s *source) numbersIn(ctx context.Context, t *sourceTable, c *sourceColumn) (*numberTexts, error) {
	texts, err := s.texts(ctx, fmt.Sprintf("SELECT DISTINCT %[1]s, CAST(%[1]s AS REAL) = 0 FROM %[2]s WHERE %[1]s IS NOT NULL", quote(c.name), quote(t.name)), 2)
	if err != nil || len(texts) == 0 {
		return nil, err
	}
	held, length, numbers := &numberTexts{reads: contract.TypeInteger}, len(texts[0][0]), 0
	for _, row := range texts {
		switch text := row[0]; {
		case decimalText.MatchString(text):
			numbers++
			if !integerText.MatchString(text) {
				held.reads = contract.TypeDecimal
			}
			if len(text) != length || strings.Trim(text, "0123456789") != "" {
				length = 0
			}
		case row[1] == "1":
			held.others = true
		default:
			return nil, nil
		}
	}
	held.oneLength = length > 0 && !held.others
	if numbers == 0 {
		return nil, nil
	}
	return held, nil
}
