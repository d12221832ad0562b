package tools

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// MCP wants an object at the top of every outputSchema. A generic tool's has no model.
func TestEveryOperationHasAnOutputSchemaOfAnObject(t *testing.T) {
	l := newLibrary(t)
	for _, op := range append(call.Operations, findModelsOperation) {
		if s := op.OutputSchema(nil); len(s.Type) != 1 || s.Type[0] != "object" {
			t.Errorf("%s of any model: %v", op.Name, s.Type)
		}
		for _, m := range l.set.catalog.Models() {
			if s := op.OutputSchema(m); len(s.Type) != 1 || s.Type[0] != "object" {
				t.Errorf("%s of %s: %v", op.Name, m.Name, s.Type)
			}
		}
	}
}

func TestOutputSchemasAreThereOnlyIfTheyAreWanted(t *testing.T) {
	l := newLibrary(t)
	token := l.tokens.Authenticate("Bearer "+ownerText, time.Now())
	if list := string(l.set.Tools(token, View{}, false).Plain); strings.Contains(list, "outputSchema") {
		t.Error("a tool has an outputSchema")
	}
	settings := l.set.settings
	settings.Catalogue = contract.Catalogue{StructuredContent: true}
	set := New(l.set.catalog, l.set.db, settings)
	var tools []struct {
		Name         string
		OutputSchema map[string]any
	}
	if err := json.Unmarshal(set.Tools(token, View{}, false).Plain, &tools); err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		if tool.OutputSchema["type"] != "object" {
			t.Errorf("%s: outputSchema is %v", tool.Name, tool.OutputSchema)
		}
	}
	if r := set.Call(t.Context(), token, "list_book", nil); !r.Structured {
		t.Errorf("an answer is not structured: %s", r.Text)
	}
	if r := set.Call(t.Context(), token, "get_book", []byte(`{"id":99}`)); r.Structured || !r.IsError {
		t.Errorf("an error is structured: %s", r.Text)
	}
	if r := l.set.Call(t.Context(), token, "list_book", nil); r.Structured {
		t.Error("an answer is structured though nobody asked")
	}
}

func TestRowSchemas(t *testing.T) {
	l := newLibrary(t, on("author", func(m *contract.Model) { m.Masked = []contract.MaskedField{{Name: "name"}} }))
	for _, c := range []struct{ model, member, want string }{
		{"author", "name", `"string"`},
		{"book", "title", `["number","string"]`}, // SQLite stores anything in a column
		{"tag", "id", `"string"`},
	} {
		row := call.RowSchema(l.set.catalog.Model(c.model))
		if got, _ := json.Marshal(row.Properties[c.member].Type); string(got) != c.want {
			t.Errorf("%s of %s: %s, want %s", c.member, c.model, got, c.want)
		}
		if len(row.Required) != len(row.Properties) {
			t.Errorf("%s: a whole row requires %v of %d members", c.model, row.Required, len(row.Properties))
		}
	}
	if listed := call.ListedRow(l.set.catalog.Model("tag")); len(listed.Required) != 1 || listed.Required[0] != "id" {
		t.Errorf("a listed row requires %v", listed.Required)
	}
}
