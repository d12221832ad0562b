package excerpt_test

import (
	"fmt"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract/excerpt"
)

func ExampleOf() {
	fmt.Println(excerpt.Of("a short text", 20))
	fmt.Println(excerpt.Of("a text that is longer", 9))
	// Output:
	// a short text
	// a text…
}

func TestNoCharacterIsCut(t *testing.T) {
	for most, want := range map[int]string{3: "…", 4: "…", 5: "é…", 6: "é…", 7: "éé…", 8: "éééé"} {
		if got := excerpt.Of("éééé", most); got != want {
			t.Errorf("%d bytes are %q, want %q", most, got, want)
		}
		if got := excerpt.Of([]byte("éééé"), most); got != want {
			t.Errorf("of bytes, %d are %q, want %q", most, got, want)
		}
	}
}

func TestVisible(t *testing.T) {
	for text, want := range map[string]string{"Zoë, 東京": "Zoë, 東京", "a\nb\x1b[1m": "a b [1m", "a\u202eb\u200b": "a b ", "a\xffb": "a b"} {
		if got := excerpt.Visible(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
