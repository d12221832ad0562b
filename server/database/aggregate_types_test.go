package database_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// types are tables with a column of each type. In no column are two values equal for the column's order that differ in a
// row, except in those whose names begin with loose.
var types = map[string]string{
	contract.EnginePostgreSQL: `
CREATE EXTENSION citext;
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE COLLATION folded (provider = icu, locale = 'und-u-ks-level1', deterministic = false);
CREATE DOMAIN amount AS numeric(10,3);
CREATE TABLE item (id int PRIMARY KEY, small smallint, big bigint, o oid, n numeric(12,3), free numeric, d amount, r real, f double precision,
  t text, c char(5), v varchar(9), loose_citext citext, loose_text text COLLATE folded, loose_char char(6) COLLATE folded, posix text COLLATE "C",
  day date, clock time, at timestamp, seen timestamptz, span interval, u uuid, e mood, b bytea, flag boolean, ip inet, bits bit(3), shape box, ring circle, trx xid, cash money, span4 int4range);
INSERT INTO item VALUES
  (1, 1, 9223372036854775807, 4000000000, 1.5, 0.1, 7, 0.1, 0.1, 'a', 'a', 'a ', 'A', 'A', 'A', 'b', '2020-02-29', '10:00', '2020-01-01', '2020-01-01 00:00Z', '1 day', '00000000-0000-0000-0000-000000000001', 'ok', '\x00', true, '10.0.0.1', '101', '(0,0),(1,1)', '<(0,0),1>', '1', '12', '[1,2]'),
  (2, -1, -9223372036854775808, 0, -1.5, 1e20, -7, 16777216, 1e300, 'a ', 'b', 'a', 'a', 'a', 'a', 'B', '0001-01-01', '23:59:59.5', '2020-01-01 00:00:00.000001', '2020-01-01 00:00+02', '-1 day', 'ffffffff-0000-0000-0000-000000000001', 'sad', '\xff', false, '10.0.0.2', '001', '(0,0),(2,0.5)', '<(0,1),1>', '10', '5', '[1,3)'),
  (3, 1, 0, 0, 1.5, -3, NULL, 0.1, -0.5, 'A', 'a', NULL, 'á', 'á', 'á', 'b', '2020-02-29', NULL, '2019-12-31', 'infinity', '1 day', NULL, 'happy', '\x', NULL, '::1', NULL, '(1,1),(0,0)', NULL, NULL, NULL, NULL),
  (4, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);`,
	contract.EngineMySQL: `
CREATE TABLE item (id int PRIMARY KEY, small smallint, big bigint, huge bigint unsigned, n decimal(12,3), wide decimal(65,30), r float, f double,
  loose_text text, loose_char char(5), loose_varchar varchar(9), loose_latin varchar(9) CHARACTER SET latin1, bin varchar(9) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  day date, clock time(1), at datetime(6), seen timestamp(3) NULL, y year, e enum('sad','ok','happy'), s set('x','y','z'), b varbinary(9), flag boolean, truth bit(1), bits bit(3), place point);
INSERT INTO item VALUES
  (1, 1, 9223372036854775807, 18446744073709551615, 1.5, 0.1, 0.1, 0.1, 'A', 'A', 'A', 'A', 'A', '2020-02-29', '10:00', '2020-01-01', '2020-01-01 00:00:00', 2020, 'ok', 'x,z', 0x00, true, b'1', b'101', ST_GeomFromText('POINT(1 2)')),
  (2, -1, -9223372036854775808, 18446744073709551615, -1.5, 1e20, 16777216, 1e300, 'a', 'a', 'a ', 'a', 'a', '0001-01-01', '23:59:59.5', '2020-01-01 00:00:00.000001', '2020-01-01 00:00:00.5', 1999, 'sad', '', 0xff, false, b'0', b'001', ST_GeomFromText('POINT(2 1)')),
  (3, 1, 0, 0, 1.5, -3, 0.1, -0.5, 'á', 'á', 'á', 'ä', 'á', '2020-02-29', NULL, '2019-12-31', NULL, NULL, 'happy', 'x', '', NULL, NULL, NULL, ST_GeomFromText('POINT(1 2)')),
  (4, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);`,
	contract.EngineSQLite: `
CREATE TABLE item (id INTEGER PRIMARY KEY, big BIGINT, n NUMERIC(12,3), free DECIMAL, f REAL, t TEXT, loose_text TEXT COLLATE NOCASE, loose_padded TEXT COLLATE RTRIM,
  day DATE, loose_at DATETIME, loose_seen TIMESTAMPTZ, u UUID, b BLOB, flag BOOLEAN, other, number_as_time DATETIME);
INSERT INTO item VALUES
  (1, 9223372036854775807, 1.5, 0.1, 0.1, 'a', 'A', 'a', '2020-02-29', '2020-01-01 00:00:00', '2020-01-01T00:00:00Z', 'u1', x'00', 1, 'x', 1600000000),
  (2, -9223372036854775808, -1.5, 1e20, 1e300, 'A', 'a', 'a ', '0001-01-01', '2020-01-01T00:00:00', '2020-01-01 00:00:00', 'U1', x'ff', 0, 5, 'never'),
  (3, 0, 1.5, -3, -0.5, 'á', 'á', 'b', '2020-02-29', '2019-12-31', NULL, NULL, x'', NULL, x'05', '2020-01-01'),
  (4, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);`,
}

// TestGroupsOfEveryType compares groups, counts and extremes of each column with what its rows show.
func TestGroupsOfEveryType(t *testing.T) {
	onAllEngines(t, types, func(t *testing.T, f fixture) {
		item := f.table(t, "item")
		for _, c := range item.Columns {
			if c.Incomparable || c.Kind == database.JSON || c.Kind == database.Array {
				continue
			}
			t.Run(c.Name, func(t *testing.T) { f.checkType(t, item, c) })
		}
	})
}

func (f fixture) checkType(t *testing.T, item *database.Table, c *database.Column) {
	plan := &database.Select{From: database.NewSource(item, nil), Output: []database.Output{{Name: "v", Columns: []*database.Column{c}}}, Limit: 100}
	if c.Ordered() {
		plan.Order = ascending(c)
	}
	shown, _ := f.read(t, plan)
	for i, row := range shown {
		shown[i] = strings.TrimSuffix(strings.TrimPrefix(row, `{"v":`), "}")
	}
	values := slices.DeleteFunc(slices.Clone(shown), func(v string) bool { return v == "null" })
	of := database.Ref{Column: c}
	g := &database.Grouping{From: plan.From, Keys: []database.GroupKey{{Ref: of}}, Measures: []database.Measure{{}}}
	want := map[string]int{}
	for _, v := range shown {
		want[v]++
	}
	source := g.Source()
	rows, _ := f.read(t, &database.Select{From: source, Output: outputs(source.Table().Columns...), Order: ascending(source.Table().Columns[0]), Limit: 100})
	got := map[string]int{}
	for _, row := range rows {
		var count int
		key, rest, _ := strings.Cut(strings.TrimPrefix(row, `{"k0":`), `,"m0":`)
		_, _ = fmt.Sscanf(rest, "%d}", &count)
		got[key] += count
	}
	if len(rows) != len(want) || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("groups %v (%d), want %v", got, len(rows), want)
	}
	delete(want, "null")
	measures := &database.Grouping{From: plan.From, Measures: []database.Measure{{Func: database.CountDistinct, Ref: of}}}
	answer := fmt.Sprint(len(want))
	if c.HasExtremes() && !strings.HasPrefix(c.Name, "loose") {
		measures.Measures = append(measures.Measures, database.Measure{Func: database.Min, Ref: of}, database.Measure{Func: database.Max, Ref: of},
			database.Measure{Func: database.Max, Ref: of, Where: database.Compare{Column: item.Column("id"), Op: database.Less, Value: int64(9)}})
		answer += "," + values[0] + "," + values[len(values)-1] + "," + values[len(values)-1]
	}
	if got := f.groups(t, measures, nil); got != answer {
		t.Errorf("count, least and greatest are %s, want %s", got, answer)
	}
	if c.Summable() {
		sums := &database.Grouping{From: plan.From, Measures: []database.Measure{{Func: database.Sum, Ref: of}, {Func: database.Avg, Ref: of}}}
		f.groups(t, sums, nil)
	}
}

// TestLongTextsAreGroupedWhole: servers sort only the beginning of a long text.
func TestLongTextsAreGroupedWhole(t *testing.T) {
	long := strings.Repeat("0123456789", 500)
	script := "CREATE TABLE item (id INTEGER PRIMARY KEY, body TEXT, short VARCHAR(6000));"
	for i := range 60 {
		script += fmt.Sprintf("INSERT INTO item VALUES (%d, '%s%d', '%[2]s%[3]d');", i, long, i%3)
	}
	for _, name := range []string{"body", "short"} {
		t.Run(name, func(t *testing.T) { testLongTexts(t, script, name) })
	}
}

func testLongTexts(t *testing.T, script, column string) {
	onAllEngines(t, same(script), func(t *testing.T, f fixture) {
		item := f.table(t, "item")
		body := database.Ref{Column: item.Column(column)}
		g := &database.Grouping{From: database.NewSource(item, nil), Keys: []database.GroupKey{{Ref: body}}, Measures: []database.Measure{{}, {Func: database.CountDistinct, Ref: body}}}
		source := g.Source()
		rows, page := f.read(t, &database.Select{From: source, Output: outputs(source.Table().Columns[1:]...), Limit: 100, Total: database.TotalExact})
		if got := strings.Join(rows, ""); got != strings.Repeat(`{"m0":20,"m1":1}`, 3) || page.Total != 3 {
			t.Errorf("got %s of %d", got, page.Total)
		}
		all := &database.Grouping{From: database.NewSource(item, nil), Measures: []database.Measure{{Func: database.CountDistinct, Ref: body}}}
		if got := f.groups(t, all, nil); got != "3" {
			t.Errorf("%s different texts", got)
		}
	})
}
