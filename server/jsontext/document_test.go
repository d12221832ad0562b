package jsontext_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
)

func TestAppendDocumentIsReadBack(t *testing.T) {
	for _, text := range []string{"", "plain", `{"a":"b\\c"}`, "\x00\x1f\t\r\n\b", "é 値 😀", "\u2028</script>"} {
		var back string
		if err := json.Unmarshal(jsontext.AppendDocument(nil, []byte(text)), &back); err != nil || back != text {
			t.Errorf("%q became %q (%v)", text, back, err)
		}
	}
	// Every byte that needs an escape, at every place of a word, and next to any other.
	for _, special := range []string{`"`, `\`, `""`, `"\`, "\n", "\x01\"", "\"\x1f", "é", "\x7f", "\u0080"} {
		for before := range 18 {
			for after := range 10 {
				text := strings.Repeat("a", before) + special + strings.Repeat("!", after)
				var back string
				if err := json.Unmarshal(jsontext.AppendDocument(nil, []byte(text)), &back); err != nil || back != text {
					t.Fatalf("%q became %q (%v)", text, back, err)
				}
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
