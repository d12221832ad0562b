package main

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// namer gives names that no two things have.
type namer map[string]bool

// name makes a name of lower-case ASCII letters, digits and underscores, without accents, that begins with a letter and has
// no two underscores in a row, as those divide a path.
func (n namer) name(text string, most int) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(strings.ReplaceAll(text, "ß", "ss")) {
		switch {
		case r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			b.WriteRune(unicode.ToLower(r))
		case !unicode.Is(unicode.Mn, r):
			b.WriteByte('_')
		}
	}
	name := strings.Join(strings.FieldsFunc(b.String(), func(r rune) bool { return r == '_' }), "_")
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		name = strings.TrimSuffix("x_"+name, "_")
	}
	name = strings.TrimSuffix(name[:min(len(name), most-3)], "_")
	unique := name
	for i := 2; n[unique]; i++ {
		unique = fmt.Sprintf("%s%d", name, i)
	}
	n[unique] = true
	return unique
}
