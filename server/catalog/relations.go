package catalog

import (
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// relate finds the relations between served models: one for each foreign key whose columns are visible, and its
// reverse.
func (c *Catalog) relate() {
	byTable := map[*database.Table]*Model{}
	served := c.served()
	for _, m := range served {
		byTable[m.Table] = m
		m.Relations, m.relations = nil, map[string]*Relation{}
	}
	for _, m := range served {
		for _, fk := range m.Table.ForeignKeys {
			target := byTable[fk.References]
			if target == nil || !m.shows(fk.Columns) || !target.shows(fk.ReferencedColumns) {
				continue
			}
			name := m.forwardName(fk, target)
			if name == "" || m.relations[name] != nil {
				continue
			}
			m.addRelation(&Relation{Name: name, Target: target, Ours: fk.Columns, Theirs: fk.ReferencedColumns})
			target.addRelation(&Relation{Name: m.Name + "_by_" + name, Target: m, Many: true, Ours: fk.ReferencedColumns, Theirs: fk.Columns})
		}
	}
	for _, m := range served {
		slices.SortFunc(m.Relations, func(a, b *Relation) int { return strings.Compare(a.Name, b.Name) })
	}
}

func (m *Model) addRelation(r *Relation) {
	if m.relations[r.Name] != nil || m.fields[r.Name] != nil && r.Many {
		return
	}
	m.relations[r.Name] = r
	m.Relations = append(m.Relations, r)
}

// forwardName is a foreign key's relation: named by its column, or, where it has several, by the target model.
func (m *Model) forwardName(fk *database.ForeignKey, target *Model) string {
	if len(fk.Columns) > 1 {
		if m.fields[target.Name] != nil {
			return ""
		}
		return target.Name
	}
	f := m.fieldOf(fk.Columns[0])
	relation := relationName(f.Column.Name)
	if f.Name != relation+"_id" {
		return "" // the name was taken: the column stands for itself
	}
	return relation
}

// shows is whether all the columns are visible.
func (m *Model) shows(columns []*database.Column) bool {
	return !slices.ContainsFunc(columns, func(c *database.Column) bool { return m.fieldOf(c) == nil })
}

func (m *Model) fieldOf(c *database.Column) *Field {
	i := slices.IndexFunc(m.Fields, func(f *Field) bool { return f.Column == c })
	if i < 0 {
		return nil
	}
	return m.Fields[i]
}
