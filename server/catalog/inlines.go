package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// Inline is a model whose rows belong to one row of this model.
type Inline struct {
	Model *Model
	// Relation leads from this model to the inline's rows; its Theirs are the foreign key.
	Relation *Relation
	// Max is the most rows that one call shows or changes.
	Max int
}

// resolveInlines finds the inlines' models and the foreign keys that make their rows belong to this model's.
func (c *Catalog) resolveInlines(m *Model) *problem {
	m.Inlines = nil
	for _, declared := range m.Declared.Inlines {
		child := c.byName[declared.Model]
		switch {
		case child == nil:
			return &problem{contract.ReasonFieldNotFound, fmt.Sprintf("inlines: there is no model %s", declared.Model)}
		case c.byTable[child.Table] != child:
			return &problem{contract.ReasonFieldNotFound, fmt.Sprintf("inlines: the model %s is not served: %s", child.Name, child.Status.Message)}
		}
		fk, p := inlineKey(m, child, declared.ForeignKey)
		if p != nil {
			return p
		}
		relation := reverseOf(fk, child, "")
		for _, r := range m.Relations {
			if r.Many && r.Target == child && slices.Equal(r.Theirs, fk.Columns) {
				relation = r
			}
		}
		m.Inlines = append(m.Inlines, &Inline{Model: child, Relation: relation, Max: declared.Max})
	}
	return nil
}

// inlineKey is the foreign key that leads from an inline's model to this one's table: the named one, or the only one.
func inlineKey(m, child *Model, name string) (*database.ForeignKey, *problem) {
	var keys []*database.ForeignKey
	var names []string
	for _, fk := range child.Table.ForeignKeys {
		if fk.References != m.Table {
			continue
		}
		is := func(c *database.Column) bool { return child.columns[name] != nil && child.columns[name].Column == c }
		if name == "" || slices.ContainsFunc(fk.Columns, is) {
			keys = append(keys, fk)
		}
		names = append(names, strings.Join(columnNames(fk.Columns), "+"))
	}
	switch {
	case len(names) == 0:
		return nil, notAllowed("inlines: %s has no foreign key to %s", child.Name, m.Table)
	case len(keys) == 0:
		return nil, &problem{contract.ReasonFieldNotFound, fmt.Sprintf("inlines: %s of %s is no foreign key to %s; there are %s", name, child.Name, m.Table, strings.Join(names, ", "))}
	case len(keys) > 1:
		return nil, notAllowed("inlines: %s has several foreign keys to %s; name one of %s in foreignKey", child.Name, m.Table, strings.Join(names, ", "))
	case !child.shows(keys[0].Columns) || !m.shows(keys[0].ReferencedColumns):
		return nil, notAllowed("inlines: the foreign key %s of %s, or what it refers to, is hidden or masked", strings.Join(columnNames(keys[0].Columns), ", "), child.Name)
	}
	return keys[0], nil
}
