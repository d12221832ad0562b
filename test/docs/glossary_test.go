package docs

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// wordOfGlossary is a row of the glossary: the word, and what it means.
var wordOfGlossary = regexp.MustCompile(`(?m)^\| ([^|]+) \| [^|]+ \|$`)

func TestTheGlossaryIsInAlphabeticalOrder(t *testing.T) {
	_, rows, ok := strings.Cut(read(t, "docs/glossary.md"), "|---|---|\n")
	if !ok {
		t.Fatal("docs/glossary.md has no table")
	}
	var words []string
	for _, match := range wordOfGlossary.FindAllStringSubmatch(rows, -1) {
		words = append(words, strings.ToLower(match[1]))
	}
	if len(words) < 20 {
		t.Fatalf("only %d words were found", len(words))
	}
	if want := slices.Sorted(slices.Values(words)); !slices.Equal(words, want) {
		t.Errorf("the words are in the order %q instead of %q", words, want)
	}
}
