package catalog

import (
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
)

// showExamples finds the fields whose values describe_ shows.
func (m *Model) showExamples() *problem {
	const list = "fields.overrides"
	for _, o := range m.Declared.Overrides {
		if !o.Examples {
			continue
		}
		f := m.columns[o.Name]
		without := func(why string) {
			m.note("%s shows examples of %s, which has no effect: %s.", list, f.Column.Name, why)
		}
		switch c := f.Column; {
		case m.fields[f.Name] != f:
			without("the field is hidden")
		case f.Masked:
			without("the field is masked")
		case c.Kind == database.Bytes || c.Kind == database.JSON || c.Kind == database.Array || !lookup.HasEquality(c):
			return notAllowed("%s: there are no examples of %s, as its values, of type %s, are not for comparing; remove examples", list, f.Name, c.Kind)
		case len(f.Choices) > 0 || c.Kind == database.Boolean:
			without("describe_ names its values already")
		case f.PrimaryKey && len(m.Key) == 1:
			without("each row has another value of the key")
		case !m.Declared.ShowsRows():
			without("the model offers neither list nor get, so that its values are not to be seen")
		default:
			f.Examples = true
		}
	}
	return nil
}
