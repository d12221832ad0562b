package jsontext

import (
	"unicode/utf16"
	"unicode/utf8"
)

// ReadString returns the text of a string; false for anything else. There are no spaces around it.
func ReadString(data []byte) (string, bool) {
	if len(data) < 2 || data[0] != '"' || data[len(data)-1] != '"' {
		return "", false
	}
	inside := data[1 : len(data)-1]
	if isPlain(inside) {
		return string(inside), true
	}
	var room [128]byte // most texts fit in it
	text, ok := AppendUnescaped(room[:0], inside)
	return string(text), ok
}

// isPlain reports whether each character between a string's quotes stands for itself.
func isPlain(inside []byte) bool {
	at := PlainEnd(inside, 0)
	if at == len(inside) {
		return true
	}
	for _, c := range inside[at:] {
		if c < ' ' || c == '"' || c == '\\' {
			return false
		}
	}
	return utf8.Valid(inside[at:])
}

// AppendUnescaped appends the text that stands between the quotes of a string, as encoding/json reads it: what is not UTF-8, and each
// half of a surrogate pair, becomes U+FFFD. It returns false if such a thing cannot stand there.
func AppendUnescaped(dst, inside []byte) ([]byte, bool) {
	for at := 0; at < len(inside); {
		plain := PlainEnd(inside, at)
		dst = append(dst, inside[at:plain]...)
		if at = plain; at == len(inside) {
			break
		}
		var r rune
		var size int
		switch c := inside[at]; {
		case c == '\\':
			r, size = escaped(inside[at:])
		case c >= utf8.RuneSelf:
			r, size = utf8.DecodeRune(inside[at:])
		}
		if size == 0 {
			return dst, false
		}
		dst = utf8.AppendRune(dst, r)
		at += size
	}
	return dst, true
}

// escaped reads the escape sequence at the start of a text, and returns how long it is; 0 if there is none.
func escaped(text []byte) (r rune, size int) {
	if len(text) < 2 {
		return 0, 0
	}
	switch c := text[1]; c {
	case '"', '\\', '/':
		return rune(c), 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	}
	r, ok := HexEscape(text)
	switch {
	case !ok:
		return 0, 0
	case !utf16.IsSurrogate(r):
		return r, 6
	}
	low, _ := HexEscape(text[6:])
	if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
		return pair, 12
	}
	return utf8.RuneError, 6
}

// HexEscape reads \uXXXX at the start of a text.
func HexEscape(text []byte) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range text[2:6] {
		switch {
		case isDigit(c):
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
