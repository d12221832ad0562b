package catalog

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcp-admin/mcp-admin-operator/contract/spelling"
)

// rename gives fields the names that the exposure has for them. taken are the names that fields already have. It returns
// the fields that were renamed.
func (m *Model) rename(taken map[string]bool) (map[*Field]bool, *problem) {
	renamed := map[*Field]bool{}
	for _, o := range m.Declared.Overrides {
		i := slices.IndexFunc(m.all, func(f *Field) bool { return f.Column.Name == o.Name })
		if o.Rename == "" || i < 0 || o.Rename == o.Name {
			continue // overrideFields says that the column does not exist
		}
		if taken[o.Rename] {
			return nil, notAllowed("fields.overrides: %s cannot be renamed %s, because another column has that name", o.Name, o.Rename)
		}
		taken[o.Rename], renamed[m.all[i]] = true, true
		m.all[i].Name = o.Rename
	}
	return renamed, nil
}

// makePlain renames the columns whose names the APIs of common clients refuse as a member of an object. taken are the names
// that fields and relations already have.
func (m *Model) makePlain(taken map[string]bool) {
	for i, f := range m.all {
		if plainName.MatchString(f.Name) {
			continue
		}
		name := asciiName(f.Name)
		if name == "" || taken[name] || !plainName.MatchString(name) {
			name = fmt.Sprintf("column_%d", i+1)
		}
		if taken[name] {
			continue // as a last resort the field keeps its own name
		}
		taken[name] = true
		m.note("The column %q is called %s, because common clients refuse its own name. Rename it in fields.overrides.", f.Column.Name, name)
		f.Name = name
	}
}

// plainName matches the names that even the strictest of the common clients' APIs accepts as a property of a tool's schema.
var plainName = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)

// asciiName makes a name of Latin letters, digits and underscores. It drops characters that have no such letter.
func asciiName(name string) string {
	words := strings.FieldsFunc(spelling.Latin(name), func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	return strings.ToLower(strings.Join(words, "_"))
}

// RelationName derives a relation's name from a foreign key's column: without an id that is a word of its own (owner_id,
// "Owner ID"), or without Id or ID after a lower-case letter or digit, in snake case; "" if nothing is left
// (docs/design/values.md, "Relations").
func RelationName(column string) string {
	stem := column
	if n := len(column) - 2; n > 0 && strings.EqualFold(column[n:], "id") {
		before, _ := utf8.DecodeLastRuneInString(column[:n])
		isWord := !unicode.IsLetter(before) && !unicode.IsDigit(before)
		isCapital := column[n] == 'I' && (unicode.IsLower(before) || unicode.IsDigit(before))
		if isWord || isCapital {
			stem = column[:n]
		}
	}
	return snakeCase(stem)
}

func snakeCase(name string) string {
	return strings.Join(Words(name), "_")
}

// Words splits a column's name into its lower-case words, in Latin letters. A word ends at anything that is not a letter or
// digit, and before a capital that begins another word.
func Words(name string) []string {
	var all []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			all = append(all, strings.ToLower(string(word)))
			word = nil
		}
	}
	runes := []rune(spelling.Latin(name))
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
