package generate

import (
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// serverNames are the names of columns that the server takes for the label by itself.
var serverNames = []string{"name", "title", "label"}

// The ranks of columns whose names do not tell.
const (
	rankUnique = 100 + iota
	rankFilled
	rankOther
)

// Words that end the names of columns by which people know a row, the best first.
var (
	nameWords   = []string{"name", "title", "label"}
	familyNames = []string{"lastname", "surname", "familyname", "nachname", "apellido"}
	codeWords   = []string{"subject", "headline", "caption", "username", "login", "slug", "code", "sku", "symbol", "number", "reference", "isbn", "hostname", "host", "domain", "filename"}
)

// guessDisplay names the column that stands for a row, unless the server finds it by itself.
func (m *Model) guessDisplay() {
	columns := byWorth(m.shown(), m.displayRank)
	if len(columns) == 0 {
		return
	}
	best := columns[0]
	if slices.Contains(serverNames, strings.ToLower(best.Name)) {
		return // the server takes it by itself
	}
	m.Exposure.Spec.DisplayField = best.Name
	reason := "it names a row, by its own name"
	switch rank := m.displayRank(best); rank {
	case rankUnique:
		reason = "a text that no two rows share"
	case rankFilled:
		reason = "the first short text that every row has"
	}
	m.because("displayField", "%s", reason)
}

// displayRank is how well a column names a row for people, the least being the best; -1 if it does not.
func (m *Model) displayRank(c *database.Column) int {
	if !text(c) || m.isKey(c) {
		return -1
	}
	words := catalog.Words(c.Name)
	whole, end := strings.Join(words, ""), last(words)
	table := strings.Join(catalog.Words(m.Table.Name), "")
	switch {
	case end == "title" && m.isOfPeople():
		return 5 // of a job, or of a person
	case slices.Contains(serverNames, strings.ToLower(c.Name)):
		return slices.Index(serverNames, strings.ToLower(c.Name))
	case slices.Contains(nameWords, end) && (strings.HasPrefix(whole, table) || strings.HasPrefix(whole, singular(table)) || words[0] == "full" || words[0] == "display"):
		return 3
	case slices.Contains(familyNames, whole):
		return 4
	case slices.Contains(nameWords, end):
		return 5
	case slices.Contains(codeWords, end):
		return 6 + slices.Index(codeWords, end)
	case strings.HasSuffix(end, "name"):
		return 6 + len(codeWords)
	case m.isUnique(c):
		return rankUnique
	case !c.Nullable && c.MaxLength > 0 && c.MaxLength <= 255:
		return rankFilled
	}
	return -1
}

// isOfPeople reports whether the table has a column of family names.
func (m *Model) isOfPeople() bool {
	return slices.ContainsFunc(m.Table.Columns, func(c *database.Column) bool {
		return slices.Contains(familyNames, strings.Join(catalog.Words(c.Name), ""))
	})
}

func (m *Model) isUnique(c *database.Column) bool {
	return slices.ContainsFunc(m.Table.Unique, func(key []*database.Column) bool { return len(key) == 1 && key[0] == c })
}

// maxSearch is how many text columns are searched without a choice among them.
const maxSearch = 4

// guessSearch chooses among the text columns of a table with many: those by which people look for a row.
func (m *Model) guessSearch() {
	texts := slices.DeleteFunc(m.shown(), func(c *database.Column) bool { return !text(c) })
	if len(texts) <= maxSearch {
		return // the server searches all of them
	}
	for _, c := range byWorth(texts, m.searchRank)[:maxSearch] {
		m.Exposure.Spec.SearchFields = append(m.Exposure.Spec.SearchFields, c.Name)
	}
	m.because("searchFields", "%d of its %d text columns", maxSearch, len(texts))
}

// searchRank is as displayRank, for every column.
func (m *Model) searchRank(c *database.Column) int {
	if rank := m.displayRank(c); rank >= 0 {
		return rank
	}
	return rankOther
}
