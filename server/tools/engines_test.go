package tools

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
	"github.com/mcp-admin/mcp-admin-operator/server/database/mysql"
	"github.com/mcp-admin/mcp-admin-operator/server/database/postgres"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqlite"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// The same table on each engine, with values whose text, or whose JSON, is not all that there is to them: integers beyond
// 2^53, floats of seventeen digits, fractions of seconds, letters in both cases, nulls.
const (
	postgresKinds = `CREATE TABLE kinds (id bigint PRIMARY KEY, big bigint, price numeric(20,6), ratio double precision, name text,
		day date, clock time, moment timestamp, instant timestamptz, flag boolean, tag uuid, parent bigint REFERENCES kinds);`
	mysqlKinds = `CREATE TABLE kinds (id bigint PRIMARY KEY, big bigint unsigned, price decimal(20,6), ratio double, name varchar(40),
		day date, clock time(6), moment datetime(6), instant timestamp(6) NULL, flag tinyint(1), tag varchar(40), parent bigint REFERENCES kinds (id));`
	sqliteKinds = `CREATE TABLE kinds (id INTEGER PRIMARY KEY, big BIGINT, price DECIMAL(20,6), ratio REAL, name TEXT,
		day DATE, clock TIME, moment TIMESTAMP, instant TIMESTAMP, flag BOOLEAN, tag TEXT, parent INTEGER REFERENCES kinds);`
	kindsRows = `INSERT INTO kinds VALUES
		(1, 9007199254740993, 0.000001, 0.1, 'a', '1969-12-31', '00:00:00.000001', '2026-01-01 00:00:00.000001', '2026-01-01 00:00:00.000001', %[1]s, '00000000-0000-0000-0000-000000000001', NULL),
		(2, 9007199254740992, 0.000002, 0.10000000000000002, 'A', '1970-01-01', '00:00:00.000002', '2026-01-01 00:00:00.000002', '2026-01-01 00:00:00.000002', %[2]s, '00000000-0000-0000-0000-000000000002', 1),
		(3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1),
		(4, 9223372036854775807, 12345678901234.5, 1e300, 'ä', '9999-12-31', '23:59:59.999999', '2030-12-31 23:59:59.999999', '2030-12-31 23:59:59.999999', %[1]s, 'ffffffff-ffff-ffff-ffff-ffffffffffff', 2),
		(5, 9007199254740993, 0.000001, 0.1, 'a', '1969-12-31', '00:00:00.000001', '2026-01-01 00:00:00.000001', '2026-01-01 00:00:00.000001', %[2]s, '00000000-0000-0000-0000-000000000001', 2),
		(6, NULL, NULL, NULL, '', NULL, NULL, NULL, NULL, %[1]s, NULL, 4);`
)

// onEachEngine runs a test over the table, as a model of each engine's database.
func onEachEngine(t *testing.T, test func(t *testing.T, l *library)) {
	limits := contract.Database{MaxConnections: 2, StatementTimeout: contract.Duration(2 * time.Minute)}
	open := func(t *testing.T, connection contract.Connection, engine func(database.Settings) database.DB) database.DB {
		return engine(database.Settings{Database: limits, Connection: func() (contract.Connection, error) { return connection, nil }})
	}
	rows := fmt.Sprintf(kindsRows, "true", "false")
	for name, start := range map[string]func(t *testing.T) database.DB{
		contract.EnginePostgreSQL: func(t *testing.T) database.DB {
			connection := databasetest.PostgreSQL(t)
			databasetest.Execute(t, databasetest.URI(connection), postgresKinds+rows)
			return open(t, connection, postgres.Open)
		},
		contract.EngineMySQL: func(t *testing.T) database.DB {
			connection := databasetest.MariaDB(t)
			databasetest.ExecuteMySQL(t, connection, mysqlKinds+rows)
			return open(t, connection, mysql.Open)
		},
		contract.EngineSQLite: func(t *testing.T) database.DB {
			file := filepath.Join(t.TempDir(), "kinds.sqlite")
			plain, err := sql.Open("sqlite", file)
			if err != nil {
				t.Fatal(err)
			}
			defer plain.Close()
			if _, err := plain.Exec(sqliteKinds + rows); err != nil {
				t.Fatal(err)
			}
			return sqlite.Open(database.Settings{Database: limits, SQLitePath: file})
		},
	} {
		t.Run(name, func(t *testing.T) {
			db := start(t)
			t.Cleanup(db.Close)
			schema, err := db.Introspect(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			config := &contract.Config{
				Models: []contract.Model{{Exposure: "kinds", Name: "kinds", Table: "kinds", DefaultPageSize: 100, MaxPageSize: 1000}},
				Tokens: []contract.Token{{Hashes: []string{contract.HashToken(readerText)}, Rules: []contract.Rule{{Models: []string{"*"}, Verbs: []string{"view"}}}}},
			}
			models := catalog.Build(config, schema)
			l := &library{t: t, tokens: access.TokensOf(config, models), set: New(models, db, call.Settings{SealKey: make([]byte, 32), MaxResultBytes: 1 << 20})}
			test(t, l)
		})
	}
}

func TestCursorsOnEachEngine(t *testing.T) {
	onEachEngine(t, func(t *testing.T, l *library) {
		for _, field := range []string{"id", "big", "price", "ratio", "name", "day", "clock", "moment", "instant", "flag", "tag", "parent_id", "parent__price", "parent__name", "parent__parent__moment"} {
			for _, direction := range []string{"", "-"} {
				order := fmt.Sprintf(`"order_by":[%q]`, direction+field)
				whole := ids(l.must(readerText, "list_kinds", `{`+order+`}`))
				var walked []any
				for more := ""; len(walked) <= len(whole); {
					list := l.must(readerText, "list_kinds", `{"limit":1,`+order+more+`}`)
					walked = append(walked, ids(list)...)
					if list["total_count"] != 6.0 {
						t.Errorf("%s: total_count is %v", order, list["total_count"])
					}
					if list["next_cursor"] == nil {
						break
					}
					more = fmt.Sprintf(`,"cursor":%q`, list["next_cursor"])
				}
				if !reflect.DeepEqual(walked, whole) {
					t.Errorf("%s: row by row %v, at once %v", order, walked, whole)
				}
			}
		}
	})
}

func TestReadsOnEachEngine(t *testing.T) {
	onEachEngine(t, func(t *testing.T, l *library) {
		for _, c := range []struct{ tool, arguments, want string }{
			{"related_kinds", `{"id":2,"relation":"kinds_by_parent","limit":1}`, "[4]"},
			{"related_kinds", `{"id":2,"relation":"kinds_by_parent","offset":1}`, "[5]"},
			{"autocomplete_kinds", `{"term":"a","limit":9}`, "[1 2 5]"},
			{"autocomplete_kinds", `{"term":"4"}`, "[4]"},
			{"autocomplete_kinds", `{"filters":{"parent__parent__id":1,"kinds_by_parent__none":{}}}`, "[5]"},
			{"autocomplete_kinds", `{"term":"a","filters":{"_not":{"parent__id":1}}}`, "[1 5]"},
		} {
			got := l.must(readerText, c.tool, c.arguments)
			found := ids(got)
			slices.SortFunc(found, func(a, b any) int { return int(a.(float64) - b.(float64)) }) // which of a and A comes first, the engines see differently
			if fmt.Sprint(found) != c.want {
				t.Errorf("%s %s: %v, want %s", c.tool, c.arguments, got, c.want)
			}
		}
		row := l.must(readerText, "get_kinds", `{"id":2,"include_related":true}`)["_related"].(map[string]any)
		if fmt.Sprint(ids(map[string]any{"results": row["parent"]}), ids(map[string]any{"results": row["kinds_by_parent"]})) != "[1] [4 5]" {
			t.Errorf("_related is %v", row)
		}
		if single := l.must(readerText, "related_kinds", `{"id":1,"relation":"parent"}`); single["result"] != nil {
			t.Errorf("a foreign key that is null leads to %v", single["result"])
		}
	})
}
