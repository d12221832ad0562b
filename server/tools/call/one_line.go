package call

import (
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract/excerpt"
)

// OneLine is a text of at most so many characters, without what could make a terminal or a page show something else.
func OneLine(text string, most int) string {
	text = strings.Join(strings.Fields(excerpt.Visible(text)), " ")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}
