package read

import (
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// maxWords bounds the words of a search.
const maxWords = 10

// search adds what a search asks for: by the model's full-text index, or one condition for each word, which must be in one of the
// search fields at least.
func (s *RowSet) search(where database.And, text string) (database.And, error) {
	if strings.TrimSpace(text) == "" {
		return where, nil
	}
	if err := checkSearch("search", text); err != nil {
		return nil, err
	}
	if s.Scope.Model().TextIndex != nil {
		return s.searchIndex(where, text)
	}
	fields := s.Scope.SearchFields()
	if len(fields) == 0 {
		return nil, call.Invalid("%s has no fields that search looks in; use filters", s.Scope.Model().Name)
	}
	return append(where, matchWords(s.Scope, fields, text)...), nil
}

// searchIndex adds what a search asks for by the model's full-text index, and keeps the query by which rows are ranked. A phrase with
// a word that the index cannot have is looked for as a piece of a text.
func (s *RowSet) searchIndex(where database.And, text string) (database.And, error) {
	index := s.Scope.Model().TextIndex
	terms, err := parseSearch(text)
	if err != nil {
		return nil, err
	}
	var query database.TextQuery
	var pieces, whole database.And
	ranks := false
	for _, term := range terms {
		indexed, piece := s.indexed(index, term)
		whole = append(whole, s.pieces(term))
		if piece != nil {
			pieces = append(pieces, piece)
			continue
		}
		query = append(query, indexed)
		ranks = ranks || !indexed.Not
	}
	if len(query) > 0 {
		full := database.FullText{Index: index, Query: query}
		if len(s.pieceFields()) > 0 {
			full.Else = whole
		}
		where = append(where, full)
	}
	if ranks && mayRank(s.Scope) {
		s.ranking = &database.TextRank{Index: index, Query: query}
	}
	return append(where, pieces...), nil
}

// mayRank reports whether rows may come in the order of their ranks: a rank that depends on all rows would tell of those that a row
// policy hides.
func mayRank(scope access.Scope) bool {
	index := scope.Model().TextIndex
	return index != nil && (!index.RanksByAll || !scope.Limited())
}

// indexed is a term as the index finds it; if the index cannot have a word of it, the condition that stands for it.
func (s *RowSet) indexed(index *database.TextIndex, term searchTerm) (database.TextTerm, database.Condition) {
	found := database.TextTerm{Not: term.not}
	for _, phrase := range term.any {
		words := database.TextPhrase(phrase.words())
		if !index.Has(words) {
			return found, s.pieces(term)
		}
		found.Any = append(found.Any, words)
	}
	return found, nil
}

// pieces holds for rows in which one of a term's phrases is a piece of a text.
func (s *RowSet) pieces(term searchTerm) database.Condition {
	any := database.Or{}
	for _, phrase := range term.any {
		for _, f := range s.pieceFields() {
			any = append(any, database.Match{Column: f.Field.Column, Op: database.TextContains, Text: string(phrase), FoldCase: true})
		}
	}
	if len(any) == 0 {
		return database.And{} // a tsvector holds no pieces: the word narrows nothing
	}
	if term.not {
		return database.Not{Condition: any}
	}
	return any
}

// pieceFields are the search fields in which pieces can be looked for.
func (s *RowSet) pieceFields() []catalog.SearchField {
	fields := s.Scope.SearchFields()
	if len(fields) == 1 && !fields[0].Field.Column.Kind.Textual() {
		return nil
	}
	return fields
}

// rankOrder is the order of a search: the best first, and then by the key.
func (s *RowSet) rankOrder() ([]database.Order, error) {
	step := database.Order{Column: s.ranking.Column(), Descending: true}
	if index := s.ranking.Index; index.Table != nil {
		from := (&database.Ranking{Index: index, Query: s.ranking.Query}).Source()
		columns := from.Table().Columns
		join, err := s.join(&database.Join{From: from, Ours: []*database.Column{index.Row}, Theirs: columns[:1]}, nil, s.Scope)
		if err != nil {
			return nil, err
		}
		step = database.Order{Join: join, Column: columns[1], Descending: true}
	}
	order := append([]database.Order{step}, call.KeyOrder(s.Scope.Model())...)
	s.orderAsked = 1
	if !s.Scope.Model().UniqueKey {
		order = appendAll(order, s.Scope)
	}
	return order, nil
}

// isRanked reports whether a list is ordered by rank or by distance. Such a list has no cursor: these are floats, and a rank changes
// with other rows.
func (s *RowSet) isRanked(a *listArguments) bool {
	return s.similar != nil || s.ranking != nil && len(a.orderBy) == 0
}

// checkSearch judges the text of a search, which the argument of that name has.
func checkSearch(argument, search string) error {
	if n := len(strings.Fields(search)); n > maxWords {
		return call.Invalid("%s: at most %d words, not %d", argument, maxWords, n)
	}
	if strings.ContainsRune(search, 0) {
		return call.Invalid("%s must not contain U+0000", argument)
	}
	return nil
}

// matchWords has one condition for each word: that it is in one of the fields at least.
func matchWords(scope access.Scope, fields []catalog.SearchField, search string) database.And {
	var all database.And
	for _, word := range strings.Fields(search) {
		var any database.Or
		for _, f := range fields {
			var condition database.Condition = database.Match{Column: f.Field.Column, Op: f.Op, Text: word, FoldCase: true}
			if f.Relation != nil {
				condition = scope.Related(f.Relation, condition)
			}
			any = append(any, condition)
		}
		all = append(all, any)
	}
	return all
}
