package spelling

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// letters are how letters are written in plain Latin ones: as their own readers would, if they had no others.
var letters = map[rune]string{
	'ä': "ae", 'ö': "oe", 'ü': "ue", 'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "oe", 'đ': "d", 'ð': "d", 'þ': "th", 'ł': "l", 'ħ': "h", 'ı': "i", 'ŋ': "ng",
	'ŧ': "t", 'ə': "e",
	// Cyrillic
	'а': "a", 'б': "b", 'в': "v", 'г': "g", 'ґ': "g", 'д': "d", 'ђ': "dj", 'е': "e", 'ё': "yo", 'є': "ye", 'ж': "zh", 'з': "z", 'и': "i", 'і': "i",
	'ї': "yi", 'й': "y", 'ј': "j", 'к': "k", 'л': "l", 'љ': "lj", 'м': "m", 'н': "n", 'њ': "nj", 'о': "o", 'п': "p", 'р': "r", 'с': "s", 'т': "t",
	'ћ': "c", 'у': "u", 'ў': "u", 'ф': "f", 'х': "kh", 'ц': "ts", 'ч': "ch", 'џ': "dz", 'ш': "sh", 'щ': "shch", 'ъ': "", 'ы': "y", 'ь': "", 'э': "e",
	'ю': "yu", 'я': "ya",
	// Greek
	'α': "a", 'β': "v", 'γ': "g", 'δ': "d", 'ε': "e", 'ζ': "z", 'η': "i", 'θ': "th", 'ι': "i", 'κ': "k", 'λ': "l", 'μ': "m", 'ν': "n", 'ξ': "x",
	'ο': "o", 'π': "p", 'ρ': "r", 'σ': "s", 'ς': "s", 'τ': "t", 'υ': "y", 'φ': "f", 'χ': "ch", 'ψ': "ps", 'ω': "o",
	// Georgian
	'ა': "a", 'ბ': "b", 'გ': "g", 'დ': "d", 'ე': "e", 'ვ': "v", 'ზ': "z", 'თ': "t", 'ი': "i", 'კ': "k", 'ლ': "l", 'მ': "m", 'ნ': "n", 'ო': "o",
	'პ': "p", 'ჟ': "zh", 'რ': "r", 'ს': "s", 'ტ': "t", 'უ': "u", 'ფ': "p", 'ქ': "k", 'ღ': "gh", 'ყ': "q", 'შ': "sh", 'ჩ': "ch", 'ც': "ts", 'ძ': "dz",
	'წ': "ts", 'ჭ': "ch", 'ხ': "kh", 'ჯ': "j", 'ჰ': "h",
}

// Latin writes a text in plain Latin letters: ä is ae, ß is ss, é is e, ж is zh. Characters without such a form, such as
// Chinese ones, stay as they are.
func Latin(text string) string {
	if isASCII(text) {
		return text
	}
	var b strings.Builder
	all := []rune(norm.NFC.String(text))
	for i, r := range all {
		if r < unicode.MaxASCII {
			b.WriteRune(r)
			continue
		}
		among := i > 0 && unicode.IsUpper(all[i-1]) || i+1 < len(all) && unicode.IsUpper(all[i+1])
		b.WriteString(latin(r, among))
	}
	return b.String()
}

// latin writes one character. A capital becomes capitals among capitals.
func latin(r rune, among bool) string {
	plain, known := letters[unicode.ToLower(r)]
	if !known {
		for _, part := range norm.NFKD.String(string(r)) {
			own, found := letters[unicode.ToLower(part)]
			switch {
			case found:
				plain += own
			case !unicode.Is(unicode.Mn, part): // not an accent
				plain += strings.ToLower(string(part))
			}
		}
	}
	switch {
	case !unicode.IsUpper(r) || plain == "":
		return plain
	case among:
		return strings.ToUpper(plain)
	}
	first := []rune(plain)
	return string(unicode.ToUpper(first[0])) + string(first[1:])
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] > unicode.MaxASCII {
			return false
		}
	}
	return true
}
