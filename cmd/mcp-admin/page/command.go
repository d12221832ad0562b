package page

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/output"
)

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:@%+=,-]+$`)

// CommandLine is a command to copy. Each word that a shell might take for more than a word is quoted: names of columns and tokens come
// from others.
func CommandLine(words ...string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		switch {
		case plainWord.MatchString(word):
			quoted[i] = word
		case output.Printable(word) == word:
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		default: // it has characters that are not seen
			text := strconv.QuoteToASCII(word)
			quoted[i] = "$'" + strings.ReplaceAll(strings.ReplaceAll(text[1:len(text)-1], `\"`, `"`), "'", `\'`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}
