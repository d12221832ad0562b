package catalog

import (
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
)

// readKinds are the kinds of what texts hold, and of what integers are that are codes, by the exposure's words.
var readKinds = map[string]database.Kind{
	contract.TypeInteger: database.Integer, contract.TypeDecimal: database.Decimal, contract.TypeBoolean: database.Boolean,
	contract.TypeDate: database.Date, contract.TypeTimestamp: database.Timestamp, contract.TypeText: database.Text,
}

// readTexts gives the fields a Reading whose texts hold something else, or whose integers are codes.
func (m *Model) readTexts() *problem {
	for _, o := range m.Declared.Overrides {
		if o.Reads == "" {
			continue
		}
		const list = "fields.overrides"
		f := m.columns[o.Name]
		switch kind := readKinds[o.Reads]; {
		case kind == database.Text && f.Column.Kind != database.Integer:
			return notAllowed("%s: %s cannot be read as Text, as the column is no integer but %s; remove reads", list, o.Name, f.Column.Kind)
		case kind != database.Text && f.Column.Kind != database.Text:
			return notAllowed("%s: %s cannot be read as %s, as the column is no text but %s; remove reads", list, o.Name, o.Reads, f.Column.Kind)
		case f.PrimaryKey:
			return notAllowed("%s: %s is part of the key, whose values are compared as they are; remove reads", list, o.Name)
		case m.fields[f.Name] != f:
			m.note("fields.overrides reads %s as %s, which has no effect: the field is hidden.", f.Column.Name, o.Reads)
			continue
		case f.Masked:
			m.note("fields.overrides reads %s as %s, which has no effect: the field is masked.", f.Column.Name, o.Reads)
			continue
		}
		reading := *f
		reading.Column, reading.Stored = f.Column.ReadAs(readKinds[o.Reads]), f
		f.Reading = &reading
	}
	return nil
}

// orderLookups are the lookups that ask for the order of values.
var orderLookups = []string{"gt", "gte", "lt", "lte", "range"}

// comparesText refuses a filter of the administrator's that asks for the order of texts which are read as something else: it would go by
// the texts, and so let through rows that nobody means.
func (c *Catalog) comparesText(t *database.Table, list string, f *RowFilter) *problem {
	m := c.registered[t]
	if m == nil || !slices.Contains(orderLookups, lookup.Named(f.Lookup)) {
		return nil
	}
	for _, o := range m.Declared.Overrides {
		if o.Reads != "" && o.Reads != contract.TypeText && m.columns[o.Name] != nil && m.columns[o.Name].Column == f.Column {
			return notAllowed("%s: the filter of %s: %s compares the texts of %s, which are read as %s; compare it by %s or %s, which texts have, or use a column of that type",
				list, f.Field, lookup.Named(f.Lookup), f.Column.Name, o.Reads, lookup.Exact, "in")
		}
	}
	return nil
}
