package database_test

import (
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// conditionsScript makes two tables. Only the names of types and the writing of a backslash differ between engines.
func conditionsScript(timestamp, backslash string) string {
	return strings.NewReplacer("TIMESTAMP", timestamp, `\`, backslash).Replace(`
CREATE TABLE author (id INTEGER PRIMARY KEY, name VARCHAR(40), country VARCHAR(2));
CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT, price NUMERIC(8,2), in_stock BOOLEAN, published DATE, sold TIMESTAMP,
  author_id INTEGER REFERENCES author (id));
INSERT INTO author VALUES (1, 'Ada', 'GB'), (2, 'Émile', 'FR'), (3, 'nobody', NULL);
INSERT INTO book VALUES
  (1, '100% Cotton', 9.95, TRUE, '2001-02-03', '2001-02-03 04:05:06', 1),
  (2, '100 Cotton', 10, FALSE, '2001-02-04', '2001-02-03 23:59:59.999', 1),
  (3, 'under_score', 0.5, TRUE, '2002-02-03', '2002-12-31 00:00:00', 2),
  (4, 'underXscore', 100.25, NULL, NULL, NULL, NULL),
  (5, 'back\slash [a-c]*?', NULL, FALSE, '1999-12-31', '2001-02-04 00:00:00', 2),
  (6, 'Élan vital', 7, TRUE, '2001-02-03', '2001-02-03 00:00:00', NULL),
  (7, NULL, 7.5, TRUE, '2001-02-03', NULL, 1);`)
}

func TestConditions(t *testing.T) {
	scripts := map[string]string{
		contract.EnginePostgreSQL: conditionsScript("TIMESTAMP", `\`),
		contract.EngineMySQL:      conditionsScript("DATETIME(3)", `\\`),
		contract.EngineSQLite:     conditionsScript("DATETIME", `\`),
	}
	onAllEngines(t, scripts, func(t *testing.T, f fixture) {
		schema := f.schema(t)
		book, author := find(t, schema, "book"), find(t, schema, "author")
		column := book.Column
		match := func(op database.TextOp, text string) database.Condition {
			return database.Match{Column: column("title"), Op: op, Text: text}
		}
		fold := func(op database.TextOp, text string) database.Condition {
			return database.Match{Column: column("title"), Op: op, Text: text, FoldCase: true}
		}
		compare := func(name string, op database.CompareOp, value database.Value) database.Condition {
			return database.Compare{Column: column(name), Op: op, Value: value}
		}
		part := func(name string, part database.DatePart, value database.Value) database.Condition {
			return database.PartEquals{Column: column(name), Part: part, Value: value}
		}
		written := func(policy, where database.Condition) database.Exists {
			return database.Exists{
				From: database.NewSource(author, policy), Ours: []*database.Column{column("author_id")},
				Theirs: []*database.Column{author.Column("id")}, Where: where,
			}
		}
		byAda := database.Match{Column: author.Column("name"), Text: "Ada"}
		// An in of a key of several columns may have as many.
		anyOf, noneOf := database.Or{}, database.And{}
		for n := range int64(1000) {
			one := database.And{compare("id", database.Equal, n+6), compare("price", database.Greater, "0")}
			anyOf, noneOf = append(anyOf, one), append(noneOf, database.Not{Condition: one})
		}
		for _, test := range []struct {
			name      string
			condition database.Condition
			want      string
		}{
			{"integer equals", compare("id", database.Equal, int64(3)), "3"},
			{"integer beyond the column's range", compare("id", database.Equal, int64(1)<<40), ""},
			{"less", compare("id", database.Less, int64(3)), "1 2"},
			{"decimal equals", compare("price", database.Equal, "10.0"), "2"},
			{"decimals by their value, not their text", compare("price", database.GreaterOrEqual, "9.95"), "1 2 4"},
			{"boolean", compare("in_stock", database.Equal, false), "2 5"},
			{"date", compare("published", database.LessOrEqual, "2001-02-03"), "1 5 6 7"},
			{"timestamp equals", compare("sold", database.Equal, "2001-02-03T04:05:06"), "1"},
			{"timestamp with a fraction", compare("sold", database.Equal, "2001-02-03T23:59:59.999"), "2"},
			{"timestamp greater", compare("sold", database.Greater, "2001-02-03T04:05:06"), "2 3 5"},
			{"not equal, nulls included", database.Not{Condition: compare("in_stock", database.Equal, true)}, "2 4 5"},
			{"equal to no value", compare("in_stock", database.Equal, nil), ""},
			{"null", database.IsNull{Column: column("price")}, "5"},
			{"not null", database.Not{Condition: database.IsNull{Column: column("title")}}, "1 2 3 4 5 6"},
			{"in", database.In{Column: column("id"), Values: []database.Value{int64(7), int64(2), int64(99)}}, "2 7"},
			{"in texts", database.In{Column: column("title"), Values: []database.Value{`back\slash [a-c]*?`, `{"x`, "100 Cotton"}}, "2 5"},
			{"in decimals", database.In{Column: column("price"), Values: []database.Value{"7.00", "9.950"}}, "1 6"},
			{"in timestamps", database.In{Column: column("sold"), Values: []database.Value{"2002-12-31T00:00:00"}}, "3"},
			{"in nothing", database.In{Column: column("id")}, ""},
			{"not in nothing", database.Not{Condition: database.In{Column: column("id")}}, "1 2 3 4 5 6 7"},

			{"text equals", match(database.TextEquals, "under_score"), "3"},
			{"text equals, in other case", match(database.TextEquals, "Under_Score"), ""},
			{"text equals, folded", fold(database.TextEquals, "UNDER_score"), "3"},
			{"text equals, folded beyond ASCII", fold(database.TextEquals, "éLAN VITAL"), "6"},
			{"contains", match(database.TextContains, "Cot"), "1 2"},
			{"contains, in other case", match(database.TextContains, "cot"), ""},
			{"contains, folded", fold(database.TextContains, "cOT"), "1 2"},
			{"contains, folded beyond ASCII", fold(database.TextContains, "éL"), "6"},
			{"a percent sign", match(database.TextContains, "0%"), "1"},
			{"a percent sign, folded", fold(database.TextContains, "0% c"), "1"},
			{"an underscore", match(database.TextContains, "r_s"), "3"},
			{"an underscore, folded", fold(database.TextContains, "R_S"), "3"},
			{"a backslash", match(database.TextContains, `\`), "5"},
			{"a backslash, folded", fold(database.TextContains, `K\S`), "5"},
			{"brackets and stars", match(database.TextEndsWith, "[a-c]*?"), "5"},
			{"starts with", match(database.TextStartsWith, "under"), "3 4"},
			{"starts with, in other case", match(database.TextStartsWith, "Under"), ""},
			{"starts with, beyond ASCII", match(database.TextStartsWith, "Él"), "6"},
			{"starts with, folded", fold(database.TextStartsWith, "UNDER_"), "3"},
			{"starts with, folded beyond ASCII", fold(database.TextStartsWith, "éla"), "6"},
			{"starts with brackets", match(database.TextStartsWith, "[b]ack"), ""},
			{"starts with more than there is", match(database.TextStartsWith, strings.Repeat("100 Cotton", 2_000)), ""},
			{"ends with", match(database.TextEndsWith, "score"), "3 4"},
			{"ends with, in other case", match(database.TextEndsWith, "SCORE"), ""},
			{"ends with, folded", fold(database.TextEndsWith, "xSCORE"), "4"},
			{"ends with more than there is", match(database.TextEndsWith, "and 100 Cotton"), ""},
			{"contains nothing at all", match(database.TextContains, ""), "1 2 3 4 5 6"},
			{"does not contain, nulls included", database.Not{Condition: match(database.TextContains, "o")}, "5 6 7"},

			{"on a day", part("sold", database.WholeDate, "2001-02-03"), "1 2 6"},
			{"date on a day", part("published", database.WholeDate, "2001-02-03"), "1 6 7"},
			{"in a year", part("published", database.Year, int64(2001)), "1 2 6 7"},
			{"in no year", part("sold", database.Year, int64(-1)), ""},
			{"in a month", part("sold", database.Month, int64(2)), "1 2 5 6"},
			{"on a day of the month", part("published", database.Day, int64(3)), "1 3 6 7"},

			{"in a quarter", part("sold", database.Quarter, int64(4)), "3"},
			{"in the first quarter", part("published", database.Quarter, int64(1)), "1 2 3 6 7"},
			{"in a week", part("sold", database.Week, int64(5)), "1 2 5 6"},
			{"in a week that began in the year before", part("sold", database.Week, int64(1)), "3"},
			{"in the last week", part("published", database.Week, int64(52)), "5"},
			{"on a Sunday", part("published", database.Weekday, int64(7)), "2 3"},
			{"on a Tuesday", part("sold", database.Weekday, int64(2)), "3"},
			{"on no day of the week", part("sold", database.Weekday, int64(0)), ""},
			{"in an hour", part("sold", database.Hour, int64(23)), "2"},
			{"at midnight", part("sold", database.Hour, int64(0)), "3 5 6"},

			{"related", written(nil, nil), "1 2 3 5 7"},
			{"related and matching", written(nil, byAda), "1 2 7"},
			{"related, as far as its policy lets see", written(database.Not{Condition: byAda}, nil), "3 5"},
			{"related, matching and hidden", written(database.Not{Condition: byAda}, byAda), ""},
			{"not related", database.Not{Condition: written(nil, nil)}, "4 6"},
			{"related, not equal", written(nil, database.Not{Condition: byAda}), "3 5"},

			{"nothing to meet", database.And{}, "1 2 3 4 5 6 7"},
			{"any of nothing", database.Or{}, ""},
			{"and binds before or", database.Or{compare("id", database.Equal, int64(1)), database.And{
				compare("id", database.Equal, int64(2)), compare("id", database.Equal, int64(3)),
			}}, "1"},
			{"or within and", database.And{database.Or{compare("id", database.Equal, int64(1)), compare("id", database.Equal, int64(2))},
				compare("in_stock", database.Equal, true)}, "1"},
			{"any of a thousand", anyOf, "6 7"},
			{"any of a thousand, and more", database.And{anyOf, compare("id", database.Less, int64(7))}, "6"},
			{"none of a thousand", noneOf, "1 2 3 4 5"},
		} {
			t.Run(test.name, func(t *testing.T) {
				if got := f.ids(t, book, test.condition); got != test.want {
					t.Errorf("rows %s, want %s", got, test.want)
				}
			})
		}
	})
}

func TestPages(t *testing.T) {
	onAllEngines(t, same(`CREATE TABLE item (id INTEGER PRIMARY KEY, grp INTEGER NOT NULL, hidden BOOLEAN NOT NULL);
INSERT INTO item VALUES (1, 2, FALSE), (2, 1, FALSE), (3, 2, FALSE), (4, 1, FALSE), (5, 2, FALSE), (6, 1, TRUE);`), func(t *testing.T, f fixture) {
		item := f.table(t, "item")
		visible := database.NewSource(item, database.Compare{Column: item.Column("hidden"), Op: database.Equal, Value: false})
		order := []database.Order{{Column: item.Column("grp")}, {Column: item.Column("id"), Descending: true}}
		for _, test := range []struct {
			name          string
			limit, offset int
			want          string
			total         int64
		}{
			{"all", 10, 0, "4 2 5 3 1", 5},
			{"the first page", 2, 0, "4 2", 5},
			{"the second page", 2, 2, "5 3", 5},
			{"the last page", 2, 4, "1", 5},
			{"beyond the last page", 2, 6, "", 5},
			{"a page of no rows", 0, 0, "", 5},
			{"exactly all", 5, 0, "4 2 5 3 1", 5},
			{"one row", 1, 1, "2", 5},
		} {
			t.Run(test.name, func(t *testing.T) {
				plan := &database.Select{From: visible, Output: outputs(item.Column("id")), Order: order, Limit: test.limit, Offset: test.offset, Total: database.TotalExact}
				rows, page := f.read(t, plan)
				got := strings.NewReplacer(`{"id":`, "", "}", "").Replace(strings.Join(rows, " "))
				if got != test.want || page.Total != test.total {
					t.Errorf("rows %s of %d, want %s of %d", got, page.Total, test.want, test.total)
				}
				plan.Total = database.TotalNone
				if again, page := f.read(t, plan); len(again) != len(rows) || page.Total != -1 {
					t.Errorf("without a count: %d rows, total %d", len(again), page.Total)
				}
			})
		}
	})
}

func TestRowsAreAppended(t *testing.T) {
	onAllEngines(t, same(`CREATE TABLE item (a INTEGER NOT NULL, b VARCHAR(20) NOT NULL, PRIMARY KEY (a, b)); INSERT INTO item VALUES (1, 'x,y/z%'), (2, 'é')`),
		func(t *testing.T, f fixture) {
			item := f.table(t, "item")
			plan := &database.Select{From: database.NewSource(item, nil), Order: ascending(item.PrimaryKey...), Limit: 10, Output: []database.Output{
				{Name: "id", Columns: item.PrimaryKey, Composite: true},
				{Name: `the "b"`, Columns: []*database.Column{item.Column("b")}},
				{Name: "again", Columns: []*database.Column{item.Column("b")}},
			}}
			out, _, err := f.Select(t.Context(), plan, []byte("before "))
			const want = `before {"id":"1,x%2Cy%2Fz%25","the \"b\"":"x,y/z%","again":"x,y/z%"},{"id":"2,%C3%A9","the \"b\"":"é","again":"é"}`
			if err != nil || string(out) != want {
				t.Errorf("got %s, %v, want %s", out, err, want)
			}
			plan.Output = nil
			if out, page, err := f.Select(t.Context(), plan, nil); err != nil || string(out) != "{},{}" || page.Count != 2 {
				t.Errorf("rows without members are %s, %v", out, err)
			}
		})
}
