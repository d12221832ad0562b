package catalog

import (
	"cmp"
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

// resolveKey finds the columns of the key. It takes the table's own; else the columns that the exposure names; else the
// only unique index that can serve as a key.
func (m *Model) resolveKey() *problem {
	switch {
	case len(m.Declared.Key) > 0:
		if p := m.declaredKey(); p != nil {
			return p
		}
	case slices.ContainsFunc(m.Table.PrimaryKey, func(c *database.Column) bool { return !c.Privileges.Has(database.MaySelect) }):
		m.note("The database user may not read the primary key (%s), so rows have no ids; grant SELECT on it.", joined(m.Table.PrimaryKey))
	case len(m.Table.PrimaryKey) > 0:
		m.Key, m.UniqueKey = m.fieldsOf(m.Table.PrimaryKey), true
	default:
		m.chooseKey()
	}
	for _, f := range m.Key {
		f.PrimaryKey = true
		f.Unique = f.Unique || m.UniqueKey && len(m.Key) == 1
	}
	return nil
}

// chooseKey finds a key for a table that declares none. It takes the only unique index whose columns are never null.
// Else it takes the only unique index whose columns may be null: rows without nulls can then be read by it. The status
// says which one was taken.
func (m *Model) chooseKey() {
	var strict, loose [][]*database.Column
	for _, columns := range m.Table.Unique {
		switch {
		case slices.ContainsFunc(columns, func(c *database.Column) bool { return !m.canBeKey(c) }):
		case anyNullable(columns):
			loose = append(loose, columns)
		default:
			strict = append(strict, columns)
		}
	}
	switch {
	case len(strict) == 1:
		m.Key, m.UniqueKey = m.fieldsOf(strict[0]), true
		m.note("The table has no primary key; its only unique index that is never null is taken as the key: %s.", joined(strict[0]))
	case len(strict) == 0 && len(loose) == 1:
		m.Key = m.fieldsOf(loose[0])
		m.note("The table has no primary key; rows can be read by its only unique index (%s), which may be null.", joined(loose[0]))
	}
}

// canBeKey reports whether a column may be part of a key that nobody declared: the exposure must show it unchanged.
func (m *Model) canBeKey(c *database.Column) bool {
	f := m.columns[c.Name]
	named := func(list []string) bool { return slices.Contains(list, c.Name) || slices.Contains(list, f.Name) }
	masked := slices.ContainsFunc(m.Declared.Masked, func(mask contract.MaskedField) bool { return mask.Name == c.Name || mask.Name == f.Name })
	return c.Privileges.Has(database.MaySelect) && c.Ordered() && !masked && !named(m.Declared.Exclude) &&
		(named(m.Declared.Include) || len(m.Declared.Include) == 0 && !LooksSecret(m.Table, c))
}

func anyNullable(columns []*database.Column) bool {
	return slices.ContainsFunc(columns, func(c *database.Column) bool { return c.Nullable })
}

func (m *Model) fieldsOf(columns []*database.Column) []*Field {
	fields := make([]*Field, len(columns))
	for i, c := range columns {
		fields[i] = m.columns[c.Name]
	}
	return fields
}

func joined(columns []*database.Column) string { return strings.Join(columnNames(columns), ", ") }

func (m *Model) declaredKey() *problem {
	var columns []*database.Column
	for _, name := range m.Declared.Key {
		f := m.columns[name]
		if f == nil {
			return fieldNotFound("key", name, m.Table, m.all)
		}
		if slices.Contains(m.Key, f) {
			return notAllowed("key: %s is listed twice", f.Column.Name)
		}
		m.Key, columns = append(m.Key, f), append(columns, f.Column)
	}
	if own := m.Table.PrimaryKey; len(own) > 0 && !slices.Equal(own, columns) {
		return notAllowed("key: %s has a primary key of its own, %s; leave out key", m.Table, joined(own))
	}
	m.UniqueKey = len(m.Table.PrimaryKey) > 0 || isUnique(m.Table, columns...) && !anyNullable(columns)
	return nil
}

// isUnique reports whether no two rows of the table can have equal values in the columns, NULLs aside: a key or a unique
// index has no others.
func isUnique(t *database.Table, columns ...*database.Column) bool {
	within := func(key []*database.Column) bool {
		return len(key) > 0 && !slices.ContainsFunc(key, func(c *database.Column) bool { return !slices.Contains(columns, c) })
	}
	return within(t.PrimaryKey) || slices.ContainsFunc(t.Unique, within)
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

// NameOfKey is the name of the whole key in rows, filters and orders. A column "id" that is not the whole key has that name
// for itself.
func (m *Model) NameOfKey() string { return cmp.Or(m.KeyName, idName) }

// IsKeyName reports whether a name means the whole key.
func (m *Model) IsKeyName(name string) bool { return len(m.Key) > 0 && name == m.NameOfKey() }

func columnNames(columns []*database.Column) []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	return names
}
