package catalog

import (
	"fmt"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// resolveLists finds the fields that searchFields, ordering and listDisplay name.
func (m *Model) resolveLists() *problem {
	m.Search, m.Ordering = nil, nil
	for _, text := range m.SearchFields {
		s, p := m.searchField(text)
		if p != nil {
			return p
		}
		m.Search = append(m.Search, s)
	}
	if len(m.SearchFields) == 0 {
		for _, f := range m.Fields {
			if f.Column.Kind == database.Text {
				m.Search = append(m.Search, SearchField{Text: f.Name, Op: database.TextContains, Field: f})
			}
		}
	}
	for _, text := range m.Model.Ordering {
		name, descending := strings.CutPrefix(text, "-")
		fields, p := m.orderFields(name)
		if p != nil {
			return p
		}
		for _, f := range fields {
			m.Ordering = append(m.Ordering, Order{f, descending})
		}
	}
	for _, name := range m.ListDisplay {
		if m.fields[name] == nil && name != m.KeyName {
			return m.listProblem("listDisplay", name)
		}
	}
	return nil
}

// searchField reads one of searchFields: [^|=][relation__]column.
func (m *Model) searchField(text string) (SearchField, *problem) {
	s := SearchField{Text: text, Op: database.TextContains}
	name := text
	switch {
	case strings.HasPrefix(text, "^"):
		s.Op, name = database.TextStartsWith, text[1:]
	case strings.HasPrefix(text, "="):
		s.Op, name = database.TextEquals, text[1:]
	}
	if s.Field = m.fields[name]; s.Field == nil {
		relation, column, through := strings.Cut(name, "__")
		if through {
			s.Relation = m.relations[relation]
		}
		if s.Relation == nil {
			return s, m.listProblem("searchFields", name)
		}
		if s.Field = s.Relation.Target.fields[column]; s.Field == nil {
			return s, s.Relation.Target.listProblem("searchFields", column)
		}
	}
	if !s.Field.Column.Kind.Textual() {
		return s, &problem{contract.ReasonFieldNotAllowed, fmt.Sprintf("searchFields: %s is no text but %s", name, s.Field.Column.Kind)}
	}
	return s, nil
}

// orderFields are the fields that a name in an ordering stands for: one, or those of the key for "id".
func (m *Model) orderFields(name string) ([]*Field, *problem) {
	if name == idName && len(m.Key) > 0 {
		return m.Key, nil
	}
	f := m.fields[name]
	if f == nil {
		return nil, m.listProblem("ordering", name)
	}
	if !f.Column.Kind.Ordered() {
		return nil, &problem{contract.ReasonFieldNotAllowed, fmt.Sprintf("ordering: %s is %s, which has no order", name, f.Column.Kind)}
	}
	return []*Field{f}, nil
}

func (m *Model) listProblem(list, name string) *problem {
	if m.Table.Column(name) != nil {
		return &problem{contract.ReasonFieldNotFound, fmt.Sprintf("%s: column %s of %s is hidden", list, name, m.Table)}
	}
	return fieldNotFound(list, name, m.Table, m.Fields)
}
