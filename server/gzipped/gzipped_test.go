package gzipped_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/gzipped"
)

// unpacked reads one stream of gzip, which must end where the data does.
func unpacked(t *testing.T, data []byte) []byte {
	t.Helper()
	source := bytes.NewReader(data)
	r, err := gzip.NewReader(source)
	if err != nil {
		t.Fatal(err)
	}
	r.Multistream(false)
	text, err := io.ReadAll(r) // checks the length and the checksum
	if err != nil {
		t.Fatal(err)
	}
	if source.Len() > 0 {
		t.Errorf("%d bytes follow the stream", source.Len())
	}
	return text
}

// texts returns texts of many lengths.
func texts() [][]byte {
	random := rand.New(rand.NewPCG(1, 2)) // the same texts each time
	all := [][]byte{nil, {}, []byte("a")}
	for _, size := range []int{100, 1<<16 - 1, 1 << 16, 1<<17 + 3} {
		text := make([]byte, size)
		for i := range text {
			text[i] = "abcd\x00\xff"[random.IntN(6)]
		}
		all = append(all, text)
	}
	return all
}

func TestAnAnswerIsOneStreamOfItsThreeParts(t *testing.T) {
	for _, middle := range texts() {
		text := gzipped.Compress(middle)
		for _, before := range texts() {
			for _, after := range texts()[:4] {
				got := unpacked(t, text.AppendBetween([]byte("kept"), before, after)[len("kept"):])
				if want := bytes.Join([][]byte{before, middle, after}, nil); !bytes.Equal(got, want) {
					t.Fatalf("%d, %d and %d bytes come out as %d others", len(before), len(middle), len(after), len(got))
				}
			}
		}
	}
}

func TestATextIsCompressed(t *testing.T) {
	if text := gzipped.Compress(bytes.Repeat([]byte("the same again, "), 1<<12)); text.Size() > 1<<10 {
		t.Errorf("64 KB of repetitions take %d bytes", text.Size())
	}
}
