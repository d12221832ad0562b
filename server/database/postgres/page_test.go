package postgres_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

func outputs(columns ...*database.Column) []database.Output {
	all := make([]database.Output, len(columns))
	for i, c := range columns {
		all[i] = database.Output{Name: c.Name, Columns: []*database.Column{c}}
	}
	return all
}

// ids reads a page and returns its ids.
func ids(t *testing.T, db database.DB, plan *database.Select) ([]int, database.Page) {
	t.Helper()
	out, page, err := db.Select(t.Context(), plan, []byte("["))
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct{ ID int }
	if err := json.Unmarshal(append(out, ']'), &rows); err != nil || len(rows) != page.Count {
		t.Fatalf("%s: %d rows, %v", out, page.Count, err)
	}
	all := []int{}
	for _, row := range rows {
		all = append(all, row.ID)
	}
	return all, page
}

func TestPagesFollowEachOther(t *testing.T) {
	t.Parallel()
	c := filled(t, `
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TABLE t (id int PRIMARY KEY, title text, price numeric(6,2), ratio float8, at timestamptz, mood mood, flag boolean, address inet, name varchar(9) COLLATE "en-x-icu" NOT NULL);
INSERT INTO t SELECT n, nullif('t' || n % 3, 't1'), nullif(n % 4, 1) * 1.25, CASE n % 5 WHEN 0 THEN NULL WHEN 1 THEN 'NaN' WHEN 2 THEN '-Infinity' ELSE n / 7.0 END,
  CASE n % 4 WHEN 0 THEN NULL WHEN 1 THEN timestamptz 'infinity' WHEN 2 THEN timestamptz '0044-03-15 00:00:00Z BC' ELSE now() END,
  (ARRAY[NULL, 'sad', 'ok', 'happy']::mood[])[1 + n % 4], nullif(n % 3, 2)::boolean, '10.0.0.1', (ARRAY['a', 'B', 'b', 'é'])[1 + n % 4] FROM generate_series(1, 60) n;
CREATE VIEW v AS SELECT * FROM t`)
	db := open(t, settings(c, nil))
	schema := databasetest.Introspect(t, db)
	for _, name := range []string{"public.t", "public.v"} { // all of a view's columns may be NULL
		table := databasetest.Table(t, schema, name)
		for _, order := range []string{"id", "-id", "title id", "-title -id", "title -id", "-price id", "ratio id", "-ratio id", "at -id", "-at -id", "mood id", "-mood title -id",
			"flag -title price id", "-flag id", "name id", "-name id", "name -id"} {
			t.Run(name+" "+order, func(t *testing.T) {
				plan := database.Select{From: database.NewSource(table, nil), Output: outputs(table.Column("id")), Limit: 1000, More: true}
				for _, step := range strings.Fields(order) {
					column, descending := strings.CutPrefix(step, "-")
					plan.Order = append(plan.Order, database.Order{Column: table.Column(column), Descending: descending})
					plan.Cursor = append(plan.Cursor, database.Ref{Column: table.Column(column)})
				}
				want, page := ids(t, db, &plan)
				if len(want) != 60 || page.More {
					t.Fatalf("all are %d, more: %v", len(want), page.More)
				}
				plan.Limit = 7
				var got []int
				for {
					some, page := ids(t, db, &plan)
					got = append(got, some...)
					if !page.More || len(got) > 60 {
						break
					}
					plan.After = page.Last
				}
				if !slices.Equal(got, want) {
					t.Errorf("page by page it is %v\nwant %v", got, want)
				}
			})
		}
	}
}

func TestWhatAPageTells(t *testing.T) {
	t.Parallel()
	c := filled(t, `
CREATE TABLE t (id int PRIMARY KEY, body text, data bytea, doc jsonb, secret text);
INSERT INTO t SELECT n, repeat('é', 50), decode(repeat('ab', 90), 'hex'), jsonb_build_object('a', repeat('x', 200)), 'secret number ' || n FROM generate_series(1, 9) n`)
	db := open(t, settings(c, nil))
	table := databasetest.Table(t, databasetest.Introspect(t, db), "public.t")
	id := table.Column("id")
	page := func(change func(*database.Select)) database.Page {
		t.Helper()
		plan := database.Select{From: database.NewSource(table, nil), Output: outputs(id), Order: []database.Order{{Column: id}}, Limit: 9, More: true}
		change(&plan)
		_, page := ids(t, db, &plan)
		return page
	}
	for _, test := range []struct {
		name   string
		change func(*database.Select)
		want   database.Page
	}{
		{"just all", func(*database.Select) {}, database.Page{Count: 9, Total: -1}},
		{"some", func(p *database.Select) { p.Limit = 8 }, database.Page{Count: 8, More: true, Total: -1}},
		{"some, and nobody asks for more", func(p *database.Select) { p.Limit, p.More = 8, false }, database.Page{Count: 8, Total: -1}},
		{"the last row", func(p *database.Select) { p.Limit, p.Cursor = 2, database.Refs(id, table.Column("secret")) },
			database.Page{Count: 2, More: true, Total: -1, Last: []database.Value{int64(2), "secret number 2"}}},
		{"no row", func(p *database.Select) { p.Offset, p.Cursor = 99, database.Refs(id) }, database.Page{Total: -1}},
		{"too many bytes", func(p *database.Select) { p.MaxBytes, p.Cursor = 20, database.Refs(id) },
			database.Page{Count: 3, More: true, Cut: true, Total: -1, Last: []database.Value{int64(3)}}},
		{"too many bytes already", func(p *database.Select) { p.MaxBytes = 1 }, database.Page{Count: 1, More: true, Cut: true, Total: -1}},
		{"too many bytes behind the last row", func(p *database.Select) { p.MaxBytes, p.Limit = 20, 3 }, database.Page{Count: 3, More: true, Total: -1}},
		{"the page tells the total", func(p *database.Select) { p.Total, p.Offset = database.TotalAuto, 4 }, database.Page{Count: 5, Total: 9}},
		{"an exact total", func(p *database.Select) { p.Total, p.Limit = database.TotalExact, 2 }, database.Page{Count: 2, More: true, Total: 9}},
		{"a total beside a cursor", func(p *database.Select) { p.Total, p.After = database.TotalAuto, []database.Value{int64(7)} }, database.Page{Count: 2, Total: 9}},
		{"a total beyond the rows", func(p *database.Select) { p.Total, p.Offset = database.TotalAuto, 50 }, database.Page{Total: 9}},
		{"a total of a page that was cut", func(p *database.Select) { p.Total, p.MaxBytes = database.TotalCapped, 20 },
			database.Page{Count: 3, More: true, Cut: true, Total: 9}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for range 3 { // unnamed, then prepared, then prepared before
				if got := page(test.change); fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", test.want) {
					t.Errorf("got %+v, want %+v", got, test.want)
				}
			}
		})
	}

	t.Run("long values are cut", func(t *testing.T) {
		plan := all(table)
		plan.Limit, plan.MaxValue = 1, 64
		out, page, err := db.Select(t.Context(), plan, nil)
		if err != nil || !page.Shortened {
			t.Fatalf("%+v, %v", page, err)
		}
		var row struct{ Body, Data, Doc string }
		if err := json.Unmarshal(out, &row); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		if !strings.HasPrefix(row.Body, strings.Repeat("é", 32)+"...") || !strings.HasSuffix(row.Body, "100 bytes in all]") {
			t.Errorf("the text is %s", row.Body)
		}
		if !strings.HasPrefix(row.Data, "q6urq6ur") || !strings.HasSuffix(row.Data, " 90 bytes in all]") {
			t.Errorf("the bytes are %s", row.Data)
		}
		if !strings.HasPrefix(row.Doc, `{"a": "xx`) || !strings.Contains(row.Doc, "...") {
			t.Errorf("the document is %s", row.Doc)
		}
	})
	t.Run("masks show the end", func(t *testing.T) {
		secret := table.Column("secret")
		plan := &database.Select{From: database.NewSource(table, nil), Order: []database.Order{{Column: id}}, Limit: 1, Output: []database.Output{
			{Name: "a", Columns: []*database.Column{secret}, Mask: true}, {Name: "b", Columns: []*database.Column{secret}, Mask: true, KeepLast: 3},
			{Name: "pk", Columns: []*database.Column{id, secret}, Composite: true},
		}}
		if got := read(t, db, plan); got != `[{"a":"****","b":"****r 1","pk":"1,secret%20number%201"}]` {
			t.Errorf("got %s", got)
		}
	})
}

// slowScript makes a view of 3,000 rows. Counting them takes far longer than the budget.
const slowScript = `
CREATE TABLE t (id int PRIMARY KEY, body text);
INSERT INTO t SELECT n, 'x' FROM generate_series(1, 3000) n;
ANALYZE t;
CREATE FUNCTION slowly(n int) RETURNS boolean LANGUAGE sql VOLATILE AS 'SELECT pg_sleep(0.002) IS NOT NULL';
CREATE VIEW slow AS SELECT id, body FROM t WHERE slowly(id)`

func TestCountsThatTakeTooLong(t *testing.T) {
	t.Parallel()
	c := filled(t, slowScript)
	for _, mode := range []struct {
		name   string
		to     contract.Connection
		change func(*database.Settings)
	}{
		{"directly", c, nil},
		{"read only", c, func(s *database.Settings) { s.ReadOnly = true }},
		{"through a pooler", pooler(t, c), nil},
		{"through a pooler, read only", pooler(t, c), func(s *database.Settings) { s.ReadOnly = true }},
	} {
		t.Run(mode.name, func(t *testing.T) {
			t.Parallel()
			db := open(t, settings(mode.to, func(s *database.Settings) {
				s.MaxConnections = 1
				if mode.change != nil {
					mode.change(s)
				}
			}))
			schema := databasetest.Introspect(t, db)
			slow := databasetest.Table(t, schema, "public.slow")
			id := slow.Column("id")
			plan := &database.Select{From: database.NewSource(slow, nil), Output: outputs(id), Limit: 2, More: true, Total: database.TotalAuto}
			for range 3 {
				got, page := ids(t, db, plan)
				if len(got) != 2 || !page.More || page.Precision != database.TotalIsEstimated || page.Total < 500 || page.Total > 3000 {
					t.Errorf("%v with %+v", got, page)
				}
			}
			plan.From = database.NewSource(slow, database.Compare{Column: id, Op: database.LessOrEqual, Value: int64(5)})
			if _, page := ids(t, db, plan); page.Precision != database.TotalIsExact || page.Total != 5 {
				t.Errorf("a count within the budget gives %+v", page)
			}
			// The budget is for the count alone, and ends with the call.
			plan.From, plan.Limit, plan.Total = database.NewSource(slow, nil), 200, database.TotalNone
			if got, _ := ids(t, db, plan); len(got) != 200 {
				t.Errorf("a page that takes longer has %d rows", len(got))
			}
		})
	}
	t.Run("exactly", func(t *testing.T) {
		db := open(t, settings(c, func(s *database.Settings) { s.StatementTimeout = contract.Duration(2 * time.Second) }))
		slow := databasetest.Table(t, databasetest.Introspect(t, db), "public.slow")
		_, _, err := db.Select(t.Context(), &database.Select{From: database.NewSource(slow, nil), Limit: 1, More: true, Total: database.TotalExact}, nil)
		if e := databasetest.Failure(t, err); e.Code != database.Timeout {
			t.Errorf("got %v", e)
		}
	})
}

func TestCountsUpToABound(t *testing.T) {
	t.Parallel()
	c := filled(t, `CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t SELECT generate_series(1, 10001)`)
	db := open(t, settings(c, nil))
	table := databasetest.Table(t, databasetest.Introspect(t, db), "public.t")
	for count, want := range map[int64]database.Precision{10_000: database.TotalIsExact, 10_001: database.TotalIsAtLeast} {
		_, page := ids(t, db, &database.Select{
			From:  database.NewSource(table, database.Compare{Column: table.Column("id"), Op: database.LessOrEqual, Value: count}),
			Limit: 1, More: true, Output: outputs(table.Column("id")), Total: database.TotalCapped,
		})
		if page.Total != 10_000 || page.Precision != want {
			t.Errorf("of %d rows: %+v", count, page)
		}
	}
}
