// Package gzipped compresses a text once for many answers that have it in their middle: what stands before and after it, such as
// the id of a request, is written beside it as it is. To a client the answer is one stream of gzip like any other.
//
// Packages tools and mcp use it.
package gzipped

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
)

// Least is the size in bytes from which an answer is compressed: a smaller one fits in a packet or two.
const Least = 2 << 10

// A Text is a compressed text. It never changes.
type Text struct {
	// blocks are the text as blocks of DEFLATE that end at a byte and refer to nothing before them, without a last one.
	blocks []byte
	// size and sum are the length of the text and its checksum, shift is what moves a checksum past the text.
	size, sum, shift uint32
}

// Compress compresses a text.
func Compress(text []byte) *Text {
	var blocks bytes.Buffer
	w, _ := flate.NewWriter(&blocks, flate.BestSpeed) // the level is a valid one
	_, _ = w.Write(text)                              // a buffer takes everything
	_ = w.Flush()
	return &Text{bytes.Clone(blocks.Bytes()), uint32(len(text)), crc32.ChecksumIEEE(text), shiftBy(len(text))}
}

// Size is how many bytes the compressed text takes.
func (t *Text) Size() int { return len(t.blocks) }

// header begins a stream of gzip (RFC 1952): DEFLATE, without a name or a time, by a fast compressor, on an unknown system.
var header = []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255}

// AppendBetween appends the stream of before, the text and after.
func (t *Text) AppendBetween(dst, before, after []byte) []byte {
	dst = appendStored(append(dst, header...), before, false)
	dst = appendStored(append(dst, t.blocks...), after, true)
	sum := multiply(t.shift, crc32.ChecksumIEEE(before)) ^ t.sum
	dst = binary.LittleEndian.AppendUint32(dst, crc32.Update(sum, crc32.IEEETable, after))
	return binary.LittleEndian.AppendUint32(dst, uint32(len(before))+t.size+uint32(len(after)))
}

// maxStored is the most bytes of a block that is not compressed (RFC 1951, section 3.2.4).
const maxStored = 1<<16 - 1

// appendStored appends a text as blocks that are not compressed; last says that the stream ends there.
func appendStored(dst, text []byte, last bool) []byte {
	for first := true; first || len(text) > 0; first = false {
		piece := text[:min(len(text), maxStored)]
		text = text[len(piece):]
		final := byte(0)
		if last && len(text) == 0 {
			final = 1
		}
		dst = binary.LittleEndian.AppendUint16(append(dst, final), uint16(len(piece)))
		dst = binary.LittleEndian.AppendUint16(dst, ^uint16(len(piece)))
		dst = append(dst, piece...)
	}
	return dst
}

// A checksum of gzip is a polynomial over two elements, reduced by crc32.IEEE. The lowest power stands in the highest bit. The
// checksum of two texts together is the first one's, times x as often as the second has bits, plus the second one's.
const (
	one     = uint32(1) << 31
	xTo8    = uint32(1) << 23
	reduced = crc32.IEEE
)

// shiftBy is x to the power of the bits of so many bytes.
func shiftBy(size int) uint32 {
	shift, factor := one, xTo8
	for ; size > 0; size >>= 1 {
		if size&1 == 1 {
			shift = multiply(shift, factor)
		}
		factor = multiply(factor, factor)
	}
	return shift
}

// multiply multiplies two polynomials.
func multiply(a, b uint32) uint32 {
	product := uint32(0)
	for bit := one; bit > 0; bit >>= 1 {
		if a&bit != 0 {
			product ^= b
		}
		carry := b & 1
		if b >>= 1; carry == 1 {
			b ^= reduced
		}
	}
	return product
}
