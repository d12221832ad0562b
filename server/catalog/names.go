package catalog

import (
	"strings"
	"unicode"
)

// relationName is what a foreign key's column leads to: the column's name less _id, or less Id or ID after a lower-case
// letter or digit, in snake case; "" where nothing is left (decisions section 4, "Relations").
func relationName(column string) string {
	stem := column
	switch {
	case strings.HasSuffix(strings.ToLower(column), "_id"):
		stem = column[:len(column)-3]
	case strings.HasSuffix(column, "Id"), strings.HasSuffix(column, "ID"):
		head := []rune(column[:len(column)-2])
		if len(head) > 0 && (unicode.IsLower(head[len(head)-1]) || unicode.IsDigit(head[len(head)-1])) {
			stem = string(head)
		}
	}
	return snakeCase(stem)
}

func snakeCase(name string) string {
	return strings.Join(words(name), "_")
}

// words splits a column's name into its lower-case words, at anything that is no letter or digit and where capitals
// begin a word.
func words(name string) []string {
	var all []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			all = append(all, strings.ToLower(string(word)))
			word = nil
		}
	}
	runes := []rune(name)
	for i, r := range runes {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			flush()
			continue
		}
		if unicode.IsUpper(r) && len(word) > 0 {
			last := word[len(word)-1]
			beforeLower := i+1 < len(runes) && unicode.IsLower(runes[i+1])
			if !unicode.IsUpper(last) || beforeLower {
				flush()
			}
		}
		word = append(word, r)
	}
	flush()
	return all
}
