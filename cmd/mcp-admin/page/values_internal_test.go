package page

import (
	"encoding/json"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/call"
)

// What is NULL, what is a text without characters, and what is not there at all look different, and the same on each screen.
func TestNoTwoKindsOfNothingLookTheSame(t *testing.T) {
	for value, want := range map[string]string{"": "", "null": "null", `""`: `""`, `"a"`: "a", "12.50": "12.50"} {
		if got := valueOf(json.RawMessage(value)); got != want {
			t.Errorf("%s is shown as %q, want %q", value, got, want)
		}
	}
	rows, ok := call.ReadRows(`{"count":1,"results":[{"a":null,"b":"","c":"x"}]}`)
	if !ok || rows.Cells[0][0] != "null" || rows.Cells[0][1] != `""` || rows.Cells[0][2] != "x" {
		t.Errorf("got %+v", rows)
	}
}
