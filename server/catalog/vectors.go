package catalog

import (
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// setVectorsApart takes the columns of vectors out of the fields: no row shows them and no call writes them, and list orders by those
// that are visible and unmasked. A key stays what it is.
func (m *Model) setVectorsApart() {
	m.Vectors = nil
	var names []string
	m.Fields = slices.DeleteFunc(m.Fields, func(f *Field) bool {
		if f.Column.Vector == nil || f.PrimaryKey {
			return false
		}
		isMasked := func(masked contract.MaskedField) bool { return m.columns[masked.Name] == f }
		switch why := f.Column.Vector.Unordered; {
		case f.Secret || slices.ContainsFunc(m.Declared.Masked, isMasked):
		case why != "":
			m.note("Rows leave out the vectors of %s, and no list is ordered by how near they are: %s.", f.Name, why)
		default:
			m.Vectors = append(m.Vectors, f)
			names = append(names, f.Name)
		}
		return true
	})
	if len(names) > 0 {
		m.note("Rows leave out the vectors of %s. Lists order by how near they are, with similar_to.", strings.Join(names, ", "))
	}
}

// vectorOf returns the column of vectors that a list of fields names, or nil.
func (m *Model) vectorOf(name string) *Field {
	if f := m.columns[name]; f != nil && f.Column.Vector != nil && !f.PrimaryKey {
		return f
	}
	return nil
}
