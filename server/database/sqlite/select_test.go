package sqlite_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

// series fills the table t with rows 1 to n.
const series = "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT); WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < %d) INSERT INTO t SELECT i, 'row ' || i FROM s;"

func TestPages(t *testing.T) {
	o := openFilled(t, fmt.Sprintf(series, 5), nil)
	table := databasetest.Table(t, o.schema, "t")
	id := table.Column("id")
	for _, test := range []struct {
		name   string
		change func(*database.Select)
		rows   string
		want   database.Page
	}{
		{"all there is", func(p *database.Select) {}, "1 2 3 4 5", database.Page{Count: 5, Total: 5}},
		{"not asked for a total", func(p *database.Select) { p.Total = database.TotalNone }, "1 2 3 4 5", database.Page{Count: 5, Total: -1}},
		{"a full page, and nothing behind it", func(p *database.Select) { p.Limit = 5 }, "1 2 3 4 5", database.Page{Count: 5, Total: 5}},
		{"a full page", func(p *database.Select) { p.Limit = 2 }, "1 2", database.Page{Count: 2, More: true, Total: 5}},
		{"a full page, and nobody asks for more", func(p *database.Select) { p.Limit, p.More = 2, false }, "1 2", database.Page{Count: 2, Total: 5}},
		{"the last page", func(p *database.Select) { p.Limit, p.Offset = 2, 4 }, "5", database.Page{Count: 1, Total: 5}},
		{"beyond the last page", func(p *database.Select) { p.Offset = 9 }, "", database.Page{Total: 5}},
		{"no rows at all", func(p *database.Select) { p.Limit = 0 }, "", database.Page{More: true, Total: 5}},
		{"behind a row", func(p *database.Select) { p.After = []database.Value{int64(3)} }, "4 5", database.Page{Count: 2, Total: 5}},
		{"behind the last row", func(p *database.Select) { p.After = []database.Value{int64(5)} }, "", database.Page{Total: 5}},
		{"downwards", func(p *database.Select) { p.Order[0].Descending, p.After = true, []database.Value{int64(3)} }, "2 1", database.Page{Count: 2, Total: 5}},
		{"with the last row's values", func(p *database.Select) { p.Limit, p.Cursor = 2, database.Refs(table.Columns...) }, "1 2",
			database.Page{Count: 2, More: true, Total: 5, Last: []database.Value{int64(2), "row 2"}}},
		{"no last row", func(p *database.Select) { p.Offset, p.Cursor = 9, database.Refs(table.Columns...) }, "", database.Page{Total: 5}},
		{"cut", func(p *database.Select) { p.MaxBytes, p.Cursor = len(`{"id":1},{"id":2}`), database.Refs(id) }, "1 2",
			database.Page{Count: 2, More: true, Cut: true, Total: 5, Last: []database.Value{int64(2)}}},
		{"cut, though nobody asks for more", func(p *database.Select) { p.MaxBytes, p.More = 12, false }, "1 2", database.Page{Count: 2, More: true, Cut: true, Total: 5}},
		{"one row is always there", func(p *database.Select) { p.MaxBytes = 1 }, "1", database.Page{Count: 1, More: true, Cut: true, Total: 5}},
		{"exactly as large as it may be", func(p *database.Select) { p.MaxBytes = len(`{"id":1},{"id":2},{"id":3},{"id":4},{"id":5}`) }, "1 2 3 4 5", database.Page{Count: 5, Total: 5}},
		{"locked", func(p *database.Select) { p.Lock, p.Limit, p.More = true, 1, false }, "1", database.Page{Count: 1, Total: 5}},
		{"counted by the budget", func(p *database.Select) { p.Limit, p.Total = 2, database.TotalAuto }, "1 2", database.Page{Count: 2, More: true, Total: 5}},
		{"counted up to the cap", func(p *database.Select) { p.Limit, p.Total = 2, database.TotalCapped }, "1 2", database.Page{Count: 2, More: true, Total: 5}},
	} {
		t.Run(test.name, func(t *testing.T) {
			plan := all(table)
			plan.Output = plan.Output[:1]
			plan.Order = []database.Order{{Column: id}}
			plan.More, plan.Total = true, database.TotalExact
			test.change(plan)
			out, page, err := o.Select(t.Context(), plan, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.NewReplacer(`{"id":`, "", "}", "", ",", " ").Replace(string(out)); got != test.rows {
				t.Errorf("got the rows %s, want %s", got, test.rows)
			}
			if !reflect.DeepEqual(page, test.want) {
				t.Errorf("got %+v, want %+v", page, test.want)
			}
		})
	}
}

func TestTotalsOfManyRows(t *testing.T) {
	for _, test := range []struct {
		rows      int
		way       database.Total
		want      int64
		precision database.Precision
	}{
		{database.TotalCap, database.TotalCapped, database.TotalCap, database.TotalIsExact},
		{database.TotalCap + 1, database.TotalCapped, database.TotalCap, database.TotalIsAtLeast},
		{database.TotalCap + 1, database.TotalAuto, database.TotalCap + 1, database.TotalIsExact},
		{database.TotalCap + 1, database.TotalExact, database.TotalCap + 1, database.TotalIsExact},
	} {
		o := openFilled(t, fmt.Sprintf(series, test.rows), nil)
		plan := all(databasetest.Table(t, o.schema, "t"))
		plan.Limit, plan.Total = 1, test.way
		_, page, err := o.Select(t.Context(), plan, nil)
		if err != nil || page.Total != test.want || page.Precision != test.precision {
			t.Errorf("%d rows, counted in the way %d: got %d, precision %d, %v", test.rows, test.way, page.Total, page.Precision, err)
		}
	}
}

func TestCountsThatTakeTooLong(t *testing.T) {
	// Rows come quickly without an end, or only the first one comes.
	o := openFilled(t, `CREATE VIEW endless AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id FROM n;
CREATE VIEW few AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id FROM n WHERE i < 4`, nil)
	for name, want := range map[string]int64{"endless": database.TotalCap, "few": 3} {
		plan := all(databasetest.Table(t, o.schema, name))
		plan.Limit, plan.More, plan.Total = 2, true, database.TotalAuto
		_, page, err := o.Select(t.Context(), plan, nil)
		if err != nil || page.Count != 2 || page.Total != want || page.Precision != database.TotalIsAtLeast {
			t.Errorf("%s: got %+v, want at least %d; %v", name, page, want, err)
		}
	}
}

func TestLongValues(t *testing.T) {
	o := openFilled(t, `CREATE TABLE t (v TEXT, j JSON, b BLOB, n INTEGER); INSERT INTO t VALUES ('0123456789é', '{"a":"0123456789"}', x'000102030405060708090a', 7)`, nil)
	plan := all(databasetest.Table(t, o.schema, "t"))
	for _, test := range []struct {
		most      int
		want      string
		shortened bool
	}{
		{0, `[{"v":"0123456789é","j":{"a":"0123456789"},"b":"AAECAwQFBgcICQo=","n":7}]`, false},
		{18, `[{"v":"0123456789é","j":{"a":"0123456789"},"b":"AAECAwQFBgcICQo=","n":7}]`, false},
		{11, `[{"v":"0123456789...[cut: 12 bytes in all]","j":"{\"a\":\"01234...[cut: 18 bytes in all]","b":"AAECAwQFBgcICQo=","n":7}]`, true},
		{10, `[{"v":"0123456789...[cut: 12 bytes in all]","j":"{\"a\":\"0123...[cut: 18 bytes in all]","b":"AAECAwQF...[cut: 11 bytes in all]","n":7}]`, true},
	} {
		plan.MaxValue = test.most
		if got := read(t, o, plan); got != test.want {
			t.Errorf("at most %d bytes: got %s", test.most, got)
		}
		if _, page, err := o.Select(t.Context(), plan, nil); err != nil || page.Shortened != test.shortened {
			t.Errorf("at most %d bytes: shortened is %v, %v", test.most, page.Shortened, err)
		}
	}
}

// Pages one after the other show what a single page shows, whatever the columns hold.
func TestPagesFollowEachOther(t *testing.T) {
	values := map[string]string{
		"INTEGER":                   "(3), (1), (NULL), (2), (2), (9007199254740993), (9007199254740992), ('text'), (NULL)",
		"NUMERIC(10,2)":             "(0.1), (0.3), (0.1 + 0.2), (5), (NULL), (0.30000000000000004), ('n/a'), (9e999), (12345678901234567890)",
		"REAL":                      "(0.1), (1e300), (NULL), (-9e999), (0.1), (2)",
		"TEXT":                      "('b'), ('A'), ('a'), (NULL), ('é'), (''), ('a'), (x'61')",
		"VARCHAR(9) COLLATE NOCASE": "('b'), ('A'), ('a'), ('B'), (NULL)",
		"DATETIME":                  "('2009-01-01 00:00:00'), ('2009-01-01T00:00:00'), (1230768000), ('2009-01-01T02:00:00+02:00'), (NULL), ('soon')",
		"TIMESTAMPTZ":               "('2009-01-01 00:00:00Z'), ('2009-01-01T00:00:00'), (NULL), ('2009-01-01 00:00:00Z')",
		"BOOLEAN":                   "(TRUE), (FALSE), (NULL), (2), (TRUE)",
		"DATE":                      "('2026-02-28'), ('2026-02-27'), (NULL)",
		"BLOB":                      "(x'00'), (x'ff'), (x''), ('00'), (NULL)",
		"":                          "(1), ('1'), (1.5), (NULL), (x'31')",
	}
	for declared, rows := range values {
		o := openFilled(t, "CREATE TABLE t (id INTEGER PRIMARY KEY, v "+declared+"); INSERT INTO t (v) VALUES "+rows, nil)
		table := databasetest.Table(t, o.schema, "t")
		for _, descending := range []bool{false, true} {
			for _, size := range []int{1, 2, 4} {
				plan := all(table)
				plan.Order = []database.Order{{Column: table.Column("v"), Descending: descending}, {Column: table.Column("id"), Descending: descending}}
				want := decoded(t, o, plan)
				plan.Limit, plan.More, plan.Cursor = size, true, database.Refs(table.Column("v"), table.Column("id"))
				var got []any
				for range len(want) + 1 {
					out, page, err := o.Select(t.Context(), plan, []byte("["))
					if err != nil {
						t.Fatal(err)
					}
					var rows []any
					if err := json.Unmarshal(append(out, ']'), &rows); err != nil {
						t.Fatal(err)
					}
					got = append(got, rows...)
					if !page.More {
						break
					}
					plan.After = page.Last
				}
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%s, pages of %d: got\n%v, want\n%v", declared, size, got, want)
				}
			}
		}
	}
}

// SQLite accepts NULLs in keys, and pages must reach them.
func TestPagesOfKeysThatHoldNull(t *testing.T) {
	o := openFilled(t, `CREATE TABLE one (k TEXT PRIMARY KEY); INSERT INTO one VALUES ('a'), (NULL), ('b'), (NULL);
CREATE TABLE two (a INT, b TEXT, PRIMARY KEY (a, b)); INSERT INTO two VALUES (1, 'x'), (NULL, 'x'), (1, NULL), (2, 'y'), (NULL, 'y')`, nil)
	for name, rows := range map[string]int{"one": 4, "two": 5} {
		table := databasetest.Table(t, o.schema, name)
		// Rows with the same values in the whole order would need the row's number: SQLite accepts many NULLs in a key.
		keys := append(slices.Clone(table.PrimaryKey), table.RowID)
		for _, descending := range []bool{false, true} {
			plan := all(table)
			for _, column := range keys {
				plan.Order = append(plan.Order, database.Order{Column: column, Descending: descending})
			}
			plan.Limit, plan.More, plan.Cursor = 1, true, database.Refs(keys...)
			count := 0
			for more := true; more && count <= rows; count++ {
				_, page, err := o.Select(t.Context(), plan, nil)
				if err != nil {
					t.Fatal(err)
				}
				plan.After, more = page.Last, page.More
			}
			if count != rows {
				t.Errorf("%s, descending %v: %d rows of %d", name, descending, count, rows)
			}
		}
	}
}

func decoded(t *testing.T, o opened, plan *database.Select) (rows []any) {
	t.Helper()
	if err := json.Unmarshal([]byte(read(t, o, plan)), &rows); err != nil {
		t.Fatal(err)
	}
	return rows
}
