package nodeagent

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSeekLinesFindsTheLastLines(t *testing.T) {
	long := strings.Repeat("x", 40<<10)
	for _, tc := range []struct {
		name, text string
		lines      int64
		want       string
	}{
		{"none", "a\nb\n", 0, ""},
		{"one", "a\nb\n", 1, "b\n"},
		{"a last line without an end", "a\nb", 1, "b"},
		{"two", "a\nb\nc\n", 2, "b\nc\n"},
		{"more than there are", "a\nb\n", 5, "a\nb\n"},
		{"an empty file", "", 3, ""},
		{"empty lines", "a\n\n\n", 2, "\n\n"},
		{"lines longer than a block", "a\n" + long + "\n" + long + "\n", 2, long + "\n" + long + "\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log")
			if err := os.WriteFile(path, []byte(tc.text), 0o600); err != nil {
				t.Fatal(err)
			}
			file, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			if err := seekLines(file, tc.lines); err != nil {
				t.Fatal(err)
			}
			if rest, err := io.ReadAll(file); err != nil || string(rest) != tc.want {
				t.Errorf("%d bytes, %v; want %d bytes", len(rest), err, len(tc.want))
			}
		})
	}
}
