package catalog

import (
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// The names under which a row's whole key stands.
const (
	idName = "id"
	pkName = "pk"
)

// resolveKey finds the columns of the key: the table's own, or those that the exposure names where the table has none.
func (m *Model) resolveKey() *problem {
	if len(m.Model.Key) == 0 {
		for _, c := range m.Table.PrimaryKey {
			m.Key = append(m.Key, m.columns[c.Name])
		}
		m.UniqueKey = len(m.Key) > 0
	} else if p := m.declaredKey(); p != nil {
		return p
	}
	for _, f := range m.Key {
		f.PrimaryKey = true
		f.Unique = f.Unique || m.UniqueKey && len(m.Key) == 1
	}
	return nil
}

func (m *Model) declaredKey() *problem {
	var columns []*database.Column
	for _, name := range m.Model.Key {
		f := m.columns[name]
		if f == nil {
			return fieldNotFound("key", name, m.Table, m.all)
		}
		if slices.Contains(m.Key, f) {
			return notAllowed("key: %s stands twice", f.Column.Name)
		}
		m.Key, columns = append(m.Key, f), append(columns, f.Column)
	}
	if own := m.Table.PrimaryKey; len(own) > 0 && !slices.Equal(own, columns) {
		return notAllowed("key: %s has a primary key of its own, %s; leave out key", m.Table, strings.Join(columnNames(own), ", "))
	}
	m.UniqueKey = len(m.Table.PrimaryKey) > 0 || isUnique(m.Table, columns...) && !slices.ContainsFunc(columns, func(c *database.Column) bool { return c.Nullable })
	return nil
}

// isUnique is whether the table has a key or a unique index of exactly these columns, in any order.
func isUnique(t *database.Table, columns ...*database.Column) bool {
	same := func(set []*database.Column) bool {
		return len(set) == len(columns) && !slices.ContainsFunc(columns, func(c *database.Column) bool { return !slices.Contains(set, c) })
	}
	return same(t.PrimaryKey) || slices.ContainsFunc(t.Unique, same)
}

// nameKey decides under which name a row shows its whole key (docs/design/values.md, "Ids").
func (m *Model) nameKey() *problem {
	if len(m.Key) == 0 || len(m.Key) == 1 && m.Key[0].Name == idName {
		return nil
	}
	named := func(name string) bool {
		return slices.ContainsFunc(m.all, func(f *Field) bool { return f.Name == name })
	}
	m.KeyName = idName
	if named(idName) {
		m.KeyName = pkName
	}
	if named(m.KeyName) {
		return notAllowed("%s has columns %s and %s of which neither is its whole key: its rows have no name left for the key", m.Table, idName, pkName)
	}
	return nil
}

func columnNames(columns []*database.Column) []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	return names
}
