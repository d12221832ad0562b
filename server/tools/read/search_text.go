package read

import (
	"strings"
	"unicode"

	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// searchPhrase is a word or a phrase of a search, as it was written.
type searchPhrase string

// words are the pieces of a phrase that a full-text index may have: of letters, marks and digits.
func (p searchPhrase) words() []string {
	return strings.FieldsFunc(string(p), func(r rune) bool {
		return r != '_' && !unicode.In(r, unicode.L, unicode.M, unicode.N)
	})
}

// searchTerm asks for one of several phrases, or for none of them.
type searchTerm struct {
	any []searchPhrase
	not bool
}

// parseSearch reads the text of a search: words, "phrases", -without, and either or. A quote that is not closed ends with the text.
func parseSearch(text string) ([]searchTerm, error) {
	var terms []searchTerm
	joins := false // the word before was or
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		not := len(text) > 1 && text[0] == '-' && !startsBlank(text[1:])
		if not {
			text = text[1:]
		}
		phrase, rest, quoted := cutPhrase(text)
		text = rest
		if !quoted && !not && strings.EqualFold(string(phrase), "or") && len(terms) > 0 && !joins && strings.TrimSpace(text) != "" {
			joins = true
			continue
		}
		if strings.TrimSpace(string(phrase)) == "" {
			continue
		}
		last := len(terms) - 1
		switch {
		case joins && (not || terms[last].not):
			return nil, call.Invalid("search: or stands between words or phrases that are looked for, and not beside -%s; send -a -b for rows without either", phrase)
		case joins:
			terms[last].any = append(terms[last].any, phrase)
		default:
			terms = append(terms, searchTerm{any: []searchPhrase{phrase}, not: not})
		}
		joins = false
	}
	return terms, nil
}

func startsBlank(text string) bool { return strings.TrimLeftFunc(text, unicode.IsSpace) != text }

// cutPhrase cuts the first word or quoted phrase off a text.
func cutPhrase(text string) (phrase searchPhrase, rest string, quoted bool) {
	if strings.HasPrefix(text, `"`) {
		inside, rest, _ := strings.Cut(text[1:], `"`)
		return searchPhrase(strings.TrimSpace(inside)), rest, true
	}
	if end := strings.IndexFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == '"' }); end >= 0 {
		return searchPhrase(text[:end]), text[end:], false
	}
	return searchPhrase(text), "", false
}
