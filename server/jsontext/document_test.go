package jsontext_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
)

func TestTextsAreReadBack(t *testing.T) {
	check := func(text string) {
		for name, quoted := range map[string][]byte{"document": jsontext.AppendDocument(nil, []byte(text)), "string": jsontext.AppendString(nil, text)} {
			var back string
			if err := json.Unmarshal(quoted, &back); err != nil || back != text {
				t.Fatalf("as a %s, %q became %q (%v)", name, text, back, err)
			}
		}
	}
	for _, text := range []string{"", "plain", `{"a":"b\\c"}`, "\x00\x1f\t\r\n\b", "é 値 😀", "\u2028</script>"} {
		check(text)
	}
	// Every byte that needs an escape, at every place of a word, and next to any other.
	for _, special := range []string{`"`, `\`, `""`, `"\`, "\n", "\x01\"", "\"\x1f", "é", "\x7f", "\u0080"} {
		for before := range 18 {
			for after := range 10 {
				check(strings.Repeat("a", before) + special + strings.Repeat("!", after))
			}
		}
	}
	if got := string(jsontext.AppendDocument(nil, []byte("a\xffb"))); got != `"a`+"\uFFFD"+`b"` {
		t.Errorf("a broken text became %q", got)
	}
}

func BenchmarkAppendDocument(b *testing.B) {
	row := `{"track_id":12,"name":"Breaking The Girl","unit_price":"0.99","composer":"Anthony Kiedis"},`
	text := []byte(`{"count":100,"total_count":3503,"results":[` + strings.Repeat(row, 100) + `]}`)
	var out []byte
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		out = jsontext.AppendDocument(out[:0], text)
	}
}
