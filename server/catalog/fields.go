package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// The names under which a row's whole key stands.
const (
	idName = "id"
	pkName = "pk"
)

// resolveFields decides which columns are visible, and under which names.
func (m *Model) resolveFields() *problem {
	all := m.nameFields()
	byName := map[string]*Field{}
	for _, f := range all {
		byName[f.Column.Name] = f
	}
	for _, f := range all { // the API's name goes before a column's where they collide
		byName[f.Name] = f
	}
	listed := func(list string, names []string) (map[*Field]bool, *problem) {
		chosen := map[*Field]bool{}
		for _, name := range names {
			f := byName[name]
			if f == nil {
				return nil, fieldNotFound(list, name, m.Table, all)
			}
			chosen[f] = true
		}
		return chosen, nil
	}
	included, p := listed("fields.include", m.Include)
	if p != nil {
		return p
	}
	excluded, p := listed("fields.exclude", m.Exclude)
	if p != nil {
		return p
	}
	m.fields = map[string]*Field{}
	for _, f := range all {
		secret := looksSecret(f.Column.Name) && !included[f]
		switch {
		case f.PrimaryKey && excluded[f]:
			return &problem{contract.ReasonFieldNotAllowed, fmt.Sprintf("fields.exclude: %s is of the key of %s, which cannot be hidden", f.Column.Name, m.Table)}
		case f.PrimaryKey && secret:
			return &problem{contract.ReasonFieldNotAllowed, fmt.Sprintf("the key column %s of %s is named like a secret; name it in fields.include to show it", f.Column.Name, m.Table)}
		case secret:
			m.Status.Hidden = append(m.Status.Hidden, f.Column.Name)
			continue
		case excluded[f], len(m.Include) > 0 && !included[f] && !f.PrimaryKey:
			continue
		}
		m.Fields = append(m.Fields, f)
	}
	for _, f := range m.Fields {
		m.fields[f.Column.Name] = f
	}
	for _, f := range m.Fields {
		m.fields[f.Name] = f
	}
	return m.nameKey(all)
}

// nameFields names every column of the table, visible or not, so that a name never depends on what is hidden.
func (m *Model) nameFields() []*Field {
	taken := map[string]bool{}
	for _, c := range m.Table.Columns {
		taken[c.Name] = true
	}
	fields := make([]*Field, len(m.Table.Columns))
	for i, c := range m.Table.Columns {
		fields[i] = &Field{
			Name:       c.Name,
			Column:     c,
			PrimaryKey: slices.Contains(m.Table.PrimaryKey, c),
			Unique:     isUnique(m.Table, c),
		}
		relation := foreignKeyRelation(m.Table, c)
		name := relation + "_id"
		if relation == "" || taken[relation] && relation != c.Name || taken[name] && name != c.Name {
			continue
		}
		taken[relation], taken[name] = true, true
		fields[i].Name = name
	}
	return fields
}

// foreignKeyRelation is the name that the column's foreign key wants, or "" where it has none of its own.
func foreignKeyRelation(t *database.Table, c *database.Column) string {
	for _, fk := range t.ForeignKeys {
		if len(fk.Columns) == 1 && fk.Columns[0] == c {
			return relationName(c.Name)
		}
	}
	return ""
}

func isUnique(t *database.Table, c *database.Column) bool {
	if len(t.PrimaryKey) == 1 && t.PrimaryKey[0] == c {
		return true
	}
	return slices.ContainsFunc(t.Unique, func(set []*database.Column) bool { return len(set) == 1 && set[0] == c })
}

// nameKey decides under which name a row shows its whole key (decisions section 4, "id").
func (m *Model) nameKey(all []*Field) *problem {
	for _, c := range m.Table.PrimaryKey {
		i := slices.IndexFunc(all, func(f *Field) bool { return f.Column == c })
		m.Key = append(m.Key, all[i])
	}
	if len(m.Key) == 0 || len(m.Key) == 1 && m.Key[0].Name == idName {
		return nil
	}
	named := func(name string) bool {
		return slices.ContainsFunc(all, func(f *Field) bool { return f.Name == name })
	}
	m.KeyName = idName
	if named(idName) {
		m.KeyName = pkName
	}
	if named(m.KeyName) {
		return &problem{contract.ReasonFieldNotAllowed, fmt.Sprintf("%s has columns %s and %s of which neither is its whole key: its rows have no name left for the key", m.Table, idName, pkName)}
	}
	return nil
}

func fieldNotFound(list, name string, t *database.Table, fields []*Field) *problem {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	message := fmt.Sprintf("%s: %s has no column %s", list, t, name)
	if i := nearest(name, names); i >= 0 {
		message += "; the nearest is " + names[i]
	} else {
		message += "; its columns are " + strings.Join(names, ", ")
	}
	return &problem{contract.ReasonFieldNotFound, message}
}
