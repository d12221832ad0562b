package formula_test

import (
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract/formula"
)

func TestDisarm(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "ann": "ann", "a=1": "a=1", "=1+1": "'=1+1", "  =1": "'  =1", "\u200b@x": "'\u200b@x", "＝1": "'＝1", "\tx": "'\tx", "-5": "'-5", "'=1": "'=1",
	} {
		if got := formula.Disarm(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
