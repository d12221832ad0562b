package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/contract/spelling"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
)

// resolveFields decides which columns are visible and under which names, and what else callers learn about them.
func (m *Model) resolveFields() *problem {
	for _, step := range []func() *problem{
		m.nameFields, m.resolveKey, m.chooseFields, m.nameKey, m.maskFields, m.overrideFields, m.readTexts, m.showExamples, m.resolveDisplay, m.resolveVersion,
	} {
		if p := step(); p != nil {
			return p
		}
	}
	return nil
}

// chooseFields decides which columns are visible, and which of them callers may write.
func (m *Model) chooseFields() *problem {
	included, p := m.listed("fields.include", m.Declared.Include)
	if p != nil {
		return p
	}
	excluded, p := m.listed("fields.exclude", m.Declared.Exclude)
	if p != nil {
		return p
	}
	readOnly, p := m.listed("fields.readOnly", m.Declared.ReadOnly)
	if p != nil {
		return p
	}
	var unreadable []string
	for _, f := range m.all {
		f.ReadOnly = readOnly[f] || f.Column.Generated || !f.Column.Privileges.Has(database.MayInsert) && !f.Column.Privileges.Has(database.MayUpdate)
		f.Restorable = f.Column.Restorable && !readOnly[f]
		f.Secret = LooksSecret(m.Table, f.Column)
		hidden := f.Secret && !included[f]
		switch {
		case !f.Column.Privileges.Has(database.MaySelect):
			unreadable = append(unreadable, f.Column.Name)
			continue
		case f.PrimaryKey && excluded[f]:
			return notAllowed("fields.exclude: %s is part of the key of %s, which cannot be hidden", f.Column.Name, m.Table)
		case f.PrimaryKey && hidden:
			return notAllowed("the key column %s of %s is named like a secret; list it in fields.include to show it", f.Column.Name, m.Table)
		case hidden:
			m.Status.Hidden = append(m.Status.Hidden, f.Column.Name)
			continue
		case excluded[f], len(m.Declared.Include) > 0 && !included[f] && !f.PrimaryKey:
			continue
		}
		m.Fields = append(m.Fields, f)
	}
	if len(unreadable) > 0 {
		m.note("The database user may not read %s; grant SELECT on them to show them.", strings.Join(unreadable, ", "))
	}
	m.setVectorsApart()
	m.ByColumn = slices.SortedFunc(slices.Values(m.Fields), func(a, b *Field) int { return strings.Compare(a.Column.Name, b.Column.Name) })
	m.fields = byNames(m.Fields)
	m.findUnfilled()
	return nil
}

// findUnfilled finds the columns that a new row needs and no call can set.
func (m *Model) findUnfilled() {
	if m.Table.InsertTrigger {
		return // the trigger may fill them
	}
	for _, f := range m.all {
		settable := m.fields[f.Name] == f && !f.ReadOnly && f.Column.Privileges.Has(database.MayInsert)
		if f.Column.NeedsValue() && !settable && f.Column.Name != m.Declared.VersionField && !m.policyFixes(f) {
			m.Unfilled = append(m.Unfilled, f.Column)
		}
	}
}

// policyFixes reports whether a row policy may fix the column's value. A new row then gets its value from the policy.
func (m *Model) policyFixes(f *Field) bool {
	return slices.ContainsFunc(m.Declared.RowPolicies, func(p contract.RowPolicy) bool {
		return slices.ContainsFunc(p.Filters, func(filter contract.Filter) bool {
			return (filter.Field == f.Name || filter.Field == f.Column.Name) && lookup.Named(filter.Lookup) == lookup.Exact
		})
	})
}

// listed are the fields that a list names, hidden or not.
func (m *Model) listed(list string, names []string) (map[*Field]bool, *problem) {
	chosen := map[*Field]bool{}
	for _, name := range names {
		f := m.columns[name]
		if f == nil {
			return nil, fieldNotFound(list, name, m.Table, m.all)
		}
		chosen[f] = true
	}
	return chosen, nil
}

// byNames returns fields by their columns' names and by their own. A field's own name wins if the two collide.
func byNames(fields []*Field) map[string]*Field {
	all := make(map[string]*Field, len(fields))
	for _, f := range fields {
		all[f.Column.Name] = f
	}
	for _, f := range fields {
		all[f.Name] = f
	}
	return all
}

// maskFields finds the fields that are shown as ****. It refuses a mask over a hidden column, because nobody would see
// it.
func (m *Model) maskFields() *problem {
	const list = "fields.masked"
	for _, masked := range m.Declared.Masked {
		f := m.fields[masked.Name]
		switch {
		case m.vectorOf(masked.Name) != nil:
			continue // no row shows it
		case f == nil && m.columns[masked.Name] != nil && m.columns[masked.Name].Secret:
			return notAllowed("%s: column %s of %s is hidden, since it is named like a secret; list it in fields.include to show it as ****", list, masked.Name, m.Table)
		case f == nil:
			return m.listProblem(list, masked.Name)
		case f.PrimaryKey:
			return notAllowed("%s: %s is part of the key of %s, which cannot be masked", list, f.Column.Name, m.Table)
		}
		f.Masked, f.KeepLast = true, masked.KeepLast
	}
	return nil
}

// overrideFields fills in what the exposure says of fields, or else the database. It runs after the relations got their
// names.
func (m *Model) overrideFields() *problem {
	const list = "fields.overrides"
	for _, f := range m.all {
		f.Help = f.Column.Comment
		f.Check = checkOf(m.Table, f.Column)
		if f.Column.Kind == database.Other { // a set: a value is any number of its members
			f.Help = setHelp(f.Column)
			continue
		}
		for _, choice := range f.Column.Choices {
			f.Choices = append(f.Choices, contract.Choice{Value: choice})
		}
		if len(f.Choices) == 0 && f.Check != nil {
			for _, choice := range f.Check.Choices {
				f.Choices = append(f.Choices, contract.Choice{Value: choice})
			}
		}
	}
	seen := map[*Field]bool{}
	for _, o := range m.Declared.Overrides {
		f := m.columns[o.Name]
		switch {
		case f == nil:
			return fieldNotFound(list, o.Name, m.Table, m.all)
		case seen[f]:
			return notAllowed("%s: %s is listed twice, once as %s and once as %s", list, o.Name, f.Column.Name, f.Name)
		}
		seen[f] = true
		if kind, ok := overrideKinds[o.Type]; ok && f.Column.Kind != kind {
			return notAllowed("%s: %s cannot be of the type %s, as the column is %s; only MySQL's and MariaDB's tinyint can be either Integer or Boolean", list, o.Name, o.Type, f.Column.Kind)
		}
		if o.Description != "" {
			f.Help = o.Description
		}
		f.Synonyms = o.Synonyms
		if len(o.Choices) > 0 {
			f.Choices = o.Choices
		}
		for _, choice := range o.Choices {
			if _, err := lookup.ParseStoredText(f.Column, choice.Value); err != nil {
				return notAllowed("%s: the choice %q of %s %s", list, choice.Value, f.Column.Name, err)
			}
		}
	}
	return nil
}

// setHelp returns the column's comment and, if the column is a set, its members.
func setHelp(c *database.Column) string {
	if len(c.Choices) == 0 {
		return c.Comment
	}
	members := "Any of " + strings.Join(c.Choices, ", ") + ", joined by commas."
	if c.Comment == "" {
		return members
	}
	return strings.TrimRight(c.Comment, ".") + ". " + members
}

// displayNames are common names of columns that name a row for people, the likeliest first.
var displayNames = []string{"name", "title", "label"}

// resolveDisplay finds the field whose value names a row for people: the exposure's, or else a text column with one of
// displayNames, or else none.
func (m *Model) resolveDisplay() *problem {
	if m.Declared.DisplayField != "" {
		f, p := m.shownField("displayField", m.Declared.DisplayField)
		m.Display = f
		return p
	}
	for _, name := range displayNames {
		i := slices.IndexFunc(m.Fields, func(f *Field) bool {
			return f.Column.Kind == database.Text && !f.Masked && !f.Secret && strings.EqualFold(f.Column.Name, name)
		})
		if i >= 0 {
			m.Display = m.Fields[i]
			return nil
		}
	}
	return nil
}

// leastFractionDigits is the precision that a timestamp needs to be a version: a coarser one cannot tell two quick
// writes apart.
const leastFractionDigits = 3

// resolveVersion finds the field of optimistic concurrency. Only the server changes it.
func (m *Model) resolveVersion() *problem {
	const list = "versionField"
	if m.Declared.VersionField == "" {
		return nil
	}
	f, p := m.shownField(list, m.Declared.VersionField)
	if p != nil {
		return p
	}
	c := f.Column
	switch {
	case f.PrimaryKey:
		return notAllowed("%s: %s is part of the key, which never changes", list, f.Name)
	case c.Generated:
		return notAllowed("%s: the database computes %s, so the server cannot change it", list, f.Name)
	case c.Nullable:
		return notAllowed("%s: %s may be null, and a row would then have no version; make the column NOT NULL", list, f.Name)
	case c.Kind == database.Integer:
	case c.Kind != database.Timestamp && c.Kind != database.TimestampTZ:
		return notAllowed("%s: %s is %s; a version is an integer or a timestamp", list, f.Name, c.Kind)
	case c.FractionDigits < leastFractionDigits:
		return notAllowed("%s: the type of %s, %s, is coarser than a millisecond; give it %d digits or more, or use an integer", list, f.Name, c.NativeType, leastFractionDigits)
	}
	f.ReadOnly = true
	m.Version = f
	return nil
}

// shownField finds a field that a list names to show or compare it: it must be visible and not masked.
func (m *Model) shownField(list, name string) (*Field, *problem) {
	f := m.fields[name]
	switch {
	case f == nil:
		return nil, m.listProblem(list, name)
	case f.Masked:
		return nil, notAllowed("%s: %s is masked; a masked field cannot order, search or label rows", list, f.Name)
	}
	return f, nil
}

// listProblem says why a list names a field that is not visible.
func (m *Model) listProblem(list, name string) *problem {
	if m.columns[name] != nil {
		c := m.columns[name].Column
		if !c.Privileges.Has(database.MaySelect) {
			return &problem{contract.ReasonNotPermitted, fmt.Sprintf("%s: the database user may not read column %s of %s; grant SELECT on it", list, c.Name, m.Table)}
		}
		return &problem{contract.ReasonFieldNotFound, fmt.Sprintf("%s: column %s of %s is hidden", list, c.Name, m.Table)}
	}
	return fieldNotFound(list, name, m.Table, m.Fields)
}

func notAllowed(format string, args ...any) *problem {
	return &problem{contract.ReasonFieldNotAllowed, fmt.Sprintf(format, args...)}
}

func fieldNotFound(list, name string, t *database.Table, fields []*Field) *problem {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	message := fmt.Sprintf("%s: %s has no column %s", list, t, name)
	if i := spelling.Nearest(name, names); i >= 0 {
		message += "; the nearest is " + names[i]
	} else {
		message += "; its columns are " + strings.Join(names, ", ")
	}
	return &problem{contract.ReasonFieldNotFound, message}
}
