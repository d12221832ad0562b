package engines

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// articleRows are the rows of each table that is searched.
const articleRows = `(1, 'Solar power', 'panels on every roof; solar solar solar', 'emea'),
  (2, 'Wind power', 'turbines at sea, and no solar panel', 'emea'),
  (3, 'Coffee of the world', 'a cup of coffee near the sea', 'apac'),
  (4, 'Tea', 'green tea and black tea', 'emea'),
  (5, 'Sea power', 'ships', 'apac'),
  (6, 'C++ & x_y', 'it''s 100% "odd"', 'amer')`

// articles makes a table of articles with a full-text index of title and body, which simple languages have word by word.
func articles(engine harness.Engine, name string, rows string) string {
	plain := fmt.Sprintf("create table %s (id int primary key, title varchar(200), body varchar(2000), region varchar(10));\n", name)
	fill := fmt.Sprintf("insert into %s (id, title, body, region) values %s;\n", name, rows)
	if engine.Name == contract.EngineSQLite {
		plain = strings.Replace(plain, "int primary key", "integer primary key", 1)
		return plain + fill + fmt.Sprintf("create virtual table %s_fts using fts5(title, body, content='%[1]s', content_rowid='id');\ninsert into %[1]s_fts(%[1]s_fts) values ('rebuild');\n", name)
	}
	if engine.Name == contract.EnginePostgreSQL {
		return plain + fill + fmt.Sprintf("create index %s_words on %[1]s using gin (to_tsvector('simple', coalesce(title, '') || ' ' || coalesce(body, '')));\n", name)
	}
	return plain + fill + fmt.Sprintf("create fulltext index %s_words on %[1]s (title, body);\n", name)
}

// searchModels are what is served of the articles: with its index, and in each way without.
func searchModels() []contract.Model {
	own := []contract.RowPolicy{
		{Name: "own-region", Groups: []string{"clerks"}, Filters: []contract.Filter{{Field: "region", TokenAttribute: "region"}}},
		{Name: "staff", Groups: []string{"staff"}, AllRows: true},
	}
	return []contract.Model{
		{Name: "article", Table: "article", Expose: true, RowPolicies: own},
		{Name: "pieces", Table: "pieces", Expose: true, SearchMode: contract.SearchContains},
		{Name: "hidden", Table: "hidden", Expose: true, Exclude: []string{"body"}},
		{Name: "masked", Table: "masked", Expose: true, Masked: []contract.MaskedField{{Name: "body"}}},
		{Name: "narrow", Table: "narrow", Expose: true, SearchFields: []string{"title"}},
		{Name: "wide", Table: "wide", Expose: true, SearchFields: []string{"title", "body", "region"}},
		{Name: "late", Table: "late", Expose: true, RowPolicies: []contract.RowPolicy{{Name: "like", Everyone: true, Filters: []contract.Filter{{Field: "region", Lookup: "icontains", Value: "mea"}}}}},
		{Name: "same", Table: "same", Expose: true, SearchFields: []string{"body", "title"}},
	}
}

// startSearch serves the articles, and what more a script makes.
func startSearch(t *testing.T, engine harness.Engine, script string, more ...contract.Model) *suite {
	t.Helper()
	models := append(searchModels(), more...)
	for _, m := range searchModels() {
		script += articles(engine, m.Table, articleRows)
	}
	opened, plain := engine.Open(t, script)
	noteVersion(t, engine, plain)
	s := &suite{engine, harness.Serve(t, opened, models, tokens(), withAudit), plain}
	for _, m := range s.endpoint.Status().Models {
		if !m.Served() {
			t.Fatalf("%s: %s %s", m.Name, m.Reason, m.Message)
		}
	}
	return s
}

func jsonText(text string) string {
	quoted, _ := json.Marshal(text) // a text: it cannot fail
	return string(quoted)
}

// searched returns the ids that a search finds, in their order.
func (s *suite) searched(t *testing.T, token, model, search string, more ...string) string {
	t.Helper()
	return column(t, s.ok(t, token, "list_"+model, fmt.Sprintf(`{"search": %s%s}`, jsonText(search), strings.Join(more, ""))), "id")
}

func sorted(ids string) string {
	all := strings.Fields(ids)
	slices.Sort(all)
	return strings.Join(all, " ")
}

func TestSearchByIndex(t *testing.T) {
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			if engine.Remote {
				t.Skip(noTextIndex)
			}
			if engine.Name == contract.EngineDuckDB {
				t.Skip("DuckDB is served without full-text indexes")
			}
			t.Parallel()
			s := startSearch(t, engine, "")
			s.check(t, "words, phrases, without, either", func(t *testing.T) {
				for _, test := range []struct{ search, found string }{
					{"power", "1 2 5"}, {"POWER", "1 2 5"}, {"solar power", "1 2"}, {`"sea power"`, "5"}, {`"power sea"`, ""}, {"power -solar", "5"},
					{`power -"sea power"`, "1 2"}, {"tea or coffee", "3 4"}, {"power sea or panels", "1 2 5"}, {"power tea or ships", "5"},
					{"tea OR coffee or ships", "3 4 5"}, {"-power -coffee", "4 6"}, {"-power", "3 4 6"}, {`"of the world"`, "3"}, {"solar -wind -tea", "1"},
					{"pow", ""}, {"pan", ""}, {"C++", "6"}, {"100%", "6"},
				} {
					if got := sorted(s.searched(t, "root", "article", test.search)); got != test.found {
						t.Errorf("%s finds %q, want %q", test.search, got, test.found)
					}
					count := s.ok(t, "root", "aggregate_article", fmt.Sprintf(`{"measures": {"n": {"count": "*"}}, "search": %s}`, jsonText(test.search)))
					want(t, count, strconv.Itoa(len(strings.Fields(test.found))), "results", 0, "n")
				}
			})
			s.check(t, "the best first, by offset", func(t *testing.T) {
				if got := s.searched(t, "root", "article", "solar"); got != "1 2" {
					t.Errorf("solar finds %q, want 1 2", got)
				}
				page := s.ok(t, "root", "list_article", `{"search": "solar", "limit": 1, "total": "exact"}`)
				want(t, page, `2`, "total_count")
				want(t, page, `1`, "next_offset")
				if page["next_cursor"] != nil {
					t.Errorf("a ranked page has a cursor: %v", page)
				}
				if got := s.searched(t, "root", "article", "solar", `, "limit": 1, "offset": 1`); got != "2" {
					t.Errorf("the second page is %q, want 2", got)
				}
				ordered := s.ok(t, "root", "list_article", `{"search": "power", "order_by": ["-id"], "limit": 2}`)
				if got := column(t, ordered, "id"); got != "5 2" {
					t.Errorf("an order that was asked for gives %q, want 5 2", got)
				}
				next := ordered["next_cursor"].(string)
				if got := s.searched(t, "root", "article", "power", fmt.Sprintf(`, "order_by": ["-id"], "limit": 2, "cursor": %q`, next)); got != "1" {
					t.Errorf("behind the cursor is %q, want 1", got)
				}
				told := s.fails(t, "root", "list_article", fmt.Sprintf(`{"search": "power", "cursor": %q}`, next), "invalid_argument")
				want(t, told, `"cursor: similar rows, and rows of a search without order_by, have an order without cursors; go on with offset"`, "error")
				told = s.fails(t, "root", "list_article", `{"search": "sea or -power"}`, "invalid_argument")
				want(t, told, `"search: or stands between words or phrases that are looked for, and not beside -power; send -a -b for rows without either"`, "error")
				if got := s.searched(t, "root", "article", "solar", `, "top": {"per": ["region"], "n": 1}`); got != "1" {
					t.Errorf("the best of each region is %q, want 1", got)
				}
			})
			s.check(t, "policies", func(t *testing.T) {
				for search, found := range map[string]string{"power": "1 2", "sea": "2", "-power": "4", "coffee": ""} {
					if got := sorted(s.searched(t, "clerk", "article", search)); got != found {
						t.Errorf("a clerk finds %q for %s, want %q", got, search, found)
					}
				}
				for search, found := range map[string]string{"power": "1 2", "sea": "2", `"sea power"`: "", "-power": "4", "solar panels or panel": "1 2"} {
					if got := sorted(s.searched(t, "root", "late", search)); got != found {
						t.Errorf("behind a policy that may come late, %s finds %q, want %q", search, got, found)
					}
				}
				if got := s.searched(t, "stranger", "article", "power"); got != "" {
					t.Errorf("a stranger finds %q", got)
				}
			})
			s.check(t, "the index is used for what is visible only", func(t *testing.T) {
				for model, found := range map[string]string{"pieces": "1 2", "hidden": "1", "masked": "1", "narrow": "1", "wide": "1 2", "same": ""} {
					if got := sorted(s.searched(t, "root", model, "olar")); got != found {
						t.Errorf("%s: olar finds %q, want %q", model, got, found)
					}
					described := s.ok(t, "root", "describe_"+model, `{}`)
					says, _ := at(t, described, "asking", "search").(string)
					if (says != "") != (model == "same") {
						t.Errorf("%s: describe says %q of search", model, says)
					}
				}
				for _, search := range []string{"turbines", `"solar panel"`, "-turbines"} {
					for _, model := range []string{"hidden", "masked"} {
						if got := s.searched(t, "root", model, search); got != "" && search != "-turbines" {
							t.Errorf("%s: %s tells of a column that is not seen: %q", model, search, got)
						}
					}
				}
				if got := sorted(s.searched(t, "root", "same", "solar power")); got != "1 2" {
					t.Errorf("solar power finds %q, want 1 2", got)
				}
			})
			s.check(t, "hostile texts", func(t *testing.T) {
				for _, search := range hostileSearches {
					for _, tool := range []string{"list_article", "aggregate_article"} {
						arguments := fmt.Sprintf(`{"search": %s, "measures": {"n": {"count": "*"}}}`, jsonText(search))
						if tool == "list_article" {
							arguments = fmt.Sprintf(`{"search": %s}`, jsonText(search))
						}
						if payload, isError := s.call(t, "root", tool, arguments); isError && payload["code"] != "invalid_argument" {
							t.Errorf("%s of %q: %v", tool, search, payload)
						}
					}
				}
				s.holds(t, "select count(*) from article", "6")
			})
			s.check(t, "as the words themselves say", s.searchesLikeWords)
		})
	}
}

// hostileSearches are texts with operators of each engine's own grammar.
var hostileSearches = []string{
	`"`, `""`, `"""`, `-`, `--`, `- -`, `-"`, `-""`, `*`, `+`, `+-`, `@`, `~`, `<`, `>`, `()`, `(`, `)`, `(((((`, `solar*`, `"solar*"`, `+solar`, `~solar`, `>solar <power`,
	`solar @ 3`, `"solar power" @3`, `"solar power"@3`, `NEAR(solar power)`, `NEAR(solar power, 2)`, `title:solar`, `{title body}: solar`, `^solar`, `- {title}: solar`,
	`solar AND power`, `solar NOT power`, `AND`, `NOT`, `OR OR OR`, `or`, `or or`, `or solar`, `solar or`, `solar or or power`, `-a or b`, `a or -b`, `solar <-> power`, `solar & power`,
	`solar | power`, `!solar`, `solar:*`, `solar:A`, `'solar'`, `\`, `\\`, `\"`, `solar\`, `%`, `_`, `$1`, `?`, `:id`, `'; drop table article; --`, `" OR 1=1 --`, `x" OR "y`,
	"a\tb", "a\nb", "\u00a0", "\u200b", "\ufeffsolar", "ﬁ", "ſolar", "日本語", "नमस्ते", "🦊", "🦊🦊 solar", "e\u0301te\u0301", strings.Repeat("x", 5000), strings.Repeat(`"`, 500), strings.Repeat("(", 300),
	`"unclosed phrase`, `-"unclosed`, `"a" "b"`, `"a""b"`, `a"b"c`, `x_y`, `___`, "the", `"the of"`, "-the", "the or of", "a b c d e f g h i j",
}

// articleWords are words that every engine's index has.
var articleWords = strings.Fields("solar power wind ocean coffee green black tower river stone")

// searchesLikeWords compares searches by chance with what the words of the rows themselves say.
func (s *suite) searchesLikeWords(t *testing.T) {
	seed := harness.Seed(t)
	random := rand.New(rand.NewPCG(seed, 0))
	word := func() string { return articleWords[random.IntN(len(articleWords))] }
	text := func() string {
		words := make([]string, random.IntN(7))
		for i := range words {
			words[i] = word()
		}
		return strings.Join(words, " ")
	}
	type article struct{ title, body string }
	rows := map[int]article{}
	var values []string
	for id := 1; id <= 60; id++ {
		rows[id] = article{text(), text()}
		values = append(values, fmt.Sprintf("(%d, '%s', '%s', 'emea')", id, rows[id].title, rows[id].body))
	}
	other := startSearchOf(t, s.Engine, values)
	for range harness.Part(200) {
		var terms []string
		holds := func(article) bool { return true }
		for range 1 + random.IntN(3) {
			var phrases []string
			not := random.IntN(4) == 0
			alternatives := 1
			if !not {
				alternatives += random.IntN(2)
			}
			for range alternatives {
				phrase := word()
				if random.IntN(3) == 0 {
					phrase += " " + word()
				}
				phrases = append(phrases, phrase)
			}
			written := make([]string, len(phrases))
			for i, phrase := range phrases {
				written[i] = `"` + phrase + `"`
				if !strings.Contains(phrase, " ") && random.IntN(2) == 0 {
					written[i] = phrase
				}
				if not {
					written[i] = "-" + written[i]
				}
			}
			terms = append(terms, strings.Join(written, " or "))
			before := holds
			holds = func(a article) bool {
				found := slices.ContainsFunc(phrases, func(p string) bool {
					if s.Name == contract.EnginePostgreSQL { // whose expression joins the two
						return strings.Contains(" "+strings.TrimSpace(a.title+" "+a.body)+" ", " "+p+" ")
					}
					return strings.Contains(" "+a.title+" ", " "+p+" ") || strings.Contains(" "+a.body+" ", " "+p+" ")
				})
				return before(a) && found != not
			}
		}
		search := strings.Join(terms, " ")
		if len(strings.Fields(search)) > 10 {
			continue
		}
		var expected []string
		for id := 1; id <= len(rows); id++ {
			if holds(rows[id]) {
				expected = append(expected, strconv.Itoa(id))
			}
		}
		got := strings.Fields(other.searched(t, "root", "article", search, `, "limit": 100, "fields": ["id"]`))
		slices.SortFunc(got, func(a, b string) int { x, _ := strconv.Atoi(a); y, _ := strconv.Atoi(b); return x - y })
		if !slices.Equal(got, expected) {
			t.Fatalf("%s finds %v, want %v (seed %d)", search, got, expected, seed)
		}
	}
}

// startSearchOf serves articles of these rows.
func startSearchOf(t *testing.T, engine harness.Engine, rows []string) *suite {
	t.Helper()
	opened, plain := engine.Open(t, articles(engine, "article", strings.Join(rows, ",\n")))
	models := []contract.Model{{Name: "article", Table: "article", Expose: true, MaxPageSize: 100}}
	return &suite{engine, harness.Serve(t, opened, models, tokens(), withAudit), plain}
}
