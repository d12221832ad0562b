package cluster

import (
	"encoding/json"
	"reflect"
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

// What the API server sends for two tokens is kept as it was sent, but for what nobody reads, and once where it is the same.
func TestTheCacheKeepsWhatTokensHaveAlikeOnce(t *testing.T) {
	read := func(name string) *v1alpha1.MCPToken {
		token := &v1alpha1.MCPToken{}
		if err := json.Unmarshal([]byte(`{
			"metadata": {
				"name": "`+name+`", "namespace": "shop", "labels": {"team": "sales"},
				"annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}"}, "managedFields": [{"manager": "kubectl"}]
			},
			"spec": {"endpointRef": {"name": "shop"}, "groups": ["readers", "editors"]},
			"status": {"conditions": [
				{"type": "Ready", "status": "True", "reason": "Ready", "message": "", "lastTransitionTime": "2026-01-02T03:04:05Z"},
				{"type": "Issued", "status": "True", "reason": "Issued", "message": "", "lastTransitionTime": "2026-01-02T03:04:05Z"}
			]}
		}`), token); err != nil {
			t.Fatal(err)
		}
		return token
	}
	kept := func(name string) *v1alpha1.MCPToken {
		token, want := read(name), read(name)
		if _, err := Slim(token); err != nil {
			t.Fatal(err)
		}
		want.ManagedFields, want.Annotations = nil, nil
		if !reflect.DeepEqual(token, want) {
			t.Errorf("kept %+v, want %+v", token, want)
		}
		return token
	}
	a, b := kept("a"), kept("b")
	for what, pair := range map[string][2]any{
		"labels": {a.Labels, b.Labels}, "groups": {a.Spec.Groups, b.Spec.Groups}, "conditions": {a.Status.Conditions, b.Status.Conditions},
	} {
		if reflect.ValueOf(pair[0]).Pointer() != reflect.ValueOf(pair[1]).Pointer() {
			t.Errorf("%s are kept twice", what)
		}
	}
}
