package catalog

import (
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// chooseTextIndex finds the full-text index that search uses. It must have exactly the words of the search fields, as a search would
// else tell of columns that callers do not see, or not look where the exposure says. Without declared search fields it is the index of
// the most columns, all of which are visible, and the search fields are those columns then.
func (m *Model) chooseTextIndex() *problem {
	named := slices.IndexFunc(m.Search, func(f SearchField) bool { return f.Relation == nil && m.vectorIndex(f.Field.Column) != nil })
	switch {
	case named >= 0 && m.Declared.SearchMode == contract.SearchContains:
		return notAllowed("searchFields: %s is a tsvector, in which searchMode: Contains cannot look; list text columns", m.Search[named].Text)
	case named >= 0 && len(m.Search) > 1:
		return notAllowed("searchFields: %s is a tsvector, and goes alone: list it without other fields, or only text columns", m.Search[named].Text)
	case named >= 0:
		m.TextIndex = m.vectorIndex(m.Search[named].Field.Column)
		return nil
	case m.Declared.SearchMode == contract.SearchContains:
		return nil
	}
	for _, index := range m.Table.TextIndexes {
		if m.searches(index) && (m.TextIndex == nil || len(index.Columns) > len(m.TextIndex.Columns)) {
			m.TextIndex = index
		}
	}
	if m.TextIndex != nil && len(m.Declared.SearchFields) == 0 {
		m.Search = nil
		for _, f := range m.Fields {
			if slices.Contains(m.TextIndex.Columns, f.Column) {
				m.Search = append(m.Search, SearchField{Text: f.Name, Op: database.TextContains, Field: f})
			}
		}
	}
	return nil
}

// searches reports whether search may use an index.
func (m *Model) searches(index *database.TextIndex) bool {
	if len(index.Columns) == 0 || index.Vector != nil && !index.Vector.Privileges.Has(database.MaySelect) {
		return false
	}
	for _, column := range index.Columns {
		at := slices.IndexFunc(m.Fields, func(f *Field) bool { return f.Column == column })
		if at < 0 || m.Fields[at].Masked || m.Fields[at].Secret || !column.Kind.Textual() {
			return false
		}
	}
	return len(m.Declared.SearchFields) == 0 || !slices.ContainsFunc(m.Search, func(f SearchField) bool {
		return f.Relation != nil || f.Op != database.TextContains || !slices.Contains(index.Columns, f.Field.Column)
	}) && !slices.ContainsFunc(index.Columns, func(column *database.Column) bool {
		return !slices.ContainsFunc(m.Search, func(f SearchField) bool { return f.Field.Column == column })
	})
}

// vectorIndex returns the index whose tsvector a column is, or nil.
func (m *Model) vectorIndex(column *database.Column) *database.TextIndex {
	for _, index := range m.Table.TextIndexes {
		if index.Vector != nil && index.Vector == column {
			return index
		}
	}
	return nil
}
