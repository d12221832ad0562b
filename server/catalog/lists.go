package catalog

import (
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// SearchOp is how a search field is compared with a word.
type SearchOp = database.TextOp

// SearchField is a text column that `search` looks in, of this model or of one that a relation leads to.
type SearchField struct {
	// Text is the field as the exposure has it, or its name.
	Text string
	Op   SearchOp
	// Relation is nil for a field of the model itself.
	Relation *Relation
	Field    *Field
}

// Order is one step of an ordering.
type Order struct {
	Field      *Field
	Descending bool
}

// resolveLists finds the fields that searchFields, ordering and listDisplay name.
func (m *Model) resolveLists() *problem {
	m.Search, m.TextIndex, m.Ordering = nil, nil, nil
	for _, text := range m.Declared.SearchFields {
		s, p := m.searchField(text)
		if p != nil {
			return p
		}
		m.Search = append(m.Search, s)
	}
	if len(m.Declared.SearchFields) == 0 {
		for _, f := range m.Fields {
			if f.Column.Kind == database.Text && !f.Masked && !f.Secret {
				m.Search = append(m.Search, SearchField{Text: f.Name, Op: database.TextContains, Field: f})
			}
		}
	}
	if p := m.chooseTextIndex(); p != nil {
		return p
	}
	for _, text := range m.Declared.Ordering {
		name, descending := strings.CutPrefix(text, "-")
		fields, p := m.orderFields(name)
		if p != nil {
			return p
		}
		for _, f := range fields {
			m.Ordering = append(m.Ordering, Order{f, descending})
		}
	}
	for _, name := range m.Declared.ListDisplay {
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
	holder, column := m, name
	if m.fields[name] == nil {
		if relation, rest, through := strings.Cut(name, "__"); through && m.relations[relation] != nil {
			s.Relation = m.relations[relation]
			holder, column = s.Relation.Target, rest
		}
	}
	var p *problem
	if s.Field, p = holder.shownField("searchFields", column); p != nil {
		return s, p
	}
	if s.Relation == nil && s.Op == database.TextContains && m.vectorIndex(s.Field.Column) != nil {
		return s, nil
	}
	if !s.Field.Column.Kind.Textual() {
		return s, notAllowed("searchFields: %s is no text but %s", name, s.Field.Column.Kind)
	}
	return s, nil
}

// orderFields returns the fields that a name in an ordering means: one, or the key's fields for its name.
func (m *Model) orderFields(name string) ([]*Field, *problem) {
	if m.IsKeyName(name) {
		return m.Key, nil
	}
	f, p := m.shownField("ordering", name)
	if p != nil {
		return nil, p
	}
	if f = f.Compared(); !f.Column.Ordered() {
		return nil, notAllowed("ordering: %s is %s, which has no order", name, f.Column.Kind)
	}
	return []*Field{f}, nil
}
