package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// maxFilterSteps is how many relations the field of a filter may go through.
const maxFilterSteps = 2

// findCompared finds a filter's column: one of the model's own, hidden or not, or a column of a row to which relations
// lead. The tables on the way need not be registered: a filter is the administrator's own.
func (c *Catalog) findCompared(m *Model, list string, f *RowFilter) *problem {
	table, rest, names := m.Table, f.Field, []string(nil)
	for {
		if f.Column = c.columnsOf(table)[rest]; f.Column != nil {
			return c.comparesText(table, list, f)
		}
		step, name, behind := c.filterStep(table, rest)
		switch {
		case step == nil && len(f.Steps) == 0:
			return fieldNotFound(list, f.Field, m.Table, m.all)
		case step == nil:
			return &problem{contract.ReasonFieldNotFound, fmt.Sprintf("%s: %s, to which %s leads, has no column %s", list, table, strings.Join(names, "__"), rest)}
		case len(f.Steps) == maxFilterSteps:
			return notAllowed("%s: %s goes through more than %d relations", list, f.Field, maxFilterSteps)
		}
		f.Steps, names = append(f.Steps, *step), append(names, name)
		table, rest = step.Table, behind
	}
}

// filterStep follows the relation with which a path begins, and returns what is behind it; nil if the path begins with none.
func (c *Catalog) filterStep(t *database.Table, path string) (step *FilterStep, name, behind string) {
	for at := range path {
		if at == 0 || !strings.HasPrefix(path[at:], "__") {
			continue
		}
		name, behind = path[:at], path[at+len("__"):]
		if fk := c.foreignKey(t, name); fk != nil {
			return &FilterStep{fk.References, fk.Columns, fk.ReferencedColumns}, name, behind
		}
		if child, fk := c.reverseKey(t, name); fk != nil {
			return &FilterStep{child, fk.ReferencedColumns, fk.Columns}, name, behind
		}
		if step := c.linkStep(t, name); step != nil {
			return step, name, behind
		}
	}
	return nil, "", ""
}

// foreignKey returns the foreign key that a relation of a table stands for, by the relation's name or the column's; nil if
// there is none. It finds hidden ones too.
func (c *Catalog) foreignKey(t *database.Table, relation string) *database.ForeignKey {
	i := slices.IndexFunc(t.ForeignKeys, func(fk *database.ForeignKey) bool {
		return len(fk.Columns) == 1 && fk.Columns[0].Name == relation || c.relationBy(t, fk) == relation
	})
	if i < 0 {
		return nil
	}
	return t.ForeignKeys[i]
}

// relationBy is the name of a foreign key's relation, visible or not; "" if it has none.
func (c *Catalog) relationBy(t *database.Table, fk *database.ForeignKey) string {
	switch m := c.registered[t]; {
	case len(fk.Columns) > 1:
		if target := c.registered[fk.References]; target != nil {
			return target.Name
		}
		return ""
	case m != nil && m.columns[fk.Columns[0].Name] != nil:
		return m.columns[fk.Columns[0].Name].relation
	}
	return RelationName(fk.Columns[0].Name)
}

// reverseKey returns the foreign key of another table to this one, and that table, by the name of the reverse relation. It
// is nil if there is none, or if there are several of the name.
func (c *Catalog) reverseKey(t *database.Table, name string) (child *database.Table, key *database.ForeignKey) {
	for _, other := range c.schema.Tables {
		owner := other.Name
		if m := c.registered[other]; m != nil {
			owner = m.Name
		}
		for _, fk := range other.ForeignKeys {
			relation := c.relationBy(other, fk)
			if fk.References != t || relation == "" || owner+"_by_"+relation != name {
				continue
			}
			if key != nil {
				return nil, nil
			}
			child, key = other, fk
		}
	}
	return child, key
}

// columnsOf returns a table's columns by their names, and, if it is registered, also by the names of its fields.
func (c *Catalog) columnsOf(t *database.Table) map[string]*database.Column {
	all := map[string]*database.Column{}
	for _, column := range t.Columns {
		all[column.Name] = column
	}
	if m := c.registered[t]; m != nil {
		for _, f := range m.all {
			all[f.Name] = f.Column
		}
	}
	return all
}
