package catalog

import (
	"strings"
	"unicode"
)

// relationName is what a foreign key's column leads to: the column's name less _id, or less Id or ID after a lower-case
// letter or digit, in snake case; "" where nothing is left (docs/design/values.md, "Relations").
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

// looksSecret is whether a column is named like something that no one should read by accident (docs/design/values.md,
// "Secrets").
func looksSecret(column string) bool {
	parts := words(column)
	for _, word := range parts {
		if word == "salt" || word == "pwd" || strings.HasSuffix(word, "token") || strings.HasSuffix(word, "hash") {
			return true
		}
	}
	joined := strings.Join(parts, "")
	for _, piece := range []string{"password", "passwd", "passphrase", "secret", "apikey", "privatekey"} {
		if strings.Contains(joined, piece) {
			return true
		}
	}
	return false
}
