package sqltext

import (
	"regexp"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// The whole of what the builders write for engines with a grammar of their own.
var (
	oneWord  = `(\+?"[\p{L}\p{M}\p{N}_ ]*"|\+?[\p{L}\p{N}_]+)`
	fts5Text = regexp.MustCompile(`^\(?(\("[\p{L}\p{M}\p{N}_ ]*"( OR "[\p{L}\p{M}\p{N}_ ]*")*\)( AND | OR |\) NOT \()?)+\)?$`)
	boolean  = regexp.MustCompile(`^(\+?\(*(` + oneWord + `[ )(]*)+)+$`)
)

// FuzzSearchTexts has no character of a search become an operator of an engine's grammar.
func FuzzSearchTexts(f *testing.F) {
	for _, seed := range []string{"solar", `a" OR "b`, "x* +y -z", "(", "NEAR(a b)", "é日本\u0301", "title:x", "@3", "\\", "\x00", "'", "~<>"} {
		f.Add(seed, "power", true)
	}
	f.Fuzz(func(t *testing.T, one, other string, not bool) {
		split := func(text string) database.TextPhrase {
			return strings.FieldsFunc(textWord(text), func(r rune) bool { return r == ' ' })
		}
		first, second := split(one), split(other)
		if len(first) == 0 || len(second) == 0 {
			return
		}
		query := database.TextQuery{{Any: []database.TextPhrase{first, second}}, {Any: []database.TextPhrase{second}, Not: not}}
		wanted, unwanted := splitQuery(query)
		if text := matchText(wanted, unwanted); !fts5Text.MatchString(text) || strings.Count(text, `"`)%2 != 0 {
			t.Errorf("FTS5 gets %q", text)
		}
		if text := booleanQuery(wanted); !boolean.MatchString(text) {
			t.Errorf("MySQL gets %q", text)
		}
		// A phrase that was not read as words is made of them here.
		raw := database.TextPhrase{one}
		if text := plainPhrase(raw); strings.ContainsAny(text, "\"'\\()*+-@~<>:^&|!\x00") {
			t.Errorf("a phrase is %q", text)
		}
	})
}

func TestARankingIsReadOnce(t *testing.T) {
	id := &database.Column{Name: "id", Kind: database.Integer}
	table := &database.Table{Name: "article", Columns: []*database.Column{id}}
	index := &database.TextIndex{Table: &database.Table{Name: "words"}, Row: id}
	query := database.TextQuery{{Any: []database.TextPhrase{{"sea"}}}}
	from := (&database.Ranking{Index: index, Query: query}).Source()
	join := &database.Join{From: from, Ours: []*database.Column{id}, Theirs: from.Table().Columns[:1]}
	var s Statement
	plan := &database.Select{From: database.NewSource(table, nil), Joins: []*database.Join{join}, Limit: 1,
		Order: []database.Order{{Join: join, Column: from.Table().Columns[1], Descending: true}}}
	if err := s.Build(SQLite, plan); err != nil {
		t.Fatal(err)
	}
	const want = `SELECT 1 FROM "article" AS t0 LEFT JOIN (SELECT rowid AS "c0", -rank AS "c1" FROM "words" WHERE "words" MATCH ? LIMIT -1) AS t1 ON t1."c0" = t0."id" ORDER BY t1."c1" DESC LIMIT 1`
	if got := string(s.Select); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
