package output

import (
	"strconv"
	"strings"
	"unicode"
)

// Printable is a text in which what is not seen, or would change how the rest is seen, stands as its escape: names in
// databases may hold the codes of terminals, line breaks, and marks that turn the direction of writing.
func Printable(text string) string { return PrintableBut(text, "") }

// PrintableBut is Printable for a text in which some characters that are not seen have a meaning.
func PrintableBut(text, kept string) string {
	var b strings.Builder
	for _, r := range text {
		if unicode.IsPrint(r) || strings.ContainsRune(kept, r) {
			b.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRune(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}
