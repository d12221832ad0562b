package sqltext_test

import (
	"cmp"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
)

func TestGroups(t *testing.T) {
	visible := database.Compare{Column: key, Op: database.Less, Value: int64(7)}
	wrote := &database.Join{From: database.NewSource(author, visible), Ours: []*database.Column{authorID}, Theirs: []*database.Column{key}}
	score := &database.Column{Name: "score", Kind: database.Float, NativeType: "double precision"}
	token := &database.Column{Name: "token", Kind: database.UUID, NativeType: "uuid"}
	inStock := database.Compare{Column: stock, Op: database.Equal, Value: true}
	of := func(function database.MeasureFunc, c *database.Column) database.Measure {
		return database.Measure{Func: function, Ref: database.Ref{Column: c}}
	}
	only := func(m database.Measure) database.Measure {
		m.Where = inStock
		return m
	}
	by := func(c *database.Column, part database.GroupPart) database.GroupKey {
		return database.GroupKey{Ref: database.Ref{Column: c}, Part: part}
	}
	ratio := database.Measure{Func: database.Ratio, Dividend: 0, Divisor: 1}
	for _, test := range []struct {
		name     string
		grouping database.Grouping
		// mariaDB is only set if it differs from mysql.
		postgresql, mysql, mariaDB, sqlite string
	}{
		{name: "rows", grouping: database.Grouping{Measures: []database.Measure{{}, only(database.Measure{}), only(of(database.CountDistinct, title))}},
			postgresql: `count(*) AS "m0", count(*) FILTER (WHERE t1."in_stock" = $1) AS "m1", count(DISTINCT t1."title") FILTER (WHERE t1."in_stock" = $2) AS "m2" FROM "shop"."book" AS t1 WHERE t1."id" > $3::bigint) AS t0 WHERE t0."m2" IS NULL | true | true | 3`,
			mysql:      "count(*) AS `m0`, count(CASE WHEN t1.`in_stock` = ? THEN 1 END) AS `m1`, count(DISTINCT CASE WHEN t1.`in_stock` = ? THEN t1.`title` END) AS `m2` FROM `shop`.`book` AS t1 WHERE t1.`id` > ?) AS t0 WHERE t0.`m2` IS NULL | true | true | 3",
			sqlite:     `count(*) AS "m0", count(*) FILTER (WHERE t1."in_stock" = ?) AS "m1", count(DISTINCT t1."title" COLLATE BINARY) FILTER (WHERE t1."in_stock" = ?) AS "m2" FROM "shop"."book" AS t1 WHERE t1."id" > ?) AS t0 WHERE t0."m2" IS NULL | true | true | 3`,
		},
		{name: "a joined key, under its policy", grouping: database.Grouping{Joins: []*database.Join{wrote}, Where: inStock, MinRows: 5,
			Keys: []database.GroupKey{{Ref: database.Ref{Join: wrote, Column: name}}}, Measures: []database.Measure{{Func: database.Count, Ref: database.Ref{Join: wrote, Column: key}}}},
			postgresql: `t2."odd ""name""" AS "k0", count(t2."id") AS "m0" FROM "shop"."book" AS t1 LEFT JOIN "shop"."author" AS t2 ON t2."id" = t1."author_id" AND t2."id" < $1::bigint WHERE t1."id" > $2::bigint AND t1."in_stock" = $3 GROUP BY 1 HAVING count(*) >= 5) AS t0 WHERE t0."m0" IS NULL | 7 | 3 | true`,
			mysql:      "t2.`odd \"name\"` AS `k0`, count(t2.`id`) AS `m0` FROM `shop`.`book` AS t1 LEFT JOIN `shop`.`author` AS t2 ON t2.`id` = t1.`author_id` AND t2.`id` < ? WHERE t1.`id` > ? AND t1.`in_stock` = ? GROUP BY 1 HAVING count(*) >= 5) AS t0 WHERE t0.`m0` IS NULL | 7 | 3 | true",
			mariaDB:    "t2.`odd \"name\"` AS `k0`, count(t2.`id`) AS `m0` FROM `shop`.`book` AS t1 LEFT JOIN `shop`.`author` AS t2 ON t2.`id` = t1.`author_id` AND t2.`id` < ? WHERE t1.`id` > ? AND t1.`in_stock` = ? GROUP BY 1, SHA2(t2.`odd \"name\"`, 256) HAVING count(*) >= 5) AS t0 WHERE t0.`m0` IS NULL | 7 | 3 | true",
			sqlite:     `t2."odd ""name""" COLLATE BINARY AS "k0", count(t2."id") AS "m0" FROM "shop"."book" AS t1 LEFT JOIN "shop"."author" AS t2 ON t2."id" = t1."author_id" AND t2."id" < ? WHERE t1."id" > ? AND t1."in_stock" = ? GROUP BY 1 HAVING count(*) >= 5) AS t0 WHERE t0."m0" IS NULL | 7 | 3 | true`,
		},
		{name: "loose texts", grouping: database.Grouping{Keys: []database.GroupKey{by(email, database.WholeValue), by(code, database.WholeValue)}},
			postgresql: `t1."email"::text COLLATE "C" AS "k0", t1."code"::text AS "k1" FROM "shop"."book" AS t1 WHERE t1."id" > $1::bigint GROUP BY 1, 2) AS t0 WHERE t0."k1" IS NULL | 3`,
			mysql:      "CONVERT(t1.`email` USING utf8mb4) COLLATE utf8mb4_0900_bin AS `k0`, t1.`code` AS `k1` FROM `shop`.`book` AS t1 WHERE t1.`id` > ? GROUP BY 1, 2 HAVING count(*) >= 1) AS t0 WHERE t0.`k1` IS NULL | 3",
			mariaDB:    "CONVERT(t1.`email` USING utf8mb4) COLLATE utf8mb4_nopad_bin AS `k0`, t1.`code` AS `k1` FROM `shop`.`book` AS t1 WHERE t1.`id` > ? GROUP BY 1, SHA2(CONVERT(t1.`email` USING utf8mb4) COLLATE utf8mb4_nopad_bin, 256), 2, SHA2(t1.`code`, 256)) AS t0 WHERE t0.`k1` IS NULL | 3",
			sqlite:     `t1."email" COLLATE BINARY AS "k0", t1."code" COLLATE BINARY AS "k1" FROM "shop"."book" AS t1 WHERE t1."id" > ? GROUP BY 1, 2) AS t0 WHERE t0."k1" IS NULL | 3`,
		},
		{name: "parts", grouping: database.Grouping{Keys: []database.GroupKey{by(changed, database.YearPart), by(sold, database.QuarterPart), by(published, database.WeekPart), by(changed, database.HourPart), by(sold, database.WeekdayPart)}},
			postgresql: `CASE WHEN isfinite(t1."changed") THEN extract(year FROM t1."changed" AT TIME ZONE 'UTC')::bigint END AS "k0", to_char(t1."sold"::timestamp, 'YYYY-"Q"Q') AS "k1", to_char(t1."published"::timestamp, 'IYYY-"W"IW') AS "k2", to_char(t1."changed" AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24') AS "k3", CASE WHEN isfinite(t1."sold") THEN extract(isodow FROM t1."sold"::timestamp)::bigint END AS "k4" FROM "shop"."book" AS t1 WHERE t1."id" > $1::bigint GROUP BY 1, 2, 3, 4, 5) AS t0 WHERE t0."k4" IS NULL | 3`,
			mysql:      "YEAR(t1.`changed`) AS `k0`, CONCAT(DATE_FORMAT(t1.`sold`, '%Y'), '-Q', QUARTER(t1.`sold`)) AS `k1`, DATE_FORMAT(t1.`published`, '%x-W%v') AS `k2`, DATE_FORMAT(t1.`changed`, '%Y-%m-%dT%H') AS `k3`, WEEKDAY(t1.`sold`) + 1 AS `k4` FROM `shop`.`book` AS t1 WHERE t1.`id` > ? GROUP BY 1, 2, 3, 4, 5 HAVING count(*) >= 1) AS t0 WHERE t0.`k4` IS NULL | 3",
			mariaDB:    "YEAR(t1.`changed`) AS `k0`, CONCAT(DATE_FORMAT(t1.`sold`, '%Y'), '-Q', QUARTER(t1.`sold`)) AS `k1`, DATE_FORMAT(t1.`published`, '%x-W%v') AS `k2`, DATE_FORMAT(t1.`changed`, '%Y-%m-%dT%H') AS `k3`, WEEKDAY(t1.`sold`) + 1 AS `k4` FROM `shop`.`book` AS t1 WHERE t1.`id` > ? GROUP BY 1, 2, 3, 4, 5) AS t0 WHERE t0.`k4` IS NULL | 3",
			sqlite:     `CAST(strftime('%Y', t1."changed", 'auto') AS INTEGER) AS "k0", strftime('%Y', t1."sold", 'auto') || '-Q' || ((CAST(strftime('%m', t1."sold", 'auto') AS INTEGER) + 2) / 3) AS "k1", strftime('%G-W%V', t1."published", 'auto') AS "k2", strftime('%Y-%m-%dT%H', t1."changed", 'auto') AS "k3", CAST(strftime('%u', t1."sold", 'auto') AS INTEGER) AS "k4" FROM "shop"."book" AS t1 WHERE t1."id" > ? GROUP BY 1, 2, 3, 4, 5) AS t0 WHERE t0."k4" IS NULL | 3`,
		},
		{name: "sums", grouping: database.Grouping{Measures: []database.Measure{of(database.Sum, id), only(of(database.Sum, price)), of(database.Sum, score)}},
			postgresql: `sum(t1."id")::numeric AS "m0", sum(t1."price") FILTER (WHERE t1."in_stock" = $1) AS "m1", sum(t1."score"::float8) AS "m2" FROM "shop"."book" AS t1 WHERE t1."id" > $2::bigint) AS t0 WHERE t0."m2" IS NULL | true | 3`,
			mysql:      "sum(t1.`id`) AS `m0`, sum(CASE WHEN t1.`in_stock` = ? THEN t1.`price` END) AS `m1`, sum(t1.`score`) AS `m2` FROM `shop`.`book` AS t1 WHERE t1.`id` > ?) AS t0 WHERE t0.`m2` IS NULL | true | 3",
			sqlite:     `mcp_sum(t1."id", 0) COLLATE mcp_decimal AS "m0", mcp_sum(t1."price", 0) FILTER (WHERE t1."in_stock" = ?) COLLATE mcp_decimal AS "m1", sum(CASE WHEN typeof(t1."score") IN ('integer', 'real') THEN CAST(t1."score" AS REAL) END) AS "m2" FROM "shop"."book" AS t1 WHERE t1."id" > ?) AS t0 WHERE t0."m2" IS NULL | true | 3`,
		},
		{name: "averages", grouping: database.Grouping{Measures: []database.Measure{only(of(database.Avg, price)), of(database.Avg, score)}},
			postgresql: `round((sum(t1."price") FILTER (WHERE t1."in_stock" = $1) + 0.000000000000000000000000000000000000000000000000000000000000) / nullif(count(t1."price") FILTER (WHERE t1."in_stock" = $2), 0), 12) AS "m0", sum(t1."score"::float8) / nullif(count(t1."score"), 0) AS "m1" FROM "shop"."book" AS t1 WHERE t1."id" > $3::bigint) AS t0 WHERE t0."m1" IS NULL | true | true | 3`,
			mysql:      "round(CAST(sum(CASE WHEN t1.`in_stock` = ? THEN t1.`price` END) AS DECIMAL(65,26)) / count(CASE WHEN t1.`in_stock` = ? THEN t1.`price` END), 12) AS `m0`, avg(t1.`score`) AS `m1` FROM `shop`.`book` AS t1 WHERE t1.`id` > ?) AS t0 WHERE t0.`m1` IS NULL | true | true | 3",
			sqlite:     `mcp_avg(t1."price") FILTER (WHERE t1."in_stock" = ?) COLLATE mcp_decimal AS "m0", avg(CASE WHEN typeof(t1."score") IN ('integer', 'real') THEN CAST(t1."score" AS REAL) END) AS "m1" FROM "shop"."book" AS t1 WHERE t1."id" > ?) AS t0 WHERE t0."m1" IS NULL | true | 3`,
		},
		{name: "ratios", grouping: database.Grouping{Measures: []database.Measure{of(database.Sum, price), of(database.Max, score), ratio}},
			postgresql: `sum(t1."price") AS "m0", max(t1."score") AS "m1", round((sum(t1."price") + 0.000000000000000000000000000000000000000000000000000000000000) / nullif((max(t1."score"))::text::numeric, 0), 12) AS "m2" FROM "shop"."book" AS t1 WHERE t1."id" > $1::bigint) AS t0 WHERE t0."m2" IS NULL | 3`,
			mysql:      "sum(t1.`price`) AS `m0`, max(t1.`score`) AS `m1`, round(CAST(sum(t1.`price`) AS DECIMAL(65,26)) / CAST(CASE WHEN abs(max(t1.`score`)) < 1e35 THEN max(t1.`score`) END AS DECIMAL(65,30)), 12) AS `m2` FROM `shop`.`book` AS t1 WHERE t1.`id` > ?) AS t0 WHERE t0.`m2` IS NULL | 3",
			sqlite:     `mcp_sum(t1."price", 0) COLLATE mcp_decimal AS "m0", max(t1."score") AS "m1", mcp_ratio(mcp_sum(t1."price", 0) COLLATE mcp_decimal, max(t1."score")) COLLATE mcp_decimal AS "m2" FROM "shop"."book" AS t1 WHERE t1."id" > ?) AS t0 WHERE t0."m2" IS NULL | 3`,
		},
		{name: "extremes", grouping: database.Grouping{Measures: []database.Measure{of(database.Min, status), only(of(database.Max, token)), of(database.Max, title)}},
			postgresql: `min(t1."status") AS "m0", max(t1."token"::text COLLATE "C") FILTER (WHERE t1."in_stock" = $1)::uuid AS "m1", max(t1."title") AS "m2" FROM "shop"."book" AS t1 WHERE t1."id" > $2::bigint) AS t0 WHERE t0."m2" IS NULL | true | 3`,
			mysql:      "min(CAST(t1.`status` AS UNSIGNED)) AS `m0`, max(CASE WHEN t1.`in_stock` = ? THEN t1.`token` END) AS `m1`, max(t1.`title`) AS `m2` FROM `shop`.`book` AS t1 WHERE t1.`id` > ?) AS t0 WHERE t0.`m2` IS NULL | true | 3",
			sqlite:     `min(t1."status") AS "m0", max(t1."token") FILTER (WHERE t1."in_stock" = ?) AS "m1", max(t1."title") AS "m2" FROM "shop"."book" AS t1 WHERE t1."id" > ?) AS t0 WHERE t0."m2" IS NULL | true | 3`,
		},
	} {
		for _, dialect := range []struct {
			name string
			sqltext.Dialect
			want string
		}{{"PostgreSQL", sqltext.PostgreSQL, test.postgresql}, {"MySQL", sqltext.MySQL, test.mysql}, {"MariaDB", sqltext.MariaDB, cmp.Or(test.mariaDB, test.mysql)}, {"SQLite", sqltext.SQLite, test.sqlite}} {
			t.Run(test.name+" "+dialect.name, func(t *testing.T) {
				g := test.grouping
				g.From = database.NewSource(book, database.Compare{Column: id, Op: database.Greater, Value: int64(3)})
				source := g.Source()
				last := source.Table().Columns[len(source.Table().Columns)-1]
				var s sqltext.Statement
				err := s.Build(dialect, &database.Select{From: source, Where: database.IsNull{Column: last}, Total: database.TotalExact})
				if err != nil {
					t.Fatal(err)
				}
				if got := shown(s.Count, s.Args[:s.CountArgs]); got != "SELECT count(*) FROM (SELECT "+dialect.want {
					t.Errorf("got\n%s\nwant\n%s", got, dialect.want)
				}
			})
		}
	}
}
