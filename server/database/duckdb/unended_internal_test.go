package duckdb

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"
)

// packed is "1,a\n" as Zstandard's own program writes it, with a checksum.
var packed = []byte{0x28, 0xb5, 0x2f, 0xfd, 0x24, 0x04, 0x21, 0x00, 0x00, '1', ',', 'a', '\n', 0, 0, 0, 0}

func TestAFileWithoutItsEndIsKnown(t *testing.T) {
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	_, _ = w.Write(bytes.Repeat([]byte("1,a\n"), 1000))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	twice := append(bytes.Clone(packed), packed...)
	for _, c := range []struct {
		name    string
		content []byte
		want    bool
	}{
		{"a.csv", []byte("1,a\n"), true}, {"a.csv", []byte("1,a\r\n"), true}, {"a.csv", []byte("1,a"), false}, {"a.csv", nil, true},
		{"a.csv.gz", zipped.Bytes(), true}, {"a.csv.gz", zipped.Bytes()[:zipped.Len()-1], false}, {"a.csv.gz", zipped.Bytes()[:zipped.Len()/2], false},
		{"a.csv.gz", zipped.Bytes()[:5], false}, {"a.csv.zst", packed, true}, {"a.csv.zst", twice, true}, {"a.csv.zst", []byte("no frame"), false},
	} {
		path := filepath.Join(t.TempDir(), c.name)
		if err := os.WriteFile(path, c.content, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := (wholeFiles{}).has(t.Context(), path); got != c.want {
			t.Errorf("%s of %d bytes has its end: %v, want %v", c.name, len(c.content), got, c.want)
		}
	}
	for cut := 1; cut < len(packed); cut++ {
		path := filepath.Join(t.TempDir(), "a.csv.zst")
		if err := os.WriteFile(path, twice[:len(twice)-cut], 0o600); err != nil {
			t.Fatal(err)
		}
		if (wholeFiles{}).has(t.Context(), path) {
			t.Errorf("a file that lacks %d bytes has its end", cut)
		}
	}
}
