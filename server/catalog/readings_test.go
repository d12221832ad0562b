package catalog

import (
	"slices"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

func TestTextsHaveReadings(t *testing.T) {
	m := at(t, "employee", func(m *contract.Model) {
		m.Overrides = []contract.FieldOverride{{Name: "card", Reads: "Decimal"}, {Name: "boss", Reads: "Date"}, {Name: "name", Reads: "Integer"}}
		m.Exclude, m.Masked = []string{"boss"}, []contract.MaskedField{{Name: "name"}}
		m.Ordering = []string{"-card"}
		m.RowPolicies = []contract.RowPolicy{{Name: "some", Everyone: true, Filters: []contract.Filter{{Field: "card", Lookup: "in", Values: []string{"1", "n/a"}}}}}
	}).Model("employee")
	if !m.Served() {
		t.Fatalf("got %+v", m.Status)
	}
	f := m.Field("card")
	read := f.Compared()
	if f.Column.Kind != database.Text || read.Column.Kind != database.Decimal || read.Stored != f || read.Name != "card" {
		t.Errorf("card is %+v, and is compared as %+v", f.Column, read.Column)
	}
	if m.Ordering[0].Field != read {
		t.Error("the model's own order is that of the texts")
	}
	if by := m.Policies[0].Filters[0].Column; by != f.Column {
		t.Errorf("the policy compares %+v, not the text", by)
	}
	if m.Field("name").Reading != nil || m.columns["boss"].Reading != nil {
		t.Error("a field is compared that is hidden or masked")
	}
	for _, note := range []string{
		"fields.overrides reads boss as Date, which has no effect: the field is hidden.",
		"fields.overrides reads name as Integer, which has no effect: the field is masked.",
	} {
		if !slices.Contains(m.Status.Notes, note) {
			t.Errorf("there is no note %q in %q", note, m.Status.Notes)
		}
	}
}
