package mcp

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// isString, isObject and isInteger tell what a raw value that was scanned is.
func isString(raw []byte) bool { return len(raw) > 0 && raw[0] == '"' }
func isObject(raw []byte) bool { return len(raw) > 0 && raw[0] == '{' }

func isInteger(raw []byte) bool {
	raw = bytes.TrimPrefix(raw, []byte("-"))
	for _, c := range raw {
		if !isDigit(c) {
			return false
		}
	}
	return len(raw) > 0
}

// stringValue returns the text of a raw string that was scanned.
func stringValue(raw []byte) string {
	raw = raw[1 : len(raw)-1]
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw)
	}
	return string(appendUnescaped(nil, raw))
}

// appendUnescaped appends what stands between the quotes of a scanned string, its escapes resolved.
func appendUnescaped(dst, raw []byte) []byte {
	for len(raw) > 0 {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 {
			return append(dst, raw...)
		}
		dst = append(dst, raw[:i]...)
		raw = raw[i:]
		if raw[1] != 'u' {
			dst = append(dst, unescaped(raw[1]))
			raw = raw[2:]
			continue
		}
		r, _ := hexEscape(raw)
		raw = raw[6:]
		if isHigh(r) {
			low, _ := hexEscape(raw)
			r = utf16.DecodeRune(r, low)
			raw = raw[6:]
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

func unescaped(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c // " \ /
}

// hexEscape reads \uXXXX at the start of text.
func hexEscape(text []byte) (rune, bool) {
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

func isHigh(r rune) bool { return 0xD800 <= r && r < 0xDC00 }
func isLow(r rune) bool  { return 0xDC00 <= r && r < 0xE000 }

const hexDigits = "0123456789abcdef"

// appendString appends src as a JSON string. Bytes that are no UTF-8 become U+FFFD: a broken value in a database must
// not make the whole answer undecodable.
//
// Nearly all that is written passes through here, and is JSON itself: no control characters, a quote every few bytes.
// So eight bytes are copied at a time, up to the first that needs a backslash.
func appendString(dst, src []byte) []byte {
	if !utf8.Valid(src) {
		src = bytes.ToValidUTF8(src, []byte("\uFFFD"))
	}
	const word = 8
	escapes := bytes.Count(src, []byte{'"'}) + bytes.Count(src, []byte{'\\'})
	dst = append(slices.Grow(dst, len(src)+escapes+2+word), '"')
	room, n := dst[len(dst):cap(dst)], 0
	for len(src) >= word {
		x := binary.LittleEndian.Uint64(src)
		binary.LittleEndian.PutUint64(room[n:], x)
		special := specialBytes(x)
		if special == 0 {
			src, n = src[word:], n+word
			continue
		}
		i := bits.TrailingZeros64(special) / 8
		c := src[i]
		if c < ' ' {
			break
		}
		n += i
		room[n], room[n+1] = '\\', c
		src, n = src[i+1:], n+2
	}
	return append(appendEscaped(dst[:len(dst)+n], src), '"')
}

// specialBytes marks, by its highest bit, the first byte of x that does not stand for itself inside a JSON string; 0 is
// none. The first byte is the lowest; marks above the first mean nothing.
func specialBytes(x uint64) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	control := (x - ones*' ') & ^x
	quote := x ^ ones*'"'
	backslash := x ^ ones*'\\'
	return (control | (quote-ones)&^quote | (backslash-ones)&^backslash) & highs
}

// appendEscaped appends src, byte by byte, as it stands between the quotes of a JSON string.
func appendEscaped(dst, src []byte) []byte {
	for _, c := range src {
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c >= ' ':
			dst = append(dst, c)
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\t':
			dst = append(dst, '\\', 't')
		case c == '\r':
			dst = append(dst, '\\', 'r')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xF])
		}
	}
	return dst
}
