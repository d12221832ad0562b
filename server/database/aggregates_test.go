package database_test

import (
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// aggregatesScript makes sales of shops. Only the names of types differ between engines.
func aggregatesScript(timestamp, instant, double string) string {
	return strings.NewReplacer("TIMESTAMP", timestamp, "INSTANT", instant, "DOUBLE", double).Replace(`
CREATE TABLE shop (id INTEGER PRIMARY KEY, name VARCHAR(40), hidden BOOLEAN NOT NULL);
CREATE TABLE sale (id INTEGER PRIMARY KEY, shop_id INTEGER, label VARCHAR(40), units BIGINT, price NUMERIC(8,2), rate DOUBLE,
  day DATE, sold TIMESTAMP, seen INSTANT);
INSERT INTO shop VALUES (1, 'North', FALSE), (2, 'South', FALSE), (3, 'Secret', TRUE);
INSERT INTO sale VALUES
  (1, 1, 'tea', 1000000000000000000, 0.10, 0.5, '2020-12-31', '2020-12-31 23:59:59', '2020-12-31 23:59:59'),
  (2, 1, 'Tea', 9000000000000000000, 0.20, 1.5, '2021-01-01', '2021-01-01 00:00:00', '2021-01-01 00:00:00'),
  (3, 1, 'tea ', 9000000000000000000, 59.40, NULL, '2021-01-03', '2021-01-03 13:05:00', '2021-01-03 13:05:00'),
  (4, 2, 'tea', -1, -0.01, 2.25, '2021-01-04', '2021-01-04 13:59:59', '2021-01-04 13:59:59'),
  (5, 2, 'thé', 0, 0.00, 4, '2021-04-01', '2021-04-01 13:00:00', '2021-04-01 13:00:00'),
  (6, 3, 'the', 5, 7.00, 8, '2024-02-29', '2024-02-29 08:00:00', '2024-02-29 08:00:00'),
  (7, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);`)
}

var sales = map[string]string{
	contract.EnginePostgreSQL: aggregatesScript("TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "DOUBLE PRECISION") + `
UPDATE sale SET seen = sold AT TIME ZONE 'UTC';`,
	contract.EngineMySQL:  aggregatesScript("DATETIME", "TIMESTAMP NULL", "DOUBLE"),
	contract.EngineSQLite: aggregatesScript("DATETIME", "TIMESTAMPTZ", "DOUBLE"),
}

// groups reads all groups in the order of their keys, each as the values of its keys and measures.
func (f fixture) groups(t testing.TB, g *database.Grouping, where database.Condition, order ...database.Order) string {
	t.Helper()
	source := g.Source()
	columns := source.Table().Columns
	order = append(order, ascending(columns[:len(g.Keys)]...)...)
	rows, page := f.read(t, &database.Select{From: source, Output: outputs(columns...), Where: where, Order: order, Limit: 1000, Total: database.TotalExact})
	if page.Total != int64(len(rows)) {
		t.Errorf("%d groups were found, but %d counted", len(rows), page.Total)
	}
	for i, row := range rows {
		row = strings.Trim(row, "{}")
		for _, c := range columns {
			row = strings.Replace(row, `"`+c.Name+`":`, "", 1)
		}
		rows[i] = row
	}
	return strings.Join(rows, " | ")
}

func TestAggregates(t *testing.T) {
	onAllEngines(t, sales, func(t *testing.T, f fixture) {
		schema := f.schema(t)
		sale, shop := find(t, schema, "sale"), find(t, schema, "shop")
		of := func(function database.MeasureFunc, column string) database.Measure {
			return database.Measure{Func: function, Ref: database.Ref{Column: sale.Column(column)}}
		}
		only := func(m database.Measure, where database.Condition) database.Measure {
			m.Where = where
			return m
		}
		count := database.Measure{}
		measures := func(all ...database.Measure) *database.Grouping {
			return &database.Grouping{From: database.NewSource(sale, nil), Measures: all}
		}
		by := func(part database.GroupPart, column string, all ...database.Measure) *database.Grouping {
			g := measures(all...)
			g.Keys = []database.GroupKey{{Ref: database.Ref{Column: sale.Column(column)}, Part: part}}
			return g
		}
		compare := func(column string, op database.CompareOp, value database.Value) database.Condition {
			return database.Compare{Column: sale.Column(column), Op: op, Value: value}
		}
		nothing := compare("id", database.Equal, int64(99))
		labelled := database.Match{Column: sale.Column("label"), Op: database.TextEquals, Text: "TEA", FoldCase: true}
		visible := &database.Join{
			From: database.NewSource(shop, database.Compare{Column: shop.Column("hidden"), Op: database.Equal, Value: false}),
			Ours: []*database.Column{sale.Column("shop_id")}, Theirs: []*database.Column{shop.Column("id")},
		}
		byShop := func(all ...database.Measure) *database.Grouping {
			g := measures(all...)
			g.Joins = []*database.Join{visible}
			g.Keys = []database.GroupKey{{Ref: database.Ref{Join: visible, Column: shop.Column("name")}}}
			return g
		}
		filtered := func(g *database.Grouping, where database.Condition) *database.Grouping {
			g.Where = where
			return g
		}
		atLeast := func(g *database.Grouping, rows int) *database.Grouping {
			g.MinRows = rows
			return g
		}
		nullsLast := f.engine == contract.EnginePostgreSQL
		for _, test := range []struct {
			name  string
			group *database.Grouping
			want  string
		}{
			{"counts", measures(count, of(database.Count, "units"), of(database.CountDistinct, "units")), "7,6,5"},
			{"counts of texts that differ in case, blanks and accents", measures(of(database.CountDistinct, "label")), "5"},
			{"counts of timestamps", measures(of(database.CountDistinct, "sold"), of(database.CountDistinct, "seen")), "6,6"},
			{"integers beyond 64 bits", measures(of(database.Sum, "units")), `"19000000000000000004"`},
			{"small integers", measures(of(database.Sum, "id")), "28"},
			{"decimals", measures(of(database.Sum, "price")), `"66.69"`},
			{"decimals with zeros at the end", filtered(measures(of(database.Sum, "price")), compare("id", database.Less, int64(4))), `"59.70"`},
			{"floats", measures(of(database.Sum, "rate"), of(database.Avg, "rate")), "16.25,3.25"},
			{"averages", measures(of(database.Avg, "units"), of(database.Avg, "price")), `"3166666666666666667.333333333333","11.115000"`},
			{"negative halves", filtered(measures(of(database.Avg, "price"), of(database.Avg, "units")), compare("shop_id", database.Equal, int64(2))), `"-0.005000","-0.500000"`},
			{"extremes", measures(of(database.Min, "units"), of(database.Max, "units"), of(database.Min, "price"), of(database.Max, "price"), of(database.Max, "rate")),
				`-1,"9000000000000000000","-0.01","59.40",8`},
			{"extremes of moments", measures(of(database.Min, "day"), of(database.Max, "sold"), of(database.Min, "seen")),
				`"2020-12-31","2024-02-29T08:00:00","2020-12-31T23:59:59Z"`},
			{"extremes of texts", filtered(measures(of(database.Min, "label"), of(database.Max, "label")), compare("shop_id", database.Equal, int64(2))), `"tea","thé"`},
			{"of nothing", filtered(measures(count, of(database.Count, "units"), of(database.Sum, "units"), of(database.Avg, "price"), of(database.Min, "day"),
				database.Measure{Func: database.Ratio, Dividend: 0, Divisor: 1}), nothing), "0,0,null,null,null,null"},
			{"of no rows that a measure is about", measures(count, only(of(database.Sum, "price"), nothing), only(database.Measure{}, nothing)), "7,null,0"},
			{"measures with conditions of their own", measures(
				only(count, compare("price", database.Greater, "0.1")), only(of(database.Sum, "price"), compare("units", database.Less, int64(6))),
				only(of(database.CountDistinct, "label"), labelled), only(of(database.Min, "label"), compare("id", database.Greater, int64(5))),
				only(of(database.Avg, "price"), labelled)),
				`3,"6.99",2,"the","0.096666666667"`},
			{"ratios", measures(count, of(database.Sum, "price"), of(database.Count, "price"), of(database.Sum, "rate"),
				database.Measure{Func: database.Ratio, Dividend: 0, Divisor: 2}, database.Measure{Func: database.Ratio, Dividend: 1, Divisor: 0},
				database.Measure{Func: database.Ratio, Dividend: 3, Divisor: 0}, database.Measure{Func: database.Ratio, Dividend: 1, Divisor: 3}),
				`7,"66.69",6,16.25,"1.166666666667","9.527142857143","2.321428571429","4.104000"`},

			{"by texts", by(database.WholeValue, "label", count), `"Tea",1 | "tea",2 | "tea ",1 | "the",1 | "thé",1`},
			{"by year", by(database.YearPart, "day", count), "2020,1 | 2021,4 | 2024,1"},
			{"by quarter", by(database.QuarterPart, "sold", count), `"2020-Q4",1 | "2021-Q1",3 | "2021-Q2",1 | "2024-Q1",1`},
			{"by month", by(database.MonthPart, "seen", count), `"2020-12",1 | "2021-01",3 | "2021-04",1 | "2024-02",1`},
			{"by week", by(database.WeekPart, "day", count), `"2020-W53",3 | "2021-W01",1 | "2021-W13",1 | "2024-W09",1`},
			{"by week of timestamps", by(database.WeekPart, "sold", count), `"2020-W53",3 | "2021-W01",1 | "2021-W13",1 | "2024-W09",1`},
			{"by day", by(database.DayPart, "sold", count), `"2020-12-31",1 | "2021-01-01",1 | "2021-01-03",1 | "2021-01-04",1 | "2021-04-01",1 | "2024-02-29",1`},
			{"by hour", by(database.HourPart, "seen", count), `"2020-12-31T23",1 | "2021-01-01T00",1 | "2021-01-03T13",1 | "2021-01-04T13",1 | "2021-04-01T13",1 | "2024-02-29T08",1`},
			{"by hour of dates", filtered(by(database.HourPart, "day", count), compare("id", database.Equal, int64(6))), `"2024-02-29T00",1`},
			{"by weekday", by(database.WeekdayPart, "day", count), "1,1 | 4,3 | 5,1 | 7,1"},
			{"by timestamps", by(database.WholeValue, "sold"), `"2020-12-31T23:59:59" | "2021-01-01T00:00:00" | "2021-01-03T13:05:00" | "2021-01-04T13:59:59" | "2021-04-01T13:00:00" | "2024-02-29T08:00:00"`},
			{"by decimals", filtered(by(database.WholeValue, "price"), compare("id", database.Less, int64(4))), `"0.10" | "0.20" | "59.40"`},
			{"by what a relation leads to", byShop(count, of(database.Sum, "price"),
				database.Measure{Func: database.Max, Ref: database.Ref{Join: visible, Column: shop.Column("id")}}), `"North",3,"59.70",1 | "South",2,"-0.01",2`},
			{"without groups of few rows", atLeast(byShop(count), 3), `"North",3`},
			{"without the only group", atLeast(measures(count), 8), ""},
		} {
			t.Run(test.name, func(t *testing.T) {
				if len(test.group.Keys) > 0 {
					var null database.Condition = database.IsNull{Column: test.group.Source().Table().Columns[0]}
					got := f.groups(t, test.group, database.Not{Condition: null})
					if got != test.want {
						t.Errorf("groups\n%s, want\n%s", got, test.want)
					}
					return
				}
				if got := f.groups(t, test.group, nil); got != test.want {
					t.Errorf("got\n%s, want\n%s", got, test.want)
				}
			})
		}
		t.Run("a group of NULLs", func(t *testing.T) {
			want := `null,2 | "North",3 | "South",2`
			if nullsLast {
				want = `"North",3 | "South",2 | null,2`
			}
			if got := f.groups(t, byShop(count), nil); got != want {
				t.Errorf("groups %s, want %s", got, want)
			}
		})
	})
}

func TestConditionsAndOrdersOfGroups(t *testing.T) {
	onAllEngines(t, sales, func(t *testing.T, f fixture) {
		sale := f.table(t, "sale")
		of := func(function database.MeasureFunc, column string) database.Measure {
			return database.Measure{Func: function, Ref: database.Ref{Column: sale.Column(column)}}
		}
		g := &database.Grouping{
			From: database.NewSource(sale, nil),
			Keys: []database.GroupKey{{Ref: database.Ref{Column: sale.Column("id")}}, {Ref: database.Ref{Column: sale.Column("label")}}, {Ref: database.Ref{Column: sale.Column("day")}, Part: database.MonthPart}},
			Measures: []database.Measure{{}, of(database.Sum, "units"), of(database.Sum, "price"), of(database.Avg, "price"), of(database.Sum, "rate"),
				{Func: database.Ratio, Dividend: 2, Divisor: 0}, of(database.Max, "sold"), of(database.Min, "price"), of(database.Min, "label"), of(database.Max, "seen"), of(database.Avg, "units")},
		}
		source := g.Source()
		column := source.Table().Column
		compare := func(name string, op database.CompareOp, value database.Value) database.Condition {
			return database.Compare{Column: column(name), Op: op, Value: value}
		}
		refs := func(left string, op database.CompareOp, right string) database.Condition {
			return database.CompareRefs{Left: database.Ref{Column: column(left)}, Op: op, Right: database.Ref{Column: column(right)}}
		}
		ids := func(where database.Condition, order ...database.Order) string {
			rows, _ := f.read(t, &database.Select{From: source, Output: outputs(column("k0")), Where: where, Order: append(order, ascending(column("k0"))...), Limit: 100, Total: database.TotalExact})
			return strings.NewReplacer(`{"k0":`, "", "}", "").Replace(strings.Join(rows, " "))
		}
		for _, test := range []struct {
			name  string
			where database.Condition
			want  string
		}{
			{"a key", compare("k0", database.Less, int64(3)), "1 2"},
			{"a text key, in its own case", compare("k1", database.Equal, "tea"), "1 4"},
			{"a text key that starts with", database.Match{Column: column("k1"), Op: database.TextStartsWith, Text: "t"}, "1 3 4 5 6"},
			{"a text key, folded", database.Match{Column: column("k1"), Op: database.TextEquals, Text: "TEA", FoldCase: true}, "1 2 4"},
			{"a part", compare("k2", database.GreaterOrEqual, "2021-04"), "5 6"},
			{"a count", compare("m0", database.Equal, int64(1)), "1 2 3 4 5 6 7"},
			{"a sum of integers", compare("m1", database.Greater, int64(5)), "1 2 3"},
			{"a sum of integers in", database.In{Column: column("m1"), Values: []database.Value{int64(0), int64(-1), int64(9_000_000_000_000_000_000)}}, "2 3 4 5"},
			{"a sum of integers and a number beyond int64", compare("m1", database.Less, uint64(10_000_000_000_000_000_000)), "1 2 3 4 5 6"},
			{"a sum of decimals", compare("m2", database.GreaterOrEqual, "7"), "3 6"},
			{"a sum of decimals that equals", compare("m2", database.Equal, "0.100"), "1"},
			{"a sum of decimals in", database.In{Column: column("m2"), Values: []database.Value{"0.2", "-1e-2"}}, "2 4"},
			{"an average", compare("m3", database.Less, "0.15"), "1 4 5"},
			{"a sum of floats", compare("m4", database.LessOrEqual, 1.5), "1 2"},
			{"a ratio", compare("m5", database.Equal, "59.4"), "3"},
			{"no ratio", database.IsNull{Column: column("m5")}, "7"},
			{"a greatest timestamp", compare("m6", database.GreaterOrEqual, "2021-04-01T13:00:00"), "5 6"},
			{"on a day", database.PartEquals{Column: column("m6"), Part: database.WholeDate, Value: "2020-12-31"}, "1"},
			{"a least decimal", compare("m7", database.Greater, "0.2"), "3 6"},
			{"a least text", database.Match{Column: column("m8"), Op: database.TextContains, Text: "ea"}, "1 2 3 4"},
			{"a greatest instant", compare("m9", database.Less, "2021-01-01T00:00:00Z"), "1"},
			{"measures with each other", refs("m2", database.Less, "m0"), "1 2 4 5"},
			{"measures of different kinds", refs("m1", database.Greater, "m2"), "1 2 3"},
			{"a sum and a float", refs("m2", database.GreaterOrEqual, "m4"), ""},
			{"a sum and its only value", refs("m2", database.Equal, "m7"), "1 2 3 4 5 6"},
			{"not", database.Not{Condition: compare("m2", database.GreaterOrEqual, "7")}, "1 2 4 5 7"},
		} {
			t.Run(test.name, func(t *testing.T) {
				if got := ids(test.where); got != test.want {
					t.Errorf("groups %s, want %s", got, test.want)
				}
			})
		}
		some := database.Not{Condition: database.IsNull{Column: column("k1")}}
		for _, test := range []struct {
			by   string
			want string
		}{
			{"k1", "2 1 4 3 6 5"}, {"k2", "1 2 3 4 5 6"}, {"m1", "4 5 6 1 2 3"}, {"m2", "4 5 1 2 6 3"}, {"m3", "4 5 1 2 6 3"}, {"m5", "4 5 1 2 6 3"}, {"m10", "4 5 6 1 2 3"},
		} {
			t.Run("ordered by "+test.by, func(t *testing.T) {
				if got := ids(some, database.Order{Column: column(test.by)}); got != test.want {
					t.Errorf("groups %s, want %s", got, test.want)
				}
			})
		}
	})
}
