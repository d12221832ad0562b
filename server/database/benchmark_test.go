package database_test

import (
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// books is a table of 20,000 rows, 50 for each author.
var books = map[string]string{
	contract.EnginePostgreSQL: `
CREATE TABLE book (id bigint PRIMARY KEY, title text NOT NULL, author_id bigint NOT NULL, price numeric(8,2), published date,
  in_stock boolean, description text, created_at timestamptz NOT NULL);
INSERT INTO book SELECT n, 'The book number ' || n, (n - 1) / 50, n % 100 + 0.95, date '2000-01-01' + n % 3000, n % 3 = 0,
  repeat('A sentence about the book. ', 6), timestamptz '2020-01-01 00:00Z' + n * interval '1 minute' FROM generate_series(1, 20000) n;
CREATE INDEX ON book (author_id, id);
ANALYZE book`,
	contract.EngineMySQL: `
CREATE TABLE book (id bigint PRIMARY KEY, title varchar(200) NOT NULL, author_id bigint NOT NULL, price numeric(8,2), published date,
  in_stock boolean, description text, created_at timestamp NOT NULL);
INSERT INTO book SELECT n, concat('The book number ', n), (n - 1) DIV 50, n % 100 + 0.95, date '2000-01-01' + INTERVAL n % 3000 DAY, n % 3 = 0,
  repeat('A sentence about the book. ', 6), timestamp '2020-01-01 00:00:00' + INTERVAL n MINUTE
  FROM (WITH digit AS (SELECT 0 AS d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5
    UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9)
    SELECT 1 + a.d + 10 * b.d + 100 * c.d + 1000 * d.d + 10000 * e.d AS n FROM digit a, digit b, digit c, digit d, digit e WHERE e.d < 2) AS series;
CREATE INDEX book_author ON book (author_id, id);
ANALYZE TABLE book`,
	contract.EngineSQLite: `
CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT NOT NULL, author_id BIGINT NOT NULL, price NUMERIC(8,2), published DATE,
  in_stock BOOLEAN, description TEXT, created_at TIMESTAMP NOT NULL);
WITH RECURSIVE series(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM series WHERE n < 20000)
INSERT INTO book SELECT n, 'The book number ' || n, (n - 1) / 50, n % 100 + 0.95, date('2000-01-01', '+' || n % 3000 || ' days'), n % 3 = 0,
  replace(hex(zeroblob(6)), '00', 'A sentence about the book. '), datetime('2020-01-01', '+' || n || ' minutes') FROM series;
CREATE INDEX book_author ON book (author_id, id);
ANALYZE`,
}

func BenchmarkSelect(b *testing.B) {
	for name, start := range engines {
		b.Run(name, func(b *testing.B) {
			f := start(b, books[name])
			book := f.table(b, "book")
			id, author := book.Column("id"), book.Column("author_id")
			get := &database.Select{
				From: database.NewSource(book, nil), Output: outputs(book.Columns...), Limit: 1,
				Where: database.Compare{Column: id, Op: database.Equal, Value: int64(4711)},
			}
			list := &database.Select{
				From: database.NewSource(book, nil), Output: outputs(book.Columns...), Order: ascending(id), Limit: 50,
				Where: database.Compare{Column: author, Op: database.Equal, Value: int64(123)},
			}
			counted, soon := *list, *list
			counted.Total, soon.Total = database.TotalExact, database.TotalAuto
			for _, question := range []struct {
				name string
				plan *database.Select
				rows int
			}{{"get", get, 1}, {"list50", list, 50}, {"list50+count", &counted, 50}, {"list50+soon", &soon, 50}} {
				b.Run(question.name, func(b *testing.B) {
					b.ReportAllocs()
					out := make([]byte, 0, 64<<10)
					for b.Loop() {
						_, page, err := f.Select(b.Context(), question.plan, out)
						if err != nil || page.Count != question.rows {
							b.Fatalf("got %+v, %v", page, err)
						}
					}
				})
			}
		})
	}
}

func BenchmarkGroups(b *testing.B) {
	for name, start := range engines {
		b.Run(name, func(b *testing.B) {
			f := start(b, books[name])
			book := f.table(b, "book")
			ref := func(column string) database.Ref { return database.Ref{Column: book.Column(column)} }
			groups := &database.Grouping{
				From: database.NewSource(book, nil),
				Keys: []database.GroupKey{{Ref: ref("created_at"), Part: database.MonthPart}},
				Measures: []database.Measure{{}, {Func: database.Sum, Ref: ref("price")}, {Func: database.Avg, Ref: ref("price")},
					{Func: database.CountDistinct, Ref: ref("author_id")}},
			}
			source := groups.Source()
			columns := source.Table().Columns
			plan := &database.Select{From: source, Output: outputs(columns...), Order: ascending(columns[0]), Limit: 50}
			b.ReportAllocs()
			out := make([]byte, 0, 64<<10)
			for b.Loop() {
				if _, page, err := f.Select(b.Context(), plan, out); err != nil || page.Count != 1 {
					b.Fatalf("got %+v, %v", page, err)
				}
			}
		})
	}
}
