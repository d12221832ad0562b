package sqltext_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
)

var rank = &database.Column{Name: "rank", Kind: database.Float, NativeType: "double precision", Nullable: true}

func TestPagesThatStartBehindARow(t *testing.T) {
	ascending := func(columns ...*database.Column) (order []database.Order) {
		for _, c := range columns {
			order = append(order, database.Order{Column: c})
		}
		return order
	}
	for _, test := range []struct {
		name               string
		order              []database.Order
		after              []database.Value
		postgresql, sqlite string
	}{
		{"one column", ascending(id), []database.Value{int64(5)}, `t0."id" > $1 | 5`, `t0."id" > ? | 5`},
		{"one column, descending", []database.Order{{Column: id, Descending: true}}, []database.Value{int64(5)}, `t0."id" < $1 | 5`, `t0."id" < ? | 5`},
		{"all one way", ascending(title, id), []database.Value{"a", int64(5)},
			`(t0."title", t0."id") > ($1, $2) | a | 5`, `(t0."title", t0."id") > (?, ?) | a | 5`},
		{"both ways", []database.Order{{Column: title, Descending: true}, {Column: id}}, []database.Value{"a", int64(5)},
			`t0."title" <= $1 AND (t0."title" < $2 OR t0."id" > $3) | a | a | 5`,
			`t0."title" <= ? AND (t0."title" < ? OR t0."id" > ?) | a | a | 5`},
		{"three both ways", []database.Order{{Column: title}, {Column: price, Descending: true}, {Column: id}}, []database.Value{"a", "1.5", int64(5)},
			`t0."title" >= $1 AND (t0."title" > $2 OR (t0."price" <= $3 AND (t0."price" < $4 OR t0."id" > $5))) | a | a | 1.5 | 1.5 | 5`,
			`t0."title" >= ? AND (t0."title" > ? OR (t0."price" <= ? AND (t0."price" < ? OR t0."id" > ?))) | a | a | 1.5 | 1.5 | 5`},
		{"a value where NULL is possible", ascending(rank, id), []database.Value{0.5, int64(5)},
			`(t0."rank" > $1 OR t0."rank" IS NULL OR (t0."rank" = $2 AND t0."id" > $3)) | 0.5 | 0.5 | 5`,
			`(t0."rank", t0."id") > (?, ?) | 0.5 | 5`},
		{"the same, descending", []database.Order{{Column: rank, Descending: true}, {Column: id, Descending: true}}, []database.Value{0.5, int64(5)},
			`(t0."rank", t0."id") < ($1, $2) | 0.5 | 5`,
			`(t0."rank" < ? OR t0."rank" IS NULL OR (t0."rank" = ? AND t0."id" < ?)) | 0.5 | 0.5 | 5`},
		{"NULL", ascending(rank, id), []database.Value{nil, int64(5)},
			`t0."rank" IS NULL AND t0."id" > $1 | 5`, `(t0."rank" IS NOT NULL OR t0."id" > ?) | 5`},
		{"NULL, descending", []database.Order{{Column: rank, Descending: true}, {Column: id}}, []database.Value{nil, int64(5)},
			`(t0."rank" IS NOT NULL OR t0."id" > $1) | 5`, `t0."rank" IS NULL AND t0."id" > ? | 5`},
		{"NULL, within others", ascending(id, rank, title), []database.Value{int64(5), nil, "a"},
			`t0."id" >= $1 AND (t0."id" > $2 OR (t0."rank" IS NULL AND t0."title" > $3)) | 5 | 5 | a`,
			`t0."id" >= ? AND (t0."id" > ? OR (t0."rank" IS NOT NULL OR t0."title" > ?)) | 5 | 5 | a`},
		{"NULL, last", ascending(rank), []database.Value{nil}, `FALSE`, `t0."rank" IS NOT NULL`},
	} {
		for _, dialect := range []struct {
			name string
			sqltext.Dialect
			want string
		}{{"PostgreSQL", sqltext.PostgreSQL, test.postgresql}, {"SQLite", sqltext.SQLite, test.sqlite}} {
			t.Run(test.name+" "+dialect.name, func(t *testing.T) {
				var s sqltext.Statement
				if err := s.Build(dialect, &database.Select{From: database.NewSource(book, nil), Order: test.order, After: test.after, Limit: 1}); err != nil {
					t.Fatal(err)
				}
				_, got, _ := strings.Cut(shown(s.Select, s.Args), " WHERE ")
				got, rest, _ := strings.Cut(got, " ORDER BY ")
				if _, values, found := strings.Cut(rest, " | "); found {
					got += " | " + values
				}
				if got != dialect.want {
					t.Errorf("got\n%s\nwant\n%s", got, dialect.want)
				}
			})
		}
	}
}

func TestCursorsThatDoNotFitTheOrder(t *testing.T) {
	var s sqltext.Statement
	err := s.Build(sqltext.PostgreSQL, &database.Select{
		From: database.NewSource(book, nil), Order: []database.Order{{Column: id}}, After: []database.Value{int64(1), int64(2)},
	})
	var e *database.Error
	if !errors.As(err, &e) || e.Code != database.Invalid {
		t.Errorf("got %v", err)
	}
}

func TestWhatAPageAsksForBeside(t *testing.T) {
	policy := database.Or{database.IsNull{Column: title}, database.Compare{Column: id, Op: database.Less, Value: int64(3)}}
	plan := database.Select{
		From: database.NewSource(book, policy), Output: []database.Output{{Name: "t", Columns: []*database.Column{title}}},
		Order: []database.Order{{Column: id}}, Cursor: database.Refs(id), After: []database.Value{int64(7)}, Limit: 10,
	}
	const (
		policies = `(t0."title" IS NULL OR t0."id" < $1::bigint)`
		page     = `SELECT t0."title", t0."id" FROM "shop"."book" AS t0 WHERE ` + policies + ` AND t0."id" > $2 ORDER BY t0."id" LIMIT `
		behind   = ` FROM "shop"."book" AS t0 WHERE ` + policies
	)
	for _, test := range []struct {
		name           string
		change         func()
		selects, count string
	}{
		{"nothing more", func() {}, page + `10 | 3 | 7`, ""},
		{"whether there is more", func() { plan.More = true }, page + `11 | 3 | 7`, ""},
		{"the rows for itself", func() { plan.Lock = true }, page + `11 FOR UPDATE | 3 | 7`, ""},
		{"an exact total, whatever the cursor", func() { plan.Total = database.TotalExact }, page + `11 FOR UPDATE | 3 | 7`, `SELECT count(*)` + behind + ` | 3`},
		{"a total within a budget", func() { plan.Total = database.TotalAuto }, page + `11 FOR UPDATE | 3 | 7`, `SELECT count(*)` + behind + ` | 3`},
		{"a total up to a bound", func() { plan.Total = database.TotalCapped }, page + `11 FOR UPDATE | 3 | 7`,
			`SELECT count(*) FROM (SELECT 1` + behind + ` LIMIT 10001) AS counted | 3`},
	} {
		test.change() // one upon the other
		t.Run(test.name, func(t *testing.T) {
			var s sqltext.Statement
			if err := s.Build(sqltext.PostgreSQL, &plan); err != nil {
				t.Fatal(err)
			}
			if got := shown(s.Select, s.Args); got != test.selects {
				t.Errorf("select is\n%s\nwant\n%s", got, test.selects)
			}
			if got := shown(s.Count, s.Args[:s.CountArgs]); test.count != "" && got != test.count || test.count == "" && len(s.Count) > 0 {
				t.Errorf("count is\n%s\nwant\n%s", got, test.count)
			}
			if got := s.Matching(); got != `SELECT 1`+behind {
				t.Errorf("all that matches is\n%s", got)
			}
		})
	}
	var s sqltext.Statement
	if err := s.Build(sqltext.SQLite, &plan); err != nil || strings.Contains(string(s.Select), "FOR UPDATE") {
		t.Errorf("SQLite, which has no such locks, is asked %s, %v", s.Select, err)
	}
}
