package docs

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// What an API server takes an editor must not underline, and what it refuses for its fields the editor must.
func TestSchemasForEditorsTakeTheDocumentsObjects(t *testing.T) {
	schemas := map[string]*jsonschema.Resolved{}
	for _, kind := range []string{"MCPEndpoint", "MCPModelExposure", "MCPToken"} {
		var schema jsonschema.Schema
		if err := json.Unmarshal([]byte(read(t, "docs/schemas/"+strings.ToLower(kind)+".json")), &schema); err != nil {
			t.Fatal(err)
		}
		resolved, err := schema.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		schemas[kind] = resolved
	}
	seen := 0
	for _, path := range documents(t) {
		whole, _ := manifests(t, path)
		for _, b := range whole {
			for _, o := range objects(t, path, b) {
				schema := schemas[o.GetKind()]
				if schema == nil || o.GetAPIVersion() != v1alpha1.GroupVersion.String() {
					continue
				}
				seen++
				if err := schema.Validate(o.Object); err != nil {
					t.Errorf("%s, line %d: %s %s: %v", path, b.Line, o.GetKind(), o.GetName(), err)
				}
				if err := unstructured.SetNestedField(o.Object, "x", "spec", "endpoint-ref"); err != nil {
					t.Fatal(err)
				}
				if schema.Validate(o.Object) == nil {
					t.Errorf("%s, line %d: %s %s: a field that does not exist is taken", path, b.Line, o.GetKind(), o.GetName())
				}
			}
		}
	}
	if seen < 30 {
		t.Errorf("only %d objects were found", seen)
	}
}
