package tools

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestTheSchemasOfToolsThatWrite(t *testing.T) {
	l := newLibrary(t)
	var tools []struct {
		Name        string
		Description string
		InputSchema struct {
			Required             []string
			AdditionalProperties *bool
			Properties           map[string]struct {
				Type                 any
				Required             []string
				AdditionalProperties *bool
				Enum                 []any
				Properties           map[string]map[string]any
			}
		}
		Annotations toldHints
	}
	if err := json.Unmarshal(l.set.Tools(l.tokens.Authenticate("Bearer "+ownerText, time.Now()), View{}, false).Plain, &tools); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, tool := range tools {
		operation, model, _ := strings.Cut(tool.Name, "_")
		if model != "book" || !strings.Contains("create update delete bulk", operation) {
			continue
		}
		seen[operation] = true
		if tool.Annotations.ReadOnlyHint || tool.Annotations.DestructiveHint != (operation != "create") {
			t.Errorf("%s has the annotations %+v", tool.Name, tool.Annotations)
		}
		data := tool.InputSchema.Properties["data"]
		want := map[string][]string{"create": {"title", "author_id"}}[operation]
		if !reflect.DeepEqual(data.Required, want) {
			t.Errorf("%s requires %v of data, want %v", tool.Name, data.Required, want)
		}
		for _, hidden := range []string{"internal", "api_key", "notes", "upper_title", "version", "shelf_mark"} {
			if _, there := data.Properties[hidden]; there {
				t.Errorf("%s takes %s", tool.Name, hidden)
			}
		}
		if _, takesKey := data.Properties["id"]; takesKey != (operation == "create") {
			t.Errorf("%s takes the key: %t", tool.Name, takesKey)
		}
		if operation == "create" && !reflect.DeepEqual(data.Properties["state"], map[string]any{"type": "string", "enum": []any{"draft", "out"}}) {
			t.Errorf("the state is %v", data.Properties["state"])
		}
		if operations := tool.InputSchema.Properties["operation"].Enum; operation == "bulk" && !reflect.DeepEqual(operations, []any{"create", "update", "delete"}) {
			t.Errorf("bulk has the operations %v", operations)
		}
	}
	if len(seen) != 4 {
		t.Errorf("the tools are %v", seen)
	}
}
