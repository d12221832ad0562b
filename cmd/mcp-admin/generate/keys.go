package generate

import (
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// guessKey names the column by which rows of a view, or of a table without a key, can be told apart.
func (m *Model) guessKey(schema *database.Schema) {
	t := m.Table
	if len(t.PrimaryKey) > 0 || len(t.Unique) > 0 {
		return
	}
	fit := func(c *database.Column) bool {
		personal, _ := personalData(c)
		return c.Ordered() && c.Privileges.Has(database.MaySelect) && !catalog.LooksSecret(t, c) && !personal
	}
	if c := column(t, "id"); c != nil && fit(c) {
		m.Exposure.Spec.Key = []string{c.Name}
		m.because("key", "nothing in the database says that %s is unique", c.Name)
		return
	}
	if t.Kind == database.BaseTable {
		return
	}
	if c, of := keyOfOther(t, schema); c != nil && fit(c) {
		m.Exposure.Spec.Key = []string{c.Name}
		m.because("key", "the key of %s; right if the view has each of its rows once", of.Name)
	}
}

// keyOfOther finds a view's first column if it is named like the key of a table ("film_id" of film, whose key is film_id or
// id), and that table.
func keyOfOther(view *database.Table, schema *database.Schema) (*database.Column, *database.Table) {
	if len(view.Columns) == 0 {
		return nil, nil
	}
	first := view.Columns[0]
	for _, t := range schema.Tables {
		if len(t.PrimaryKey) != 1 {
			continue
		}
		key := t.PrimaryKey[0].Name
		if sameName(key, first.Name) || sameName(t.Name+"_"+key, first.Name) || sameName(singular(t.Name)+"_"+key, first.Name) {
			return first, t
		}
	}
	return nil, nil
}

func column(t *database.Table, name string) *database.Column {
	i := slices.IndexFunc(t.Columns, func(c *database.Column) bool { return sameName(c.Name, name) })
	if i < 0 {
		return nil
	}
	return t.Columns[i]
}

// sameName reports whether two names have the same words.
func sameName(a, b string) bool { return slices.Equal(catalog.Words(a), catalog.Words(b)) }
