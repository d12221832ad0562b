package tools

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
)

// searchForm tells how search finds rows by the model's full-text index; "" if it looks for pieces of texts. limited is set if a row
// policy decides which rows the token sees.
func searchForm(m *catalog.Model, limited bool) string {
	index := m.TextIndex
	switch {
	case index == nil:
		return ""
	case index.RanksByAll && limited:
		return searchGrammar + ", ordered as any list"
	}
	return searchGrammar + ", the best first unless order_by is sent; go on with offset"
}

const searchGrammar = `search finds whole words, not pieces: all words, "a phrase", -without, either or; words that the database's index leaves out are looked for as pieces or left out`

// similarForm tells what similar_to of list takes; "" if the model has no vectors.
func similarForm(d *description, m *catalog.Model) string {
	if len(m.Vectors) == 0 || !slices.Contains(d.Operations, "list") {
		return ""
	}
	fields := make([]string, len(m.Vectors))
	for i, f := range m.Vectors {
		fields[i] = fmt.Sprintf("%s (%d numbers, by %s)", f.Name, f.Column.Vector.Dimensions, f.Column.Vector.Distance)
	}
	named := ""
	if len(fields) > 1 {
		named = ", with field: name"
	}
	return `of list: {id: a row's} or {vector: [numbers]}` + named + "; the nearest first of the rows that have " + strings.Join(fields, ", ") + "; instead of order_by; filters and offset as usual"
}
