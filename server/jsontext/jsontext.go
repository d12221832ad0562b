// Package jsontext appends single values to JSON, in the forms of docs/design/values.md, "JSON forms". It reads the
// text that an engine wrote and never fails: a text that does not fit its form becomes a JSON string, so that whatever
// a database sends, valid JSON comes out. Nothing in it allocates but append.
//
// The engines, package rowtext and package mcp import it.
package jsontext

import (
	"math"
	"math/bits"
	"strconv"
	"unicode/utf8"
)

// MaxSafeInteger is the largest integer that every JSON reader keeps exactly: 2^53 - 1.
const MaxSafeInteger = 1<<53 - 1

const hexDigits = "0123456789abcdef"

// Text is a text that a driver hands out.
type Text interface{ string | []byte }

// plainByte reports whether a byte stands for itself in a JSON string, with no look at its neighbours.
var plainByte = func() (plain [256]bool) {
	for c := 0x20; c < utf8.RuneSelf; c++ {
		plain[c] = c != '"' && c != '\\'
	}
	return plain
}()

// AppendString appends s as a JSON string, with its quotes. Bytes that are no UTF-8 become U+FFFD.
func AppendString[T Text](dst []byte, s T) []byte {
	dst = append(dst, '"')
	dst = AppendEscaped(dst, s)
	return append(dst, '"')
}

// AppendEscaped appends s as it stands between the quotes of a JSON string. Bytes that are no UTF-8 become U+FFFD.
func AppendEscaped[T Text](dst []byte, s T) []byte {
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if plainByte[c] {
			i = PlainEnd(s, i+1)
			continue
		}
		if c >= utf8.RuneSelf {
			// At most four bytes make a rune, and a string of that size stays on the stack.
			r, size := utf8.DecodeRuneInString(string(s[i:min(i+utf8.UTFMax, len(s))]))
			if r != utf8.RuneError || size > 1 {
				i += size
				continue
			}
			dst = append(dst, s[start:i]...)
			dst = append(dst, "\uFFFD"...)
			i++
			start = i
			continue
		}
		dst = append(dst, s[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		start = i
	}
	return append(dst, s[start:]...)
}

// PlainEnd returns the offset of the first byte from s[at] on that does not stand for itself in a JSON string, or is not ASCII. It looks
// at eight bytes at a time.
func PlainEnd[T Text](s T, at int) int {
	for ; at+8 <= len(s); at += 8 {
		x := word(s, at)
		if marks := quotedBytes(x) | controlBytes(x) | x&highs; marks != 0 {
			return at + bits.TrailingZeros64(marks)/8
		}
	}
	for at < len(s) && plainByte[s[at]] {
		at++
	}
	return at
}

// word is the eight bytes from s[at] on; the first is the lowest.
func word[T Text](s T, at int) uint64 {
	w := s[at : at+8]
	return uint64(w[0]) | uint64(w[1])<<8 | uint64(w[2])<<16 | uint64(w[3])<<24 | uint64(w[4])<<32 | uint64(w[5])<<40 | uint64(w[6])<<48 | uint64(w[7])<<56
}

// AppendInt appends an integer: a number within ±(2^53-1), a string beyond.
func AppendInt(dst []byte, n int64) []byte {
	if n >= -MaxSafeInteger && n <= MaxSafeInteger {
		return strconv.AppendInt(dst, n, 10)
	}
	dst = append(dst, '"')
	dst = strconv.AppendInt(dst, n, 10)
	return append(dst, '"')
}

// AppendInteger appends an integer that an engine wrote in decimal: a number within ±(2^53-1), a string beyond, and for
// anything that is no integer.
func AppendInteger[T Text](dst []byte, s T) []byte {
	digits := 0
	if len(s) > 0 && s[0] == '-' {
		digits = 1
	}
	n := len(s) - digits
	if n < 1 || n > 16 || (n > 1 && s[digits] == '0') {
		return AppendString(dst, s)
	}
	var value int64
	for i := digits; i < len(s); i++ {
		c := s[i]
		if c < '0' || c > '9' {
			return AppendString(dst, s)
		}
		value = value*10 + int64(c-'0')
	}
	if value > MaxSafeInteger {
		return AppendString(dst, s)
	}
	return append(dst, s...)
}

// AppendNumber appends a text that is a JSON number unchanged, any other ("NaN", "Infinity") as a string.
func AppendNumber[T Text](dst []byte, s T) []byte {
	if isNumber(s) {
		return append(dst, s...)
	}
	return AppendString(dst, s)
}

func isNumber[T Text](s T) bool {
	i := 0
	digits := func() bool {
		from := i
		for i < len(s) && s[i] >= '0' && s[i] <= '9' {
			i++
		}
		return i > from
	}
	if i < len(s) && s[i] == '-' {
		i++
	}
	if i < len(s) && s[i] == '0' {
		i++
	} else if !digits() {
		return false
	}
	if i < len(s) && s[i] == '.' {
		i++
		if !digits() {
			return false
		}
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		i++
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		if !digits() {
			return false
		}
	}
	return i == len(s)
}

// AppendFloat appends a float in its shortest form that reads back as itself; NaN and infinities as strings.
func AppendFloat(dst []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		dst = AppendFloatText(append(dst, '"'), f)
		return append(dst, '"')
	}
	return AppendFloatText(dst, f)
}

// AppendFloatText is AppendFloat without the quotes of NaN and infinities.
func AppendFloatText(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		return append(dst, "-Infinity"...)
	}
	format := byte('f')
	if magnitude := math.Abs(f); magnitude != 0 && (magnitude < 1e-6 || magnitude >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(dst, f, format, -1, 64)
}

// AppendPercentEncoded appends s as one part of a composite key: all but unreserved characters percent-encoded.
func AppendPercentEncoded[T Text](dst []byte, s T) []byte {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '.', c == '_', c == '~':
			dst = append(dst, c)
		default:
			dst = append(dst, '%', "0123456789ABCDEF"[c>>4], "0123456789ABCDEF"[c&15])
		}
	}
	return dst
}
