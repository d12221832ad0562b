package cluster

import (
	"encoding/json"
	"testing"
	"unsafe"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// Thousands of models have columns and tools of the same names: the cache keeps each name once.
func TestTheCacheKeepsNamesOnce(t *testing.T) {
	read := func() *v1alpha1.MCPModelExposure {
		e := &v1alpha1.MCPModelExposure{}
		if err := json.Unmarshal([]byte(`{"status":{"columns":["id","created_at"],"key":["id"],"tools":["list_book"]}}`), e); err != nil {
			t.Fatal(err)
		}
		if _, err := Slim(e); err != nil {
			t.Fatal(err)
		}
		return e
	}
	a, b := read().Status, read().Status
	for _, names := range [][2][]string{{a.Columns, b.Columns}, {a.Key, b.Key}, {a.Tools, b.Tools}, {a.Columns[:1], b.Key}} {
		for i := range names[0] {
			if first, second := names[0][i], names[1][i]; first != second || unsafe.StringData(first) != unsafe.StringData(second) {
				t.Errorf("%q and %q are kept twice", first, second)
			}
		}
	}
	if a.MaskedColumns != nil {
		t.Errorf("no masked columns became %#v", a.MaskedColumns)
	}
}
