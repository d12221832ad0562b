package jsontext

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// AppendDocument is AppendString, made for long texts that are JSON themselves: they have no control characters, and a
// quote every few bytes. It copies eight bytes at a time, and once more, behind a backslash, what follows the byte before that.
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
		if controlBytes(x) != 0 {
			break
		}
		binary.LittleEndian.PutUint64(room[n:], x)
		for marks := quotedBytes(x); marks != 0; marks &= marks - 1 {
			i := bits.TrailingZeros64(marks) / 8
			room[n+i] = '\\'
			n++
			binary.LittleEndian.PutUint64(room[n+i:], x>>(8*i))
		}
		src, n = src[word:], n+word
	}
	for len(src) > 0 && !utf8.RuneStart(src[0]) { // the rest of a character that a word ended in
		room[n] = src[0]
		src, n = src[1:], n+1
	}
	return append(AppendEscaped(dst[:len(dst)+n], src), '"')
}

// The first byte of a word is the lowest. A mark is the highest bit of a byte.
const ones, highs = 0x0101010101010101, 0x8080808080808080

// quotedBytes marks the quotes and backslashes in x.
func quotedBytes(x uint64) uint64 { return zeroBytes(x^ones*'"') | zeroBytes(x^ones*'\\') }

func zeroBytes(x uint64) uint64 { return ^((x&^highs + (highs - ones)) | x) & highs }

// controlBytes marks the first control character in x; 0 is none. Marks above the first mean nothing.
func controlBytes(x uint64) uint64 { return (x - ones*' ') & ^x & highs }
