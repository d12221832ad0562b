package call_test

import (
	"encoding/json"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// A text looks the same in an answer, whether this package writes it or encoding/json does.
func FuzzAppendJSON(f *testing.F) {
	for _, text := range []string{"", "plain", `a"b\c`, "<b>&", "é\u2028", "\xff", "\x7f", "line\n", "next_cursor leads to the rest"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := call.AppendJSON([]byte("x"), text); string(got) != "x"+string(want) {
			t.Errorf("%q is %s, want %s", text, got[1:], want)
		}
	})
}
