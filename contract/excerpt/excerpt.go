// Package excerpt shortens texts of others for messages, logs and statuses. Every package may import it.
package excerpt

import (
	"strings"
	"unicode"
)

// mark ends a text that was cut.
const mark = "…"

// Of returns a text of at most most bytes unchanged, and of a longer one the beginning and a mark, together at most that
// long. It cuts between characters. The least most is the mark's three bytes.
func Of[T string | []byte](text T, most int) string {
	if len(text) <= most {
		return string(text)
	}
	return strings.ToValidUTF8(string(text[:most-len(mark)]), "") + mark
}

// Visible returns a text with a blank in the place of each character that could make a terminal or a page show something else:
// controls, marks of direction and other invisible ones, and what is no UTF-8.
func Visible(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, text)
}
