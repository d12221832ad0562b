package duckdb

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"
	"time"
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
		if got := hasItsEnd(t, c.name, c.content); got != c.want {
			t.Errorf("%s of %d bytes has its end: %v, want %v", c.name, len(c.content), got, c.want)
		}
	}
	for cut := 1; cut < len(packed); cut++ {
		if hasItsEnd(t, "a.csv.zst", twice[:len(twice)-cut]) {
			t.Errorf("a file that lacks %d bytes has its end", cut)
		}
	}
}

// hasItsEnd writes a file that is never quiet, and reports whether it has its end.
func hasItsEnd(t *testing.T, name string, content []byte) bool {
	t.Helper()
	path, later := filepath.Join(t.TempDir(), name), time.Now().Add(time.Hour)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, later, later); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	note, until := wholeFiles{}.unended(t.Context(), f)
	if note == noteUnended && until.Before(later) || note != noteUnended && !until.IsZero() {
		t.Errorf("%s: %q, and it counts as whole from %v on", name, note, until)
	}
	return note == ""
}
