package database_test

import (
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// joinsScript makes books, their authors and the authors' countries. One of each refers to nothing.
const joinsScript = `
CREATE TABLE country (code VARCHAR(2) PRIMARY KEY, name VARCHAR(40), hidden BOOLEAN NOT NULL);
CREATE TABLE author (id INTEGER PRIMARY KEY, name VARCHAR(40), born INTEGER, country VARCHAR(2), hidden BOOLEAN NOT NULL);
CREATE TABLE book (id INTEGER PRIMARY KEY, title VARCHAR(40), year INTEGER, author_id INTEGER, editor_id INTEGER);
INSERT INTO country VALUES ('GB', 'Britain', FALSE), ('FR', 'France', TRUE);
INSERT INTO author VALUES (1, 'Ada', 1815, 'GB', FALSE), (2, 'Émile', 1840, 'FR', FALSE), (3, 'Secret', 1900, 'GB', TRUE), (4, 'Nobody', NULL, NULL, FALSE);
INSERT INTO book VALUES (1, 'Ada', 1843, 1, 2), (2, 'Notes', 1815, 1, 1), (3, 'Nana', 1880, 2, NULL), (4, 'Hidden', 1950, 3, 3),
  (5, 'Orphan', 1900, NULL, 4), (6, 'nobody', 2000, 4, 1);`

func TestJoins(t *testing.T) {
	onAllEngines(t, same(joinsScript), func(t *testing.T, f fixture) {
		schema := f.schema(t)
		country, author, book := find(t, schema, "country"), find(t, schema, "author"), find(t, schema, "book")
		visible := func(table *database.Table) database.Source {
			return database.NewSource(table, database.Compare{Column: table.Column("hidden"), Op: database.Equal, Value: false})
		}
		to := func(through *database.Join, table *database.Table, ours, theirs *database.Column) *database.Join {
			return &database.Join{Through: through, From: visible(table), Ours: []*database.Column{ours}, Theirs: []*database.Column{theirs}}
		}
		wrote := to(nil, author, book.Column("author_id"), author.Column("id"))
		edited := to(nil, author, book.Column("editor_id"), author.Column("id"))
		from := to(wrote, country, author.Column("country"), country.Column("code"))
		joins := []*database.Join{wrote, edited, from}
		is := func(join *database.Join, table *database.Table, column, value string) database.Condition {
			return database.Joined{Join: join, Condition: database.Match{Column: table.Column(column), Text: value}}
		}
		ref := func(join *database.Join, table *database.Table, column string) database.Ref {
			return database.Ref{Join: join, Column: table.Column(column)}
		}
		ids := func(where database.Condition) string {
			rows, page := f.read(t, &database.Select{From: database.NewSource(book, nil), Joins: joins, Where: where, Output: outputs(book.Column("id")),
				Order: ascending(book.Column("id")), Limit: 100, Total: database.TotalExact})
			if page.Total != int64(len(rows)) {
				t.Errorf("%d rows were found, but %d counted", len(rows), page.Total)
			}
			return strings.NewReplacer(`{"id":`, "", "}", "").Replace(strings.Join(rows, " "))
		}
		for _, test := range []struct {
			name  string
			where database.Condition
			want  string
		}{
			{"none", nil, "1 2 3 4 5 6"},
			{"a field of the joined row", is(wrote, author, "name", "Ada"), "1 2"},
			{"two relations far", is(from, country, "name", "Britain"), "1 2"},
			{"two relations far, to a hidden row", is(from, country, "name", "France"), ""},
			{"a hidden row", is(wrote, author, "name", "Secret"), ""},
			{"null: a missing row and a hidden one", database.Joined{Join: wrote, Condition: database.IsNull{Column: author.Column("name")}}, "4 5"},
			{"not equal: they count", database.Not{Condition: is(wrote, author, "name", "Ada")}, "3 4 5 6"},
			{"two joins to the same table", database.And{is(wrote, author, "name", "Ada"), is(edited, author, "name", "Ada")}, "2"},
			{"a field and one of a joined row", database.CompareRefs{Left: ref(nil, book, "year"), Op: database.Equal, Right: ref(wrote, author, "born")}, "2"},
			{"fields of two joined rows", database.CompareRefs{Left: ref(wrote, author, "born"), Op: database.Less, Right: ref(edited, author, "born")}, "1"},
			{"texts in their own case", database.CompareRefs{Left: ref(nil, book, "title"), Op: database.Equal, Right: ref(wrote, author, "name")}, "1"},
			{"within the joined row", database.Joined{Join: wrote, Condition: database.CompareRefs{
				Left: ref(nil, book, "year"), Op: database.Greater, Right: ref(wrote, author, "born"),
			}}, "1 3"},
			{"another book of the author", database.Compare{Op: database.Equal, Value: int64(2), Column: countOf(wrote, database.Exists{
				From: database.NewSource(book, nil), Ours: []*database.Column{author.Column("id")}, Theirs: []*database.Column{book.Column("author_id")},
			})}, "1 2"},
		} {
			t.Run(test.name, func(t *testing.T) {
				if got := ids(test.where); got != test.want {
					t.Errorf("rows %s, want %s", got, test.want)
				}
			})
		}
		t.Run("outputs, orders and cursors", func(t *testing.T) {
			plan := &database.Select{
				From: database.NewSource(book, nil), Joins: joins, Limit: 100, More: true, Cursor: []database.Ref{ref(wrote, author, "born"), ref(nil, book, "id")},
				Output: []database.Output{{Name: "id", Columns: []*database.Column{book.Column("id")}}, {Name: "by", Join: wrote, Columns: []*database.Column{author.Column("name")}},
					{Name: "from", Join: from, Columns: []*database.Column{country.Column("name")}}},
				Order: []database.Order{{Join: wrote, Column: author.Column("born"), Descending: true}, {Column: book.Column("id"), Descending: true}},
			}
			all, _ := f.read(t, plan)
			const values = `{"id":3,"by":"Émile","from":null} {"id":2,"by":"Ada","from":"Britain"} {"id":1,"by":"Ada","from":"Britain"}`
			const nulls = `{"id":6,"by":"Nobody","from":null} {"id":5,"by":null,"from":null} {"id":4,"by":null,"from":null}`
			want := values + " " + nulls
			if f.engine == contract.EnginePostgreSQL {
				want = nulls + " " + values
			}
			if got := strings.Join(all, " "); got != want {
				t.Errorf("rows %s, want %s", got, want)
			}
			var paged []string
			plan.Limit = 1
			for range all {
				rows, page := f.read(t, plan)
				paged, plan.After = append(paged, rows...), page.Last
			}
			if got := strings.Join(paged, " "); got != want {
				t.Errorf("in pages: %s", got)
			}
		})
	})
}

func TestCountsOfRelatedRows(t *testing.T) {
	onAllEngines(t, same(joinsScript), func(t *testing.T, f fixture) {
		schema := f.schema(t)
		author, book := find(t, schema, "author"), find(t, schema, "book")
		edited := &database.Join{From: database.NewSource(author, nil), Ours: []*database.Column{book.Column("editor_id")}, Theirs: []*database.Column{author.Column("id")}}
		books := func(policy, where database.Condition) database.Exists {
			return database.Exists{From: database.NewSource(book, policy), Ours: []*database.Column{author.Column("id")},
				Theirs: []*database.Column{book.Column("author_id")}, Joins: []*database.Join{edited}, Where: where}
		}
		old := database.Compare{Column: book.Column("year"), Op: database.Less, Value: int64(1850)}
		byAda := database.Joined{Join: edited, Condition: database.Match{Column: author.Column("name"), Text: "Ada"}}
		early := database.CompareRefs{Left: database.Ref{Column: book.Column("year")}, Op: database.LessOrEqual, Right: database.Ref{Join: edited, Column: author.Column("born")}}
		for _, test := range []struct {
			name  string
			where database.Condition
			want  string
		}{
			{"none", database.Compare{Column: countOf(nil, books(old, nil)), Op: database.Equal, Value: int64(0)}, "2 3 4"},
			{"some", database.Compare{Column: countOf(nil, books(nil, nil)), Op: database.Greater, Value: int64(1)}, "1"},
			{"any of several numbers", database.In{Column: countOf(nil, books(nil, nil)), Values: []database.Value{int64(2), int64(7)}}, "1"},
			{"not as many", database.Not{Condition: database.Compare{Column: countOf(nil, books(nil, nil)), Op: database.Equal, Value: int64(1)}}, "1"},
			{"with a condition on a joined row", database.Compare{Column: countOf(nil, books(nil, byAda)), Op: database.GreaterOrEqual, Value: int64(1)}, "1 4"},
			{"some with a condition on a joined row", books(nil, byAda), "1 4"},
			{"some with two fields", books(nil, early), "1"},
		} {
			t.Run(test.name, func(t *testing.T) {
				if got := f.ids(t, author, test.where); got != test.want {
					t.Errorf("rows %s, want %s", got, test.want)
				}
			})
		}
	})
}

// comparedScripts make columns of different types whose values can be compared.
var comparedScripts = map[string]string{
	contract.EnginePostgreSQL: `
CREATE EXTENSION citext;
CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE TABLE item (id int PRIMARY KEY, whole bigint, number numeric, double double precision, single real, o oid, t text COLLATE "C", v varchar(9) COLLATE "POSIX", c char(9),
  ci citext, e mood, e2 mood, day date, at timestamp, seen timestamptz);
INSERT INTO item VALUES
  (1, 9007199254740993, 9007199254740993, 9007199254740992, 1, 1, 'ok', 'ok', 'ok', 'OK', 'ok', 'sad', '2020-01-01', '2020-01-01', '2020-01-01 00:00Z'),
  (2, 1, 0.1, 0.1, 0.1, 1, 'sad', 'SAD', 'sad', 'sad', 'sad', 'ok', '2020-01-02', '2020-01-02 01:00', '2020-01-02 01:00+01');`,
	contract.EngineMySQL: `
CREATE TABLE item (id int PRIMARY KEY, whole bigint, number decimal(30,10), ` + "`double`" + ` double, single float, o bigint unsigned, t varchar(9) COLLATE utf8mb4_general_ci,
  v varchar(9) COLLATE utf8mb4_unicode_ci, c char(9) CHARACTER SET latin1, ci text COLLATE utf8mb4_bin, e enum('sad', 'ok'), e2 enum('sad', 'ok'), day date, at datetime, seen timestamp NULL);
INSERT INTO item VALUES
  (1, 9007199254740993, 9007199254740993, 9007199254740992, 1, 1, 'ok', 'ok', 'ok', 'OK', 'ok', 'sad', '2020-01-01', '2020-01-01', '2020-01-01 00:00'),
  (2, 1, 0.1, 0.1, 0.1, 1, 'sad', 'SAD', 'sad', 'sad', 'sad', 'ok', '2020-01-02', '2020-01-02 01:00', '2020-01-02 00:00');`,
	contract.EngineSQLite: `
CREATE TABLE item (id INTEGER PRIMARY KEY, whole BIGINT, number NUMERIC, double REAL, single REAL, o BIGINT, t TEXT, v VARCHAR(9) COLLATE NOCASE, c CHAR(9) COLLATE RTRIM,
  ci TEXT COLLATE NOCASE, e TEXT, e2 TEXT, day DATE, at DATETIME, seen TIMESTAMPTZ);
INSERT INTO item VALUES
  (1, 9007199254740993, 9007199254740993, 9007199254740992.0, 1, 1, 'ok', 'ok', 'ok', 'OK', 'ok', 'sad', '2020-01-01', 1577836800, '2020-01-01T00:00Z'),
  (2, 1, 0.1, 0.1, 0.1, 1, 'sad', 'SAD', 'sad', 'sad', 'sad', 'ok', '2020-01-02', '2020-01-02T01:00:00', '2020-01-02 01:00:00+01:00');`,
}

func TestComparedColumns(t *testing.T) {
	onAllEngines(t, comparedScripts, func(t *testing.T, f fixture) {
		item := f.table(t, "item")
		for _, test := range []struct {
			left  string
			op    database.CompareOp
			right string
			want  string
		}{
			{"whole", database.Equal, "number", "1"},
			{"whole", database.Equal, "double", ""},
			{"whole", database.Greater, "double", "1 2"},
			{"number", database.Equal, "double", "2"},
			{"number", database.Greater, "double", "1"},
			{"double", database.Less, "number", "1"},
			{"single", database.Equal, "whole", ""},
			{"o", database.Equal, "single", "1"},
			{"o", database.Greater, "number", "2"},
			{"whole", database.GreaterOrEqual, "o", "1 2"},
			{"t", database.Equal, "v", "1"},
			{"v", database.Equal, "t", "1"},
			{"t", database.Equal, "c", "1 2"},
			{"c", database.Equal, "t", "1 2"},
			{"t", database.Equal, "ci", "2"},
			{"t", database.Equal, "e", "1 2"},
			{"e", database.Equal, "c", "1 2"},
			{"t", database.Less, "e2", "1"},
			{"c", database.LessOrEqual, "t", "1 2"},
			{"c", database.Less, "e2", "1"},
			{"e", database.Equal, "e2", ""},
			{"day", database.Equal, "at", "1"},
			{"at", database.Greater, "day", "2"},
			{"seen", database.Equal, "day", "1 2"},
			{"at", database.Equal, "seen", "1"},
			{"at", database.Greater, "seen", "2"},
		} {
			t.Run(test.left+" "+string(test.op)+" "+test.right, func(t *testing.T) {
				got := f.ids(t, item, database.CompareRefs{Left: database.Ref{Column: item.Column(test.left)}, Op: test.op, Right: database.Ref{Column: item.Column(test.right)}})
				if got != test.want {
					t.Errorf("rows %q, want %q", got, test.want)
				}
			})
		}
	})
}

func TestEnumsAreComparedInTheirOrder(t *testing.T) {
	for _, engine := range []string{contract.EnginePostgreSQL, contract.EngineMySQL} {
		t.Run(engine, func(t *testing.T) {
			f := engines[engine](t, comparedScripts[engine])
			item := f.table(t, "item")
			refs := func(left string, op database.CompareOp, right string) database.Condition {
				return database.CompareRefs{Left: database.Ref{Column: item.Column(left)}, Op: op, Right: database.Ref{Column: item.Column(right)}}
			}
			if got := f.ids(t, item, refs("e", database.Less, "e2")); got != "2" {
				t.Errorf("less in %q", got)
			}
			least := &database.Grouping{From: database.NewSource(item, nil), Keys: []database.GroupKey{{Ref: database.Ref{Column: item.Column("id")}}},
				Measures: []database.Measure{{Func: database.Min, Ref: database.Ref{Column: item.Column("e")}}}}
			m := least.Source().Table().Column("m0")
			for name, where := range map[string]database.Condition{
				"the place":    database.Compare{Column: m, Op: database.Greater, Value: "sad"},
				"the value":    database.In{Column: m, Values: []database.Value{"ok"}},
				"a text":       database.Match{Column: m, Op: database.TextContains, Text: "k"},
				"a text alone": database.Match{Column: m, Op: database.TextEquals, Text: "ok"},
			} {
				if got := f.groups(t, least, where); got != `1,"ok"` {
					t.Errorf("by %s: %s", name, got)
				}
			}
		})
	}
}

// countOf is the number of the rows that belong to the row of a join.
func countOf(of *database.Join, rows database.Exists) *database.Column {
	return database.RelatedValue{Rows: rows, Measure: database.Measure{Func: database.CountRows}, Of: of}.Column("count")
}
