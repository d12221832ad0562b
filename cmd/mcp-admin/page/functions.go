package page

import (
	"html/template"
	"net/url"
	"strconv"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/output"
)

// shortest, longest and decided are how many characters of a text are shown at most: of a name, of a sentence, and of what somebody decides
// about, which is longer than any text of an MCPApproval.
const (
	shortest = 80
	longest  = 600
	decided  = 4000
)

// functions are what the templates call. No text goes past the templates' own escapes.
func functions(root, base string) template.FuncMap {
	return template.FuncMap{
		// link is the path of a screen, of its parts.
		"link": func(parts ...string) string {
			escaped := make([]string, len(parts))
			for i, part := range parts {
				escaped[i] = url.PathEscape(part)
			}
			return root + strings.Join(escaped, "/")
		},
		"static": func(name string) string { return base + "static/" + name },
		"short":  func(text string) string { return bounded(text, shortest) },
		"long":   func(text string) string { return bounded(text, longest) },
		"whole":  func(text string) string { return bounded(text, decided) },
		// sentence has a message begin and end as a sentence.
		"sentence": sentenceCase,
		"join":     strings.Join,
		"add":      func(a, b int) int { return a + b },
		// thousands is a number with a comma between thousands.
		"thousands": thousands,
	}
}

// bounded is at most so many characters of a text, in which what is not seen stands as its escape: a name may hold marks that turn the
// direction of all that follows.
func bounded(text string, most int) string {
	if len(text) > 4*most {
		text = strings.ToValidUTF8(text[:4*most], "")
	}
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most-1]) + "…"
	}
	return output.PrintableBut(text, "\n")
}

func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
