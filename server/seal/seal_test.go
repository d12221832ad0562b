package seal_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/seal"
)

var key = bytes.Repeat([]byte{7}, 32)

func TestWhatIsSealedOpensForTheSameKeyPurposeAndBoundOnly(t *testing.T) {
	text := seal.New(key, "cursor").Seal([]byte("row 12"), []byte("book"))
	for _, c := range []struct {
		name   string
		sealer *seal.Sealer
		text   string
		bound  string
		opens  bool
	}{
		{"the same", seal.New(key, "cursor"), text, "book", true},
		{"another key", seal.New(bytes.Repeat([]byte{8}, 32), "cursor"), text, "book", false},
		{"another purpose", seal.New(key, "confirmation"), text, "book", false},
		{"another bound", seal.New(key, "cursor"), text, "author", false},
		{"no bound", seal.New(key, "cursor"), text, "", false},
		{"a piece of it", seal.New(key, "cursor"), text[:len(text)-4], "book", false},
		{"more than it", seal.New(key, "cursor"), text + "AAAA", "book", false},
		{"nothing", seal.New(key, "cursor"), "", "book", false},
		{"no base64", seal.New(key, "cursor"), "row 12!", "book", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			plain, ok := c.sealer.Open(c.text, []byte(c.bound))
			if ok != c.opens || ok && string(plain) != "row 12" {
				t.Errorf("opens as %q, %v", plain, ok)
			}
		})
	}
}

func TestEveryBitOfASealedTextCounts(t *testing.T) {
	s := seal.New(key, "cursor")
	text := s.Seal([]byte("row 12"), nil)
	for i := range text {
		for _, letter := range "Aa0_" {
			changed := text[:i] + string(letter) + text[i+1:]
			if _, ok := s.Open(changed, nil); ok != (changed == text) {
				t.Errorf("with %c at %d: opens is %v", letter, i, ok)
			}
		}
	}
}

func TestSealedTextsTellNothing(t *testing.T) {
	s := seal.New(key, "cursor")
	first, second := s.Seal([]byte("secret"), nil), s.Seal([]byte("secret"), nil)
	if first == second {
		t.Error("equal texts are sealed equally")
	}
	if !regexp.MustCompile(`^[A-Za-z0-9_-]+$`).MatchString(first) || strings.Contains(first, "secret") {
		t.Errorf("sealed as %s", first)
	}
}
