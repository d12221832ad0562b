package database

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// TextIndex is what an engine finds words of a table's rows by: a tsvector or an index of to_tsvector (PostgreSQL), a FULLTEXT index
// (MySQL, MariaDB), an FTS5 table (SQLite).
type TextIndex struct {
	Name string
	// Columns are all columns whose words it has; empty if that is not known.
	Columns []*Column
	// Vector is the tsvector that is searched; Pieces the expression if there is no such column. Language is the text search
	// configuration as SQL, "" for the session's own.
	Vector   *Column
	Pieces   []TextPiece
	Language string
	// Table is the FTS5 table, Row the column by which rows of the indexed table are named in it.
	Table *Table
	Row   *Column
	// MinLength and MaxLength bound the characters of the words that it has, and StopWords, in lower case, are words that it has not.
	MinLength, MaxLength int
	StopWords            map[string]bool
	// RanksByAll reports whether a row's rank depends on what all other rows hold.
	RanksByAll bool
}

// TextPiece is a piece of an expression: SQL, or a column of the row.
type TextPiece struct {
	SQL    string
	Column *Column
}

// Has reports whether the index can have all words of a phrase.
func (x *TextIndex) Has(phrase TextPhrase) bool {
	return len(phrase) > 0 && !slices.ContainsFunc(phrase, func(word string) bool {
		n := utf8.RuneCountInString(word)
		return n < x.MinLength || x.MaxLength > 0 && n > x.MaxLength || x.StopWords[strings.ToLower(word)]
	})
}

// TextPhrase is words that follow one another. They consist of letters, marks and digits alone.
type TextPhrase []string

// TextTerm holds for a row that has one of the phrases; with Not, for one that has none of them.
type TextTerm struct {
	Any []TextPhrase
	Not bool
}

// TextQuery is what a row must hold: all of the terms.
type TextQuery []TextTerm

// FullText is true if the row holds what a query asks for, by an index.
type FullText struct {
	Index *TextIndex
	Query TextQuery
	// Else holds instead if the index has none of the query's words, which only the engine knows (PostgreSQL's stop words); nil is
	// every row.
	Else Condition
}

func (FullText) condition() {}

// TextRank is how well a row fits a query, as a column of the row: a greater number fits better.
type TextRank struct {
	Index *TextIndex
	Query TextQuery
}

func (TextRank) expression() {}

// Column returns the column of the rank.
func (r TextRank) Column() *Column {
	c := derived(Float)
	c.Name, c.Expression = "rank", r
	return c
}

// Ranking is the rows that an FTS5 table has for a query, each with its rank.
type Ranking struct {
	Index *TextIndex
	Query TextQuery
}

// Source returns the ranking as a table of two columns: what names the row, and its rank. It names rows, and shows none.
func (r *Ranking) Source() Source {
	row := *r.Index.Row
	row.Name = "c0"
	rank := derived(Float)
	rank.Name = "c1"
	return Source{table: &Table{Name: "ranks", Kind: View, Columns: []*Column{&row, rank}}, ranking: r}
}
