package mysql

import (
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// TestDefaultsOfBytes has the forms in which releases write the default of a binary column.
func TestDefaultsOfBytes(t *testing.T) {
	for text, want := range map[string]string{"'ab'": "YWI=", "0x6162": "YWI=", "x'6162'": "YWI=", "x'00FF'": "AP8=", "x''": "", "x'616'": "nothing", "x'61' + 1": "nothing", "x": "nothing"} {
		got := "nothing"
		if value := defaultValue(&database.Column{Kind: database.Bytes}, text, true); value != nil {
			got = *value
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}
