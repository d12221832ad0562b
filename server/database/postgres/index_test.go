package postgres_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
)

func TestIndexesServeConditions(t *testing.T) {
	t.Parallel()
	c := filled(t, `
CREATE TABLE t (id int PRIMARY KEY, small smallint, name varchar(40), padded char(8), price numeric(8,2), ratio real, day date, at timestamp, instant timestamptz, uid uuid, address inet);
CREATE INDEX ON t (small); CREATE INDEX ON t (name); CREATE INDEX ON t (name varchar_pattern_ops); CREATE INDEX ON t (padded); CREATE INDEX ON t (price);
CREATE INDEX ON t (ratio); CREATE INDEX ON t (day); CREATE INDEX ON t (at); CREATE INDEX ON t (instant); CREATE INDEX ON t (uid); CREATE INDEX ON t (address);
CREATE INDEX ON t (lower(name))`)
	table := databasetest.Table(t, databasetest.Introspect(t, open(t, settings(c, nil))), "public.t")
	plain := databasetest.Connect(t, databasetest.URI(c))
	if _, err := plain.Exec(t.Context(), "SET enable_seqscan = off; SET TimeZone = 'UTC'"); err != nil {
		t.Fatal(err)
	}
	equal := func(name string, value database.Value) database.Condition {
		return database.Compare{Column: table.Column(name), Op: database.Equal, Value: value}
	}
	for _, test := range []struct {
		name      string
		condition database.Condition
	}{
		{"integer", equal("id", int64(1))},
		{"smallint", equal("small", int64(1))},
		{"integers", database.In{Column: table.Column("id"), Values: []database.Value{int64(1)}}},
		{"text", equal("name", "x")},
		{"texts", database.In{Column: table.Column("name"), Values: []database.Value{"x"}}},
		{"text, exactly", database.Match{Column: table.Column("name"), Text: "x"}},
		{"text, folded", database.Match{Column: table.Column("name"), Text: "x", FoldCase: true}},
		{"start of a text", database.Match{Column: table.Column("name"), Op: database.TextStartsWith, Text: "x_"}},
		{"padded", equal("padded", "x")},
		{"decimal", equal("price", "1.5")},
		{"real", equal("ratio", 1.5)},
		{"date", equal("day", "2026-01-01")},
		{"timestamp", equal("at", "2026-01-01T00:00:00")},
		{"instant", equal("instant", "2026-01-01T00:00:00Z")},
		{"on a day", database.PartEquals{Column: table.Column("instant"), Part: database.WholeDate, Value: "2026-01-01"}},
		{"in a year", database.PartEquals{Column: table.Column("at"), Part: database.Year, Value: int64(2026)}},
		{"uuid", equal("uid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11")},
		{"address", equal("address", "10.0.0.1")},
	} {
		t.Run(test.name, func(t *testing.T) {
			plan := explain(t, plain, &database.Select{From: database.NewSource(table, test.condition), Limit: 10})
			if !strings.Contains(plan, "Index Cond") {
				t.Errorf("it is answered by\n%s", plan)
			}
		})
	}
}

// explain asks a plain client how the server answers a plan.
func explain(t *testing.T, plain *pgx.Conn, plan *database.Select) string {
	t.Helper()
	var s sqltext.Statement
	if err := s.Build(sqltext.PostgreSQL, plan); err != nil {
		t.Fatal(err)
	}
	var values [][]byte
	for _, arg := range s.Args {
		text := fmt.Sprint(arg.Value)
		if arg.List != nil {
			text = fmt.Sprintf("{%v}", arg.List[0])
		}
		values = append(values, []byte(text))
	}
	result := plain.PgConn().ExecParams(t.Context(), "EXPLAIN "+string(s.Select), values, nil, nil, nil).Read()
	if result.Err != nil {
		t.Fatal(result.Err)
	}
	said := string(s.Select) + "\n"
	for _, row := range result.Rows {
		said += string(row[0]) + "\n"
	}
	return said
}

// A deep page costs what the first one costs: the index is entered at the page's beginning, and nothing is sorted.
func TestIndexesServePages(t *testing.T) {
	t.Parallel()
	c := filled(t, `
CREATE TABLE t (id int PRIMARY KEY, name text NOT NULL, price numeric(8,2), at timestamptz NOT NULL);
CREATE INDEX ON t (name, id); CREATE INDEX ON t (at, id DESC); CREATE INDEX ON t (price, id);
INSERT INTO t SELECT n, 'n' || n, n, now() FROM generate_series(1, 5000) n; ANALYZE t`)
	table := databasetest.Table(t, databasetest.Introspect(t, open(t, settings(c, nil))), "public.t")
	plain := databasetest.Connect(t, databasetest.URI(c))
	order := func(name string, descending bool) database.Order {
		return database.Order{Column: table.Column(name), Descending: descending}
	}
	for _, test := range []struct {
		name  string
		order []database.Order
		after []database.Value
		cond  bool
	}{
		{"by the key", []database.Order{order("id", false)}, []database.Value{int64(4000)}, true},
		{"backwards", []database.Order{order("id", true)}, []database.Value{int64(4000)}, true},
		{"by two", []database.Order{order("name", false), order("id", false)}, []database.Value{"n4000", int64(4000)}, true},
		{"by two backwards", []database.Order{order("name", true), order("id", true)}, []database.Value{"n4000", int64(4000)}, true},
		{"by two both ways", []database.Order{order("at", false), order("id", true)}, []database.Value{"2126-01-01T00:00:00Z", int64(4000)}, true},
		{"by one that may be NULL, backwards", []database.Order{order("price", true), order("id", true)}, []database.Value{"4000.00", int64(4000)}, true},
		{"by one that may be NULL", []database.Order{order("price", false), order("id", false)}, []database.Value{"4000.00", int64(4000)}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			plan := explain(t, plain, &database.Select{From: database.NewSource(table, nil), Output: outputs(table.Column("name")), Order: test.order, After: test.after, Limit: 50, More: true})
			if strings.Contains(plan, "Sort") || test.cond && !strings.Contains(plan, "Index Cond") {
				t.Errorf("it is answered by\n%s", plan)
			}
		})
	}
}
