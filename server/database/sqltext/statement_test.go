package sqltext_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
)

var (
	id        = &database.Column{Name: "id", Kind: database.Integer, NativeType: "bigint"}
	title     = &database.Column{Name: "title", Kind: database.Text, NativeType: "text"}
	code      = &database.Column{Name: "code", Kind: database.Text, NativeType: "character(8)", Padded: true}
	email     = &database.Column{Name: "email", Kind: database.Text, NativeType: "citext", LooseCollation: true}
	status    = &database.Column{Name: "status", Kind: database.Enum, NativeType: "mood"}
	price     = &database.Column{Name: "price", Kind: database.Decimal, NativeType: "numeric(8,2)"}
	stock     = &database.Column{Name: "in_stock", Kind: database.Boolean, NativeType: "boolean"}
	sold      = &database.Column{Name: "sold", Kind: database.Timestamp, NativeType: "timestamp without time zone"}
	changed   = &database.Column{Name: "changed", Kind: database.TimestampTZ, NativeType: "timestamp with time zone"}
	published = &database.Column{Name: "published", Kind: database.Date, NativeType: "date"}
	address   = &database.Column{Name: "address", Kind: database.Other, NativeType: "inet"}
	authorID  = &database.Column{Name: "author_id", Kind: database.Integer, NativeType: "bigint"}
	book      = &database.Table{Schema: "shop", Name: "book", Columns: []*database.Column{id, title}}

	name   = &database.Column{Name: `odd "name"`, Kind: database.Text, NativeType: "text"}
	key    = &database.Column{Name: "id", Kind: database.Integer, NativeType: "bigint"}
	author = &database.Table{Schema: "shop", Name: "author", Columns: []*database.Column{key, name}}
)

// shown is a statement with its values behind it.
func shown(sql []byte, args []sqltext.Arg) string {
	text := string(sql)
	for _, arg := range args {
		value := arg.Value
		if arg.List != nil {
			value = arg.List
		}
		text += fmt.Sprintf(" | %v", value)
	}
	return text
}

func TestStatements(t *testing.T) {
	plan := &database.Select{
		From:   database.NewSource(book, database.Compare{Column: stock, Op: database.Equal, Value: true}),
		Output: []database.Output{{Name: "id", Columns: []*database.Column{id}}, {Name: "pk", Columns: []*database.Column{id, title}, Composite: true}},
		Where:  database.Compare{Column: title, Op: database.Greater, Value: "M"},
		Order:  []database.Order{{Column: title, Descending: true}, {Column: id}},
		Limit:  50, Offset: 100, Total: database.TotalExact,
	}
	for _, test := range []struct {
		name          string
		dialect       sqltext.Dialect
		change        func(plan *database.Select)
		selects, want string
	}{
		{name: "PostgreSQL", dialect: sqltext.PostgreSQL,
			selects: `SELECT t0."id", t0."id", t0."title" FROM "shop"."book" AS t0 WHERE t0."in_stock" = $1 AND t0."title" > $2 ORDER BY t0."title" DESC, t0."id" LIMIT 50 OFFSET $3 | true | M | 100`,
			want:    `SELECT count(*) FROM "shop"."book" AS t0 WHERE t0."in_stock" = $1 AND t0."title" > $2 | true | M`},
		{name: "SQLite", dialect: sqltext.SQLite,
			selects: `WITH sqlite_page AS MATERIALIZED (SELECT +t0."id", +t0."id", +t0."title" FROM "shop"."book" AS t0 WHERE t0."in_stock" = ? AND t0."title" > ? ORDER BY t0."title" DESC, t0."id" LIMIT 50 OFFSET ?) SELECT * FROM sqlite_page | true | M | 100`,
			want:    `SELECT count(*) FROM "shop"."book" AS t0 WHERE t0."in_stock" = ? AND t0."title" > ? | true | M`},
		{name: "without total, offset and conditions", dialect: sqltext.PostgreSQL, change: func(plan *database.Select) {
			plan.From, plan.Where, plan.Order, plan.Offset, plan.Total = database.NewSource(book, nil), nil, nil, 0, database.TotalNone
		}, selects: `SELECT t0."id", t0."id", t0."title" FROM "shop"."book" AS t0 LIMIT 50`},
		{name: "one row of a table without a schema", dialect: sqltext.SQLite, change: func(plan *database.Select) {
			plan.From, plan.Where, plan.Order, plan.Offset, plan.Limit, plan.Total = database.NewSource(&database.Table{Name: "b"}, nil), nil, nil, 0, 1, database.TotalNone
		}, selects: `SELECT +t0."id", +t0."id", +t0."title" FROM "b" AS t0 LIMIT 1`},
		{name: "nothing to read", dialect: sqltext.PostgreSQL, change: func(plan *database.Select) {
			plan.Output, plan.Where, plan.Order, plan.Offset, plan.Limit, plan.Total = nil, nil, nil, 0, -1, database.TotalNone
		}, selects: `SELECT 1 FROM "shop"."book" AS t0 WHERE t0."in_stock" = $1 LIMIT 0 | true`},
	} {
		t.Run(test.name, func(t *testing.T) {
			plan := *plan
			if test.change != nil {
				test.change(&plan)
			}
			var s sqltext.Statement
			for range 2 { // the second time in the memory of the first
				if err := s.Build(test.dialect, &plan); err != nil {
					t.Fatal(err)
				}
				if got := shown(s.Select, s.Args); got != test.selects {
					t.Errorf("select is\n%s\nwant\n%s", got, test.selects)
				}
				if got := shown(s.Count, s.Args[:s.CountArgs]); plan.Total != database.TotalNone && got != test.want || plan.Total == database.TotalNone && len(s.Count) > 0 {
					t.Errorf("count is\n%s\nwant\n%s", got, test.want)
				}
			}
		})
	}
}

func TestConditions(t *testing.T) {
	policy := database.Compare{Column: key, Op: database.Less, Value: int64(7)}
	exists := database.Exists{
		From: database.NewSource(author, policy), Ours: []*database.Column{authorID}, Theirs: []*database.Column{key},
		Where: database.Match{Column: name, Op: database.TextContains, Text: "x"},
	}
	compare := database.Compare{Column: id, Op: database.Equal, Value: int64(5)}
	long := strings.Repeat("é", 6_000)
	for _, test := range []struct {
		name               string
		condition          database.Condition
		postgresql, sqlite string
	}{
		{"integer", compare, `t0."id" = $1::bigint | 5`, `t0."id" = ? | 5`},
		{"no value", database.Compare{Column: id, Op: database.Equal}, `FALSE`, `FALSE`},
		{"decimal", database.Compare{Column: price, Op: database.GreaterOrEqual, Value: "9.95"}, `t0."price" >= $1 | 9.95`, `t0."price" >= ? | 9.95`},
		{"timestamp", database.Compare{Column: sold, Op: database.LessOrEqual, Value: "2026-01-02T03:04:05"},
			`t0."sold" <= $1 | 2026-01-02T03:04:05`,
			`strftime('%Y-%m-%d %H:%M:%f', t0."sold", 'auto') <= strftime('%Y-%m-%d %H:%M:%f', ?, 'auto') | 2026-01-02T03:04:05`},
		{"other", database.Compare{Column: address, Op: database.Equal, Value: "10.0.0.1"},
			`t0."address" = $1 | 10.0.0.1`, `t0."address" = ? | 10.0.0.1`},
		{"in", database.In{Column: id, Values: []database.Value{int64(1), int64(2)}},
			`t0."id" = ANY($1::bigint[]) | [1 2]`, `t0."id" IN (?, ?) | 1 | 2`},
		{"in texts", database.In{Column: title, Values: []database.Value{"a"}}, `t0."title" = ANY($1) | [a]`, `t0."title" IN (?) | a`},
		{"in nothing", database.In{Column: id}, `FALSE`, `FALSE`},
		{"null", database.IsNull{Column: title}, `t0."title" IS NULL`, `t0."title" IS NULL`},
		{"not null", database.Not{Condition: database.IsNull{Column: title}}, `t0."title" IS NOT NULL`, `t0."title" IS NOT NULL`},
		{"not", database.Not{Condition: compare}, `(t0."id" = $1::bigint) IS NOT TRUE | 5`, `(t0."id" = ?) IS NOT TRUE | 5`},
		{"nothing to meet", database.And{}, `TRUE`, `TRUE`},
		{"nothing that would do", database.Or{}, `FALSE`, `FALSE`},
		{"precedence", database.And{database.Or{compare, database.IsNull{Column: title}}, database.Or{compare}, database.And{compare, compare}},
			`(t0."id" = $1::bigint OR t0."title" IS NULL) AND t0."id" = $2::bigint AND t0."id" = $3::bigint AND t0."id" = $4::bigint | 5 | 5 | 5 | 5`,
			`(t0."id" = ? OR t0."title" IS NULL) AND t0."id" = ? AND t0."id" = ? AND t0."id" = ? | 5 | 5 | 5 | 5`},
		{"alternatives of several", database.Or{database.And{compare, compare}, compare},
			`(t0."id" = $1::bigint AND t0."id" = $2::bigint) OR t0."id" = $3::bigint | 5 | 5 | 5`,
			`(t0."id" = ? AND t0."id" = ?) OR t0."id" = ? | 5 | 5 | 5`},
		{"exists, under the policy of its own source", exists,
			`EXISTS (SELECT 1 FROM "shop"."author" AS t1 WHERE t1."id" = t0."author_id" AND t1."id" < $1::bigint AND t1."odd ""name""" LIKE $2) | 7 | %x%`,
			`EXISTS (SELECT 1 FROM "shop"."author" AS t1 WHERE t1."id" = t0."author_id" AND t1."id" < ? AND instr(t1."odd ""name""", ?) > 0) | 7 | x`},
		{"exists within exists, beside another", database.And{database.Not{Condition: database.Exists{
			From: database.NewSource(book, nil), Ours: []*database.Column{id}, Theirs: []*database.Column{authorID}, Where: exists,
		}}, database.Exists{From: database.NewSource(book, nil)}},
			`NOT EXISTS (SELECT 1 FROM "shop"."book" AS t1 WHERE t1."author_id" = t0."id" AND EXISTS (SELECT 1 FROM "shop"."author" AS t2 WHERE t2."id" = t1."author_id" AND t2."id" < $1::bigint AND t2."odd ""name""" LIKE $2)) AND EXISTS (SELECT 1 FROM "shop"."book" AS t3 WHERE TRUE) | 7 | %x%`,
			`NOT EXISTS (SELECT 1 FROM "shop"."book" AS t1 WHERE t1."author_id" = t0."id" AND EXISTS (SELECT 1 FROM "shop"."author" AS t2 WHERE t2."id" = t1."author_id" AND t2."id" < ? AND instr(t2."odd ""name""", ?) > 0)) AND EXISTS (SELECT 1 FROM "shop"."book" AS t3 WHERE TRUE) | 7 | x`},

		{"equals", database.Match{Column: title, Text: "a%"}, `t0."title" = $1 | a%`, `t0."title" = ? COLLATE BINARY | a%`},
		{"equals, folded", database.Match{Column: title, Text: "a%", FoldCase: true},
			`lower(t0."title") = lower($1::text) | a%`, `t0."title" = ? COLLATE NOCASE | a%`},
		{"contains", database.Match{Column: title, Op: database.TextContains, Text: `5%_\`},
			`t0."title" LIKE $1 | %5\%\_\\%`, `instr(t0."title", ?) > 0 | 5%_\`},
		{"contains, folded", database.Match{Column: title, Op: database.TextContains, Text: `5%_\`, FoldCase: true},
			`t0."title" ILIKE $1 | %5\%\_\\%`, `t0."title" LIKE ? ESCAPE '\' | %5\%\_\\%`},
		{"contains, folded beyond ASCII", database.Match{Column: title, Op: database.TextContains, Text: `É`, FoldCase: true},
			`t0."title" ILIKE $1 | %É%`, `instr(mcp_fold(t0."title"), ?) > 0 | é`},
		{"starts with", database.Match{Column: title, Op: database.TextStartsWith, Text: `[a*?`},
			`t0."title" LIKE $1 | [a*?%`, `t0."title" GLOB ? | [[]a[*][?]*`},
		{"starts with a long text", database.Match{Column: title, Op: database.TextStartsWith, Text: long},
			`t0."title" LIKE $1 | ` + long + `%`, `substr(t0."title", 1, 6000) = ? | ` + long},
		{"ends with", database.Match{Column: title, Op: database.TextEndsWith, Text: `né`},
			`t0."title" LIKE $1 | %né`, `substr(t0."title", -2) = ? | né`},
		{"contains nothing", database.Match{Column: title, Op: database.TextContains}, `t0."title" IS NOT NULL`, `t0."title" IS NOT NULL`},
		{"enum", database.Match{Column: status, Op: database.TextContains, Text: "o"}, `t0."status"::text LIKE $1 | %o%`, `instr(t0."status", ?) > 0 | o`},
		{"padded", database.Match{Column: code, Op: database.TextEndsWith, Text: "o"}, `t0."code"::text LIKE $1 | %o`, `substr(t0."code", -1) = ? | o`},
		{"loose collation", database.Match{Column: email, Text: "a"}, `t0."email"::text COLLATE "C" = $1 | a`, `t0."email" = ? COLLATE BINARY | a`},
		{"loose collation, folded", database.Match{Column: email, Op: database.TextEndsWith, Text: "a", FoldCase: true},
			`t0."email"::text COLLATE "default" ILIKE $1 | %a`, `t0."email" LIKE ? ESCAPE '\' | %a`},

		{"day", database.PartEquals{Column: changed, Part: database.WholeDate, Value: "2026-02-28"},
			`(t0."changed" >= $1 AND t0."changed" < $2) | 2026-02-28T00:00:00Z | 2026-03-01T00:00:00Z`, `date(t0."changed", 'auto') = ? | 2026-02-28`},
		{"year", database.PartEquals{Column: published, Part: database.Year, Value: int64(2026)},
			`(t0."published" >= $1 AND t0."published" < $2) | 2026-01-01 | 2027-01-01`, `CAST(strftime('%Y', t0."published", 'auto') AS INTEGER) = ? | 2026`},
		{"year that is none", database.PartEquals{Column: published, Part: database.Year, Value: int64(10_000)},
			`FALSE`, `CAST(strftime('%Y', t0."published", 'auto') AS INTEGER) = ? | 10000`},
		{"month", database.PartEquals{Column: changed, Part: database.Month, Value: int64(2)},
			`extract(month FROM t0."changed" AT TIME ZONE 'UTC') = $1::bigint | 2`, `CAST(strftime('%m', t0."changed", 'auto') AS INTEGER) = ? | 2`},
		{"day of the month", database.PartEquals{Column: sold, Part: database.Day, Value: int64(2)},
			`extract(day FROM t0."sold") = $1::bigint | 2`, `CAST(strftime('%d', t0."sold", 'auto') AS INTEGER) = ? | 2`},
	} {
		for _, dialect := range []struct {
			name string
			sqltext.Dialect
			want string
		}{{"PostgreSQL", sqltext.PostgreSQL, test.postgresql}, {"SQLite", sqltext.SQLite, test.sqlite}} {
			t.Run(test.name+" "+dialect.name, func(t *testing.T) {
				var s sqltext.Statement
				err := s.Build(dialect, &database.Select{From: database.NewSource(book, nil), Where: test.condition, Total: database.TotalExact})
				if err != nil {
					t.Fatal(err)
				}
				want := `SELECT count(*) FROM "shop"."book" AS t0 WHERE ` + dialect.want
				if got := shown(s.Count, s.Args[:s.CountArgs]); got != want {
					t.Errorf("got\n%s\nwant\n%s", got, want)
				}
			})
		}
	}
}

func TestPolicyStandsBesideAnyCondition(t *testing.T) {
	policy := database.Or{database.IsNull{Column: title}, database.Compare{Column: id, Op: database.Less, Value: int64(3)}}
	var s sqltext.Statement
	err := s.Build(sqltext.PostgreSQL, &database.Select{
		From: database.NewSource(book, policy), Where: database.Or{database.And{}, database.IsNull{Column: id}}, Total: database.TotalExact,
	})
	if err != nil {
		t.Fatal(err)
	}
	const want = ` WHERE (t0."title" IS NULL OR t0."id" < $1::bigint) AND (TRUE OR t0."id" IS NULL)`
	for _, sql := range []string{string(s.Select), string(s.Count)} {
		if !strings.Contains(sql, want) {
			t.Errorf("no policy in %s", sql)
		}
	}
}

func TestValuesThatAreNoDates(t *testing.T) {
	for _, part := range []database.PartEquals{
		{Column: sold, Part: database.WholeDate, Value: "2026-02-30"},
		{Column: sold, Part: database.WholeDate, Value: int64(7)},
		{Column: sold, Part: database.Year, Value: "soon"},
		{Column: sold, Part: database.Month, Value: nil},
	} {
		for _, dialect := range []sqltext.Dialect{sqltext.PostgreSQL, sqltext.SQLite} {
			var s sqltext.Statement
			err := s.Build(dialect, &database.Select{From: database.NewSource(book, nil), Where: part})
			var e *database.Error
			if !errors.As(err, &e) || e.Code != database.Invalid || !strings.Contains(e.Message, "sold") {
				t.Errorf("%T %v: got %v, want an Invalid error that names the column", dialect, part.Value, err)
			}
		}
	}
}
