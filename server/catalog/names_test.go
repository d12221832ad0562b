package catalog

import (
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// Fields and relations are written in the same letters.
func TestFieldsAndRelationsHaveTheSameLetters(t *testing.T) {
	pupil := &database.Table{Name: "schüler", Kind: database.BaseTable, Columns: []*database.Column{{Name: "id", Kind: database.Integer}, {Name: "größe", Kind: database.Integer}}}
	pupil.PrimaryKey = pupil.Columns[:1]
	mark := &database.Table{Name: "note", Kind: database.BaseTable, Columns: []*database.Column{
		{Name: "id", Kind: database.Integer}, {Name: "schüler_id", Kind: database.Integer}, {Name: "учитель_id", Kind: database.Integer}}}
	mark.PrimaryKey = mark.Columns[:1]
	for _, c := range mark.Columns[1:] {
		mark.ForeignKeys = append(mark.ForeignKeys, &database.ForeignKey{Columns: []*database.Column{c}, References: pupil, ReferencedColumns: pupil.PrimaryKey})
	}
	schema := (&database.Schema{Tables: []*database.Table{pupil, mark}}).GrantAll()
	c := Build(&contract.Config{Models: []contract.Model{model("note", "note", nil), model("schueler", "schüler", nil)}}, schema)
	m := c.Model("note")
	if !m.Served() || m.Field("schueler_id") == nil || m.Field("uchitel_id") == nil || m.Relation("schueler") == nil || m.Relation("uchitel") == nil {
		t.Errorf("got %+v", m.Status)
	}
	if c.Model("schueler").Field("groesse") == nil {
		t.Error("ß is lost")
	}
}

func TestColumnsWithNamesThatClientsRefuseGetOthers(t *testing.T) {
	names := []string{"id", "unit price", "prénom", "名前", `a"b`, "plain", strings.Repeat("x", 65), "unit_price_2", "Unit-Price"}
	table := &database.Table{Name: "odd", Kind: database.BaseTable}
	for _, name := range names {
		table.Columns = append(table.Columns, &database.Column{Name: name, Kind: database.Integer})
	}
	table.PrimaryKey = table.Columns[:1]
	schema := (&database.Schema{Tables: []*database.Table{table}}).GrantAll()
	serve := func(rename ...contract.FieldOverride) *Model {
		return Build(&contract.Config{Models: []contract.Model{model("odd", "odd", func(m *contract.Model) { m.Overrides = rename })}}, schema).Model("odd")
	}
	m := serve()
	var got []string
	for _, f := range m.Fields {
		got = append(got, f.Name)
	}
	if want := "id unit_price prenom column_4 a_b plain column_7 unit_price_2 Unit-Price"; strings.Join(got, " ") != want {
		t.Errorf("the fields are %q, want %q", strings.Join(got, " "), want)
	}
	if m.Field("unit price") == nil || m.Field("unit price") != m.Field("unit_price") {
		t.Error("a column is not found by its own name too")
	}
	if len(m.Status.Notes) != 5 || !strings.Contains(m.Status.Notes[0], `"unit price" is called unit_price`) {
		t.Errorf("the notes are %q", m.Status.Notes)
	}
	m = serve(contract.FieldOverride{Name: "unit price", Rename: "price"})
	if m.Field("price") == nil || m.Field("price").Column.Name != "unit price" {
		t.Errorf("an exposure's own name is not taken: %+v", m.Status)
	}
	m = serve(contract.FieldOverride{Name: "unit price", Rename: "plain"})
	if m.Served() || !strings.Contains(m.Status.Message, "unit price cannot be renamed plain, because another column has that name") {
		t.Errorf("a name that is taken: %+v", m.Status)
	}
}
