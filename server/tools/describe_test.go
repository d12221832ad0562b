package tools

import (
	"reflect"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

func TestDescribeTellsWhatTheTokenMayDo(t *testing.T) {
	l := newLibrary(t, on("book", func(m *contract.Model) {
		m.Masked = []contract.MaskedField{{Name: "isbn", KeepLast: 3}}
		m.Overrides = append(m.Overrides, contract.FieldOverride{Name: "title", Description: "what stands on the cover"})
	}))
	described := l.must(ownerText, "describe_book", `{}`)
	fields := map[string]any{}
	for _, f := range described["fields"].([]any) {
		fields[f.(map[string]any)["name"].(string)] = f
	}
	for name, want := range map[string]string{
		"title":       `{"name":"title","type":"text","required":true,"max_length":40,"help_text":"what stands on the cover"}`,
		"isbn":        `{"name":"isbn","type":"text","required":false,"unique":true,"nullable":true,"help_text":"Masked: shown as **** and its last 3 characters, where it has at least 10. It cannot be filtered, grouped, ordered or searched by. Set on create only."}`,
		"id":          `{"name":"id","type":"integer","required":false,"default":"computed by the database","primary_key":true,"unique":true,"help_text":"Set on create only."}`,
		"state":       `{"name":"state","type":"text","required":false,"choices":[{"value":"draft","label":"draft"},{"value":"out","label":"published"}],"default":"draft"}`,
		"upper_title": `{"name":"upper_title","type":"text","required":false,"editable":false}`,
		"version":     `{"name":"version","type":"integer","required":false,"editable":false}`,
	} {
		if wanted := decoded(t, want); !reflect.DeepEqual(fields[name], wanted) {
			t.Errorf("%s is described as %v\nwant %v", name, fields[name], wanted)
		}
	}
	for _, each := range described["relationships"].([]any) {
		if r := each.(map[string]any); r["kind"] == "one_to_many" && r["foreign_key"] != "book_id" || r["kind"] == "many_to_one" && r["foreign_key"] != nil {
			t.Errorf("got the relationship %v, want the foreign_key book_id of rows that refer to the book, and none else", r)
		}
	}
	options := described["admin_config"].(map[string]any)
	for name, want := range map[string]string{
		"readonly_fields": `["upper_title","notes","version"]`, "inlines": `["chapter","review"]`, "actions": `["delete_selected"]`, "ordering": `[]`,
	} {
		if !reflect.DeepEqual(options[name], decoded(t, want)) {
			t.Errorf("%s is %v, want %s", name, options[name], want)
		}
	}
	options = l.must(readerText, "describe_book", `{}`)["admin_config"].(map[string]any)
	if got := options["actions"].([]any); len(got) != 0 {
		t.Errorf("a reader's actions are %v", got)
	}
	options = l.must(bookishText, "describe_book", `{}`)["admin_config"].(map[string]any)
	if !reflect.DeepEqual(options["inlines"], []any{"chapter"}) {
		t.Errorf("the inlines of one who sees chapters only are %v", options["inlines"])
	}
}

func TestDescribeShowsNoExpressionOfAComputedColumn(t *testing.T) {
	column := &database.Column{Name: "digest", Kind: database.Text, HasDefault: true, Generated: true}
	if f := describeField(&catalog.Field{Name: column.Name, Column: column}); f.Default != nil || f.Required {
		t.Errorf("a computed field is described as %+v", f)
	}
	column = &database.Column{Name: "genre", Kind: database.Text, HasDefault: true, Default: new("jazz")}
	if f := describeField(&catalog.Field{Name: column.Name, Column: column}); f.Default != "jazz" {
		t.Errorf("a field with a default is described as %+v", f)
	}
}
