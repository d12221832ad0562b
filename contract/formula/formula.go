// Package formula keeps texts in files of CSV from being formulas in the spreadsheet that opens the file. Everybody may import it; it
// imports nothing of the project.
package formula

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Disarm returns the text, with an apostrophe before it if a spreadsheet may take it for a formula.
func Disarm(text string) string {
	if is(text) {
		return "'" + text
	}
	return text
}

// is reports whether a spreadsheet may take a text for a formula: by its first character, in the width of East Asian texts too,
// once what spreadsheets pass over is gone. Tabs and ends of lines count themselves, as some split cells there.
func is(text string) bool {
	if text != "" && strings.ContainsRune("\t\r\n", rune(text[0])) {
		return true
	}
	text = strings.TrimLeftFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) })
	first, _ := utf8.DecodeRuneInString(text)
	return text != "" && strings.ContainsRune("=+-@＝＋－＠", first)
}
