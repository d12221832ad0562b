package tools

import (
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
