package jsontext

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// AppendDocument is AppendString, made for long texts that are JSON themselves: they have no control characters, and a
// quote every few bytes. It copies eight bytes at a time, up to the first that needs a backslash.
func AppendDocument(dst, src []byte) []byte {
	if !utf8.Valid(src) {
		return AppendString(dst, src)
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
	for len(src) > 0 && !utf8.RuneStart(src[0]) { // the rest of a character that a word ended in
		room[n] = src[0]
		src, n = src[1:], n+1
	}
	return append(AppendEscaped(dst[:len(dst)+n], src), '"')
}

// highs are the highest bits of eight bytes.
const highs = 0x8080808080808080

// specialBytes marks, by its highest bit, the first byte of x that does not stand for itself inside a JSON string; 0 is
// none. The first byte is the lowest; marks above the first mean nothing.
func specialBytes(x uint64) uint64 {
	const ones = 0x0101010101010101
	control := (x - ones*' ') & ^x
	quote := x ^ ones*'"'
	backslash := x ^ ones*'\\'
	return (control | (quote-ones)&^quote | (backslash-ones)&^backslash) & highs
}
