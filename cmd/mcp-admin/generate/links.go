package generate

import (
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// guessRelations guesses the relations that the database does not declare: a column that is named like the key of one other
// table, and has its type.
func (g *Guesses) guessRelations() {
	for _, m := range g.Models {
		for _, c := range m.shown() {
			if m.isForeignKey(c) || slices.Equal(m.key(), []string{c.Name}) {
				continue
			}
			to := g.namesake(m, c)
			if to == nil {
				continue
			}
			relation := v1alpha1.RelationSpec{Name: m.relationName(c, to), Columns: []string{c.Name}, Model: to.Exposure.EffectiveModel()}
			if relation.Name == "" {
				continue
			}
			m.Exposure.Spec.Relations = append(m.Exposure.Spec.Relations, relation)
			m.because("relations."+relation.Name, "%s is named like the key of %s", c.Name, to.Table.Name)
		}
	}
}

// key are the names of the columns that tell rows apart, as the database or the exposure says.
func (m *Model) key() []string {
	if len(m.Table.PrimaryKey) == 0 {
		return m.Exposure.Spec.Key
	}
	names := make([]string, len(m.Table.PrimaryKey))
	for i, c := range m.Table.PrimaryKey {
		names[i] = c.Name
	}
	return names
}

// namesake is the only other model after whose key a column is named; nil if there is none, or if there are several. A view
// shows the rows of tables: it is taken only if no table is.
func (g *Guesses) namesake(m *Model, c *database.Column) *Model {
	var tables, views []*Model
	for _, to := range g.Models {
		key := to.key()
		if to == m || len(key) != 1 {
			continue
		}
		theirs := to.Table.Column(key[0])
		named := g.names.NamedAfter(c.Name, to.Exposure.EffectiveModel(), key[0]) || g.names.NamedAfter(c.Name, to.Table.Name, key[0])
		switch {
		case !named || !slices.Contains(to.shown(), theirs) || !database.Comparable(c, theirs) || !c.Kind.Ordered():
		case to.Table.Kind == database.BaseTable:
			tables = append(tables, to)
		default:
			views = append(views, to)
		}
	}
	switch {
	case len(tables) == 1:
		return tables[0]
	case len(tables) == 0 && len(views) == 1:
		return views[0]
	}
	return nil
}

// relationName is a free name for a relation by a column: as a foreign key's would be, or the other model's; "" if neither is
// free.
func (m *Model) relationName(c *database.Column, to *Model) string {
	for _, name := range []string{catalog.RelationName(c.Name), to.Exposure.EffectiveModel()} {
		taken := column(m.Table, name) != nil ||
			slices.ContainsFunc(m.Exposure.Spec.Relations, func(r v1alpha1.RelationSpec) bool { return r.Name == name }) ||
			slices.ContainsFunc(m.Table.ForeignKeys, func(fk *database.ForeignKey) bool { return catalog.RelationName(fk.Columns[0].Name) == name })
		if plain(name, "") == name && name != "" && !taken {
			return name
		}
	}
	return ""
}
