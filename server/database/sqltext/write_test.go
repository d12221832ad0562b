package sqltext_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
)

// hostile is a table whose names try to break out of their quotes.
var (
	evil    = &database.Column{Name: `a" = 1; DROP TABLE book; --`, Kind: database.Text, NativeType: "text"}
	evilID  = &database.Column{Name: "i`d", Kind: database.Integer, NativeType: "integer"}
	hostile = &database.Table{Schema: `s"."x`, Name: "t` --", Columns: []*database.Column{evilID, evil}}
)

func TestWrites(t *testing.T) {
	version := &database.Column{Name: "version", Kind: database.Integer, NativeType: "integer"}
	coarse := &database.Column{Name: "at", Kind: database.Timestamp, NativeType: "timestamp(3) without time zone", FractionDigits: 3}
	instant := &database.Column{Name: "at", Kind: database.TimestampTZ, NativeType: "timestamp with time zone", FractionDigits: 6}
	policy := database.Compare{Column: stock, Op: database.Equal, Value: true}
	where := database.Compare{Column: id, Op: database.Equal, Value: int64(5)}
	key := []database.Output{{Name: "id", Columns: []*database.Column{id}}}
	set := func(c *database.Column, how database.AssignHow, value database.Value) []database.Assignment {
		return []database.Assignment{{Column: c, How: how, Value: value}}
	}
	insert := func(plan database.Insert) func(*sqltext.Statement, sqltext.Dialect) error {
		return func(s *sqltext.Statement, d sqltext.Dialect) error { return s.BuildInsert(d, &plan) }
	}
	update := func(plan database.Update) func(*sqltext.Statement, sqltext.Dialect) error {
		return func(s *sqltext.Statement, d sqltext.Dialect) error { return s.BuildUpdate(d, &plan) }
	}
	remove := func(plan database.Delete) func(*sqltext.Statement, sqltext.Dialect) error {
		return func(s *sqltext.Statement, d sqltext.Dialect) error { return s.BuildDelete(d, &plan) }
	}
	declared := func(pieces ...database.Piece) func(*sqltext.Statement, sqltext.Dialect) error {
		return func(s *sqltext.Statement, d sqltext.Dialect) error {
			return s.BuildDeclared(d, &database.Declared{Pieces: pieces})
		}
	}
	for _, test := range []struct {
		name                      string
		build                     func(*sqltext.Statement, sqltext.Dialect) error
		postgresql, sqlite, maria string
	}{
		{"insert", insert(database.Insert{
			Into: database.NewSource(book, policy), Returning: key,
			Set: []database.Assignment{{Column: title, Value: "x"}, {Column: authorID, Value: nil}},
		}),
			`INSERT INTO "shop"."book" ("title", "author_id") VALUES ($1, $2) RETURNING "id" | x | <nil>`,
			`INSERT INTO "shop"."book" ("title", "author_id") VALUES (?, ?) RETURNING +"shop"."book"."id" | x | <nil>`,
			"INSERT INTO `shop`.`book` (`title`, `author_id`) VALUES (?, ?) RETURNING `id` | x | <nil>"},
		{"insert of defaults", insert(database.Insert{Into: database.NewSource(book, nil)}),
			`INSERT INTO "shop"."book" DEFAULT VALUES`, `INSERT INTO "shop"."book" DEFAULT VALUES`, "INSERT INTO `shop`.`book` () VALUES ()"},
		{"update", update(database.Update{In: database.NewSource(book, policy), Set: set(title, database.AssignValue, "x"), Where: where}),
			`UPDATE "shop"."book" AS t0 SET "title" = $1 WHERE t0."in_stock" = $2 AND t0."id" = $3::bigint | x | true | 5`,
			`UPDATE "shop"."book" AS t0 SET "title" = ? WHERE t0."in_stock" = ? AND t0."id" = ? | x | true | 5`,
			"UPDATE `shop`.`book` AS t0 SET `title` = ? WHERE t0.`in_stock` = ? AND t0.`id` = ? | x | true | 5"},
		{"update by the policy alone", update(database.Update{In: database.NewSource(book, policy), Set: set(version, database.AssignNext, nil)}),
			`UPDATE "shop"."book" AS t0 SET "version" = coalesce(t0."version", 0) + 1 WHERE t0."in_stock" = $1 | true`,
			`UPDATE "shop"."book" AS t0 SET "version" = coalesce(t0."version", 0) + 1 WHERE t0."in_stock" = ? | true`,
			"UPDATE `shop`.`book` AS t0 SET `version` = coalesce(t0.`version`, 0) + 1 WHERE t0.`in_stock` = ? | true"},
		{"a moment that grows", update(database.Update{In: database.NewSource(book, nil), Set: set(coarse, database.AssignNext, nil), Where: where}),
			`UPDATE "shop"."book" AS t0 SET "at" = greatest(clock_timestamp() AT TIME ZONE 'UTC', t0."at" + interval '0.001 seconds') WHERE t0."id" = $1::bigint | 5`,
			`UPDATE "shop"."book" AS t0 SET "at" = mcp_form(max(strftime('%Y-%m-%d %H:%M:%f', 'now'), coalesce(strftime('%Y-%m-%d %H:%M:%f', t0."at", 'auto', '+0.001 seconds'), '')), t0."at") WHERE t0."id" = ? | 5`, ""},
		{"an instant that grows", update(database.Update{In: database.NewSource(book, nil), Set: set(instant, database.AssignNext, nil), Where: where}),
			`UPDATE "shop"."book" AS t0 SET "at" = greatest(clock_timestamp(), t0."at" + interval '0.000001 seconds') WHERE t0."id" = $1::bigint | 5`, "", ""},
		{"now", insert(database.Insert{Into: database.NewSource(book, nil), Set: append(set(published, database.AssignNow, nil), set(instant, database.AssignNow, nil)...)}),
			`INSERT INTO "shop"."book" ("published", "at") VALUES (clock_timestamp() AT TIME ZONE 'UTC', clock_timestamp())`,
			`INSERT INTO "shop"."book" ("published", "at") VALUES (date('now'), strftime('%Y-%m-%d %H:%M:%f', 'now'))`, ""},
		{"delete", remove(database.Delete{From: database.NewSource(book, policy), Where: where}),
			`DELETE FROM "shop"."book" AS t0 WHERE t0."in_stock" = $1 AND t0."id" = $2::bigint | true | 5`,
			`DELETE FROM "shop"."book" AS t0 WHERE t0."in_stock" = ? AND t0."id" = ? | true | 5`,
			"DELETE t0 FROM `shop`.`book` AS t0 WHERE t0.`in_stock` = ? AND t0.`id` = ? | true | 5"},
		{"hostile names", update(database.Update{In: database.NewSource(hostile, nil), Set: set(evil, database.AssignValue, "x"),
			Where: database.Compare{Column: evilID, Op: database.Equal, Value: int64(1)}}),
			`UPDATE "s"".""x"."t` + "`" + ` --" AS t0 SET "a"" = 1; DROP TABLE book; --" = $1 WHERE t0."i` + "`" + `d" = $2::bigint | x | 1`,
			`UPDATE "s"".""x"."t` + "`" + ` --" AS t0 SET "a"" = 1; DROP TABLE book; --" = ? WHERE t0."i` + "`" + `d" = ? | x | 1`,
			"UPDATE `s\".\"x`.`t`` --` AS t0 SET `a\" = 1; DROP TABLE book; --` = ? WHERE t0.`i``d` = ? | x | 1"},
		{"declared", declared(database.Piece{SQL: "UPDATE b SET n = "}, database.Piece{Bound: true, Kind: database.Integer, Values: []database.Value{int64(2)}},
			database.Piece{SQL: " WHERE id IN ("}, database.Piece{Bound: true, Values: []database.Value{int64(7), int64(8)}}, database.Piece{SQL: ")"}),
			`UPDATE b SET n = $1 WHERE id IN ($2, $3) | 2 | 7 | 8`, `UPDATE b SET n = ? WHERE id IN (?, ?) | 2 | 7 | 8`, `UPDATE b SET n = ? WHERE id IN (?, ?) | 2 | 7 | 8`},
		{"declared, about nothing", declared(database.Piece{SQL: "DELETE FROM b WHERE id IN ("}, database.Piece{Bound: true}, database.Piece{SQL: ")"}),
			`DELETE FROM b WHERE id IN (NULL)`, `DELETE FROM b WHERE id IN (NULL)`, `DELETE FROM b WHERE id IN (NULL)`},
	} {
		for _, dialect := range []struct {
			name string
			sqltext.Dialect
			want string
		}{{"PostgreSQL", sqltext.PostgreSQL, test.postgresql}, {"SQLite", sqltext.SQLite, test.sqlite}, {"MariaDB", sqltext.MariaDB, test.maria}} {
			if dialect.want == "" {
				continue
			}
			t.Run(test.name+" "+dialect.name, func(t *testing.T) {
				var s sqltext.Statement
				for range 2 { // the second time in the memory of the first
					if err := test.build(&s, dialect.Dialect); err != nil {
						t.Fatal(err)
					}
					if got := shown(s.Text, s.Args); got != dialect.want {
						t.Errorf("got\n%s\nwant\n%s", got, dialect.want)
					}
					if want := strings.Contains(dialect.want, "RETURNING"); s.Returns != want {
						t.Errorf("returns columns: %v", s.Returns)
					}
				}
			})
		}
	}
	t.Run("an engine that returns nothing", func(t *testing.T) {
		var s sqltext.Statement
		err := s.BuildInsert(sqltext.MySQL, &database.Insert{Into: database.NewSource(book, nil), Returning: key})
		if err != nil || s.Returns || strings.Contains(string(s.Text), "RETURNING") {
			t.Errorf("%s, %v", s.Text, err)
		}
	})
}

func TestWritesThatMustBeMistakes(t *testing.T) {
	nothing := database.In{Column: id}
	one := database.Compare{Column: id, Op: database.Equal, Value: int64(1)}
	for _, test := range []struct {
		name          string
		policy, where database.Condition
		refused       bool
	}{
		{"no condition", nil, nil, true},
		{"an empty conjunction", nil, database.And{}, true},
		{"empty ones within", database.And{database.And{}}, database.And{database.Or{database.And{}, one}}, true},
		{"not nothing", nil, database.Not{Condition: nothing}, true},
		{"not equal to no value", nil, database.Not{Condition: database.And{database.Compare{Column: id, Op: database.Equal}, one}}, true},
		{"not nothing of nothing", nil, database.Not{Condition: database.Or{nothing, database.Or{}, database.Not{Condition: database.And{}}}}, true},
		{"a policy", one, nil, false},
		{"a condition", nil, one, false},
		{"one among empty ones", nil, database.And{database.And{}, one}, false},
		{"any of nothing", nil, database.Or{}, false},
		{"not one", nil, database.Not{Condition: one}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			var s sqltext.Statement
			source := database.NewSource(book, test.policy)
			for _, err := range []error{
				s.BuildUpdate(sqltext.PostgreSQL, &database.Update{In: source, Set: []database.Assignment{{Column: title, Value: "x"}}, Where: test.where}),
				s.BuildDelete(sqltext.PostgreSQL, &database.Delete{From: source, Where: test.where}),
			} {
				var e *database.Error
				if refused := errors.As(err, &e) && e.Code == database.Failed; refused != test.refused {
					t.Errorf("got %v", err)
				}
			}
		})
	}
	var s sqltext.Statement
	for name, err := range map[string]error{
		"an update of nothing": s.BuildUpdate(sqltext.PostgreSQL, &database.Update{In: database.NewSource(book, one)}),
		"a version of a new row": s.BuildInsert(sqltext.PostgreSQL, &database.Insert{Into: database.NewSource(book, one),
			Set: []database.Assignment{{Column: id, How: database.AssignNext}}}),
	} {
		if err == nil {
			t.Errorf("%s is not refused", name)
		}
	}
}

// Engines keep a statement for the next of the kind.
func TestAWriteIsBuiltAgainInTheSameMemory(t *testing.T) {
	plan := &database.Insert{
		Into: database.NewSource(book, nil), Returning: []database.Output{{Name: "id", Columns: []*database.Column{id}}},
		Set: []database.Assignment{{Column: title, Value: "x"}, {Column: authorID, Value: nil}},
	}
	var s sqltext.Statement
	if n := testing.AllocsPerRun(100, func() {
		if err := s.BuildInsert(sqltext.PostgreSQL, plan); err != nil {
			t.Error(err)
		}
		s.Reset()
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func TestAuditTable(t *testing.T) {
	for _, dialect := range []sqltext.Dialect{sqltext.PostgreSQL, sqltext.SQLite, sqltext.MariaDB} {
		statements := strings.Join(sqltext.AuditTable(dialect, "", "a`\"b"), "; ")
		if !strings.Contains(statements, "\"a`\"\"b\"") && !strings.Contains(statements, "`a``\"b`") {
			t.Errorf("%T makes %s", dialect, statements)
		}
	}
	long := strings.Repeat("é", 31)
	if statements := strings.Join(sqltext.AuditTable(sqltext.PostgreSQL, "s", long), "; "); !strings.Contains(statements, `"`+long[:56]+`_object"`) {
		t.Errorf("the index's name is too long, or like the table's: %s", statements)
	}
	whole := func() *database.Table {
		columns := []*database.Column{{Name: "id", Kind: database.Integer, HasDefault: true}, {Name: "at", Kind: database.Timestamp, HasDefault: true}}
		for _, name := range []string{"token", "action", "model", "table_schema", "table_name", "object_id", "object_repr", "message", "changes", "call"} {
			columns = append(columns, &database.Column{Name: name, Kind: database.Text, NativeType: "text"})
		}
		return &database.Table{Name: "audit", Writable: true, Columns: columns}
	}
	for _, test := range []struct {
		name   string
		change func(*database.Table)
		says   string
	}{
		{"as it is made", func(*database.Table) {}, ""},
		{"a column more that needs no value", func(t *database.Table) { t.Columns = append(t.Columns, &database.Column{Name: "x", Nullable: true}) }, ""},
		{"a column more that needs one", func(t *database.Table) { t.Columns = append(t.Columns, &database.Column{Name: "x"}) }, "x is not one of its columns"},
		{"a column less", func(t *database.Table) { t.Columns = t.Columns[1:] }, "id is missing"},
		{"a call that is too short", func(t *database.Table) { t.Column("call").MaxLength = 8 }, "call is too short"},
		{"another type", func(t *database.Table) { t.Column("token").Kind = database.Integer }, "token is of the type text"},
		{"no default", func(t *database.Table) { t.Column("id").HasDefault = false }, "id has no default"},
		{"a view", func(t *database.Table) { t.Writable = false }, "cannot be written to"},
	} {
		t.Run(test.name, func(t *testing.T) {
			table := whole()
			test.change(table)
			if got := sqltext.AuditMismatch(table); test.says == "" && got != "" || !strings.Contains(got, test.says) {
				t.Errorf("got %q", got)
			}
		})
	}
}
