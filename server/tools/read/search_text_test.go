package read

import (
	"fmt"
	"strings"
	"testing"
)

// written is a search as it was read: terms in [], with | between what may stand for one another.
func written(terms []searchTerm) string {
	all := make([]string, len(terms))
	for i, term := range terms {
		phrases := make([]string, len(term.any))
		for j, phrase := range term.any {
			phrases[j] = string(phrase)
		}
		all[i] = fmt.Sprintf("[%s]", strings.Join(phrases, "|"))
		if term.not {
			all[i] = "-" + all[i]
		}
	}
	return strings.Join(all, " ")
}

func TestParseSearch(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "solar power": "[solar] [power]", `"solar power" sea`: "[solar power] [sea]", "-sea wind": "-[sea] [wind]", `-"sea wind"`: "-[sea wind]",
		"tea or coffee sea": "[tea|coffee] [sea]", "a OR b or c": "[a|b|c]", "or": "[or]", "or a": "[or] [a]", "a or": "[a] [or]", "a or or b": "[a|or] [b]", `a "or" b`: "[a] [or] [b]",
		`"open phrase`: "[open phrase]", `a"b c"d`: "[a] [b c] [d]", "-": "[-]", "- a": "[-] [a]", "--a": "-[-a]", `""`: "", `a "" b`: "[a] [b]", "C++ x-y": "[C++] [x-y]", "\u00a0a\u00a0b": "[a] [b]",
	} {
		terms, err := parseSearch(text)
		if got := written(terms); err != nil || got != want {
			t.Errorf("%q is read as %q, %v, want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"-a or b", "a or -b"} {
		if _, err := parseSearch(text); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}

func FuzzParseSearch(f *testing.F) {
	f.Add(`a "b c" -d or e`)
	f.Fuzz(func(t *testing.T, text string) {
		terms, err := parseSearch(text)
		if err != nil {
			return
		}
		for _, term := range terms {
			for _, phrase := range term.any {
				if strings.Contains(string(phrase), `"`) || strings.TrimSpace(string(phrase)) == "" || !strings.Contains(text, string(phrase)) {
					t.Errorf("%q has the phrase %q", text, phrase)
				}
				for _, word := range phrase.words() {
					if strings.ContainsAny(word, " \"'\\()*+-@~<>:") {
						t.Errorf("%q has the word %q", text, word)
					}
				}
			}
		}
	})
}
