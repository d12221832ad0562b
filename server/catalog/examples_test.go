package catalog

import (
	"slices"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

func TestExamplesAreOfFieldsThatCallersSee(t *testing.T) {
	m := at(t, "employee", func(m *contract.Model) {
		for _, name := range []string{"card", "boss_id", "name", "status", "id", "api_token"} {
			m.Overrides = append(m.Overrides, contract.FieldOverride{Name: name, Examples: true})
		}
		m.Exclude, m.Masked = []string{"boss_id"}, []contract.MaskedField{{Name: "name"}}
	}).Model("employee")
	var shown []string
	for _, f := range m.all {
		if f.Examples {
			shown = append(shown, f.Column.Name)
		}
	}
	if !slices.Equal(shown, []string{"card"}) {
		t.Errorf("examples are of %v, want card alone", shown)
	}
	const list = "fields.overrides shows examples of "
	for _, note := range []string{
		list + "boss_id, which has no effect: the field is hidden.", list + "api_token, which has no effect: the field is hidden.",
		list + "name, which has no effect: the field is masked.",
		list + "status, which has no effect: describe_ names its values already.",
		list + "id, which has no effect: each row has another value of the key.",
	} {
		if !slices.Contains(m.Status.Notes, note) {
			t.Errorf("there is no note %q in %q", note, m.Status.Notes)
		}
	}
}

func TestExamplesNeedRowsThatAreToBeSeen(t *testing.T) {
	m := at(t, "employee", func(m *contract.Model) {
		m.Overrides = []contract.FieldOverride{{Name: "card", Examples: true}}
		m.Operations = []string{"describe", "aggregate"}
	}).Model("employee")
	if m.Field("card").Examples || !strings.Contains(strings.Join(m.Status.Notes, "\n"), "the model offers neither list nor get") {
		t.Errorf("a model that shows no rows has examples, or no note says so: %q", m.Status.Notes)
	}
}
