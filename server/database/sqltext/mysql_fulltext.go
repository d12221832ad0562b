package sqltext

import (
	"slices"
	"strings"
	"unicode"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// A statement has one MATCH, which may stand in two places: servers take several in a prepared statement for the same if they once had
// the same text. InnoDB's own search for phrases leaves rows out in which a word of the phrase stands twice (both seen in MariaDB
// 10.11). So the index finds words, and an expression looks whether they follow one another.

// fullText of MySQL looks without the index for what must not be there: the operator for that finds nothing alone, and is forgotten
// before a group.
func (d mysql) fullText(w *writer, f database.FullText, around precedence) {
	if around != precedenceTop {
		w.text("(")
	}
	wanted, _ := splitQuery(f.Query)
	operator := ""
	if len(wanted) > 0 {
		d.against(w, w.alias, f.Index, wanted)
		operator = " AND "
	}
	for _, term := range f.Query {
		if !term.Not && !slices.ContainsFunc(term.Any, isPhrase) {
			continue
		}
		w.text(operator)
		d.follow(w, f.Index, term.Any)
		if term.Not {
			w.text(" IS NOT TRUE")
		}
		operator = " AND "
	}
	if around != precedenceTop {
		w.text(")")
	}
}

func (d mysql) textRank(w *writer, alias int, r database.TextRank) {
	wanted, _ := splitQuery(r.Query)
	d.against(w, alias, r.Index, wanted)
}

// isPhrase reports whether the words of a phrase must follow one another.
func isPhrase(phrase database.TextPhrase) bool { return len(phrase) > 1 || !isOneToken(phrase[0]) }

// isOneToken reports whether the server certainly takes a word for one.
func isOneToken(word string) bool {
	return !strings.ContainsFunc(word, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// booleanQuery is what a query wants, with all words of its phrases.
func booleanQuery(wanted []database.TextTerm) string {
	var terms []string
	for _, term := range wanted {
		var phrases []string
		for _, phrase := range term.Any {
			all := make([]string, len(phrase))
			for i, word := range phrase {
				all[i] = textWord(word)
				if !isOneToken(word) {
					all[i] = `"` + all[i] + `"`
				}
			}
			if len(all) > 1 {
				phrases = append(phrases, "(+"+strings.Join(all, " +")+")")
			} else {
				phrases = append(phrases, all[0])
			}
		}
		switch {
		case len(phrases) == 1:
			terms = append(terms, "+"+phrases[0])
		default:
			terms = append(terms, "+("+strings.Join(phrases, " ")+")")
		}
	}
	return strings.Join(terms, " ")
}

// follow asks whether the words of one of several phrases follow one another in a column.
func (mysql) follow(w *writer, index *database.TextIndex, phrases []database.TextPhrase) {
	const letter = `\p{L}\p{M}\p{N}_`
	w.text("(")
	for i, phrase := range phrases {
		pattern := "(^|[^" + letter + "])" + strings.Join(strings.Fields(plainPhrase(phrase)), "[^"+letter+"]+") + "([^" + letter + "]|$)"
		for j, column := range index.Columns {
			if i+j > 0 {
				w.text(" OR ")
			}
			w.column(column)
			w.text(" REGEXP ")
			w.bindText(pattern)
		}
	}
	w.text(")")
}

func (mysql) against(w *writer, alias int, index *database.TextIndex, wanted []database.TextTerm) {
	for i, column := range index.Columns {
		if i == 0 {
			w.text("MATCH (")
		} else {
			w.text(", ")
		}
		w.columnOf(alias, column)
	}
	w.text(") AGAINST (")
	w.bindText(booleanQuery(wanted))
	w.text(" IN BOOLEAN MODE)")
}
