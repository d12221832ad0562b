package sqltext

import (
	"strings"
	"unicode"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// Each engine has a grammar of its own for the text of a search, and any character of it may be an operator. So no text of a caller
// gets there: a query is made of words, and a word of letters, marks and digits alone. They are bound, and in quotes.

// textWord returns the characters of a word that a query may have: letters, marks, digits and the underscore.
func textWord(word string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || unicode.In(r, unicode.L, unicode.M, unicode.N) {
			return r
		}
		return ' '
	}, word)
}

// plainPhrase is a phrase as words with blanks between them.
func plainPhrase(phrase database.TextPhrase) string {
	words := make([]string, len(phrase))
	for i, word := range phrase {
		words[i] = textWord(word)
	}
	return strings.Join(words, " ")
}

// quotedPhrases are phrases in quotes, with a separator between them.
func quotedPhrases(phrases []database.TextPhrase, separator string) string {
	quoted := make([]string, len(phrases))
	for i, phrase := range phrases {
		quoted[i] = `"` + plainPhrase(phrase) + `"`
	}
	return strings.Join(quoted, separator)
}

// splitQuery separates what a row must hold from what it must not hold.
func splitQuery(query database.TextQuery) (wanted, unwanted []database.TextTerm) {
	for _, term := range query {
		if term.Not {
			unwanted = append(unwanted, term)
		} else {
			wanted = append(wanted, term)
		}
	}
	return wanted, unwanted
}

func (w *writer) bindText(text string) { w.bind(Arg{Kind: database.Text, Value: text}) }

// fullText of PostgreSQL also asks whether the query has any word: one of stop words alone finds nothing. The planner computes that
// before it looks for an index.
func (d postgresql) fullText(w *writer, f database.FullText, around precedence) {
	if around != precedenceTop {
		w.text("(")
	}
	query := func() { d.textQuery(w, f.Index, f.Query) }
	d.textVector(w, w.alias, f.Index)
	w.around(" @@ ", query, " OR numnode(")
	w.around("", query, ") = 0")
	if f.Else != nil {
		w.text(" AND ")
		w.condition(f.Else, precedenceAnd)
	}
	if around != precedenceTop {
		w.text(")")
	}
}

func (d postgresql) textRank(w *writer, alias int, r database.TextRank) {
	w.text("ts_rank(")
	d.textVector(w, alias, r.Index)
	w.text(", ")
	d.textQuery(w, r.Index, r.Query)
	w.text(")")
}

// textVector writes the expression of an index as the index has it.
func (postgresql) textVector(w *writer, alias int, index *database.TextIndex) {
	if index.Vector != nil {
		w.columnOf(alias, index.Vector)
		return
	}
	w.text("(")
	for _, piece := range index.Pieces {
		if piece.Column != nil {
			w.columnOf(alias, piece.Column)
		} else {
			w.text(piece.SQL)
		}
	}
	w.text(")")
}

// textQuery writes a tsquery. phraseto_tsquery knows no operators.
func (postgresql) textQuery(w *writer, index *database.TextIndex, query database.TextQuery) {
	w.text("(")
	for i, term := range query {
		if i > 0 {
			w.text(" && ")
		}
		if term.Not {
			w.text("!!")
		}
		w.text("(")
		for j, phrase := range term.Any {
			if j > 0 {
				w.text(" || ")
			}
			w.text("phraseto_tsquery(")
			if index.Language != "" {
				w.text(index.Language + ", ")
			}
			w.bindText(plainPhrase(phrase))
			w.text("::text)")
		}
		w.text(")")
	}
	w.text(")")
}

// fullText of SQLite names the rows that the FTS5 table has. That table may hold words of a column's former values, and so does not
// decide which rows there are.
func (d sqlite) fullText(w *writer, f database.FullText, around precedence) {
	wanted, unwanted := splitQuery(f.Query)
	in := " IN ("
	if len(wanted) == 0 {
		in = " NOT IN ("
	}
	w.column(f.Index.Row)
	w.text(in + "SELECT rowid")
	d.matching(w, f.Index, matchText(wanted, unwanted))
	w.text(")")
}

// textRank is not written by SQLite, which has a Ranking instead.
func (sqlite) textRank(w *writer, _ int, _ database.TextRank) { w.text("NULL") }

// ranking writes the rows that an FTS5 table has for a query, and gives them the present alias. bm25 is less for what fits better.
// A limit, of none, keeps SQLite from asking the FTS5 table anew for each row.
func (w *writer) ranking(from database.Source) {
	r, columns := from.Ranking(), from.Table().Columns
	w.text("(SELECT rowid")
	w.named(columns[0])
	w.text(", -rank")
	w.named(columns[1])
	wanted, unwanted := splitQuery(r.Query)
	sqlite{}.matching(w, r.Index, matchText(wanted, unwanted))
	w.text(" LIMIT -1) AS ")
	w.aliasName(w.alias)
}

func (sqlite) matching(w *writer, index *database.TextIndex, text string) {
	w.text(" FROM ")
	w.table(index.Table)
	w.text(" WHERE ")
	w.identifier(index.Table.Name) // the column that means the whole row has the table's name
	w.text(" MATCH ")
	w.bindText(text)
}

// matchText writes a query of FTS5: all of the wanted terms, and none of the unwanted ones; if none is wanted, any of the unwanted ones.
func matchText(wanted, unwanted []database.TextTerm) string {
	all := func(terms []database.TextTerm, operator string) string {
		texts := make([]string, len(terms))
		for i, term := range terms {
			texts[i] = "(" + quotedPhrases(term.Any, " OR ") + ")"
		}
		return "(" + strings.Join(texts, operator) + ")"
	}
	switch {
	case len(unwanted) == 0:
		return all(wanted, " AND ")
	case len(wanted) == 0:
		return all(unwanted, " OR ")
	}
	return all(wanted, " AND ") + " NOT " + all(unwanted, " OR ")
}
