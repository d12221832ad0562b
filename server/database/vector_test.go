package database_test

import (
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

func TestReadVector(t *testing.T) {
	for _, value := range []database.Value{"[0.5,-1e+09,0.1]", []byte{0, 0, 0, 63, 40, 107, 110, 206, 205, 204, 204, 61}} {
		if got := database.ReadVector(value); len(got) != 3 || got[0] != 0.5 || got[1] != -1e9 || got[2] != 0.1 {
			t.Errorf("%v is read as %v", value, got)
		}
	}
	for _, value := range []database.Value{nil, "", "x", []byte{}, int64(3)} {
		if got := database.ReadVector(value); len(got) != 0 {
			t.Errorf("%v is read as %v", value, got)
		}
	}
}
